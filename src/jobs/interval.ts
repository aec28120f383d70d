import { effectiveIntervalSeconds } from './next-run.ts';

/** What an interval is given in. */
export const intervalTypes = ['minutes', 'hours', 'days'] as const;
export type IntervalType = (typeof intervalTypes)[number];

const secondsOf: Readonly<Record<IntervalType, number>> = { minutes: 60, hours: 3600, days: 86_400 };

/** The longest time between two runs: a year. */
export const mostIntervalSeconds = 31_536_000;

/** Six and hours are six hours, in seconds; null: nobody waits so long. */
export function intervalSecondsOf(count: number, type: IntervalType): number | null {
  const seconds = count * secondsOf[type];
  return seconds <= mostIntervalSeconds ? seconds : null;
}

/** What lies between two runs now: stretched while runs find nothing new, where that is wanted. null: it runs once. */
export function intervalNow(job: {
  intervalSeconds: number | null;
  adaptiveScheduling: boolean;
  unchangedRuns: number;
}): number | null {
  const { intervalSeconds, adaptiveScheduling, unchangedRuns } = job;
  if (intervalSeconds === null || !adaptiveScheduling) return intervalSeconds;
  return effectiveIntervalSeconds(intervalSeconds, unchangedRuns);
}
