import type { MultiplierReader } from '../channels/index.ts';
import type { Queryable } from '../db/index.ts';
import type { ResponseReader } from '../outbox/index.ts';
import type { SiteCache } from '../sites/index.ts';
import type { SwitchReader } from '../switches/index.ts';
import type { Clock, Log, Metrics } from '../telemetry/index.ts';
import type { ArticlePages } from './article-pages.ts';
import type { HttpClient, RecordingRoom } from './client/index.ts';
import type { ExecutionWatch } from './executions.ts';
import type { ImageStore } from './image-store.ts';
import type { OutageWatch } from './outage.ts';
import type { PageRenderer } from './rendering.ts';
import type { RobotsGate } from './robots-gate.ts';
import type { RunOptions } from './run-options.ts';
import type { SettingsCache } from './settings-cache.ts';

/** What a run needs of its fetcher. */
export type RunDeps = {
  db: Queryable;
  client: HttpClient;
  /** For leases of rows that need a browser; null in all others. */
  renderer: PageRenderer | null;
  robots: RobotsGate;
  settings: SettingsCache;
  sites: SiteCache;
  articlePages: ArticlePages;
  switches: SwitchReader;
  multipliers: MultiplierReader;
  outage: OutageWatch;
  images: ImageStore;
  executions: ExecutionWatch;
  /** Whether a sink takes responses, and the room for those that are not settled yet. */
  responses: ResponseReader;
  recordingRoom: RecordingRoom;
  owner: string;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  options: RunOptions;
};
