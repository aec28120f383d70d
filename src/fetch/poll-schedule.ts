import {
  type Channel,
  decideNextPoll,
  decideWeight,
  learnRhythm,
  lookAhead,
  type PollPlan,
  packRhythm,
  parseRhythm,
  type Rhythm,
} from '../channels/index.ts';
import type { SettleItem } from '../frontier/index.ts';

/** What a successful poll says about the next one. */
export type PollNews = {
  /** Dates of publication of what the body listed; none when nothing has changed. */
  dates: readonly number[];
  /** What the body asks for (`ttl`, `sy:`); null when there was none: then the last one holds. */
  bodyFloorSeconds: number | null;
  /** What the response asks for. */
  maxAgeSeconds: number | null;
};

/** What is known when the items of a poll have been submitted. */
export type PollFacts = {
  channel: Channel;
  nowMs: number;
  /** New items that had no date. */
  newUndated: number;
  /** All new items; left out where nobody counts them. */
  newItems?: number | undefined;
  adaptive: boolean;
  multiplier: number | null;
};

/** What a successful poll comes to, as numbers: nothing here asks who keeps them. */
export type PollDecision = {
  dueInMs: number;
  /** null: nothing was learnt that is worth storing. */
  learnt: Rhythm | null;
  weight: number | null;
};

/** What a decision about the next poll needs. */
export type PollInput = Pick<PollPlan, 'nowMs' | 'intervalSeconds' | 'multiplier' | 'pushed' | 'bounds'> & {
  known: Rhythm | null;
  /** The known rhythm is the caller's to lose: what is learnt may be written over it. */
  overwrites?: boolean;
  adaptive: boolean;
  dates: readonly number[];
  newUndated: number;
  newItems?: number | undefined;
  /** What the body asks for, else what it asked for last; and what the response asks for. */
  bodyFloorSeconds: number | null;
  maxAgeSeconds: number | null;
};

/** Learns from a poll and says when the next one is due. */
export function decidePoll(input: PollInput, random?: () => number): PollDecision {
  const { known, nowMs, intervalSeconds, multiplier, pushed, bounds } = input;
  const news = { nowMs, dates: input.dates, undated: input.newUndated, newItems: input.newItems };
  const learnt = learnRhythm(known, news, input.overwrites === true);
  // Both what it weighs and when it is due depend on it.
  const outlook = learnt === null ? undefined : lookAhead(learnt, nowMs);
  const plan: PollPlan = {
    nowMs,
    intervalSeconds,
    multiplier,
    pushed,
    bounds,
    rhythm: input.adaptive ? (learnt ?? known) : null,
    outlook,
    floorSeconds: Math.max(input.bodyFloorSeconds ?? 0, input.maxAgeSeconds ?? 0),
  };
  return {
    dueInMs: decideNextPoll(plan, random),
    learnt,
    weight: learnt === null ? null : decideWeight(plan, learnt, outlook),
  };
}

/** Changes the row's item as a poll says, which the settle stores. */
export function schedulePoll(item: SettleItem, news: PollNews, facts: PollFacts): void {
  const { channel, nowMs, multiplier } = facts;
  const { intervalSeconds, pushed } = channel;
  const { dueInMs, learnt, weight } = decidePoll({
    nowMs,
    intervalSeconds,
    multiplier,
    pushed,
    known: parseRhythm(channel.rhythm),
    adaptive: facts.adaptive,
    dates: news.dates,
    newUndated: facts.newUndated,
    // What a hub has pushed is known when the poll comes, and was published all the same.
    newItems: pushed ? undefined : facts.newItems,
    bodyFloorSeconds: news.bodyFloorSeconds ?? channel.floorSeconds,
    maxAgeSeconds: news.maxAgeSeconds,
  });
  item.dueInMs = dueInMs;
  if (item.channel === undefined) return;
  if (news.bodyFloorSeconds !== null) item.channel.floorSeconds = news.bodyFloorSeconds;
  if (learnt === null || weight === null) return;
  item.channel.rhythm = packRhythm(learnt);
  item.channel.weight = weight;
}
