import type { Clock } from '../telemetry/index.ts';

/**
 * An answer that those who ask within a moment share: many screens may watch. One that failed is shared only with those
 * who asked while it was on its way.
 */
export function shareAnswer<T>(clock: Clock, lifeMs: number, load: () => Promise<T>): () => Promise<T> {
  let latest: { until: number; answer: Promise<T> } | null = null;
  return () => {
    const now = clock.monotonic();
    if (latest === null || now >= latest.until) {
      const mine = { until: now + lifeMs, answer: load() };
      latest = mine;
      mine.answer.catch(() => {
        if (latest === mine) latest = null;
      });
    }
    return latest.answer;
  };
}
