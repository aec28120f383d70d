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

// Unchanged runs stretch an interval up to a day and no further.
const mostAdaptiveSeconds = 86_400;

/**
 * What lies between two runs now: the interval doubles with each run that found nothing new, up to a day, and stays a
 * multiple of itself, so that its phase holds. One that is longer than a day stays as it is. null: it runs once.
 */
export function effectiveIntervalSeconds(job: {
  intervalSeconds: number | null;
  adaptiveScheduling: boolean;
  unchangedRuns: number;
}): number | null {
  const { intervalSeconds, adaptiveScheduling, unchangedRuns } = job;
  if (intervalSeconds === null || !adaptiveScheduling) return intervalSeconds;
  // Beyond 11 doublings a minute is more than a day: no number grows without end.
  const stretched = Math.min(intervalSeconds * 2 ** Math.min(unchangedRuns, 11), mostAdaptiveSeconds);
  return intervalSeconds * Math.max(1, Math.floor(stretched / intervalSeconds));
}
