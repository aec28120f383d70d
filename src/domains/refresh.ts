/** Bounds of the time between two looks at a known page. */
export type RefreshOptions = {
  /** First interval, and every one while adaptive intervals are off. */
  firstSeconds: number;
  minSeconds: number;
  maxSeconds: number;
  adaptive: boolean;
};

// By simulation (docs/benchmarks.md, refresh): shrinking fast finds a busy page soon, growing slowly keeps a quiet spell
// from hiding it. Pages that have been quiet for a week are let go faster: there are many of them.
const shrink = 0.4;
const growth = 1.2;
const quietSeconds = 7 * 86_400;
const quietGrowth = 1.5;

/** When a page is looked at again: later if it had not changed, sooner if it had. */
export function decideRefresh(
  previousSeconds: number | null,
  changed: boolean,
  options: RefreshOptions,
): number {
  const { firstSeconds, minSeconds, maxSeconds } = options;
  if (!options.adaptive || previousSeconds === null) return Math.round(firstSeconds);
  const grown = previousSeconds < quietSeconds ? growth : quietGrowth;
  const next = previousSeconds * (changed ? shrink : grown);
  return Math.round(Math.min(maxSeconds, Math.max(minSeconds, next)));
}
