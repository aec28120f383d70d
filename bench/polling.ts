import { loadavg } from 'node:os';
import {
  decideMultipliers,
  decideNextPoll,
  decideWeight,
  learnRhythm,
  type Multipliers,
  type Rhythm,
} from '../src/channels/index.ts';
import { hashOf, randomFrom } from '../test/web/random.ts';
import { readOptions } from './options.ts';
import { type History, makeHistory, quantile } from './polling/histories.ts';
import { measurePushes } from './websub.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const startMs = Date.parse('2026-03-02T00:00:00Z');
// Half of the feeds below six items a day, as the simulated web has them, and log-normal without the luck of a draw:
// one feed from each of as many equal parts of the distribution.
const medianPerDay = 6;
const spread = 1.5;
const itemsInFeed = 25;

type Setup = { feeds: number; days: number; warmDays: number; seed: number; intervalSeconds: number };

/** Discovery delays in seconds. */
type Delays = { mean: number; p50: number; p95: number; worstFeedMean: number };

/**
 * The real schedule on simulated publishing histories, against the fixed interval at the same number of polls. Nothing
 * is fetched: a poll sees what a feed of 25 entries would show at that moment.
 */
export async function run(args: string[]): Promise<object> {
  const values = readOptions(args, {
    feeds: ['feeds', 1000],
    days: ['days of publishing', 14],
    warm: ['days before anything is measured', 7],
    seed: ['of the publishing histories', 5],
    pushes: ['items that a hub pushes', 100],
  });
  const setup: Setup = {
    feeds: values.feeds,
    days: values.days,
    warmDays: values.warm,
    seed: values.seed,
    intervalSeconds: 900,
  };
  const histories = makeHistories(setup);
  const items = histories.reduce((sum, one) => sum + one.length, 0);
  console.error(
    `polling: ${setup.feeds} feeds, rates log-normal (median ${medianPerDay} a day, σ = ${spread}), daily and weekly rhythm in 24 time zones, bursts on 3 % of days; ${setup.days} days, the last ${setup.days - setup.warmDays} measured; ${items} items; seed ${setup.seed}`,
  );
  const adaptive = simulate(histories, setup, 'adaptive');
  // Exactly as many polls: the fixed interval that makes them, which is 15 minutes but for a fraction.
  const measuredS = (setup.days - setup.warmDays) * 86_400;
  const everySeconds = (setup.feeds * measuredS) / adaptive.polls;
  const fixed = simulate(histories, { ...setup, intervalSeconds: everySeconds }, 'fixed');
  const fifteen = simulate(histories, setup, 'fixed');
  const pushed = await measurePushes({ items: values.pushes, publishers: 20 });
  const ratio = (a: number, b: number): number => Number((a / b).toFixed(3));
  return {
    ...setup,
    load: Number(loadavg()[0]!.toFixed(2)),
    items,
    polls: adaptive.polls,
    fixed: { ...fixed.delays, everySeconds: Number(everySeconds.toFixed(1)), polls: fixed.polls },
    adaptive: { ...adaptive.delays, polls: adaptive.polls },
    websub: { p50: pushed.p50, p95: pushed.p95 },
    fifteenMinutes: { ...fifteen.delays, polls: fifteen.polls },
    ratios: {
      mean: ratio(adaptive.delays.mean, fixed.delays.mean),
      p95: ratio(adaptive.delays.p95, fixed.delays.p95),
      worstFeedMean: ratio(adaptive.delays.worstFeedMean, fixed.delays.worstFeedMean),
      pollsOfFifteenMinutes: ratio(adaptive.polls, fifteen.polls),
    },
  };
}

function makeHistories({ feeds, days, seed }: Setup): History[] {
  return Array.from({ length: feeds }, (_, index) => {
    const ratePerDay = medianPerDay * Math.exp(spread * quantile((index + 0.5) / feeds));
    return makeHistory({
      seed: hashOf(seed, 'feed', index),
      ratePerDay,
      startMs,
      days,
      backlog: itemsInFeed,
    });
  });
}

/** A feed in the run: where its history stands and what the schedule keeps of it. */
type Feed = { history: History; seen: number; rhythm: Rhythm | null; weight: number | null; dueMs: number };

function simulate(
  histories: readonly History[],
  setup: Setup,
  mode: 'fixed' | 'adaptive',
): { polls: number; delays: Delays } {
  const random = randomFrom(hashOf(setup.seed, mode));
  const intervalMs = setup.intervalSeconds * 1000;
  const endMs = startMs + setup.days * dayMs;
  const warmMs = startMs + setup.warmDays * dayMs;
  const feeds: Feed[] = histories.map((history) => ({
    history,
    seen: 0,
    rhythm: null,
    weight: null,
    dueMs: startMs + random.next() * intervalMs,
  }));
  const all: number[] = [];
  const byFeed = feeds.map(() => ({ sum: 0, items: 0 }));
  let polls = 0;
  let multipliers: Multipliers = {};
  // Hour by hour, as the schedule role shares the polls out anew; inside an hour feeds do not touch each other.
  for (let hourAt = startMs; hourAt < endMs; hourAt += hourMs) {
    if (mode === 'adaptive') multipliers = share(feeds, setup.intervalSeconds);
    for (const [index, feed] of feeds.entries()) {
      while (feed.dueMs < hourAt + hourMs) {
        const nowMs = feed.dueMs;
        const isMeasured = nowMs >= warmMs;
        if (isMeasured) polls += 1;
        const isFirst = feed.seen === 0;
        const from = feed.seen;
        while (feed.seen < feed.history.length && feed.history[feed.seen]! <= nowMs) feed.seen += 1;
        if (isMeasured && !isFirst)
          for (let at = from; at < feed.seen; at += 1) {
            const delay = (nowMs - feed.history[at]!) / 1000;
            all.push(delay);
            byFeed[index]!.sum += delay;
            byFeed[index]!.items += 1;
          }
        feed.dueMs = nowMs + (mode === 'fixed' ? intervalMs : next(feed, nowMs, setup, multipliers, random));
      }
    }
  }
  return { polls, delays: summarise(all, byFeed) };
}

function next(
  feed: Feed,
  nowMs: number,
  setup: Setup,
  multipliers: Multipliers,
  random: { next(): number },
): number {
  const { intervalSeconds } = setup;
  const multiplier = multipliers[String(intervalSeconds)] ?? null;
  const dates = feed.history.slice(Math.max(0, feed.seen - itemsInFeed), feed.seen);
  const learnt = learnRhythm(feed.rhythm, { nowMs, dates, undated: 0 });
  if (learnt !== null) {
    feed.rhythm = learnt;
    feed.weight = decideWeight({ nowMs, intervalSeconds, multiplier }, learnt);
  }
  return decideNextPoll(
    { nowMs, intervalSeconds, rhythm: feed.rhythm, multiplier, floorSeconds: null, pushed: false },
    () => random.next(),
  );
}

function share(feeds: readonly Feed[], intervalSeconds: number): Multipliers {
  const known = feeds.filter((one) => one.weight !== null);
  const weight = known.reduce((sum, one) => sum + one.weight!, 0);
  return decideMultipliers([{ intervalSeconds, channels: known.length, weight }]);
}

function summarise(all: number[], byFeed: readonly { sum: number; items: number }[]): Delays {
  all.sort((a, b) => a - b);
  const at = (share: number): number => Number((all[Math.floor(share * (all.length - 1))] ?? 0).toFixed(1));
  const mean = all.reduce((sum, one) => sum + one, 0) / all.length;
  const worst = Math.max(...byFeed.filter((one) => one.items > 0).map((one) => one.sum / one.items));
  return {
    mean: Number(mean.toFixed(1)),
    p50: at(0.5),
    p95: at(0.95),
    worstFeedMean: Number(worst.toFixed(1)),
  };
}
