// Longer than a day nobody waits for a source that may have news.
const longestSeconds = 86_400;

/** How long a job waits between two runs: doubled by each run in a row that found what the run before had found, up to a day. */
export function effectiveIntervalSeconds(intervalSeconds: number, unchangedRuns: number): number {
  const doubled = intervalSeconds * 2 ** Math.min(unchangedRuns, 30);
  // A multiple of the interval, so that the phase holds.
  return intervalSeconds * Math.max(1, Math.floor(Math.min(doubled, longestSeconds) / intervalSeconds));
}

/**
 * The first time in phase after now: what was missed is not caught up. `from` is any time of the phase. The database has
 * the same arithmetic (job_next_run), and a test compares the two.
 */
export function nextRunAt(input: {
  from: Date;
  intervalSeconds: number;
  unchangedRuns: number;
  nowMs: number;
}): Date {
  const stepMs = effectiveIntervalSeconds(input.intervalSeconds, input.unchangedRuns) * 1000;
  const fromMs = input.from.getTime();
  return new Date(fromMs + (Math.floor((input.nowMs - fromMs) / stepMs) + 1) * stepMs);
}

/** How long a failed run waits for its next try, the first being 1: doubled each time, an hour at most. */
export const retryBackoffSeconds = (baseSeconds: number, attempt: number): number =>
  Math.min(3600, baseSeconds * 2 ** (Math.min(attempt, 30) - 1));
