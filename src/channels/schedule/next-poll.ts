import {
  type Expectation,
  expectItems,
  lookAhead,
  type Outlook,
  pollExponent,
  type Rhythm,
  usualAt,
} from './rhythm.ts';

/** What the next poll of a channel depends on. */
export type PollPlan = {
  nowMs: number;
  /** The interval it was given: what it would be polled at without any of this. */
  intervalSeconds: number;
  /** null: nothing was learnt, or it is not wanted: the interval itself. */
  rhythm: Rhythm | null;
  /** How polls are shared among the channels of one interval; null: it keeps its own number and only times them. */
  multiplier: number | null;
  /** The publisher asks not to be polled more often: max-age, Retry-After, ttl, sy:. */
  floorSeconds: number | null;
  /** A hub tells us of news: polls are only a safety net. */
  pushed: boolean;
  /** Left out: those of the product. */
  bounds?: PollBounds | undefined;
};

/** How far the polls of a channel may stray from its interval. */
export type PollBounds = {
  /** No channel waits longer than so many of its intervals, however little it publishes, nor is it asked more often. */
  mostIntervals: number;
  leastIntervals: number;
  leastSeconds: number;
};

/** The bounds of the product; a simulation tries others. */
export const pollBounds: PollBounds = { mostIntervals: 3, leastIntervals: 1 / 15, leastSeconds: 60 };

const hourMs = 3_600_000;
const mostSeconds = 86_400;
// A hub that is silent must not hide a day's news.
const pushedIntervals = 8;

/** Milliseconds until the next poll: when as much is to be expected as one poll is worth. */
export function decideNextPoll(plan: PollPlan, random: () => number = Math.random): number {
  const jitter = 0.97 + random() * 0.06;
  const wantedMs =
    plan.rhythm === null || plan.pushed ? plan.intervalSeconds * 1000 : adaptiveMs(plan, plan.rhythm);
  const slowed = plan.pushed ? wantedMs * pushedIntervals : wantedMs;
  const floorMs = (plan.floorSeconds ?? 0) * 1000;
  return Math.round(
    Math.min(Math.max(slowed, floorMs), Math.max(mostSeconds, plan.intervalSeconds) * 1000) * jitter,
  );
}

function adaptiveMs(plan: PollPlan, rhythm: Rhythm): number {
  const outlook = lookAhead(rhythm, plan.nowMs);
  const multiplier = plan.multiplier ?? ownMultiplier(plan, expectItems(rhythm, plan.nowMs));
  const { least, most } = boundsOf(plan);
  // One poll's worth of polling rate, hour by hour. The burst is of this moment: it holds as long as it lasts.
  let left = 1;
  let atMs = plan.nowMs;
  for (;;) {
    const untilMs = (Math.floor(atMs / hourMs) + 1) * hourMs;
    const rate = clamp(multiplier * weightAt(outlook, atMs), least, most);
    const seconds = (untilMs - atMs) / 1000;
    if (rate * seconds >= left) return atMs + (left / rate) * 1000 - plan.nowMs;
    left -= rate * seconds;
    atMs = untilMs;
  }
}

/** How many polls a channel deserves at a time of the week, beside others and other times. */
function weightAt(outlook: Outlook, ms: number): number {
  return (usualAt(outlook, ms) * outlook.burst) ** pollExponent;
}

type Bounded = Pick<PollPlan, 'intervalSeconds' | 'bounds'>;

/** The multiplier of a channel that shares with nobody: as many polls as its interval makes. */
function ownMultiplier(plan: Bounded, expected: Expectation): number {
  const free =
    1 / (plan.intervalSeconds * weekMean(expected, 1, { least: 0, most: Number.POSITIVE_INFINITY }));
  // Once more, because the bounds change the sum.
  return free / (plan.intervalSeconds * weekMean(expected, free, boundsOf(plan)));
}

/** Mean over all hours of the week of the polls a second that a channel gets by a multiplier, within bounds. */
function weekMean(
  { rate, hours, days }: Expectation,
  multiplier: number,
  { least, most }: { least: number; most: number },
): number {
  // Power by power: 31 of them instead of 168, which were most of what a poll with news costs.
  const hourPowers = hours.map((one) => one ** pollExponent);
  let sum = 0;
  for (const day of days) {
    const power = multiplier * (rate * day) ** pollExponent;
    for (const hour of hourPowers) sum += clamp(power * hour, least, most);
  }
  return sum / (days.length * hours.length);
}

/** Polls per second that a channel gets at least and at most. */
function boundsOf({ intervalSeconds, bounds = pollBounds }: Bounded): { least: number; most: number } {
  return {
    least: 1 / (bounds.mostIntervals * intervalSeconds),
    most: 1 / Math.max(bounds.leastSeconds, bounds.leastIntervals * intervalSeconds),
  };
}

const clamp = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most);

/**
 * What a channel weighs when polls are shared: the polls per second that it would take, over the multiplier. The bounds
 * are counted in, at the multiplier of the moment, so that the sum of all is what is really spent.
 */
export function decideWeight(
  plan: Pick<PollPlan, 'nowMs' | 'intervalSeconds' | 'multiplier' | 'bounds'>,
  rhythm: Rhythm,
): number {
  const expected = expectItems(rhythm, plan.nowMs);
  const multiplier = plan.multiplier ?? ownMultiplier(plan, expected);
  const mean = weekMean(expected, multiplier, boundsOf(plan));
  return (mean * (1 + expected.extra)) / multiplier;
}
