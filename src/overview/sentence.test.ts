import { expect, test } from 'vitest';
import { switchNames } from '../switches/index.ts';
import { decideAttention } from './attention.ts';
import type { OverviewFacts } from './facts.ts';
import { describeOverview } from './sentence.ts';

const now = new Date('2031-05-01T12:00:00Z');
const exact = (count: number) => ({ count, exact: true });

type Change = {
  counts?: Partial<OverviewFacts['counts']>;
  fetchedPerMinute?: number;
  backlogPerMinute?: number | null;
  processes?: Partial<OverviewFacts['processes']>;
  off?: string;
  rendering?: Partial<OverviewFacts['rendering']>;
};

/** An engine at work, changed. */
function facts(change: Change = {}): OverviewFacts {
  return {
    counts: {
      sources: exact(5),
      failingChannels: exact(0),
      blockedDomains: exact(0),
      unreachableDomains: exact(0),
      failedJobs: exact(0),
      deadUrls: 0,
      pendingUrls: 1800,
      fetchingDomains: 31,
      fetchingUrls: 60,
      documents: exact(1),
      deadLetters: exact(0),
      ...change.counts,
    },
    flow: {
      seconds: 300,
      discoveredPerMinute: 0,
      fetchedPerMinute: change.fetchedPerMinute ?? 252,
      documentsPerMinute: 0,
      deliveredPerMinute: null,
      sinks: 1,
      exits: {
        known: 0,
        rejected: 0,
        robotsDenied: 0,
        redirected: 0,
        duplicate: 0,
        failed: 0,
        dead: 0,
        needsRender: 0,
        unchanged: 0,
      },
    },
    trend: {
      backlogPerMinute: change.backlogPerMinute === undefined ? -10 : change.backlogPerMinute,
      diedToday: 0,
      fetchedToday: 0,
    },
    processes: {
      fetchers: 2,
      schedulers: 1,
      away: 0,
      failingLoops: [],
      restarted: [],
      databaseRestartedAt: null,
      nextAt: now,
      now,
      ...change.processes,
    },
    switches: switchNames.map((name) => ({
      name,
      on: name !== change.off,
      changedAt: null,
      changedBy: null,
    })),
    rendering: { waiting: 0, groups: [], ...change.rendering },
    failingChannels: [],
    emptySources: [],
    heldDomains: [],
    openCircuits: [],
    sinks: [],
    jobs: { failed: [], failedCount: exact(0), lowSuccess: null, staleLocks: null, unevenness: null },
  };
}

const soon = new Date(now.getTime() + 240_000);
const quiet = { fetchingDomains: 0, fetchingUrls: 0 };

test.each<[string, Change]>([
  ['No sources yet. Add the first one.', { counts: { sources: exact(0), pendingUrls: 0, ...quiet } }],
  [
    'No sources yet. Add the first one.',
    { counts: { sources: exact(0), pendingUrls: 0 }, processes: { fetchers: 0 } },
  ],
  ['4.2 pages/s from 31 domains; queue empties in about 3 h.', {}],
  [
    '4.2 pages/s from 31 domains; 2 channels failing; queue empties in about 3 h.',
    { counts: { failingChannels: exact(2) } },
  ],
  [
    '4.2 pages/s from 31 domains; 1,000+ channels failing; queue empties in about 3 h.',
    { counts: { failingChannels: { count: 1000, exact: false } } },
  ],
  [
    '12 pages/min from 1 domain; the queue is empty.',
    { fetchedPerMinute: 12, counts: { fetchingDomains: 1, pendingUrls: 0 } },
  ],
  ['4.2 pages/s from 31 domains; queue of 1,800 grows by about 30 URLs/min.', { backlogPerMinute: 30 }],
  ['4.2 pages/s from 31 domains; queue of 1,800 neither grows nor shrinks.', { backlogPerMinute: 0.1 }],
  ['4.2 pages/s from 31 domains; queue of 1,800 neither grows nor shrinks.', { backlogPerMinute: -0.001 }],
  ['4.2 pages/s from 31 domains; 1,800 URLs wait.', { backlogPerMinute: null }],
  [
    '4.2 pages/s from 31 domains; queue empties in a moment.',
    { backlogPerMinute: -100, counts: { pendingUrls: 5 } },
  ],
  [
    'Fetching from 31 domains, no page in the last 5 min; 1,800 URLs wait.',
    { fetchedPerMinute: 0, backlogPerMinute: null },
  ],
  [
    'No page fetched in the last 5 min; queue empties in about 3 h.',
    { fetchedPerMinute: 0, counts: { fetchingDomains: 0 } },
  ],
  [
    'Nothing to fetch now; next fetch in 4 min.',
    { counts: { ...quiet, pendingUrls: 0 }, processes: { nextAt: soon } },
  ],
  [
    'Nothing to fetch now; next fetch in 4 min; 1 channel failing.',
    { counts: { ...quiet, pendingUrls: 0, failingChannels: exact(1) }, processes: { nextAt: soon } },
  ],
  [
    'Nothing to fetch now; next fetch in a moment.',
    {
      counts: { ...quiet, pendingUrls: 0 },
      processes: { nextAt: new Date(now.getTime() + 400) },
    },
  ],
  ['Nothing to fetch now.', { counts: { ...quiet, pendingUrls: 0 }, processes: { nextAt: null } }],
  [
    'Nothing may be fetched now; 1 URL waits; next fetch in 4 min.',
    { counts: { ...quiet, pendingUrls: 1 }, processes: { nextAt: soon } },
  ],
  ['No fetcher is alive; 1,800 URLs wait.', { processes: { fetchers: 0 } }],
  ['No fetcher is alive.', { processes: { fetchers: 0 }, counts: { pendingUrls: 0 } }],
  ['No fetcher reaches the network; 1,800 URLs wait.', { processes: { away: 2 } }],
  ['Fetching is switched off; 1,800 URLs wait.', { off: 'fetching' }],
  ['4.2 pages/s from 31 domains; queue empties in about 3 h.', { off: 'spider' }],
])('%s', (sentence, change) => {
  expect(describeOverview(facts(change))).toBe(sentence);
});

test.each([
  [null, 'it is tried again now'],
  [-5000, 'it is tried again now'],
  // Less than a second was "in 0 s".
  [300, 'it is tried again now'],
  [4000, 'it is tried again in 4 s'],
])('a circuit that ends in %s ms tells that %s', (inMs, words) => {
  const nextAt = inMs === null ? null : new Date(now.getTime() + inMs);
  const openCircuits = [{ name: 'shy.test', queued: 13, nextAt, all: 1 }];
  const told = decideAttention({ ...facts({}), openCircuits }).map(({ sentence }) => sentence);
  expect(told).toContain(`shy.test refused us again and again; ${words}, and 13 URLs wait.`);
});
