import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDiscovery } from '../../src/channels/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { searchDocuments } from '../../src/documents/index.ts';
import { type Engine, startEngine } from '../../src/engine.ts';
import { createSource } from '../../src/sources/index.ts';
import { createLog } from '../../src/telemetry/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import {
  type ArticleTruth,
  findForbiddenRequests,
  findPolitenessViolations,
  findRepeatedFetches,
  type PublisherChange,
  productToken,
  startWeb,
  type Web,
} from '../web/index.ts';
import {
  hashOf,
  hasRetries,
  isQuiet,
  type Known,
  listedIn,
  loadBalances,
  loadKnown,
  makeDue,
} from './crawl-state.ts';
import { waitUntil } from './wait.ts';

const delayMs = 100;
const usual = ['/search', '/login', '/private/'];
const backlog = 14;

// By position, which also chooses the kind of channel: feeds of every format, sitemaps of every kind, links only.
const changes: PublisherChange[] = [
  {
    language: 'en',
    forbiddenSection: 'politics',
    robots: { disallow: ['/politics/', ...usual], allow: [], crawlDelayS: 0 },
    urlStyle: 'section',
    // The first look at the feed meets a hiccup.
    faults: [{ name: 'status', on: ['feed'], options: { status: 503 }, untilRequest: 1 }],
  },
  { faults: [{ name: 'slow', options: { delayMs: 150 } }] },
  { faults: [{ name: 'status', on: ['article'], share: 0.3, options: { status: 404 } }] },
  { duplicates: true },
  { faults: [{ name: 'too-many', options: { retryAfter: '1' }, fromRequest: 5, untilRequest: 7 }] },
  {},
  { faults: [{ name: 'flaky', on: ['article'], options: { status: 503, rate: 0.2 } }] },
  { syndicates: true },
  { faults: [{ name: 'forbidden', on: ['article'], share: 0.2 }] },
  {},
  // A catalogue to be found by links alone; the seed would make it forty pages deep.
  { backlog, language: 'en', urlStyle: 'dated' },
  { faults: [{ name: 'redirect-chain', share: 0.4, options: { hops: 2, status: 301 } }] },
  {},
  { faults: [{ name: 'soft-404', share: 0.3 }] },
  { robots: { disallow: usual, allow: [], crawlDelayS: 1 }, backlog: 6 },
  { faults: [{ name: 'js-only', share: 0.4 }] },
  { faults: [{ name: 'login-wall', share: 0.2 }] },
  { faults: [{ name: 'redirect-away', share: 0.3 }] },
  { faults: [{ name: 'redirect-loop', share: 0.3 }] },
  { faults: [{ name: 'truncated', on: ['article'], share: 0.2 }] },
  { faults: [{ name: 'status', on: ['article'], share: 0.2, options: { status: 500 } }] },
  { faults: [{ name: 'challenge', share: 0.2 }] },
  { faults: [{ name: 'too-short', share: 0.3 }] },
  { faults: [{ name: 'status', on: ['robots'], options: { status: 503 } }] },
];
const withoutRobots = changes.length - 1;

let dir: string;
let database: TestDatabase;
let web: Web;
let engine: Engine;

async function crawl(): Promise<void> {
  await waitUntil('everything due is done', () => isQuiet(database.pool));
  // Retries wait for minutes; two rounds are all that maxTries allows.
  for (let round = 0; round < 2; round += 1) {
    if (!(await hasRetries(database.pool))) break;
    // A poll goes first: without a good answer in between, retries alone would open a domain's circuit.
    await makeDue(database.pool, 'polls', 'retries');
    await waitUntil('the retries are done', () => isQuiet(database.pool));
  }
}

async function pollAgain(): Promise<void> {
  await makeDue(database.pool, 'polls');
  await crawl();
}

async function channelTotals(): Promise<{ polls: number; unchanged: number; failing: number }> {
  const result = await database.pool.query<{ polls: number; unchanged: number; failing: number }>(
    `SELECT sum(polls)::integer AS polls, sum(not_modified)::integer AS unchanged, max(errors_in_row) AS failing FROM channel_state`,
  );
  return result.rows[0]!;
}

async function channelUrls(): Promise<Set<string>> {
  const result = await database.pool.query<{ url: string }>('SELECT url FROM channels');
  return new Set(result.rows.map((row) => row.url));
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'outrider-e2e-'));
  database = await createTestDatabase();
  web = await startWeb({
    seed: 11,
    publishers: changes.length,
    changes: changes.map((change) => ({ backlog, ratePerDay: 20, ...change })),
    startMs: Date.parse('2024-06-05T12:00:00Z'),
    speed: 0,
  });
  const hostsFile = join(dir, 'hosts');
  await web.writeHostsFile(hostsFile);
  const { config } = loadConfig({
    env: {},
    overrides: {
      'database.url': database.url,
      'render.enabled': 'off',
      'fetch.hosts_file': hostsFile,
      'fetch.allow_networks': [`127.0.0.0/8:${web.port}`],
      'fetch.default_delay_ms': delayMs,
      'fetch.max_tries': 3,
      // The web's time stands still in the past, so that a run is the same on every day.
      'polling.sitemap_max_age_hours': 87_600,
    },
  });
  for (const { host } of web.publishers) {
    const { source } = await createSource(database.pool, { url: `http://${host}/` });
    await startDiscovery(database.pool, source.id);
  }
  const log = createLog({ level: 'error', format: 'json' });
  engine = await startEngine({ config, roles: ['fetch', 'schedule'], version: '0.0.0-test', log });
  await crawl();
});
afterAll(async () => {
  await engine?.stop();
  await web?.close();
  await database?.drop();
  rmSync(dir, { recursive: true, force: true });
});

test('requests are counted under the word that the crawl log has for them', async () => {
  const logged = await database.pool.query<{ outcome: string; n: number }>(
    'SELECT outcome, count(*)::integer AS n FROM crawl_log GROUP BY outcome',
  );
  const { values } = await engine.metrics.requests.get();
  expect(Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]))).toEqual(
    Object.fromEntries(logged.rows.map(({ outcome, n }) => [outcome, n])),
  );
});

/** Why a row is not what the truth expects; null when it is. */
function complaint(article: ArticleTruth, known: Known | undefined): string | null {
  if (known === undefined) return 'has no row';
  const seen = `is ${known.status} ${known.reason ?? ''} ${known.redirectedTo ?? ''}`;
  const { expected } = article;
  const fits = ((): boolean => {
    switch (expected.outcome) {
      case 'document':
        // Of two addresses with one text the first that is fetched has the document.
        return known.status === 'duplicate' || (known.status === 'fetched' && known.text !== null);
      case 'duplicate':
        return known.status === 'duplicate' || (known.status === 'fetched' && known.text !== null);
      case 'robots_blocked':
        return known.status === 'dead' && known.reason === 'robots_blocked';
      case 'needs_render':
        return known.status === 'needs_render';
      case 'redirected':
        return (
          known.status === 'redirected' &&
          (expected.to === undefined || hashOf(known.redirectedTo!) === hashOf(expected.to))
        );
      case 'dead':
        return known.status === 'dead' && known.reason === expected.reason;
    }
  })();
  return fits ? null : `${seen}, expected ${JSON.stringify(expected)}`;
}

const fold = (text: string): string => text.replace(/\s+/g, ' ').trim();

describe('a crawl of a whole web', () => {
  test('channels of every kind are found, and links are followed where there are none', async () => {
    const channels = await channelUrls();
    const without = web
      .groundTruth()
      .filter(({ feeds, sitemaps }) => [...feeds, ...sitemaps].every((url) => !channels.has(url)));
    const spiders = await database.pool.query<{ url: string }>(
      `SELECT url FROM sources WHERE ingestion_mode = 'spider'`,
    );
    // A publisher that cannot be read at all is no reason to follow links: it is said, and looked for again later.
    expect(spiders.rows.map((row) => new URL(row.url).host).sort()).toEqual(
      without
        .map((one) => one.host)
        .filter((host) => host !== web.publishers[withoutRobots]!.host)
        .sort(),
    );
    expect(without.map((one) => one.host).sort()).toEqual(
      web.publishers
        .filter(
          (one, index) => index === withoutRobots || (one.feeds.length === 0 && one.sitemaps.length === 0),
        )
        .map((one) => one.host)
        .sort(),
    );
  });

  test('every listed article has one row with the outcome the web says it must have', async () => {
    const known = await loadKnown(database.pool);
    const listed = listedIn(web.groundTruth(), await channelUrls());
    expect(listed.length).toBeGreaterThan(200);
    const wrong = listed.flatMap((article) => {
      const why = complaint(article, known.get(hashOf(article.url)));
      return why === null ? [] : [`${article.url} ${why}`];
    });
    expect(wrong).toEqual([]);
    const outcomes = new Set(listed.map(({ expected }) => expected.outcome));
    expect([...outcomes].sort()).toEqual([
      'dead',
      'document',
      'duplicate',
      'needs_render',
      'redirected',
      'robots_blocked',
    ]);
  });

  test('of the addresses of one text exactly one has the document', async () => {
    const known = await loadKnown(database.pool);
    const groups = new Map<string, ArticleTruth[]>();
    for (const article of listedIn(web.groundTruth(), await channelUrls())) {
      if (article.expected.outcome !== 'document' && article.expected.outcome !== 'duplicate') continue;
      const group = groups.get(article.canonicalUrl) ?? [];
      groups.set(article.canonicalUrl, [...group, article]);
    }
    const wrong = [...groups.values()].filter(
      (group) => group.filter((one) => known.get(hashOf(one.url))?.status === 'fetched').length !== 1,
    );
    expect(wrong.map((group) => group.map((one) => one.url))).toEqual([]);
    expect([...groups.values()].some((group) => group.length > 1)).toBe(true);
  });

  test('documents say what the articles say', async () => {
    const known = await loadKnown(database.pool);
    const pairs = listedIn(web.groundTruth(), await channelUrls()).flatMap((article) => {
      const document = known.get(hashOf(article.url));
      return article.readable && document?.text != null ? [{ article, document, text: document.text }] : [];
    });
    const shareOf = (what: string, holds: (pair: (typeof pairs)[number]) => boolean): number => {
      const bad = pairs.filter((pair) => !holds(pair));
      const share = 1 - bad.length / pairs.length;
      console.log(`${what}: ${(share * 100).toFixed(1)} % of ${pairs.length}`);
      for (const { article } of bad.slice(0, 3)) console.log(`  not ${article.url}`);
      return share;
    };
    expect(pairs.length).toBeGreaterThan(150);
    expect(
      shareOf('titles equal', ({ article, document }) => fold(document.title ?? '') === fold(article.title)),
    ).toBeGreaterThanOrEqual(0.95);
    expect(
      shareOf('texts hold nine tenths of the words', ({ article, text }) => {
        const parts = article.text.split('\n\n');
        const held = parts.filter((part) => fold(text).includes(fold(part)));
        return held.join('').length >= 0.9 * parts.join('').length;
      }),
    ).toBeGreaterThanOrEqual(0.75);
    expect(
      shareOf(
        'texts at most a third longer',
        ({ article, text }) => text.length < article.text.length * 1.34,
      ),
    ).toBeGreaterThanOrEqual(0.95);
    expect(
      shareOf(
        'dates within a day',
        ({ article, document }) =>
          Math.abs((document.publishedAt?.getTime() ?? 0) - article.publishedMs) < 86_400_000,
      ),
    ).toBeGreaterThanOrEqual(0.95);
    expect(
      shareOf('languages', ({ article, document }) => document.language === article.language),
    ).toBeGreaterThanOrEqual(0.95);
  });

  test('articles that only links lead to are found and stored', async () => {
    const known = await loadKnown(database.pool);
    const [spidered] = web.groundTruth(web.publishers[10]!.domain);
    const found = spidered!.articles.filter(
      (article) => known.get(hashOf(article.url))?.status === 'fetched',
    );
    expect(found.length).toBeGreaterThanOrEqual(Math.floor(spidered!.articles.length * 0.9));
  });

  test('a search finds a document by the words of its title', async () => {
    const known = await loadKnown(database.pool);
    const [one] = [...known.values()].filter((row) => row.language === 'en' && row.title !== null);
    const { hits } = await searchDocuments(database.pool, one!.title!, { limit: 20 });
    expect(hits.map((hit) => hit.title)).toContain(one!.title);
  });

  test('a second poll is conditional where that is possible, and brings nothing new', async () => {
    const since = web.log.nextSeq;
    const before = await loadKnown(database.pool);
    const totals = await channelTotals();
    const channels = await database.pool.query<{ url: string; validated: boolean }>(
      `SELECT c.url, coalesce(f.etag, f.last_modified) IS NOT NULL AS validated
         FROM channels c JOIN url_frontier f USING (bucket, domain_key, url_hash)`,
    );
    await pollAgain();
    const requests = new Map(web.log.read(since).map((one) => [`http://${one.host}${one.path}`, one]));
    for (const { url, validated } of channels.rows)
      expect([url, requests.get(url)]).toMatchObject([
        url,
        { status: validated ? 304 : 200, conditional: validated },
      ]);
    expect(channels.rows.filter((one) => one.validated).length).toBeGreaterThan(channels.rows.length / 2);
    const others = [...requests.keys()].filter((url) => !channels.rows.some((one) => one.url === url));
    // An index without validators is read again with the files it names.
    for (const url of others) expect(url).toMatch(/\/sitemap-\d{4}-\d\d\.xml$/);
    expect((await loadKnown(database.pool)).size).toBe(before.size);
    const after = await channelTotals();
    const unchanged = channels.rows.filter((one) => one.validated).length;
    expect(after).toEqual({
      polls: totals.polls + channels.rows.length,
      unchanged: totals.unchanged + unchanged,
      failing: 0,
    });
  });

  test('new articles are found by the next poll and nothing else is fetched', async () => {
    const since = web.log.nextSeq;
    const fresh = web.publishers.slice(0, 8).flatMap(({ domain }) => web.publish(domain, 2));
    await pollAgain();
    const known = await loadKnown(database.pool);
    const truth = new Map(web.groundTruth().flatMap(({ articles }) => articles.map((one) => [one.url, one])));
    const wrong = fresh.flatMap((url) => {
      const why = complaint(truth.get(url)!, known.get(hashOf(url)));
      return why === null ? [] : [`${url} ${why}`];
    });
    expect(wrong).toEqual([]);
    const wanted = new Set(fresh.map(hashOf));
    const others = web.log
      .read(since)
      .map((one) => `http://${one.host}${one.path}`)
      .filter((url) => truth.has(url) && !wanted.has(hashOf(url)));
    expect(others).toEqual([]);
  });
});

describe('after all of it', () => {
  test('no request came too early', () => {
    const crawlDelays = new Map(web.publishers.map((one) => [one.domain, one.robots.crawlDelayS * 1000]));
    const violations = findPolitenessViolations(web.log.read(), {
      delayMs: (domain) => Math.max(delayMs, crawlDelays.get(domain) ?? 0),
    });
    expect(violations).toEqual([]);
  });

  test('no request went against robots.txt, or before it was known', () => {
    const log = web.log.read();
    expect(findForbiddenRequests(log, { publishers: web.publishers, token: productToken })).toEqual([]);
    const silent = web.publishers[withoutRobots]!;
    const asked = log.filter((one) => silent.hosts.includes(one.host)).map((one) => one.path);
    expect(new Set(asked)).toEqual(new Set(['/robots.txt']));
  });

  test('no article was fetched twice but for counted retries', () => {
    const truth = new Map(web.groundTruth().flatMap(({ articles }) => articles.map((one) => [one.url, one])));
    const repeated = findRepeatedFetches(web.log.read(), {
      isArticle: (host, path) => {
        const expected = truth.get(`http://${host}${path}`)?.expected;
        return expected !== undefined && expected.outcome !== 'dead';
      },
    });
    expect(repeated).toEqual([]);
  });

  test('all counts agree and nothing is held', async () => {
    for (const [what, one, other] of await loadBalances(database.pool))
      expect([what, one]).toEqual([what, other]);
    expect(await isQuiet(database.pool)).toBe(true);
  });
});
