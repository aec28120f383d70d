import type { BlobStore } from '../blobs/index.ts';
import { pruneStates } from '../channels/index.ts';
import type { Config } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import { pruneChanges } from '../documents/index.ts';
import {
  dropOldPartitions,
  ensurePartitions,
  pruneProbes,
  pruneRollups,
  pruneSourceDays,
} from '../frontier/index.ts';
import { sweepImages } from '../images/index.ts';
import { pruneExecutionLogs, pruneExecutions } from '../jobs/index.ts';
import { tidyOutbox } from '../outbox/index.ts';
import type { Log } from '../telemetry/index.ts';

// A year and a month: a row per source and day, so that this year can be held against the last.
const sourceDays = 400;

/** What housekeeping needs. */
export type HousekeepDeps = {
  database: Database;
  config: Config;
  log: Log;
  blobs: BlobStore;
  signal: AbortSignal;
  /** Called whenever a step is done: all of them together may take long. */
  onProgress?: () => void;
};

/** What was deleted because it was past its retention. */
export type Pruned = { partitions: number; executions: number; logLines: number; images: number };

/** Deletes everything past its retention; done every hour, and when an operator asks. */
export async function housekeep(deps: HousekeepDeps): Promise<Pruned> {
  const { pool } = deps.database;
  const { retention, jobs } = deps.config;
  let partitions = 0;
  for (const [table, days] of [
    ['crawl_log', retention.crawlLogDays],
    ['raw_pages', retention.rawPageDays],
  ] as const) {
    await ensurePartitions(pool, table);
    const dropped = await dropOldPartitions(pool, table, days);
    partitions += dropped.length;
    deps.onProgress?.();
    if (dropped.length > 0) deps.log.info({ table, dropped }, 'dropped day partitions past their retention');
  }
  for (const step of [
    () => pruneProbes(pool),
    () => pruneRollups(pool),
    () => pruneSourceDays(pool, sourceDays),
    () => pruneStates(pool),
    () => pruneChanges(pool, retention.changesDays),
    () => tidyOutbox(pool),
  ]) {
    await step();
    deps.onProgress?.();
  }
  const days = retention.executionDays;
  const executions = await pruneExecutions(pool, { keep: jobs.keepExecutions, days });
  const logLines = await pruneExecutionLogs(pool, { days });
  return { partitions, executions, logLines, images: await sweep(deps) };
}

/** Images that nobody shows any more, with their bytes. */
async function sweep({ database, config, log, blobs, signal, onProgress }: HousekeepDeps): Promise<number> {
  let all = 0;
  while (!signal.aborted) {
    const { swept, failed } = await sweepImages(database, blobs, { graceDays: config.images.sweepDays });
    all += swept;
    onProgress?.();
    if (failed !== null) log.warn({ detail: failed }, 'images that nobody shows could not be deleted');
    if (swept === 0) break;
  }
  if (all > 0) log.info({ images: all }, 'deleted images that no page shows any more');
  return all;
}
