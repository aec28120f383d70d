import type { Queryable } from '../../../src/db/index.ts';
import type { AccessRecord, PublisherTruth } from '../../web/index.ts';
import type { Producer } from '../producer.ts';
import type { Stage } from '../stage.ts';
import type { Watcher } from '../watcher.ts';

/** What the checks go by, once all is quiet. */
export type Ground = {
  stage: Stage;
  /** The database as it was at one moment: polls go on while the checks look. */
  db: Queryable;
  watcher: Watcher;
  producer: Producer;
  /** Every request the web has seen until nobody held anything: all of them are settled, or lost. */
  log: readonly AccessRecord[];
  truth: readonly PublisherTruth[];
  /** When the last round of polls began, by the database's clock: nothing was published since. */
  calmSince: Date;
  /** Files each role had open before there was anything to do. */
  baseline: ReadonlyMap<string, number>;
};

/** Which start of which process made a request. */
export const lifeOf = (request: AccessRecord): string => /\(([^)]*)\)/.exec(request.userAgent)?.[1] ?? '';

/** Lists have an end even when everything is wrong. */
export const someOf = (problems: readonly string[], most = 8): string[] =>
  problems.length <= most
    ? [...problems]
    : [...problems.slice(0, most), `… and ${problems.length - most} more`];
