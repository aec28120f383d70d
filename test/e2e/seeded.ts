/** Small seeded generator (mulberry32): the same seed gives the same whole numbers, ends included. */
export function seeded(from: number): (least: number, most: number) => number {
  let state = from;
  return (least, most) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return least + (((mixed ^ (mixed >>> 14)) >>> 0) % (most - least + 1));
  };
}
