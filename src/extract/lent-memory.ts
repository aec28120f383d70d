// Beyond this a page is a rarity and gets memory of its own.
const MAX_LENT = 1_000_000;

type Lent = { readonly length: number; fill(value: number, start: number, end: number): unknown };

/**
 * Lends the same array again and again, larger when it must be: fresh memory for every page cost ten times what filling
 * it does, and the engine collected garbage for its sake. What is in it is only good until the next loan; it may be
 * longer than asked for, with anything in it.
 */
export function lender<T extends Lent>(make: (size: number) => T): (size: number) => T {
  let lent = make(0);
  return (size) => {
    if (size > MAX_LENT) return make(size);
    if (lent.length < size) lent = make(Math.min(MAX_LENT, 2 * size));
    return lent;
  };
}

/** The same with as many zeros as were asked for. */
export function clearedLender<T extends Lent>(make: (size: number) => T): (size: number) => T {
  const borrow = lender(make);
  return (size) => {
    const lent = borrow(size);
    lent.fill(0, 0, size);
    return lent;
  };
}
