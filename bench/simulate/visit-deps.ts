import type { RefreshOptions } from '../../src/domains/index.ts';
import type { Cooldowns, PollInput } from '../../src/fetch/index.ts';
import type { Answers } from './answers.ts';
import type { Feeds } from './feeds.ts';
import type { Settlement, Tables } from './frontier/index.ts';
import type { Invariants } from './invariants.ts';
import type { Measures } from './measure.ts';
import type { SimulationSettings } from './settings.ts';
import type { Publisher } from './web.ts';

/** What the visits of all leases share. */
export type VisitDeps = {
  tables: Tables;
  publishers: readonly Publisher[];
  feeds: Feeds;
  answers: Answers;
  measures: Measures;
  invariants: Invariants;
  settings: SimulationSettings;
  cooldowns: Cooldowns;
  refresh: RefreshOptions | null;
  maxTries: number;
  random: () => number;
  /** How polls are shared, by interval. */
  multiplierOf: (intervalSeconds: number) => number | null;
};

/** A lease that was worked through: when it ends, what is settled then, and what was found. */
export type Visited = {
  endMs: number;
  settlement: Settlement;
  /** Dates of articles that a poll found, and rows of those it says were edited. */
  found: number[];
  edited: number[];
  polledMs: number;
};

/** The interval that a publisher's channel was given. */
export function intervalOf(publisher: Publisher, settings: SimulationSettings): number {
  const wished = publisher.isSitemap ? settings.sitemapIntervalSeconds : settings.feedIntervalSeconds;
  return wished ?? publisher.intervalSeconds;
}

/** What polls are decided from. One for all of them, filled in each time: they are most of what a run makes. */
export function blankPollInput({ bounds }: SimulationSettings): PollInput {
  return {
    nowMs: Number.NaN,
    intervalSeconds: 0,
    multiplier: null,
    pushed: false,
    bounds,
    known: null,
    overwrites: true,
    adaptive: true,
    dates: [],
    newUndated: 0,
    bodyFloorSeconds: 0,
    maxAgeSeconds: null,
  };
}
