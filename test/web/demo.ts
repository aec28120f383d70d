import { makePublishers, type PublisherChange } from './profiles.ts';
import type { Publisher } from './publisher.ts';

/** Problems of the demo's publishers, by position; the rest are healthy. */
const problems: Readonly<Record<number, PublisherChange>> = {
  4: { faults: [{ name: 'too-many', options: { retryAfter: '5' }, fromRequest: 5, untilRequest: 8 }] },
  6: { faults: [{ name: 'flaky', options: { status: 503, rate: 0.2 } }] },
  8: { faults: [{ name: 'forbidden', on: ['article'], share: 0.5 }] },
  14: {
    forbiddenSection: 'politics',
    robots: { disallow: ['/politics/', '/search', '/login', '/private/'], allow: [], crawlDelayS: 0 },
    language: 'en',
  },
  16: { robots: { disallow: ['/search', '/login', '/private/'], allow: [], crawlDelayS: 2 } },
};

/** A friendly mix for the demo: every kind of channel, several languages and a few publishers with problems. */
export function demoPublishers(count: number, seed: number): Publisher[] {
  const changes = Array.from({ length: count }, (_, index) => problems[index] ?? {});
  return makePublishers({ seed, count, backlog: 30, changes });
}
