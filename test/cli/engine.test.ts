import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { destroyServer } from '../../src/db/embedded/index.ts';
import { type Database, openDatabase } from '../../src/db/index.ts';
import { waitUntil } from '../e2e/wait.ts';
import { freePort } from '../process/free-port.ts';
import { CliHost, type Ended, isRunning, Outrider, runOutrider } from '../process/outrider.ts';
import { startWeb, type Web } from '../web/index.ts';

let home: string;
let dataDir: string;
let web: Web;
let env: Record<string, string>;
/** Keeps the embedded server up between commands, which would start and stop it each time. */
let database: Database;
const started: Outrider[] = [];

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-cli-'));
  dataDir = join(home, 'data');
  web = await startWeb({
    seed: 31,
    publishers: 2,
    changes: [
      { language: 'en', backlog: 12, ratePerDay: 20 },
      { backlog: 6, ratePerDay: 20 },
    ],
    startMs: Date.parse('2024-06-05T12:00:00Z'),
    speed: 0,
  });
  await web.writeHostsFile(join(home, 'hosts'));
  env = {
    OUTRIDER_DATA_DIR: dataDir,
    OUTRIDER_FETCH_HOSTS_FILE: join(home, 'hosts'),
    OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${web.port}`,
    OUTRIDER_FETCH_DEFAULT_DELAY_MS: '50',
    OUTRIDER_POLLING_SITEMAP_MAX_AGE_HOURS: '87600',
    OUTRIDER_UP_FETCHERS: '1',
    LOG_FORMAT: 'json',
  };
  database = await openDatabase({ dataDir, maxConnections: 2, applicationName: 'cli test' });
});
afterAll(async () => {
  await host.close();
  for (const one of started) await one.stop('SIGKILL');
  await web?.close();
  await database?.close();
  await destroyServer(dataDir);
  rmSync(home, { recursive: true, force: true });
});

const host = new CliHost();
const run = (args: string[]): Promise<Ended> => host.run(args, { home, env });
const json = async <T>(args: string[]): Promise<T> => {
  const { code, stdout, stderr } = await run([...args, '--json']);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as T;
};
function start(args: string[]): Outrider {
  const one = new Outrider(args, { home, env });
  started.push(one);
  return one;
}

type Worker = { role: string; pid: number };
const loadWorkers = async (): Promise<Worker[]> =>
  (await database.pool.query<Worker>('SELECT role, pid FROM workers ORDER BY role')).rows;

describe('before anything runs', () => {
  test('migrate says that the schema is up to date, and when each step was applied', async () => {
    expect((await run(['migrate'])).stdout).toMatch(/^The schema is at version \d+; nothing to do\.\n$/);
    const table = (await run(['migrate', '--status'])).stdout;
    expect(table).toMatch(/^VERSION +NAME +APPLIED$/m);
    expect(table).toMatch(/^ +1 +sources +(just now|\d+ \w+ ago)$/m);
    const status = await json<{ version: number; appliedAt: string | null }[]>(['migrate', '--status']);
    expect(status.length).toBeGreaterThanOrEqual(4);
    for (const one of status) expect(Date.parse(one.appliedAt!)).not.toBeNaN();
  });

  test('empty lists say what to do first', async () => {
    expect((await run(['sources'])).stdout).toContain('outrider add https://example.com');
    expect((await run(['channels'])).stdout).toContain('outrider add');
    expect((await run(['docs', 'list'])).stdout).toContain('No documents yet');
    expect((await run(['docs', 'search', 'anything'])).stdout).toContain('Nothing found');
    expect(await json(['docs', 'search', 'anything'])).toEqual([]);
  });

  test('add works without a running engine and says that nothing is crawling', async () => {
    const { code, stdout } = await run(['add', `http://${web.publishers[1]!.host}/`]);
    expect(code).toBe(0);
    expect(stdout).toContain(`Added ${web.publishers[1]!.domain}`);
    expect(stdout).toContain('Nothing is crawling right now');
    expect(stdout).toContain('outrider up');
    const again = await run(['add', `http://${web.publishers[1]!.host}/`]);
    expect(again.stdout).toContain('followed already');
    expect(await json<object[]>(['sources'])).toHaveLength(1);
  });
});

describe('a busy port', () => {
  test.each(['serve', 'up'])('%s ends with code 4 and says what to do', async (command) => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as { port: number };
      const { code, stderr } = await runOutrider([command, '--port', String(port)], { home, env });
      expect(stderr).toContain(`port ${port} on 127.0.0.1 is in use`);
      // No other role begins with anything meanwhile.
      expect(stderr).not.toMatch(/(?:fetch|schedule) is running/);
      expect(stderr).toContain('--port');
      expect(code).toBe(4);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
    expect(await loadWorkers()).toEqual([]);
  });
});

describe('up', () => {
  let up: Outrider;
  let address: string;

  test('starts every role and says where it is', async () => {
    up = start(['up', '--port', String(await freePort())]);
    await up.says('Outrider is running');
    address = /Dashboard: (\S+)\//.exec(up.stdout)![1]!;
    expect(up.stdout).toContain(`Sign in (once, within 10 minutes): ${address}/sign-in?code=`);
    expect(await (await fetch(`${address}/readyz`)).json()).toEqual({ status: 'ready' });
    await waitUntil('all roles are there', async () => {
      const roles = (await loadWorkers()).map((worker) => worker.role);
      return roles.join() === 'fetch,schedule,serve' || roles.join();
    });
  });

  test('add waits for the feeds and names them', async () => {
    const { code, stdout } = await run(['add', `http://${web.publishers[0]!.host}/`]);
    expect(code).toBe(0);
    expect(stdout).toContain(`  feed  ${web.groundTruth()[0]!.feeds[0]}`);
  });

  test('add says when an address leads nowhere', async () => {
    const { code, stdout } = await run(['add', 'nobody-is-here.invalid']);
    expect(code).toBe(0);
    expect(stdout).toContain('Added nobody-is-here.invalid (https://nobody-is-here.invalid/)');
    expect(stdout).toContain('cannot be reached: no such host is known');
  });

  test('documents arrive and are found by their words', async () => {
    const wanted = web.groundTruth()[0]!.articles.filter((one) => one.expected.outcome === 'document');
    await waitUntil('all articles can be found', async () => {
      const counted = await database.pool.query<{ n: number }>(
        'SELECT count(*)::integer AS n FROM document_search',
      );
      return counted.rows[0]!.n >= wanted.length || String(counted.rows[0]!.n);
    });
    const { title, url } = wanted[0]!;
    const words = title.split(' ').filter((word) => /^[A-Za-z]{4,}$/.test(word));
    const hits = await json<{ title: string; url: string }[]>(['docs', 'search', ...words]);
    expect(hits.map((hit) => hit.url)).toContain(url);
    const table = await run(['docs', 'search', ...words]);
    expect(table.stdout).toMatch(/^TITLE +LANG +WORDS +PUBLISHED +URL$/m);
    expect(table.stdout).toContain(title);
    const shown = await run(['docs', 'show', url]);
    expect(shown.stdout).toContain(`${title}\n\nAddress    ${url}\n`);
    expect(shown.stdout).toMatch(/^Told by +http/m);
    const listed = await json<object[]>(['docs', 'list', '--limit', '3']);
    expect(listed).toHaveLength(3);
    const { token } = await json<{ token: string }>([
      'token',
      'create',
      '--name',
      'reader',
      '--role',
      'read',
    ]);
    const asked = `${address}/api/v1/documents?q=${words.join('+')}`;
    expect((await fetch(asked)).status).toBe(401);
    const found = (await (await fetch(asked, { headers: { authorization: `Bearer ${token}` } })).json()) as {
      items: { url: string }[];
    };
    expect(found.items.map((item) => item.url)).toContain(url);
  });

  test('sources and channels are listed', async () => {
    expect((await run(['sources'])).stdout).toContain(web.publishers[0]!.domain);
    const channels = await json<{ url: string; polls: number }[]>(['channels']);
    expect(channels.find((one) => one.url === web.groundTruth()[0]!.feeds[0])!.polls).toBeGreaterThanOrEqual(
      1,
    );
    expect((await run(['channels'])).stdout).toMatch(/^ID +KIND +URL +POLLS/m);
  });

  test('a fetcher that is killed is started again and goes on', async () => {
    const before = (await loadWorkers()).find((worker) => worker.role === 'fetch')!;
    process.kill(before.pid, 'SIGKILL');
    await waitUntil('another fetcher works', async () => {
      const now = (await loadWorkers()).filter((worker) => worker.role === 'fetch');
      return now.some((worker) => worker.pid !== before.pid) || JSON.stringify(now);
    });
    expect(up.stderr).toContain('fetch 1 ended and will be started again');
    const { code, stdout } = await run(['add', `http://${web.publishers[0]!.host}/`]);
    expect(code).toBe(0);
    expect(stdout).toContain('followed already');
  });

  test('a server that is killed is started again where it was, and that is not told again', async () => {
    const before = (await loadWorkers()).find((worker) => worker.role === 'serve')!;
    process.kill(before.pid, 'SIGKILL');
    await up.says('serve ended and will be started again');
    await waitUntil('it answers again', async () => {
      const answer = await fetch(`${address}/readyz`).catch((error: unknown) => String(error));
      return (typeof answer !== 'string' && answer.ok) || String(answer);
    });
    await waitUntil('it has said so', () => up.stderr.split('serve is running').length === 3);
    expect(up.stdout.split('Outrider is running')).toHaveLength(2);
  });

  test('SIGTERM ends it with code 0 and leaves nothing behind', async () => {
    const pids = (await loadWorkers()).map((worker) => worker.pid).filter(isRunning);
    expect(pids).toHaveLength(3);
    const { code, stderr } = await up.stop('SIGTERM');
    expect(code, stderr).toBe(0);
    expect(pids.filter(isRunning)).toEqual([]);
    const left = await database.pool.query<{ leased: number; alive: number }>(
      // Not those of the fetcher that was killed above: nobody could give them back.
      `SELECT (SELECT count(*)::integer FROM domain_slots
                WHERE split_part(reverse(lease_owner), '-', 2) IN (SELECT reverse(p::text) FROM unnest($1::integer[]) p)) AS leased,
              (SELECT count(*)::integer FROM workers WHERE pid = ANY ($1)) AS alive`,
      [pids],
    );
    expect(left.rows[0]).toEqual({ leased: 0, alive: 0 });
  });
});

test('the last one out stops the embedded server', async () => {
  const pid = Number(readFileSync(join(dataDir, 'pg', 'postmaster.pid'), 'utf8').split('\n')[0]);
  await database.close();
  expect(isRunning(pid)).toBe(false);
  const up = start(['up', '--port', '0']);
  await up.says('Outrider is running');
  const fresh = Number(readFileSync(join(dataDir, 'pg', 'postmaster.pid'), 'utf8').split('\n')[0]);
  expect(isRunning(fresh)).toBe(true);
  // Ctrl-C in a terminal reaches the whole group; the supervisor alone must be enough too.
  expect((await up.stop('SIGINT')).code).toBe(0);
  expect(isRunning(fresh)).toBe(false);
});
