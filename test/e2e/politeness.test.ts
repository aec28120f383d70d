import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createChannel } from '../../src/channels/index.ts';
import { submit } from '../../src/frontier/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { plain } from '../fetch/lab.ts';
import { freePort } from '../process/free-port.ts';
import { Outrider } from '../process/outrider.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import {
  type AccessRecord,
  findForbiddenRequests,
  findPolitenessViolations,
  type PublisherChange,
  productToken,
  startWeb,
  type Web,
} from '../web/index.ts';
import { hashOf, loadBalances, loadKnown } from './crawl-state.ts';
import { killPoints, reach } from './kill-points.ts';
import { seeded } from './seeded.ts';
import { waitUntil } from './wait.ts';

// POLITENESS_SEED=… repeats the kill points of a run that failed; which request meets a kill depends on the machine.
const seed = Number(process.env.POLITENESS_SEED ?? randomInt(1, 2 ** 31));
const fetchers = 8;
/** Of the first test, and of the second. */
const domains = Number(process.env.POLITENESS_DOMAINS ?? 100);
const frozenDomains = 40;
const kills = 5;
const backlog = 10;
const delayMs = 500;
const leaseMs = 5_000;
const retryAfterMs = 2_000;
const usual = ['/search', '/login', '/private/'];

/** By position: crawl delays, rules, 429s and slowness among the healthy. */
function publisher(index: number): PublisherChange {
  const name = `polite-${index}`;
  switch (index % 10) {
    case 1:
      return plain(name, [], { robots: { disallow: usual, allow: [], crawlDelayS: 1 } });
    case 3:
      return plain(name, [
        {
          name: 'too-many',
          options: { retryAfter: String(retryAfterMs / 1000) },
          fromRequest: 3,
          untilRequest: 5,
        },
      ]);
    case 5:
      return plain(name, [], {
        forbiddenSection: 'politics',
        urlStyle: 'section',
        robots: { disallow: ['/politics/', ...usual], allow: [], crawlDelayS: 0 },
      });
    case 7:
      return plain(name, [{ name: 'slow', options: { delayMs: 400 } }]);
    case 9:
      return plain(name, [{ name: 'status', on: ['robots'], options: { status: 404 } }], {
        robots: { disallow: [], allow: [], crawlDelayS: 0 },
      });
    default:
      return plain(name);
  }
}

let home: string;
let database: TestDatabase;
let web: Web;
const running: { process: Outrider; port: number }[] = [];

async function start(at: number): Promise<void> {
  const port = await freePort();
  const fetcher = new Outrider(['fetch'], {
    home,
    env: {
      DATABASE_URL: database.url,
      OUTRIDER_DATABASE_CONNECTIONS: '4',
      OUTRIDER_FETCH_HOSTS_FILE: join(home, 'hosts'),
      OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${web.port}`,
      OUTRIDER_FETCH_DEFAULT_DELAY_MS: String(delayMs),
      OUTRIDER_FETCH_LEASE_SECONDS: String(leaseMs / 1000),
      OUTRIDER_FETCH_DOMAINS_AT_ONCE: '40',
      OUTRIDER_FETCH_NETWORK_GAP_MS: '0',
      OUTRIDER_HEALTH_PORT: String(port),
      LOG_LEVEL: 'warn',
      LOG_FORMAT: 'json',
    },
  });
  running[at] = { process: fetcher, port };
}

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-polite-'));
  database = await createTestDatabase();
  web = await startWeb({
    seed: 29,
    publishers: domains + frozenDomains,
    changes: Array.from({ length: domains + frozenDomains }, (_, index) => ({
      ...publisher(index),
      backlog,
    })),
    startMs: Date.parse('2024-06-05T12:00:00Z'),
    speed: 0,
  });
  await web.writeHostsFile(join(home, 'hosts'));
});
afterAll(async () => {
  for (const { process: one } of running) {
    if (one.isRunning) one.child.kill('SIGCONT');
    await one.stop('SIGKILL');
  }
  await web?.close();
  await database?.drop();
  rmSync(home, { recursive: true, force: true });
});

const articlesOf = (host: string): string[] => web.groundTruth(host)[0]?.articles.map(({ url }) => url) ?? [];

/** Follows the feeds of some publishers, which list every article there is. */
async function follow(from: number, to: number): Promise<string[]> {
  const { pool } = database;
  const urls: string[] = [];
  for (const { host } of web.publishers.slice(from, to)) {
    const { source } = await createSource(pool, { url: `http://${host}/` });
    const channel = { sourceId: source.id, kind: 'feed' as const, url: `http://${host}/feed` };
    await createChannel(pool, { ...channel, intervalSeconds: 86_400, foundBy: 'manual' });
    const articles = articlesOf(host);
    const items = articles.map((url) => ({
      url,
      kind: 'article' as const,
      origin: 'feed' as const,
      sourceId: source.id,
      priority: 7,
      own: true,
    }));
    await submit(pool, items);
    urls.push(...articles);
  }
  return urls;
}

async function countOpen(): Promise<number> {
  const result = await database.pool.query<{ open: number }>(
    `SELECT (SELECT count(*) FROM url_frontier WHERE ready OR due_at <= now() + interval '10 seconds')::integer
          + (SELECT count(*) FROM domain_slots WHERE lease_owner IS NOT NULL)::integer AS open`,
  );
  return result.rows[0]!.open;
}

const finished = (): Promise<void> =>
  waitUntil(
    'the crawl is done',
    async () => {
      const open = await countOpen();
      return open === 0 || `${open} open`;
    },
    120_000,
  );

const delayOf = (domain: string): number => {
  const { crawlDelayS } = web.publishers.find((one) => one.domain === domain)!.robots;
  return Math.max(delayMs, crawlDelayS * 1000);
};

/** Requests that came sooner after a 429 than it had asked for. */
function findHasty(log: readonly AccessRecord[]): AccessRecord[] {
  const waits = new Map<string, number>();
  const hasty: AccessRecord[] = [];
  for (const record of [...log].sort((a, b) => a.startedAtMs - b.startedAtMs)) {
    if (record.startedAtMs < (waits.get(record.host) ?? 0)) hasty.push(record);
    if (record.status === 429) waits.set(record.host, record.headersSentAtMs + retryAfterMs);
  }
  return hasty;
}

/** Every article is where it belongs, and none was settled twice. */
async function checkRows(urls: readonly string[]): Promise<void> {
  const known = await loadKnown(database.pool);
  const wrong = urls.flatMap((url) => {
    const row = known.get(hashOf(url));
    const isForbidden = web.publishers.some(
      ({ host, forbiddenSection }) =>
        forbiddenSection !== undefined && url.startsWith(`http://${host}/${forbiddenSection}/`),
    );
    const expected = isForbidden ? 'dead robots_blocked' : 'fetched ';
    const seen = row === undefined ? 'no row' : `${row.status} ${row.reason ?? ''}`;
    return seen === expected ? [] : [`${url}: ${seen}, expected ${expected}`];
  });
  expect(wrong).toEqual([]);
  for (const [what, one, other] of await loadBalances(database.pool))
    expect([what, one]).toEqual([what, other]);
  const twice = await database.pool.query<{ url: string }>(
    `SELECT url FROM url_frontier f WHERE kind = 'article' AND status = 'fetched' AND (fetch_count <> 1 OR tries <> 0)
     UNION ALL SELECT url FROM documents WHERE version <> 1`,
  );
  expect(twice.rows).toEqual([]);
}

test('eight fetchers, killed and started again, hurry nobody and lose nothing', async () => {
  console.log(`POLITENESS_SEED=${seed}`);
  const between = seeded(seed);
  const urls = await follow(0, domains);
  for (let at = 0; at < fetchers; at += 1) await start(at);
  // Feeds and robots.txt are more than the forbidden articles.
  for (const point of killPoints(between, { kills, certain: urls.length })) {
    await reach(web, point);
    const victim = between(0, fetchers - 1);
    expect((await running[victim]!.process.stop('SIGKILL')).signal).toBe('SIGKILL');
    await start(victim);
  }
  await finished();
  const log = web.log.read();
  expect(findPolitenessViolations(log, { delayMs: delayOf })).toEqual([]);
  expect(findHasty(log)).toEqual([]);
  expect(log.filter(({ status }) => status === 429).length).toBeGreaterThan(10);
  expect(findForbiddenRequests(log, { publishers: web.publishers, token: productToken })).toEqual([]);
  await checkRows(urls);
  console.log(`${log.length} requests to ${domains} domains`);
}, 240_000);

/** Domains a process holds, by the name it has in leases. */
async function heldBy(pid: number): Promise<string[]> {
  const result = await database.pool.query<{ name: string }>(
    `SELECT d.name FROM domain_slots s JOIN domains d USING (bucket, domain_key)
      WHERE s.lease_owner LIKE '%-' || $1::text || '-%' AND cardinality(s.in_flight) > 1`,
    [pid],
  );
  return result.rows.map(({ name }) => name);
}

type Running = (typeof running)[number];

/** The fetchers that hold most, each of them several domains. */
async function findBusy(count: number): Promise<Running[]> {
  let busiest: { one: Running; domains: number }[] = [];
  await waitUntil(
    `${count} fetchers hold several domains`,
    async () => {
      const held = await Promise.all(
        running.map(async (one) => ({ one, domains: (await heldBy(one.process.pid)).length })),
      );
      busiest = held.sort((a, b) => b.domains - a.domains).slice(0, count);
      return busiest.every((entry) => entry.domains > 2) || `holding ${held.map((entry) => entry.domains)}`;
    },
    30_000,
  );
  return busiest.map(({ one }) => one);
}

/** What frozen fetchers hold, once the statements they had sent have come to their end. */
async function readHeld(frozen: readonly Running[]): Promise<string[]> {
  let held: string[] = [];
  await waitUntil('what they hold stands still', async () => {
    const now = (await Promise.all(frozen.map(({ process: one }) => heldBy(one.pid)))).flat().sort();
    const isSame = now.join() === held.join();
    held = now;
    return isSame;
  });
  return held;
}

async function staleSettles(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(/^outrider_stale_settles_total (\d+)/m.exec(text)?.[1] ?? 0);
}

test('fetchers frozen for twice their lease are replaced in time and change nothing when they come back', async () => {
  const since = web.log.nextSeq;
  const urls = await follow(domains, domains + frozenDomains);
  const frozen = await findBusy(2);
  const frozenAt = performance.now();
  for (const { process: one } of frozen) one.child.kill('SIGSTOP');
  const held = await readHeld(frozen);
  expect(held.length).toBeGreaterThan(0);

  // Whoever is frozen sends nothing: the next request of its domains is another's.
  const boundMs = (domain: string): number => leaseMs + delayOf(domain) + 5_000;
  const waiting = (): string[] =>
    held.filter((domain) => !web.log.read(since).some(takenOver(domain, frozenAt)));
  await waitUntil(
    'others have taken over, and twice the lease is over',
    () =>
      (waiting().length === 0 && performance.now() > frozenAt + 2 * leaseMs) ||
      `still waiting: ${waiting().join(' ')}`,
    60_000,
  );
  const late = held.flatMap((domain) => {
    const first = web.log.read(since).find(takenOver(domain, frozenAt))!;
    const afterMs = first.startedAtMs - frozenAt;
    return afterMs <= boundMs(domain) ? [] : [`${domain} after ${afterMs.toFixed(0)} ms`];
  });
  expect(late).toEqual([]);

  for (const { process: one } of frozen) one.child.kill('SIGCONT');
  await finished();
  await waitUntil('late settles are counted', async () => {
    const counts = await Promise.all(frozen.map(({ port }) => staleSettles(port)));
    return counts.reduce((sum, one) => sum + one) > 0 || `counted ${counts}`;
  });
  for (const { process: one } of frozen) expect(one.isRunning, one.stderr).toBe(true);
  expect(frozen.map(({ process: one }) => one.stderr).join()).toContain('nothing was changed');
  await checkRows(urls);
  // Whatever became of a settle, its requests are in the crawl log.
  const names = web.publishers.slice(domains).map(({ domain }) => domain);
  await waitUntil('every request is logged', async () => {
    const logged = await database.pool.query<{ all: number; given_up: number }>(
      `SELECT count(*)::integer AS all, count(*) FILTER (WHERE l.status IS NULL)::integer AS given_up
         FROM crawl_log l JOIN domains d USING (bucket, domain_key) WHERE d.name = ANY ($1)`,
      [names],
    );
    // One that was given up with its lease may have been on its way, or not; the last ones may still be coming.
    const served = web.log.read(since).length;
    const { all, given_up: givenUp } = logged.rows[0]!;
    const isLogged = all - givenUp <= served && served <= all;
    return isLogged || `${all}, ${givenUp} of them given up, of ${served}`;
  });
  const log = web.log.read(since);
  // A process that is stopped between its last look at the clock and the request it is just writing sends it when it
  // wakes; it writes one at a time.
  const early = findPolitenessViolations(log, { delayMs: delayOf });
  expect(early.length, JSON.stringify(early)).toBeLessThanOrEqual(frozen.length);
  const all = web.log.read();
  expect(findForbiddenRequests(all, { publishers: web.publishers, token: productToken })).toEqual([]);
  console.log(`${held.length} domains taken over, ${log.length} requests`);
}, 180_000);

/** A request of a domain that began after its holder was frozen; one that was on its way then is left out. */
const takenOver = (domain: string, frozenAt: number) => (record: AccessRecord) =>
  record.host === domain && record.startedAtMs > frozenAt + 1_000;

test('all of them end in order', async () => {
  for (const { process: one } of running) expect((await one.stop('SIGTERM')).code, one.stderr).toBe(0);
  const left = await database.pool.query('SELECT FROM domain_slots WHERE lease_owner IS NOT NULL');
  expect(left.rowCount).toBe(0);
}, 60_000);
