import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createChannel } from '../../src/channels/index.ts';
import { findSlotProblems } from '../../src/frontier/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { Outrider } from '../process/outrider.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import {
  type FaultSpec,
  feed,
  findForbiddenRequests,
  findPolitenessViolations,
  type PublisherChange,
  productToken,
  startWeb,
  type Web,
} from '../web/index.ts';
import { hashOf, isQuiet, loadBalances, loadKnown, makeDue } from './crawl-state.ts';
import { seeded } from './seeded.ts';
import { waitUntil } from './wait.ts';

// CHANNELS_SEED=… repeats the kill points of a run that failed, CHANNELS_PUBLISHERS=500 is the whole web.
const seed = Number(process.env.CHANNELS_SEED ?? randomInt(1, 2 ** 31));
const publishers = Number(process.env.CHANNELS_PUBLISHERS ?? 60);
const delayMs = 100;
const killsPerRound = 2;
const kindsOfPublisher = 17;

const fault = (name: string, more: Partial<FaultSpec> = {}): FaultSpec => ({ name, on: ['feed'], ...more });
/** What befalls a publisher's channels, in turn; most are well, as on the web. */
const fates: readonly PublisherChange[] = [
  {},
  { faults: [fault('moved', { on: ['feed', 'sitemap', 'other'] })] },
  { faults: [fault('feed-html', { on: ['feed', 'sitemap'], untilRequest: 2 })] },
  { faults: [fault('status', { on: ['feed', 'sitemap'], options: { status: 404 }, untilRequest: 2 })] },
  { faults: [fault('flaky', { on: ['feed', 'sitemap'], options: { status: 503, rate: 0.3 } })] },
  { faults: [fault('slow', { on: ['feed', 'article'], options: { delayMs: 150 } })] },
  // The feed has another address, which only the pages name.
  {
    feeds: [feed('rss', '/old', { items: 60 }), feed('rss', '/new', { items: 60 })],
    sitemaps: [],
    faults: [fault('status', { pathPrefix: '/old', options: { status: 410 } })],
  },
];

let home: string;
let database: TestDatabase;
let web: Web;
const running = new Set<Outrider>();
const fetchers: Outrider[] = [];

function start(role: 'fetch' | 'schedule'): Outrider {
  const one = new Outrider([role], {
    home,
    env: {
      DATABASE_URL: database.url,
      OUTRIDER_FETCH_HOSTS_FILE: join(home, 'hosts'),
      OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${web.port}`,
      OUTRIDER_FETCH_DEFAULT_DELAY_MS: String(delayMs),
      OUTRIDER_FETCH_LEASE_SECONDS: '5',
      // The web's time stands still in the past, so that a run is the same on every day.
      OUTRIDER_POLLING_SITEMAP_MAX_AGE_HOURS: '87600',
      LOG_LEVEL: 'error',
    },
  });
  running.add(one);
  return one;
}

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-channels-'));
  database = await createTestDatabase();
  web = await startWeb({
    seed: 41,
    publishers,
    changes: Array.from({ length: publishers }, (_, index) => ({
      backlog: 5,
      ratePerDay: 20,
      // Those that are followed by links alone have no channel to test.
      ...(index % kindsOfPublisher === 10
        ? { feeds: [feed('atom', '/atom.xml', { items: 60 })], archives: false }
        : {}),
      ...fates[index % fates.length],
    })),
    startMs: Date.parse('2024-06-05T12:00:00Z'),
    speed: 0,
  });
  await web.writeHostsFile(join(home, 'hosts'));
  for (const { host, feeds, sitemaps } of web.publishers) {
    const { source } = await createSource(database.pool, { url: `http://${host}/` });
    const common = { sourceId: source.id, foundBy: 'manual', intervalSeconds: 900 } as const;
    for (const { path } of feeds.filter((one) => one.path !== '/new'))
      await createChannel(database.pool, { ...common, kind: 'feed', url: `http://${host}${path}` });
    for (const { path } of sitemaps)
      await createChannel(database.pool, { ...common, kind: 'sitemap', url: `http://${host}${path}` });
  }
});
afterAll(async () => {
  for (const one of running) await one.stop('SIGKILL');
  await web?.close();
  await database?.drop();
  rmSync(home, { recursive: true, force: true });
});

const quiet = (deadlineMs = 90_000): Promise<void> =>
  waitUntil(
    'everything due is done',
    () => isQuiet(database.pool),
    deadlineMs * Math.max(1, publishers / 60),
  );

/** Ends some of the fetchers the hard way while they work, and starts others in their place. */
async function kill(between: (least: number, most: number) => number): Promise<void> {
  for (let nth = 0; nth < killsPerRound; nth += 1) {
    const point = web.log.nextSeq + between(5, publishers);
    // A round may have less to do than that: then it is over.
    await waitUntil(
      `request ${point} is made`,
      async () => web.log.nextSeq >= point || (await isQuiet(database.pool)) === true,
    );
    const which = between(0, fetchers.length - 1);
    const victim = fetchers[which]!;
    running.delete(victim);
    expect((await victim.stop('SIGKILL')).signal).toBe('SIGKILL');
    fetchers[which] = start('fetch');
  }
}

/** Time passes: news appears, and channels and retries are due. */
async function pass(): Promise<void> {
  web.clock.advance(900_000);
  for (const { domain } of web.publishers) web.publish(domain, 1);
  await makeDue(database.pool, 'polls', 'retries');
}

test(
  'four fetchers poll every kind of channel, and are killed on the way',
  async () => {
    console.log(`CHANNELS_SEED=${seed}`);
    const between = seeded(seed);
    start('schedule');
    for (let nth = 0; nth < 4; nth += 1) fetchers.push(start('fetch'));
    await kill(between);
    await quiet();
    for (let round = 0; round < 2; round += 1) {
      await pass();
      await kill(between);
      await quiet();
    }
  },
  400_000 * Math.max(1, publishers / 60),
);

test(
  'each channel is polled once when it is due, by one of the four',
  async () => {
    const channels = await database.pool.query<{ url: string; redirected: boolean }>(
      `SELECT c.url, s.redirects > 0 AS redirected FROM channels c JOIN channel_state s ON s.bucket = c.bucket AND s.channel_id = c.id`,
    );
    expect(channels.rows.length).toBeGreaterThanOrEqual(publishers);
    const since = web.log.nextSeq;
    const startedAt = new Date();
    await pass();
    await quiet();
    const asked = new Map<string, number>();
    for (const { host, path } of web.log.read(since)) {
      const url = `http://${host}${path}`;
      asked.set(url, (asked.get(url) ?? 0) + 1);
    }
    // A search for a lost feed may look at a place that is polled too; it asks in its own name.
    const probes = await database.pool.query<{ url: string }>(
      `SELECT url FROM crawl_log WHERE kind = 'probe' AND at >= $1`,
      [startedAt],
    );
    for (const { url } of probes.rows) asked.set(url, (asked.get(url) ?? 0) - 1);
    for (const { url } of channels.rows) expect([url, asked.get(url)]).toEqual([url, 1]);
  },
  120_000 * Math.max(1, publishers / 60),
);

test('channels whose address changed have the new one', async () => {
  const at = async (path: string): Promise<number> =>
    (await database.pool.query('SELECT FROM channels WHERE url LIKE $1', [`%${path}`])).rowCount ?? 0;
  expect(await at('/old')).toBe(0);
  expect(await at('/new')).toBe(web.publishers.filter((one) => one.feeds[1]?.path === '/new').length);
  const moved = await database.pool.query(
    `SELECT FROM channels WHERE parent_id IS NULL AND url LIKE '%.test/moved/%'`,
  );
  expect(moved.rowCount).toBeGreaterThan(0);
});

async function waits(): Promise<boolean> {
  const result = await database.pool.query<{ waits: boolean }>(
    `SELECT EXISTS (SELECT FROM channel_state WHERE errors_in_row > 0) OR EXISTS (SELECT FROM url_frontier WHERE status = 'failed') AS waits`,
  );
  return result.rows[0]!.waits;
}

test(
  'every item that was published is one document or one duplicate',
  async () => {
    // A poll or a page that failed at the end has its next turn, as it would have in time.
    for (let turn = 0; turn < 10 && (await waits()); turn += 1) {
      await makeDue(database.pool, 'polls', 'retries');
      await quiet();
    }
    const known = await loadKnown(database.pool);
    const truth = web.groundTruth().flatMap(({ articles }) => articles);
    const listed = truth.filter(({ channels }) => channels.some((one) => one !== 'listing'));
    expect(listed.length).toBeGreaterThan(publishers * 8);
    const wrong = listed.flatMap(({ url, expected }) => {
      const row = known.get(hashOf(url));
      const allowed = expected.outcome === 'robots_blocked' ? ['dead'] : ['fetched', 'duplicate'];
      const isStored = row?.status !== 'fetched' || row.title !== null;
      return row !== undefined && allowed.includes(row.status) && isStored
        ? []
        : [`${url}: ${row?.status ?? 'no row'} ${row?.reason ?? ''}`];
    });
    expect(wrong).toEqual([]);
    for (const [what, one, other] of await loadBalances(database.pool))
      expect([what, one]).toEqual([what, other]);
    expect(await findSlotProblems(database.pool)).toEqual([]);
  },
  120_000 * Math.max(1, publishers / 60),
);

test('polls obeyed politeness and robots.txt together with pages', () => {
  const log = web.log.read();
  expect(findPolitenessViolations(log, { delayMs: () => delayMs })).toEqual([]);
  expect(findForbiddenRequests(log, { publishers: web.publishers, token: productToken })).toEqual([]);
});
