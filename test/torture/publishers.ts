import type { PublisherChange } from '../web/index.ts';

/** What is wrong with publishers by position; the others are well. */
const troubles = (trapPort: number): Readonly<Record<number, PublisherChange>> => ({
  1: { faults: [{ name: 'slow', options: { delayMs: 400 } }] },
  // Articles that are read over several pages, and broken off in the middle.
  2: { articleParts: 3 },
  3: { faults: [{ name: 'redirect-chain', share: 0.3, options: { hops: 2, status: 301 } }] },
  4: { duplicates: true },
  6: { faults: [{ name: 'status', on: ['article'], share: 0.3, options: { status: 404 } }] },
  7: { articleParts: 2, faults: [{ name: 'flaky', options: { status: 503, rate: 0.1 } }] },
  8: { faults: [{ name: 'too-many', options: { retryAfter: '1' }, fromRequest: 8, untilRequest: 10 }] },
  9: { robots: { disallow: ['/search', '/login', '/private/'], allow: [], crawlDelayS: 1 } },
  11: { faults: [{ name: 'flaky', options: { status: 503, rate: 0.1 } }] },
  13: {
    language: 'en',
    forbiddenSection: 'politics',
    robots: { disallow: ['/politics/', '/search', '/login', '/private/'], allow: [], crawlDelayS: 0 },
  },
  // Lead where nobody may go.
  14: {
    faults: [
      { name: 'redirect-private', share: 0.3, options: { to: `http://127.0.0.1:${trapPort}/inside` } },
    ],
  },
  16: { faults: [{ name: 'slow', options: { delayMs: 200 } }] },
  18: { faults: [{ name: 'soft-404', share: 0.2 }] },
  19: { faults: [{ name: 'gzip-bomb', share: 0.05 }] },
  21: { faults: [{ name: 'drip', share: 0.05 }] },
});

/** Publishers of every kind, some of them with troubles that stay. */
export function tortured(options: { seed: number; publishers: number; trapPort: number; backlog?: number }): {
  seed: number;
  publishers: number;
  changes: PublisherChange[];
} {
  const { seed, publishers, trapPort, backlog = 25 } = options;
  const wrong = troubles(trapPort);
  return {
    seed,
    publishers,
    changes: Array.from({ length: publishers }, (_, index) => ({
      backlog,
      ratePerDay: 20,
      // Catalogues of hundreds of pages belong to the tests of discovery.
      ...(index % 17 === 10 ? { archives: false } : {}),
      ...wrong[index],
    })),
  };
}
