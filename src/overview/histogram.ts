/**
 * Where the buckets of a histogram end, the last one open; the functions latency_bucket and delay_bucket have the same
 * numbers, and a test compares them.
 */
export const latencyBoundsMs: readonly number[] = Array.from({ length: 23 }, (_, n) =>
  Math.round(16 * 2 ** (n / 2)),
);
export const delayBoundsSeconds: readonly number[] = Array.from({ length: 23 }, (_, n) => 2 ** n);

/**
 * The value below which a share of all values lies, as near as buckets tell: within a bucket values are taken to be
 * spread evenly. null: there are none.
 */
export function percentileOf(
  histogram: readonly number[] | null,
  bounds: readonly number[],
  share: number,
): number | null {
  const total = histogram?.reduce((sum, count) => sum + count, 0) ?? 0;
  if (histogram === null || total === 0) return null;
  const wanted = total * share;
  let below = 0;
  for (const [bucket, count] of histogram.entries()) {
    if (count > 0 && below + count >= wanted) {
      const from = bounds[bucket - 1] ?? 0;
      // The last bucket has no end of its own: it is taken to be as wide as the values before it.
      const to = bounds[bucket] ?? from * 2;
      return from + ((to - from) * (wanted - below)) / count;
    }
    below += count;
  }
  return null;
}
