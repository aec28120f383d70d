/** Bounds of the time between two looks at a known page. */
export type RefreshOptions = {
  /** First interval, and every one while adaptive intervals are off. */
  firstSeconds: number;
  minSeconds: number;
  maxSeconds: number;
  adaptive: boolean;
};

// Found by simulation (docs/benchmarks.md, refresh): a page is looked at when it has changed in about four of ten
// cases. Shrinking faster than growing finds a busy page soon; growing slowly keeps a quiet spell from hiding it.
const growth = 1.5;
const shrink = 0.55;

/** When a page is looked at again: later if it had not changed, sooner if it had. */
export function decideRefresh(
  previousSeconds: number | null,
  changed: boolean,
  options: RefreshOptions,
): number {
  const { firstSeconds, minSeconds, maxSeconds } = options;
  if (!options.adaptive || previousSeconds === null) return firstSeconds;
  const next = previousSeconds * (changed ? shrink : growth);
  return Math.round(Math.min(maxSeconds, Math.max(minSeconds, next)));
}
