import type { Queryable } from '../db/index.ts';
import { loadSources } from '../sources/index.ts';
import { loadSwitches } from '../switches/index.ts';
import type { Channel } from './channels.ts';
import { decideNextPoll } from './schedule/next-poll.ts';
import { loadMultipliers, parseRhythm } from './schedule/stored.ts';

/** Whose a channel is, and how often it is polled now. */
export type Pace = {
  sourceSlug: string;
  sourceName: string;
  /** Seconds between polls as things stand: what was learnt, what its publisher asks for and its hub are counted in. */
  paceSeconds: number;
};

// Halfway: the same for everybody who asks.
const noJitter = (): number => 0.5;

/** The paces of channels by their number, decided as after a poll at this moment. Index: sources_pkey. */
export async function loadPaces(
  db: Queryable,
  channels: readonly Channel[],
  nowMs: number,
): Promise<ReadonlyMap<number, Pace>> {
  if (channels.length === 0) return new Map();
  const sources = await loadSources(db, [...new Set(channels.map((one) => one.sourceId))]);
  const byId = new Map(sources.map((one) => [one.id, one]));
  const multipliers = await loadMultipliers(db);
  const { adaptive_intervals: isAdaptive } = await loadSwitches(db);
  const paces = new Map<number, Pace>();
  for (const channel of channels) {
    const source = byId.get(channel.sourceId);
    // Deleted since, and its channels with it.
    if (source === undefined) continue;
    const { intervalSeconds, floorSeconds, pushed } = channel;
    const rhythm = isAdaptive && source.settings.fixedInterval !== true ? parseRhythm(channel.rhythm) : null;
    const multiplier = multipliers[String(intervalSeconds)] ?? null;
    const paceMs = decideNextPoll(
      { nowMs, intervalSeconds, rhythm, multiplier, floorSeconds, pushed },
      noJitter,
    );
    paces.set(channel.id, {
      sourceSlug: source.slug,
      sourceName: source.name,
      paceSeconds: Math.round(paceMs / 1000),
    });
  }
  return paces;
}
