import { seeded } from '../e2e/seeded.ts';

/** A fault that will strike: when, for how long, and a number that chooses whom. */
export type Strike = { atMs: number; fault: string; forMs: number; pick: number };

/** What a fault asks of the plan. */
export type Strikable = {
  name: string;
  leastMs: number;
  mostMs: number;
  /** Strikes a third as often: what makes everybody wait would leave little to watch. */
  isRare?: boolean;
};

/**
 * Strikes for so many seconds. Each fault is drawn from a shuffled bag that is filled again when empty, so that a run
 * long enough has had every one of them, in another order each time. The same seed gives the same plan.
 */
export function makePlan(options: {
  seed: number;
  seconds: number;
  faults: readonly Strikable[];
  /** Mean time between two strikes. */
  everyMs: number;
}): Strike[] {
  const { seconds, faults, everyMs } = options;
  const between = seeded(options.seed);
  const strikes: Strike[] = [];
  let bag: Strikable[] = [];
  let bags = 0;
  let atMs = Math.min(3000, everyMs);
  while (atMs < seconds * 1000 && faults.length > 0) {
    if (bag.length === 0) {
      bag = faults.filter((fault) => fault.isRare !== true || bags % 3 === 0);
      bags += 1;
    }
    const [fault] = bag.splice(between(0, bag.length - 1), 1);
    const { name, leastMs, mostMs } = fault!;
    // Long faults take much of a short run: what does not fit is cut.
    const roomMs = Math.max(leastMs, seconds * 1000 - atMs);
    const forMs = Math.min(between(leastMs, mostMs), roomMs);
    strikes.push({ atMs, fault: name, forMs, pick: between(0, 999_999) });
    atMs += between(Math.floor(everyMs / 3), Math.floor((everyMs * 5) / 3));
  }
  return strikes;
}
