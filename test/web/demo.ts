import { makePublishers, type PublisherChange } from './profiles.ts';
import type { Publisher } from './publisher.ts';

const usual = ['/search', '/login', '/private/'];
const usualBacklog = 30;
/** Nobody watches a demo for a publisher that writes once a week. */
const leastPerDay = 8;

/**
 * Problems of the demo's publishers by position, so that every outcome can be seen; the others are healthy. The
 * positions matter: they choose the channel kind (profiles) under which the problem shows.
 */
const problems: Readonly<Record<number, PublisherChange>> = {
  1: { faults: [{ name: 'slow', options: { delayMs: 2_500 } }] },
  4: { faults: [{ name: 'too-many', options: { retryAfter: '5' }, fromRequest: 5, untilRequest: 9 }] },
  6: { faults: [{ name: 'flaky', options: { status: 503, rate: 0.2 } }] },
  8: { faults: [{ name: 'forbidden', on: ['article'], share: 0.5 }] },
  11: { faults: [{ name: 'redirect-chain', share: 0.4, options: { hops: 2, status: 301 } }] },
  13: { faults: [{ name: 'soft-404', share: 0.25 }] },
  14: {
    language: 'en',
    forbiddenSection: 'politics',
    robots: { disallow: ['/politics/', ...usual], allow: [], crawlDelayS: 0 },
  },
  16: { robots: { disallow: usual, allow: [], crawlDelayS: 2 } },
  17: { faults: [{ name: 'js-only', share: 0.4 }] },
  18: { faults: [{ name: 'login-wall', share: 0.4 }] },
  19: { duplicates: true },
  20: { faults: [{ name: 'status', on: ['article'], share: 0.2, options: { status: 404 } }] },
  22: { faults: [{ name: 'redirect-away', share: 0.2 }] },
  24: { faults: [{ name: 'challenge', share: 0.2 }] },
  27: { faults: [{ name: 'truncated', on: ['article'], share: 0.1, untilRequest: 5 }] },
  29: { syndicates: true },
  30: { faults: [{ name: 'redirect-loop', share: 0.15 }] },
  33: { faults: [{ name: 'too-short', share: 0.2 }] },
};

/** A friendly mix for the demo: every kind of channel, several languages and a few publishers with problems. */
export function demoPublishers(
  count: number,
  seed: number,
  options: { backlog?: number; pageKb?: number } = {},
): Publisher[] {
  const changes = Array.from({ length: count }, (_, index) => problems[index] ?? {});
  const publishers = makePublishers({ backlog: usualBacklog, ...options, seed, count, changes });
  return publishers.map((one) => ({ ...one, ratePerDay: Math.max(leastPerDay, one.ratePerDay) }));
}
