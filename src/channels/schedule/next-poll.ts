import { dayShare, hourShare, lookAhead, type Outlook, pollsFor, type Rhythm, usualAt } from './rhythm.ts';

/** What the next poll of a channel depends on. */
export type PollPlan = {
  nowMs: number;
  /** The interval it was given: what it would be polled at without any of this. */
  intervalSeconds: number;
  /** null: nothing was learnt, or it is not wanted: the interval itself. */
  rhythm: Rhythm | null;
  /** What it says of now, when somebody has worked that out already. */
  outlook?: Outlook | undefined;
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
    plan.rhythm === null || plan.pushed
      ? plan.intervalSeconds * 1000
      : adaptiveMs(plan, plan.outlook ?? lookAhead(plan.rhythm, plan.nowMs));
  const slowed = plan.pushed ? wantedMs * pushedIntervals : wantedMs;
  const floorMs = (plan.floorSeconds ?? 0) * 1000;
  return Math.round(
    Math.min(Math.max(slowed, floorMs), Math.max(mostSeconds, plan.intervalSeconds) * 1000) * jitter,
  );
}

function adaptiveMs(plan: PollPlan, outlook: Outlook): number {
  const multiplier = plan.multiplier ?? ownMultiplier(plan, outlook);
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
  return pollsFor(usualAt(outlook, ms) * outlook.burst);
}

type Bounded = Pick<PollPlan, 'intervalSeconds' | 'bounds'>;

/** The multiplier of a channel that shares with nobody: as many polls as its interval makes. */
function ownMultiplier(plan: Bounded, outlook: Outlook): number {
  const free =
    1 / (plan.intervalSeconds * weekMean(outlook, 1, { least: 0, most: Number.POSITIVE_INFINITY }));
  // Once more, because the bounds change the sum.
  return free / (plan.intervalSeconds * weekMean(outlook, free, boundsOf(plan)));
}

// Of the call at hand: one array for all, because every poll with news asks.
const hourPolls = new Float64Array(24);

/** Mean over all hours of the week of the polls a second that a channel gets by a multiplier, within bounds. */
function weekMean(
  outlook: Outlook,
  multiplier: number,
  { least, most }: { least: number; most: number },
): number {
  // Power by power: 31 of them instead of 168, which were most of what a poll with news costs.
  for (let hour = 0; hour < 24; hour += 1) hourPolls[hour] = pollsFor(hourShare(outlook, hour));
  let sum = 0;
  for (let day = 0; day < 7; day += 1) {
    const polls = multiplier * pollsFor(outlook.rate * dayShare(outlook, day));
    for (let hour = 0; hour < 24; hour += 1) sum += clamp(polls * hourPolls[hour]!, least, most);
  }
  return sum / (7 * 24);
}

/** Polls per second that a channel gets at least and at most. */
function boundsOf({ intervalSeconds, bounds = pollBounds }: Bounded): { least: number; most: number } {
  return {
    least: 1 / (bounds.mostIntervals * intervalSeconds),
    most: 1 / Math.max(bounds.leastSeconds, bounds.leastIntervals * intervalSeconds),
  };
}

// Math.min and Math.max also tell -0 from 0, for three times the price.
function clamp(value: number, least: number, most: number): number {
  if (value < least) return least;
  if (value > most) return most;
  return value;
}

/**
 * What a channel weighs when polls are shared: the polls per second that it would take, over the multiplier. The bounds
 * are counted in, at the multiplier of the moment, so that the sum of all is what is really spent.
 */
export function decideWeight(
  plan: Pick<PollPlan, 'nowMs' | 'intervalSeconds' | 'multiplier' | 'bounds'>,
  rhythm: Rhythm,
  outlook: Outlook = lookAhead(rhythm, plan.nowMs),
): number {
  const multiplier = plan.multiplier ?? ownMultiplier(plan, outlook);
  const mean = weekMean(outlook, multiplier, boundsOf(plan));
  return (mean * (1 + outlook.extra)) / multiplier;
}
