import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDiscovery } from '../../src/channels/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { hashOf, isQuiet, listedIn, loadKnown } from '../e2e/crawl-state.ts';
import { reach } from '../e2e/kill-points.ts';
import { waitUntil } from '../e2e/wait.ts';
import { startFrozenProxy } from '../process/frozen-proxy.ts';
import { isRunning, Outrider } from '../process/outrider.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { startWeb, type Web } from '../web/index.ts';

// Real processes with real troubles. The times are the settings of the product, small.
const programPath = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));
const trouble = fileURLToPath(new URL('../../dist/test/process/trouble.js', import.meta.url));
const publishers = 4;
// What it takes is small; how long that takes on a busy machine is not.
const patienceMs = 120_000;

let home: string;
let web: Web;
let database: TestDatabase;
const started = new Set<Outrider>();

const envOf = (): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: home,
  DATABASE_URL: database.url,
  NODE_OPTIONS: `--import=${trouble}`,
  OUTRIDER_FETCH_HOSTS_FILE: join(home, 'hosts'),
  OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${web.port}`,
  OUTRIDER_FETCH_DEFAULT_DELAY_MS: '100',
  OUTRIDER_FETCH_LEASE_SECONDS: '5',
  OUTRIDER_POLLING_SITEMAP_MAX_AGE_HOURS: '87600',
  OUTRIDER_WATCHDOG_BLOCKED_SECONDS: '5',
  OUTRIDER_UP_FETCHERS: '1',
  OUTRIDER_UP_GRACE_SECONDS: '1',
  LOG_FORMAT: 'json',
  OUTRIDER_RENDER_ENABLED: 'off',
});

function start(args: string[], env: Record<string, string> = {}): Outrider {
  const one = new Outrider(args, { home, env: { ...envOf(), ...env } });
  started.add(one);
  return one;
}

type Line = Record<string, unknown> & { msg: string };
const linesOf = ({ stderr }: Outrider): Line[] =>
  stderr
    .split('\n')
    .flatMap((line) => (line.startsWith('{') && line.endsWith('}') ? [JSON.parse(line)] : []));
const lineWith = (one: Outrider, words: string): Line | undefined =>
  linesOf(one).find(({ msg }) => msg.includes(words));

/** The pid of the newest process of a role, other than those named. */
async function newest(role: string, but: readonly number[] = []): Promise<number> {
  let pid = 0;
  await waitUntil(`a ${role} process is there`, async () => {
    const { rows } = await database.pool.query<{ pid: number }>(
      'SELECT pid FROM workers WHERE role = $1 AND pid <> ALL ($2) ORDER BY started_at DESC LIMIT 1',
      [role, but],
    );
    pid = rows[0]?.pid ?? 0;
    return pid > 0;
  });
  return pid;
}

const requestsFromNow = (count: number): Promise<void> => reach(web, web.log.nextSeq + count);

/** Every address that the feeds list has ended as it should. */
async function expectNothingLost(): Promise<void> {
  const known = await loadKnown(database.pool);
  const channels = await database.pool.query<{ url: string }>('SELECT url FROM channels');
  const listed = listedIn(web.groundTruth(), new Set(channels.rows.map((row) => row.url)));
  expect(listed.length).toBeGreaterThan(20);
  const lost = listed.filter(
    ({ url }) => !['fetched', 'duplicate'].includes(known.get(hashOf(url))?.status ?? ''),
  );
  expect(lost.map(({ url }) => url)).toEqual([]);
}

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-roles-'));
  web = await startWeb({
    seed: 47,
    publishers,
    changes: Array.from({ length: publishers }, () => ({ backlog: 20, ratePerDay: 20 })),
    startMs: Date.parse('2024-06-05T12:00:00Z'),
    speed: 0,
  });
  await web.writeHostsFile(join(home, 'hosts'));
  database = await createTestDatabase();
  // The last one is for later.
  for (const { host } of web.publishers.slice(0, -1)) {
    const { source } = await createSource(database.pool, { url: `http://${host}/` });
    await startDiscovery(database.pool, source.id);
  }
});
afterAll(async () => {
  for (const one of started) await one.stop('SIGKILL');
  await web?.close();
  await database?.drop();
  rmSync(home, { recursive: true, force: true });
});

describe('under up', { timeout: patienceMs }, () => {
  let up: Outrider;
  const fetchers: number[] = [];

  test('a role that blocks says where it stood and is replaced', async () => {
    up = start(['up', '--port', '0']);
    fetchers.push(await newest('fetch'));
    await requestsFromNow(5);
    process.kill(fetchers[0]!, 'SIGUSR2');
    await up.says('fetch 1 ended and will be started again: it stalled');
    expect(lineWith(up, 'stall detected: the event loop is blocked')).toMatchObject({
      level: 'error',
      role: 'fetch',
      pid: fetchers[0],
      loops: expect.arrayContaining([expect.objectContaining({ name: 'lease' })]),
    });
    expect(lineWith(up, 'self-diagnostics: it was blocked in')).toMatchObject({
      place: expect.arrayContaining([expect.stringMatching(/^blockForEver .*trouble\.js:\d+\)$/)]),
    });
    expect(lineWith(up, 'fetch 1 ended')).toMatchObject({ code: 9, signal: null, reason: 'stall' });
    fetchers.push(await newest('fetch', fetchers));
  });

  test('a role that is frozen is seen from outside and replaced', async () => {
    await requestsFromNow(5);
    process.kill(fetchers[1]!, 'SIGSTOP');
    await up.says('stall detected: fetch 1 does not answer and is replaced');
    const line = lineWith(up, 'stall detected: fetch 1');
    expect(line).toMatchObject({ pid: fetchers[1], loops: expect.any(Array) });
    if (process.platform === 'linux') expect(line).toMatchObject({ state: 'stopped' });
    fetchers.push(await newest('fetch', fetchers));
    expect(isRunning(fetchers[1]!)).toBe(false);
  });

  test('what nobody caught is fatal, and told', async () => {
    await requestsFromNow(2);
    process.kill(fetchers[2]!, 'SIGWINCH');
    await up.says('it met an error that nobody foresaw');
    expect(lineWith(up, 'something unforeseen happened')).toMatchObject({
      level: 'fatal',
      origin: 'unhandledRejection',
      error: { message: 'nobody caught this' },
    });
    expect(linesOf(up).findLast(({ msg }) => msg.startsWith('fetch 1 ended'))).toMatchObject({ code: 10 });
    fetchers.push(await newest('fetch', fetchers));
  });

  test('nothing is lost by all of it, and the new role knows what became of those before it', async () => {
    await waitUntil('the crawl is done', () => isQuiet(database.pool));
    await expectNothingLost();
    await waitUntil('it is written down', async () => {
      const { rows } = await database.pool.query<{ restarts: unknown }>(
        `SELECT state -> 'restarts' AS restarts FROM workers WHERE pid = $1`,
        [fetchers[3]],
      );
      const seen = JSON.stringify(rows[0]?.restarts);
      return seen?.includes('"crash": 1') || seen?.includes('"crash":1') || seen;
    });
  });

  test('a stop waits for nobody who is frozen, and ends well', async () => {
    process.kill(fetchers[3]!, 'SIGSTOP');
    const { code } = await up.stop('SIGTERM');
    expect(code, up.stderr).toBe(0);
    expect(up.stderr).toContain('fetch 1 did not stop within the grace period and is killed');
    expect(fetchers.filter(isRunning)).toEqual([]);
  });
});

describe('a role alone', { timeout: patienceMs }, () => {
  test('whose parent is gone stops by itself', async () => {
    const parent = spawn(
      process.execPath,
      [
        '-e',
        `require('node:child_process').fork(${JSON.stringify(programPath)}, ['schedule']); setInterval(() => 0, 1e6)`,
      ],
      { env: { ...envOf(), OUTRIDER_ROLE_CHILD: '1' }, stdio: 'ignore' },
    );
    const pid = await newest('schedule');
    parent.kill('SIGKILL');
    await waitUntil('it has ended', () => !isRunning(pid));
    expect((await database.pool.query('SELECT FROM workers WHERE pid = $1', [pid])).rowCount).toBe(0);
  });

  test('that blocks ends itself with code 9', async () => {
    const schedule = start(['schedule']);
    await schedule.says('schedule is running');
    process.kill(schedule.pid, 'SIGUSR2');
    const { code, stderr } = await schedule.ended();
    expect(code, stderr).toBe(9);
    expect(lineWith(schedule, 'stall detected')).toMatchObject({ role: 'schedule', pid: schedule.pid });
    expect(stderr).toContain('"blockForEver (');
  });
});

// Both mostly wait.
describe.concurrent('a role alone, in want of something,', { timeout: patienceMs }, () => {
  test('memory: hands back what it holds and ends with code 7; nothing is lost', async ({ expect }) => {
    const schedule = start(['schedule']);
    const { host } = web.publishers[publishers - 1]!;
    const { source } = await createSource(database.pool, { url: `http://${host}/` });
    await startDiscovery(database.pool, source.id);
    const leasedBy = async (pid: number): Promise<number> => {
      const { rows } = await database.pool.query<{ leased: number }>(
        `SELECT count(*)::integer AS leased FROM domain_slots WHERE split_part(reverse(lease_owner), '-', 2) = reverse($1)`,
        [String(pid)],
      );
      return rows[0]!.leased;
    };
    await waitUntil('it has been read, by one life after the other', async () => {
      // Less than any work needs: every life is short.
      const fetcher = start(['fetch'], { OUTRIDER_WATCHDOG_MEMORY_LIMIT_MB: '64' });
      const { code, stderr } = await fetcher.ended();
      expect(code, stderr).toBe(7);
      expect(stderr).toContain('memory runs short: what is under way is finished');
      expect(await leasedBy(fetcher.pid)).toBe(0);
      return isQuiet(database.pool);
    });
    await expectNothingLost();
    expect((await schedule.stop()).code).toBe(0);
  });

  test('a database that answers: finds that out and ends with code 3', async ({ expect }) => {
    const proxy = await startFrozenProxy(database.url);
    const fetcher = start(['fetch'], { DATABASE_URL: proxy.url, OUTRIDER_WATCHDOG_STALL_SECONDS: '10' });
    await fetcher.says('fetch is running');
    proxy.freeze();
    const { code, stderr } = await fetcher.ended();
    await proxy.close();
    expect(code, stderr).toBe(3);
    expect(lineWith(fetcher, 'stall detected')).toMatchObject({
      loops: expect.arrayContaining([expect.objectContaining({ isStalled: true })]),
    });
    expect(lineWith(fetcher, 'self-diagnostics')).toMatchObject({
      isDatabaseAway: true,
      database: expect.stringContaining('does not answer'),
    });
  });
});
