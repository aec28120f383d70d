// Beyond this a page is a rarity and gets memory of its own.
const MAX_LENT = 1_000_000;

/**
 * Lends the same array again and again, larger when it must be: fresh memory for every page cost more than filling it.
 * What is in it is only good until the next loan.
 */
export function lender<T extends { readonly length: number }>(
  make: (size: number) => T,
): (size: number) => T {
  let lent = make(0);
  return (size) => {
    if (size > MAX_LENT) return make(size);
    if (lent.length < size) lent = make(Math.min(MAX_LENT, 2 * size));
    return lent;
  };
}
