/** How many there are: exactly, or at least so many. */
export type Counted = { count: number; exact: boolean };

/** Totals are exact up to here, in every list: whoever asks reads one row more than this and no further. */
export const mostCounted = 10_000;

/** What was counted up to one more than `most`. */
export const countedUpTo = (found: number, most = mostCounted): Counted => ({
  count: Math.min(found, most),
  exact: found <= most,
});
