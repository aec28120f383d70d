import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createChannel } from '../../src/channels/index.ts';
import { destroyServer } from '../../src/db/embedded/index.ts';
import { type Database, openDatabase } from '../../src/db/index.ts';
import { findSlotProblems, submit } from '../../src/frontier/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { Outrider } from '../process/outrider.ts';
import { findPolitenessViolations, startWeb, type Web } from '../web/index.ts';
import { killPoints, reach } from './kill-points.ts';
import { seeded } from './seeded.ts';
import { waitUntil } from './wait.ts';

// BUDGET_SEED=… repeats the choice of victims of a run that failed.
const seed = Number(process.env.BUDGET_SEED ?? randomInt(1, 2 ** 31));
const publishers = 50;
const budget = 8;
const fetchers = 8;
const delayMs = 100;
const kills = 6;

let home: string;
let web: Web;
let database: Database;
const running = new Set<Outrider>();

function startFetcher(): Outrider {
  const one = new Outrider(['fetch', '--data', join(home, 'data')], {
    home,
    env: {
      OUTRIDER_FETCH_HOSTS_FILE: join(home, 'hosts'),
      OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${web.port}`,
      OUTRIDER_FETCH_DEFAULT_DELAY_MS: String(delayMs),
      OUTRIDER_FETCH_NETWORK_GAP_MS: '0',
      OUTRIDER_FETCH_LEASE_SECONDS: '5',
      OUTRIDER_FETCH_DOMAINS_AT_ONCE: '10',
      OUTRIDER_DOMAINS_MAX_PAGES_PER_RUN: String(budget),
      OUTRIDER_DATABASE_CONNECTIONS: '3',
      LOG_LEVEL: 'warn',
    },
  });
  running.add(one);
  return one;
}

/** Pages of each publisher that were asked for, by path, in the access log. */
function pagesAsked(since = 0): Map<string, Set<string>> {
  const asked = new Map<string, Set<string>>(web.publishers.map((one) => [one.domain, new Set()]));
  const domains = new Map(web.publishers.flatMap((one) => one.hosts.map((host) => [host, one] as const)));
  for (const { host, path } of web.log.read(since)) {
    const publisher = domains.get(host)!;
    const isChannel = publisher.feeds.some((feed) => feed.path === path);
    if (path !== '/robots.txt' && !isChannel) asked.get(publisher.domain)!.add(path);
  }
  return asked;
}

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-budgets-'));
  web = await startWeb({
    seed: 41,
    publishers,
    changes: Array.from({ length: publishers }, () => ({
      backlog: 20,
      ratePerDay: 1,
      language: 'en',
      urlStyle: 'dated',
      robots: { disallow: [], allow: [], crawlDelayS: 0 },
      faults: [],
      duplicates: false,
      syndicates: false,
    })),
    startMs: Date.parse('2024-06-05T12:00:00Z'),
    speed: 0,
  });
  await web.writeHostsFile(join(home, 'hosts'));
  database = await openDatabase({ dataDir: join(home, 'data'), maxConnections: 3 });
  for (const { domain, host } of web.publishers) {
    const { source } = await createSource(database.pool, { url: `http://${host}/` });
    await submit(
      database.pool,
      web.groundTruth(domain)[0]!.articles.map(({ url }) => ({
        url,
        kind: 'article' as const,
        origin: 'spider' as const,
        sourceId: source.id,
        priority: 5,
        own: true,
      })),
    );
  }
});
afterAll(async () => {
  for (const one of running) await one.stop('SIGKILL');
  await web?.close();
  await database?.close();
  await destroyServer(join(home, 'data'));
  rmSync(home, { recursive: true, force: true });
});

test('eight fetchers, killed on the way, use each of fifty budgets up and exceed none', async () => {
  console.log(`BUDGET_SEED=${seed}`);
  const between = seeded(seed);
  const crew = Array.from({ length: fetchers }, () => startFetcher());
  for (const point of killPoints(between, { kills, certain: publishers * budget })) {
    await reach(web, point);
    const which = between(0, fetchers - 1);
    running.delete(crew[which]!);
    await crew[which]!.stop('SIGKILL');
    crew[which] = startFetcher();
  }
  await waitUntil(
    'all budgets are used',
    async () => {
      const left = await database.pool.query<{ open: number }>(
        `SELECT count(*)::integer AS open FROM domain_slots WHERE lease_owner IS NOT NULL OR budget_left IS DISTINCT FROM 0`,
      );
      return left.rows[0]!.open === 0 || `${left.rows[0]!.open} are not`;
    },
    90_000,
  );
  const counts = [...pagesAsked().values()].map((paths) => paths.size);
  expect(Math.max(...counts)).toBeLessThanOrEqual(budget);
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
  const runs = await database.pool.query<{ runs: number; pages: number; most: number }>(
    `SELECT count(*)::integer AS runs, sum(pages)::integer AS pages, max(pages) AS most FROM domain_runs`,
  );
  expect(runs.rows[0]).toEqual({ runs: publishers, pages: publishers * budget, most: budget });
}, 180_000);

test('feeds of domains whose budget is used are polled, and what they bring is fetched', async () => {
  const withFeed = web.publishers.filter((one) => one.feeds.length > 0).slice(0, 5);
  const since = web.log.nextSeq;
  for (const { domain, host, feeds } of withFeed) {
    web.publish(domain, 1);
    const source = await database.pool.query<{ id: number }>('SELECT id FROM sources WHERE url = $1', [
      `http://${host}/`,
    ]);
    await createChannel(database.pool, {
      sourceId: source.rows[0]!.id,
      kind: 'feed',
      url: `http://${host}${feeds[0]!.path}`,
      intervalSeconds: 900,
      foundBy: 'manual',
    });
  }
  await waitUntil('every feed is polled', async () => {
    const polled = await database.pool.query('SELECT FROM channel_state WHERE last_success_at IS NOT NULL');
    return polled.rowCount === withFeed.length || `${polled.rowCount} are`;
  });
  await waitUntil('what they list is fetched', () => {
    const asked = pagesAsked(since);
    const left = withFeed.filter(({ domain }) => asked.get(domain)!.size === 0);
    return left.length === 0 || left.map((one) => one.domain).join();
  });
}, 120_000);

test('after it all the counters are what the log says, and nobody came early', async () => {
  for (const one of running) expect((await one.stop('SIGTERM')).code, one.stderr).toBe(0);
  const wrong = await database.pool.query(
    `SELECT d.name, d.pages_crawled, l.pages, d.errors_total, l.errors, d.documents, x.documents AS stored FROM domains d
       JOIN LATERAL (SELECT count(*) FILTER (WHERE log_is_page(kind, outcome, status)) AS pages,
                            count(*) FILTER (WHERE log_is_error(kind, outcome, status)) AS errors
                       FROM crawl_log l WHERE l.bucket = d.bucket AND l.domain_key = d.domain_key AND NOT l.stale) l ON true
       JOIN LATERAL (SELECT count(*) AS documents FROM documents x WHERE x.bucket = d.bucket AND x.domain_key = d.domain_key) x ON true
      WHERE (d.pages_crawled, d.errors_total, d.documents) IS DISTINCT FROM (l.pages, l.errors, x.documents)`,
  );
  expect(wrong.rows).toEqual([]);
  expect(await findSlotProblems(database.pool)).toEqual([]);
  expect(findPolitenessViolations(web.log.read(), { delayMs: () => delayMs })).toEqual([]);
});
