import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createChannel } from '../../src/channels/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { resetDomain, seedDomains } from '../../src/domains/index.ts';
import { type Engine, startEngine } from '../../src/engine.ts';
import { findSlotProblems, submit } from '../../src/frontier/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { createLog } from '../../src/telemetry/index.ts';
import { domainIdentity } from '../../src/url/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { passTime } from '../setup/rewind.ts';
import { type AccessRecord, type PublisherChange, startWeb, type Web } from '../web/index.ts';
import { waitUntil } from './wait.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const open = { disallow: [], allow: [], crawlDelayS: 0 };
const plain: PublisherChange = { language: 'en', urlStyle: 'dated', robots: open, faults: [], ratePerDay: 1 };

// The names of the worked example, then one for each way a rest ends.
const changes: PublisherChange[] = [
  { ...plain, backlog: 500 },
  { ...plain, backlog: 30 },
  { ...plain, backlog: 30 },
  { ...plain, backlog: 20 },
  { ...plain, backlog: 12 },
  { ...plain, backlog: 12, robots: { ...open, disallow: ['/'] } },
];

let dir: string;
let database: TestDatabase;
let web: Web;
let engine: Engine | null = null;
const names: Record<'a' | 'b' | 'c' | 'd' | 'e' | 'f', string> = { a: '', b: '', c: '', d: '', e: '', f: '' };

async function start(overrides: Record<string, unknown> = {}): Promise<void> {
  const { config } = loadConfig({
    env: {},
    overrides: {
      'database.url': database.url,
      'render.enabled': 'off',
      'fetch.hosts_file': join(dir, 'hosts'),
      'fetch.allow_networks': [`127.0.0.0/8:${web.port}`],
      'fetch.default_delay_ms': 2,
      'fetch.network_gap_ms': 0,
      'domains.max_pages_per_run': 100,
      ...overrides,
    },
  });
  const log = createLog({ level: 'error', format: 'json' });
  engine = await startEngine({ config, roles: ['fetch', 'schedule'], version: '0.0.0-test', log });
}

async function stop(): Promise<void> {
  await engine?.stop();
  engine = null;
}

/** Stops, lets the time pass, and starts again. */
async function passAndRestart(ms: number, overrides: Record<string, unknown> = {}): Promise<void> {
  await stop();
  await passTime(database.pool, ms);
  await start(overrides);
}

type State = {
  /** For whoever reads why a test has waited in vain. */
  slot: unknown;
  status: string;
  reason: string | null;
  opens: number;
  crawled: number;
  known: number;
  ready: number;
  restDays: number;
};

async function stateOf(name: string): Promise<State> {
  const result = await database.pool.query<State>(
    `SELECT d.status, d.status_reason AS reason, coalesce(cardinality(s.circuit_opens), 0) AS opens,
            d.pages_crawled::integer AS crawled, d.pages_known::integer AS known, s.queued AS ready,
            extract(epoch FROM s.rest_until - now())::float8 / 86400 AS "restDays",
            jsonb_build_object('now', now(), 'top', s.top, 'next', s.next_at, 'wake', s.wake_at, 'hold', s.hold_reason,
              'owner', s.lease_owner, 'leased', s.leased_at, 'until', s.lease_until, 'flying', cardinality(s.in_flight)) AS slot
       FROM domains d JOIN domain_slots s USING (bucket, domain_key) WHERE d.name = $1`,
    [name],
  );
  return result.rows[0]!;
}

const until = (name: string, what: string, holds: (state: State) => boolean) =>
  waitUntil(
    `${name} ${what}`,
    async () => {
      const state = await stateOf(name);
      return holds(state) || JSON.stringify(state);
    },
    30_000,
  );

/** Requests for pages of a publisher since a point of the access log, without robots.txt. */
function requested(name: string, since = 0): AccessRecord[] {
  const { hosts } = web.publishers.find((one) => one.domain === name)!;
  return web.log.read(since).filter((one) => hosts.includes(one.host) && one.path !== '/robots.txt');
}

const articlesOf = (name: string): string[] => web.groundTruth(name)[0]!.articles.map((one) => one.url);

/** Puts a publisher's pages in as the spider would. */
async function spider(name: string): Promise<void> {
  const { host } = web.publishers.find((one) => one.domain === name)!;
  const { source } = await createSource(database.pool, { url: `http://${host}/`, mode: 'feed' });
  await submit(database.pool, [
    {
      url: `http://${host}/`,
      kind: 'listing',
      origin: 'spider',
      sourceId: source.id,
      priority: 5,
      own: true,
    },
    ...articlesOf(name).map((url) => ({
      url,
      kind: 'article' as const,
      origin: 'spider' as const,
      sourceId: source.id,
      priority: 4,
      own: true,
    })),
  ]);
}

async function events(name: string): Promise<string[]> {
  const result = await database.pool.query<{ line: string }>(
    `SELECT to_status || ': ' || reason AS line FROM domain_events JOIN domains USING (bucket, domain_key)
      WHERE name = $1 ORDER BY domain_events.at, domain_events.id`,
    [name],
  );
  return result.rows.map((row) => row.line);
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'outrider-domains-'));
  database = await createTestDatabase();
  web = await startWeb({
    seed: 31,
    publishers: changes.length,
    changes,
    startMs: Date.parse('2024-06-05T12:00:00Z'),
    speed: 0,
  });
  await web.writeHostsFile(join(dir, 'hosts'));
  for (const [index, key] of (['a', 'b', 'c', 'd', 'e', 'f'] as const).entries())
    names[key] = web.publishers[index]!.domain;
});
afterAll(async () => {
  await stop();
  await web?.close();
  await database?.drop();
  rmSync(dir, { recursive: true, force: true });
});

describe('the worked example', () => {
  test('A stops at its budget, B is done, C refuses everything and rests for 14 days', async () => {
    web.setFault(names.c, { name: 'forbidden' });
    for (const name of [names.a, names.b, names.c]) await spider(name);
    await start();
    await until(names.a, 'has used its budget', ({ crawled }) => crawled === 100);
    await until(names.b, 'is done', ({ status }) => status === 'exhausted');
    await until(names.c, 'has opened its circuit', ({ opens }) => opens === 1);
    // Half open after five minutes, one URL at a time; the third opening in a day blocks.
    const probes = web.log.nextSeq;
    await passAndRestart(6 * minute);
    await until(names.c, 'has opened it again', ({ opens }) => opens === 2);
    expect(requested(names.c, probes)).toHaveLength(1);
    await passAndRestart(6 * minute);
    await until(names.c, 'is blocked', ({ status }) => status === 'blocked');
    expect(requested(names.c, probes)).toHaveLength(2);

    expect(await stateOf(names.a)).toMatchObject({ status: 'active', crawled: 100, known: 501, ready: 401 });
    expect(await stateOf(names.b)).toMatchObject({ status: 'exhausted', crawled: 31, ready: 0 });
    const c = await stateOf(names.c);
    expect(c).toMatchObject({ status: 'blocked', reason: 'forbidden', crawled: 0 });
    expect(c.restDays).toBeGreaterThan(13.9);
    expect(c.restDays).toBeLessThanOrEqual(14);
    // Nothing of it was given up: a refusal of the whole domain is not the pages' fault.
    const dead = await database.pool.query(`SELECT FROM url_frontier WHERE status = 'dead'`);
    expect(dead.rowCount).toBe(0);
    expect(await events(names.c)).toEqual(['active: first lease', 'blocked: forbidden']);
  });

  test('the same seeds again: A goes on at 101, B is skipped, C rests', async () => {
    const since = web.log.nextSeq;
    await stop();
    for (const name of [names.a, names.b, names.c]) await spider(name);
    await passAndRestart(day + minute);
    await until(names.a, 'has done its next portion', ({ crawled }) => crawled === 200);
    expect(requested(names.b, since)).toEqual([]);
    expect(requested(names.c, since)).toEqual([]);
    const paths = requested(names.a).map((one) => one.path);
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths).toHaveLength(200);
  });

  test('a higher budget: A goes on at once', async () => {
    await passAndRestart(minute, { 'domains.max_pages_per_run': 250 });
    await until(names.a, 'has used what was added', ({ crawled }) => crawled === 350);
    expect(await stateOf(names.a)).toMatchObject({ status: 'active', ready: 151 });
    await passAndRestart(day + minute, { 'domains.max_pages_per_run': 250 });
    await until(names.a, 'is done', ({ status }) => status === 'exhausted');
    const paths = requested(names.a).map((one) => one.path);
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths).toHaveLength(501);
  });

  test('new seeds: D enters as pending and starts at its entry URL', async () => {
    await stop();
    const { host } = web.publishers.find((one) => one.domain === names.d)!;
    // By name only: which of its addresses answers (http, with or without www) is found by asking.
    async function* lines(): AsyncGenerator<string> {
      yield `${names.d}\n`;
    }
    await seedDomains(database.pool, lines(), { dataset: 'a_list_20240605' });
    expect(await stateOf(names.d)).toMatchObject({ status: 'pending' });
    const since = web.log.nextSeq;
    await start();
    await until(names.d, 'is done', ({ status }) => status === 'exhausted');
    expect(requested(names.d, since)[0]!.path).toBe('/');
    expect((await stateOf(names.d)).crawled).toBeGreaterThan(10);
    for (const name of [names.a, names.b, names.c]) expect(requested(name, since)).toEqual([]);
    const entry = await database.pool.query('SELECT entry_url FROM domains WHERE name = $1', [names.d]);
    expect(entry.rows[0]).toEqual({ entry_url: `http://${host}/` });
  });

  test('a reset: B’s listings are fetched again and its articles are not', async () => {
    const since = web.log.nextSeq;
    await resetDomain(database.pool, domainIdentity(names.b), { reason: 'again', actor: 'test' });
    await until(names.b, 'is done again', ({ status, crawled }) => status === 'exhausted' && crawled > 31);
    expect(requested(names.b, since).map((one) => one.path)).toEqual(['/']);
  });

  test('C’s cooldown ends by itself after 14 days', async () => {
    web.clearFault({ domain: names.c });
    const since = web.log.nextSeq;
    await passAndRestart(10 * day);
    await until(names.a, 'is there', () => true);
    expect(await stateOf(names.c)).toMatchObject({ status: 'blocked' });
    await passAndRestart(4 * day);
    await until(names.c, 'is done', ({ status }) => status === 'exhausted');
    expect(requested(names.c, since).length).toBeGreaterThanOrEqual(31);
    expect((await events(names.c)).slice(2)).toEqual(['active: cooldown over']);
  });
});

describe('a rest ends early', () => {
  test('by a good poll on the next day', async () => {
    const name = names.e;
    const { host, feeds } = web.publishers.find((one) => one.domain === name)!;
    web.setFault(name, { name: 'challenge', on: ['feed', 'sitemap', 'article', 'listing'] });
    await spider(name);
    const feedUrl = feeds[0] === undefined ? `http://${host}/feed` : `http://${host}${feeds[0].path}`;
    const source = await database.pool.query<{ id: number }>('SELECT id FROM sources WHERE url = $1', [
      `http://${host}/`,
    ]);
    for (const opening of [1, 2]) {
      await until(name, `opens its circuit, time ${opening}`, ({ opens }) => opens === opening);
      await passAndRestart(6 * minute);
    }
    await until(name, 'is blocked', ({ status }) => status === 'blocked');
    expect(await stateOf(name)).toMatchObject({ status: 'blocked', reason: 'challenge' });
    await createChannel(database.pool, {
      sourceId: source.rows[0]!.id,
      kind: 'feed',
      url: feedUrl,
      intervalSeconds: 900,
      foundBy: 'manual',
    });

    // The trial of the first day fails and leaves everything as it was.
    let since = web.log.nextSeq;
    await passAndRestart(day);
    await waitUntil('the trial is made', () => requested(name, since).length > 0, 30_000);
    await waitUntil('the trial is settled', async () => {
      const leased = await database.pool.query('SELECT FROM domain_slots WHERE lease_owner IS NOT NULL');
      return leased.rowCount === 0;
    });
    expect(requested(name, since)).toHaveLength(1);
    expect(await stateOf(name)).toMatchObject({ status: 'blocked', reason: 'challenge' });
    expect((await database.pool.query('SELECT FROM channel_state')).rowCount).toBe(0);

    web.clearFault({ domain: name });
    since = web.log.nextSeq;
    await passAndRestart(day);
    await until(name, 'is done', ({ status }) => status === 'exhausted');
    expect(requested(name, since)[0]!.path).toBe(new URL(feedUrl).pathname);
    expect(requested(name, since).length).toBeGreaterThan(10);
    expect((await events(name)).at(-1)).toBe('active: trial succeeded');
  });

  test('robots_denied ends when robots.txt changes', async () => {
    const name = names.f;
    await spider(name);
    await until(name, 'is closed by robots.txt', ({ status }) => status === 'blocked');
    expect(await stateOf(name)).toMatchObject({ reason: 'robots_denied', ready: 13 });
    expect((await stateOf(name)).restDays).toBeGreaterThan(89);
    await passAndRestart(day + minute);
    const reread = () =>
      web.log.read().filter((one) => one.path === '/robots.txt' && one.host.endsWith(name)).length;
    await waitUntil('robots.txt is read again', () => reread() >= 2);
    expect(await stateOf(name)).toMatchObject({ status: 'blocked' });
    expect(requested(name)).toEqual([]);

    web.setRobots(name, { disallow: ['/private/'] });
    await passAndRestart(day + minute);
    await until(name, 'is done', ({ status }) => status === 'exhausted');
    expect(requested(name)).toHaveLength(13);
    expect(await events(name)).toEqual([
      'active: first lease',
      'blocked: robots_denied',
      'active: trial succeeded',
    ]);
  });
});

describe('after all of it', () => {
  test('pages, documents and errors are what the log and the documents say, and every slot fits its rows', async () => {
    await stop();
    const wrong = await database.pool.query(
      `SELECT d.name, d.pages_crawled, d.errors_total, d.documents, l.*, x.documents FROM domains d
         JOIN LATERAL (SELECT count(*) FILTER (WHERE log_is_page(kind, outcome, status)) AS pages,
                              count(*) FILTER (WHERE log_is_error(kind, outcome, status)) AS errors
                         FROM crawl_log l WHERE l.bucket = d.bucket AND l.domain_key = d.domain_key AND NOT l.stale) l ON true
         JOIN LATERAL (SELECT count(*) AS documents FROM documents x WHERE x.bucket = d.bucket AND x.domain_key = d.domain_key) x ON true
        WHERE (d.pages_crawled, d.errors_total, d.documents) IS DISTINCT FROM (l.pages, l.errors, x.documents)`,
    );
    expect(wrong.rows).toEqual([]);
    expect(await findSlotProblems(database.pool)).toEqual([]);
  });
});
