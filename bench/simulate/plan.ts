import { hashOf } from '../../test/web/random.ts';
import type { Publisher } from './web.ts';

/** How long a run is and what it is judged by. */
export type RunPlan = {
  seed: number;
  startMs: number;
  days: number;
  /** Days at the beginning whose news is not measured: intervals are still being learnt. */
  warmDays: number;
  /** Longest time a due domain may wait for a fetcher. */
  starvationMinutes: number;
  /** How many parts the run is cut into, and which one this is; it has its share of the fetchers' seats. */
  parts?: number;
  part?: number;
  onDay?: (day: number) => void;
};

/** Every part has chances of its own; the first those of a run in one piece. */
export const runSeed = ({ seed, part = 0 }: RunPlan): number =>
  part === 0 ? hashOf(seed, 'run') : hashOf(seed, 'run', part);

/** Rows that a run will have, roughly and rather more. */
export function roomFor(publishers: readonly Publisher[], days: number): number {
  let rows = 1024;
  for (const one of publishers)
    rows += one.ratePerDay * (days + 2) * 1.1 + one.feedItems / 10 + 30 + one.archivePages + one.knownPages;
  return Math.ceil(rows);
}
