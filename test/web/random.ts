/** A reproducible stream of numbers; the same seed gives the same stream on every machine. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Uniform integer in [0, below). */
  int(below: number): number;
  /** One element of a list that is not empty. */
  pick<T>(list: readonly T[]): T;
}

/** Mixes names and numbers into 32 bits, so that every thing in the web has its own seed without any storage. */
export function hashOf(...parts: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const part of parts) {
    if (typeof part === 'number') {
      // Two halves: item numbers exceed 32 bits of entropy only together with the publisher's name.
      hash = Math.imul(hash ^ (part >>> 0), 0x01000193);
      hash = Math.imul(hash ^ Math.floor(part / 4294967296), 0x01000193);
    } else {
      for (let i = 0; i < part.length; i++) hash = Math.imul(hash ^ part.charCodeAt(i), 0x01000193);
    }
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  }
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0x297a2d39);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** A stream that starts from a seed (mulberry32: four operations a number, and articles draw thousands). */
export function randomFrom(seed: number): Random {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const int = (below: number) => Math.floor(next() * below);
  const pick = <T>(list: readonly T[]) => list[int(list.length)] as T;
  return { next, int, pick };
}

/** A share in [0, 1) that belongs to some names and numbers. */
export function shareOf(...parts: readonly (string | number)[]): number {
  return hashOf(...parts) / 4294967296;
}

/** A standard normal number (Box-Muller). */
export function normalFrom(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random.next()));
  return radius * Math.cos(2 * Math.PI * random.next());
}

/** A Poisson number; above a mean of 30 the normal approximation, because Knuth's product needs mean + 1 draws. */
export function poissonFrom(random: Random, mean: number): number {
  if (mean > 30) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normalFrom(random)));
  const limit = Math.exp(-mean);
  let count = 0;
  for (let product = random.next(); product > limit; product *= random.next()) count += 1;
  return count;
}
