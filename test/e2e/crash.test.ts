import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDiscovery } from '../../src/channels/index.ts';
import { destroyServer } from '../../src/db/embedded/index.ts';
import { type Database, isConnectionLost, openDatabase } from '../../src/db/index.ts';
import { saveLeaseMode } from '../../src/frontier/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { Outrider } from '../process/outrider.ts';
import { testLeaseMode } from '../setup/database.ts';
import {
  findForbiddenRequests,
  findPolitenessViolations,
  type PublisherChange,
  productToken,
  startWeb,
  type Web,
} from '../web/index.ts';
import { hashOf, isQuiet, listedIn, loadBalances, loadKnown } from './crawl-state.ts';
import { killPoints, reach } from './kill-points.ts';
import { seeded } from './seeded.ts';
import { waitUntil } from './wait.ts';

// CRASH_SEED=… repeats the kill points of a run that failed; which request meets a kill still depends on the machine.
const seed = Number(process.env.CRASH_SEED ?? randomInt(1, 2 ** 31));
const delayMs = 100;
const fetcherKills = 4;

const changes: PublisherChange[] = [
  {},
  { faults: [{ name: 'slow', options: { delayMs: 400 } }] },
  { faults: [{ name: 'redirect-chain', share: 0.3, options: { hops: 2, status: 301 } }] },
  { duplicates: true },
  { faults: [{ name: 'status', on: ['article'], share: 0.3, options: { status: 404 } }] },
  {},
  { faults: [{ name: 'too-many', options: { retryAfter: '1' }, fromRequest: 8, untilRequest: 10 }] },
  {},
  {},
  { faults: [{ name: 'slow', options: { delayMs: 200 } }] },
];

let home: string;
let dataDir: string;
let web: Web;
let database: Database;
const running = new Set<Outrider>();

function start(role: 'fetch' | 'schedule'): Outrider {
  const one = new Outrider([role, '--data', dataDir], {
    home,
    env: {
      OUTRIDER_FETCH_HOSTS_FILE: join(home, 'hosts'),
      OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${web.port}`,
      OUTRIDER_FETCH_DEFAULT_DELAY_MS: String(delayMs),
      OUTRIDER_FETCH_LEASE_SECONDS: '5',
      OUTRIDER_POLLING_SITEMAP_MAX_AGE_HOURS: '87600',
      LOG_LEVEL: 'warn',
    },
  });
  running.add(one);
  return one;
}

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-crash-'));
  dataDir = join(home, 'data');
  web = await startWeb({
    seed: 23,
    publishers: changes.length,
    changes: changes.map((change) => ({ backlog: 22, ratePerDay: 20, ...change })),
    startMs: Date.parse('2024-06-05T12:00:00Z'),
    speed: 0,
  });
  await web.writeHostsFile(join(home, 'hosts'));
  database = await openDatabase({ dataDir, maxConnections: 3, applicationName: 'crash test' });
  await saveLeaseMode(database.pool, testLeaseMode, 'test');
  for (const { host } of web.publishers) {
    const { source } = await createSource(database.pool, { url: `http://${host}/` });
    await startDiscovery(database.pool, source.id);
  }
});
afterAll(async () => {
  for (const one of running) await one.stop('SIGKILL');
  await web?.close();
  await database?.close();
  await destroyServer(dataDir);
  rmSync(home, { recursive: true, force: true });
});

/** A question that may meet the moment at which the server is away. */
async function patient<T>(question: () => Promise<T>): Promise<T | string> {
  try {
    return await question();
  } catch (error) {
    if (!isConnectionLost(error)) throw error;
    return 'the database is away';
  }
}

function killServer(): void {
  const pid = Number(readFileSync(join(dataDir, 'pg', 'postmaster.pid'), 'utf8').split('\n')[0]);
  process.kill(pid, 'SIGKILL');
}

test('fetchers and the database may be killed at any time', async () => {
  console.log(`CRASH_SEED=${seed}`);
  const between = seeded(seed);
  const fetchers = [start('fetch'), start('fetch')];
  start('schedule');

  const serverAfter = between(1, fetcherKills);
  for (const [nth, point] of killPoints(between, { kills: fetcherKills, certain: 200 }).entries()) {
    await reach(web, point);
    const which = between(0, 1);
    const victim = fetchers[which]!;
    running.delete(victim);
    expect((await victim.stop('SIGKILL')).signal).toBe('SIGKILL');
    fetchers[which] = start('fetch');
    if (nth + 1 === serverAfter) killServer();
  }
  await waitUntil('the crawl is done', () => patient(() => isQuiet(database.pool)), 90_000);

  // Clean ends: leases are given back, and the workers' rows with them.
  for (const one of running) expect((await one.stop('SIGTERM')).code, one.stderr).toBe(0);
  const left = await database.pool.query<{ leased: number; workers: number }>(
    `SELECT (SELECT count(*)::integer FROM domain_slots WHERE lease_owner IS NOT NULL) AS leased,
            (SELECT count(*)::integer FROM workers) AS workers`,
  );
  expect(left.rows[0]!.leased).toBe(0);
  expect(left.rows[0]!.workers).toBeLessThanOrEqual(fetcherKills);
}, 180_000);

test('no URL is lost and every one ended as it should', async () => {
  const known = await loadKnown(database.pool);
  const channels = await database.pool.query<{ url: string }>('SELECT url FROM channels');
  const listed = listedIn(web.groundTruth(), new Set(channels.rows.map((row) => row.url)));
  expect(listed.length).toBeGreaterThan(100);
  const wrong = listed.flatMap(({ url, expected }) => {
    const row = known.get(hashOf(url));
    const seen = row === undefined ? 'no row' : row.status;
    const allowed = {
      document: ['fetched', 'duplicate'],
      duplicate: ['fetched', 'duplicate'],
      dead: ['dead'],
      redirected: ['redirected'],
      robots_blocked: ['dead'],
      needs_render: ['needs_render'],
    }[expected.outcome];
    return allowed.includes(seen)
      ? []
      : [`${url}: ${seen} ${row?.reason ?? ''}, expected ${expected.outcome}`];
  });
  expect(wrong).toEqual([]);
  for (const [what, one, other] of await loadBalances(database.pool))
    expect([what, one]).toEqual([what, other]);
});

test('each document is there once, in its first version, and can be searched', async () => {
  const counts = await database.pool.query<{
    documents: number;
    deepest: number;
    searchable: number;
    stubs: number;
  }>(
    `SELECT count(*)::integer AS documents, max(version) AS deepest,
            count(*) FILTER (WHERE page_type = 'stub')::integer AS stubs,
            (SELECT count(*)::integer FROM document_search) AS searchable FROM documents`,
  );
  const { documents, deepest, searchable, stubs } = counts.rows[0]!;
  expect(documents).toBeGreaterThan(100);
  expect(deepest).toBe(1);
  expect(searchable).toBe(documents - stubs);
});

test('no kill made a request come early or against robots.txt', () => {
  const log = web.log.read();
  expect(findPolitenessViolations(log, { delayMs: () => delayMs })).toEqual([]);
  expect(findForbiddenRequests(log, { publishers: web.publishers, token: productToken })).toEqual([]);
});
