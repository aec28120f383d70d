import {
  type Channel,
  decideNextPoll,
  decideWeight,
  learnRhythm,
  packRhythm,
  parseRhythm,
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
  adaptive: boolean;
  multiplier: number | null;
};

/** Learns from a poll and says when the next one is due; changes the row's item, which the settle stores. */
export function schedulePoll(item: SettleItem, news: PollNews, facts: PollFacts): void {
  const { channel, nowMs, multiplier } = facts;
  const { intervalSeconds } = channel;
  const known = parseRhythm(channel.rhythm);
  const learnt = learnRhythm(known, { nowMs, dates: news.dates, undated: facts.newUndated });
  const bodyFloor = news.bodyFloorSeconds ?? channel.floorSeconds;
  item.dueInMs = decideNextPoll({
    nowMs,
    intervalSeconds,
    rhythm: facts.adaptive ? (learnt ?? known) : null,
    multiplier,
    floorSeconds: Math.max(bodyFloor ?? 0, news.maxAgeSeconds ?? 0),
    pushed: channel.pushed,
  });
  if (item.channel === undefined) return;
  if (news.bodyFloorSeconds !== null) item.channel.floorSeconds = news.bodyFloorSeconds;
  if (learnt === null) return;
  item.channel.rhythm = packRhythm(learnt);
  item.channel.weight = decideWeight({ nowMs, intervalSeconds, multiplier }, learnt);
}
