import { hashOf, poissonFrom, randomFrom } from '../../test/web/random.ts';

/** When a feed published its items, in order. */
export type History = readonly number[];

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
// Quiet nights, a morning and an afternoon peak, and quiet weekends, Sunday first; as the simulated web has them.
const hourWeights = [2, 1, 1, 1, 2, 5, 9, 12, 13, 12, 11, 10, 9, 10, 11, 11, 10, 9, 8, 7, 6, 5, 4, 3];
const weekdayWeights = [0.55, 1.15, 1.2, 1.2, 1.15, 1.1, 0.65];
const hourTotal = hourWeights.reduce((sum, one) => sum + one, 0);
const burstShare = 0.03;
const burstFactor = 4;
const longestBacklogDays = 400;

/** Items of one feed: Poisson by day with daily and weekly rhythm; on a day of a burst four times as many, mostly in two hours. */
export function makeHistory(options: {
  seed: number;
  ratePerDay: number;
  startMs: number;
  days: number;
  /** Items that are out at the start. */
  backlog: number;
}): History {
  const { seed, ratePerDay, startMs, days, backlog } = options;
  const zoneH = hashOf(seed, 'zone') % 24;
  const first = Math.floor(startMs / dayMs);
  const drawn = (day: number): number[] => drawDay({ seed, day, ratePerDay, zoneH });
  let past: number[] = [];
  for (let day = first - 1; past.length < backlog && day > first - longestBacklogDays; day -= 1)
    past = [...drawn(day), ...past];
  const later = Array.from({ length: days }, (_, nth) => drawn(first + nth)).flat();
  return [...past.slice(-backlog), ...later];
}

/** When in a day and in a week a publisher is busy; any scale, Sunday first. */
export type Weights = { hours: readonly number[]; days: readonly number[] };

/** Items of one day, in order; drawn from (seed, day) alone, so that nobody has to keep a history. */
export function drawDay(at: {
  seed: number;
  day: number;
  ratePerDay: number;
  zoneH: number;
  /** Left out: those of the simulated web. */
  weights?: Weights;
}): number[] {
  const random = randomFrom(hashOf(at.seed, 'day', at.day));
  const isBurst = random.next() < burstShare;
  const weekday = (at.day + 4) % 7;
  const mean = at.ratePerDay * (at.weights?.days[weekday] ?? weekdayWeights[weekday]!);
  const count = poissonFrom(random, isBurst ? mean * burstFactor : mean);
  const burstHour = random.next() * 22;
  const dates = Array.from({ length: count }, () => {
    const inBurst = isBurst && random.next() < 1 - 1 / burstFactor;
    const hour = inBurst
      ? burstHour + random.next() * 2
      : pickHour(random.next(), at.weights?.hours) + random.next();
    return Math.floor(at.day * dayMs + ((hour + at.zoneH) % 24) * hourMs);
  });
  return dates.sort((a, b) => a - b);
}

function pickHour(share: number, weights: readonly number[] = hourWeights): number {
  let left = share * (weights === hourWeights ? hourTotal : weights.reduce((sum, one) => sum + one, 0));
  return Math.max(
    0,
    weights.findIndex((weight) => {
      left -= weight;
      return left < 0;
    }),
  );
}

/** Quantile of the standard normal distribution, by bisection of its integral. */
export function quantile(share: number): number {
  let low = -8;
  let high = 8;
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (cumulative(middle) < share) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

// Abramowitz and Stegun 26.2.17: right to seven digits, more than a simulation needs.
function cumulative(x: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(x));
  const density = Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
  const series =
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return x < 0 ? density * series : 1 - density * series;
}
