import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { destroyServer } from '../../src/db/embedded/index.ts';
import { openDatabase } from '../../src/db/index.ts';
import { submit } from '../../src/frontier/index.ts';
import { hashOf, loadBalances, loadKnown } from '../e2e/crawl-state.ts';
import { waitUntil } from '../e2e/wait.ts';
import { checkEnd } from '../fetch/end.ts';
import { Lab, plain } from '../fetch/lab.ts';
import { type FaultProxy, startFaultProxy } from '../process/fault-proxy.ts';
import { isRunning, Outrider } from '../process/outrider.ts';
import { makeToken } from '../setup/token.ts';
import { findPolitenessViolations, startWeb } from '../web/index.ts';

// kill -9 at moments that are chosen, not met by chance: the proxy knows what the server has done and not yet answered.
const delayMs = 50;
const backlog = 8;
let lab: Lab;
let proxy: FaultProxy;

beforeAll(async () => {
  lab = await Lab.open({
    publishers: [
      plain('middle', [], { backlog }),
      plain('settled', [], { backlog }),
      plain('poison', [], { backlog: 4 }),
    ],
    env: { OUTRIDER_FETCH_LEASE_SECONDS: '5' },
  });
  proxy = await startFaultProxy(lab.database.url);
}, 60_000);
afterAll(async () => {
  await lab?.close();
  await proxy?.close();
});

const articlesOf = (name: string): string[] =>
  lab.web.groundTruth(`${name}.test`)[0]!.articles.map(({ url }) => url);
const asked = (name: string, url: string): number =>
  lab.requests(name).filter(({ path }) => path === new URL(url).pathname).length;

/** The fetcher at work; each test kills it and leaves another. */
let fetcher: Outrider;

/** One that has begun: told to end before, it would be gone without a word. */
async function startReady(env: Readonly<Record<string, string>> = {}): Promise<void> {
  fetcher = lab.start(env);
  await waitUntil('the fetcher is at work', async () => {
    const found = await lab.database.pool.query('SELECT FROM workers WHERE pid = $1', [fetcher.pid]);
    return found.rowCount === 1;
  });
}

/** Kills the fetcher when the server has carried out a statement and the fetcher does not know; starts the next one. */
async function killAfter(statement: string, prepare: () => Promise<unknown>): Promise<void> {
  const cut = proxy.cutAfter((sent) => sent.includes(statement));
  await prepare();
  await cut;
  expect((await fetcher.stop('SIGKILL')).signal).toBe('SIGKILL');
}

describe('a fetcher that is killed', () => {
  beforeAll(() => startReady({ DATABASE_URL: proxy.url }), 60_000);

  test('in the middle of a feed, its items submitted and the poll not settled: the next one goes on', async () => {
    await killAfter('frontier_submit', () => lab.follow('middle', 'feed'));
    const left = await lab.row(lab.address('middle', 'feed'), 'feed');
    expect(left).toMatchObject({ status: 'pending', http: null });
    expect(Object.values(await lab.statuses('middle')).reduce((sum, one) => sum + one, 0)).toBeGreaterThan(0);
    await startReady({ DATABASE_URL: proxy.url });
    await lab.idle();
    const urls = articlesOf('middle').slice(-6); // the feed has room for six
    for (const url of urls) expect(await lab.row(url)).toMatchObject({ status: 'fetched', version: 1 });
    expect(urls.map((url) => asked('middle', url))).toEqual(urls.map(() => 1));
    expect(await lab.row(lab.address('middle', 'feed'), 'feed')).toMatchObject({ http: 200, code: null });
  }, 180_000);

  test('between its settle and the answer: what is settled stays, and is not asked for again', async () => {
    await killAfter('frontier_settle', async () => {
      for (const url of articlesOf('settled')) await lab.ask(url);
    });
    await startReady();
    await lab.idle();
    expect(await lab.statuses('settled')).toEqual({ fetched: backlog });
    const times = articlesOf('settled').map((url) => asked('settled', url));
    // What it had asked for and not settled is asked for again; what it had settled is not.
    const settledTwice = await lab.database.pool.query('SELECT FROM url_frontier WHERE fetch_count > 1');
    expect(settledTwice.rowCount).toBe(0);
    expect(times.filter((one) => one > 2)).toEqual([]);
    expect(times).toContain(1);
  }, 180_000);

  test('by the same page each time: the page is given up as a crash loop, and its neighbours live', async () => {
    const [poison, ...neighbours] = articlesOf('poison');
    // Never answered, so that it is under way when the fetcher dies, however late that is seen.
    lab.web.setFault('poison.test', { name: 'stall', pathPrefix: new URL(poison!).pathname });
    await lab.ask(poison!);
    let deaths = 0;
    await waitUntil(
      'the page is given up',
      async () => {
        if (asked('poison', poison!) > deaths) {
          deaths += 1;
          await fetcher.stop('SIGKILL');
          await startReady();
        }
        return (await lab.row(poison!))?.status === 'dead' || `${deaths} deaths`;
      },
      150_000,
    );
    expect(await lab.row(poison!)).toMatchObject({ status: 'dead', code: 'crash_loop', documents: 0 });
    expect(deaths).toBeGreaterThanOrEqual(3);
    for (const url of neighbours) await lab.ask(url);
    await lab.idle();
    for (const url of neighbours) expect(await lab.row(url)).toMatchObject({ status: 'fetched' });
    await checkEnd(lab, fetcher);
  }, 240_000);

  test('whatever it was killed by: sums agree, and nobody was hurried', async () => {
    for (const [what, one, other] of await loadBalances(lab.database.pool))
      expect([what, one]).toEqual([what, other]);
    expect(findPolitenessViolations(lab.web.log.read(), { delayMs: () => delayMs })).toEqual([]);
  });
});

test('an API killed in the middle of an import leaves whole sources, and the same import ends it', async () => {
  const lines = 3000;
  const list = Array.from({ length: lines }, (_, n) => `https://paper${n}.example/`).join('\n');
  const token = await makeToken(lab.database.pool, 'admin');
  const serve = async (databaseUrl: string): Promise<{ one: Outrider; post: () => Promise<Response> }> => {
    const one = new Outrider(['serve', '--port', '0'], {
      home: tmpdir(),
      env: { DATABASE_URL: databaseUrl, LOG_FORMAT: 'json' },
    });
    await one.says('serve is running');
    const address = /"address":"(http:[^"]+)"/.exec(one.stdout + one.stderr)![1]!;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' };
    return {
      one,
      post: () => fetch(`${address}/api/v1/sources/import`, { method: 'POST', body: list, headers }),
    };
  };
  const count = async (): Promise<number> =>
    (
      await lab.database.pool.query<{ n: number }>(
        `SELECT count(*)::integer AS n FROM sources WHERE url LIKE 'https://paper%'`,
      )
    ).rows[0]!.n;
  const first = await serve(proxy.url);
  let batches = 0;
  const third = proxy.cutAfter((sent) => {
    if (sent.includes('INSERT INTO sources')) batches += 1;
    return batches === 3;
  });
  const lost = first.post().catch((error: unknown) => error);
  await third;
  await first.one.stop('SIGKILL');
  expect(await lost).toBeInstanceOf(Error);
  const before = await count();
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThan(lines);
  const second = await serve(lab.database.url);
  const report = (await (await second.post()).json()) as object;
  expect(report).toMatchObject({ added: lines - before, known: before, bad: 0 });
  // Every source has its search for channels, those of the lost import too.
  const whole = await lab.database.pool.query<{ sources: number; searches: number }>(
    `SELECT count(*)::integer AS sources,
            count(*) FILTER (WHERE EXISTS (SELECT FROM discoveries d WHERE d.source_id = s.id))::integer AS searches
       FROM sources s WHERE url LIKE 'https://paper%'`,
  );
  expect(whole.rows[0]).toEqual({ sources: lines, searches: lines });
  expect((await second.one.stop('SIGTERM')).code).toBe(0);
}, 180_000);

test('the database shut down fast, then everything killed at once: each time the work goes on where it was', async () => {
  const home = mkdtempSync(join(tmpdir(), 'outrider-all-'));
  const dataDir = join(home, 'data');
  const web = await startWeb({
    seed: 7,
    publishers: 2,
    changes: ['one', 'two'].map((name) => plain(name, [], { backlog: 16 })),
    startMs: Date.parse('2024-06-05T12:00:00Z'),
    speed: 0,
  });
  await web.writeHostsFile(join(home, 'hosts'));
  const up = (): Outrider =>
    new Outrider(['up', '--port', '0', '--fetchers', '1', '--data', dataDir], {
      home,
      env: {
        OUTRIDER_FETCH_HOSTS_FILE: join(home, 'hosts'),
        OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${web.port}`,
        OUTRIDER_FETCH_DEFAULT_DELAY_MS: '300',
        OUTRIDER_FETCH_LEASE_SECONDS: '5',
      },
    });
  const started = [up()];
  try {
    await started[0]!.says('Outrider is running', 150_000);
    let database = await openDatabase({ dataDir, maxConnections: 2 });
    const urls = web.groundTruth().flatMap(({ articles }) => articles.map(({ url }) => url));
    const item = { kind: 'article', origin: 'manual', sourceId: null, priority: 5, own: true } as const;
    await submit(
      database.pool,
      urls.map((url) => ({ ...item, url })),
    );
    const serverPid = (): number =>
      Number(readFileSync(join(dataDir, 'pg', 'postmaster.pid'), 'utf8').split('\n')[0]);
    await waitUntil('pages come', () => web.log.nextSeq >= 6);
    const fast = serverPid();
    process.kill(fast, 'SIGINT');
    await waitUntil('the server is gone', () => !isRunning(fast));
    const since = web.log.nextSeq;
    await waitUntil('pages come again', () => web.log.nextSeq >= since + 6, 150_000);
    const workers = await database.pool.query<{ pid: number }>('SELECT pid FROM workers');
    const pids = [started[0]!.pid, serverPid(), ...workers.rows.map(({ pid }) => pid)];
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    await waitUntil('all are gone', () => pids.filter(isRunning).length === 0);
    await database.close();
    started.push(up());
    await started[1]!.says('Outrider is running', 150_000);
    database = await openDatabase({ dataDir, maxConnections: 2 });
    await waitUntil(
      'every article is a document that can be found',
      async () => {
        const known = await loadKnown(database.pool);
        const left = urls.filter((url) => known.get(hashOf(url))?.status !== 'fetched').length;
        const unindexed = (await database.pool.query('SELECT FROM outbox')).rowCount!;
        return left + unindexed === 0 || `${left} left, ${unindexed} in the outbox`;
      },
      150_000,
    );
    for (const [what, one, other] of await loadBalances(database.pool))
      expect([what, one]).toEqual([what, other]);
    expect(findPolitenessViolations(web.log.read(), { delayMs: () => 300 })).toEqual([]);
    await database.close();
    expect((await started[1]!.stop('SIGTERM')).code, started[1]!.stderr).toBe(0);
  } finally {
    for (const one of started) await one.stop('SIGKILL');
    await web.close();
    await destroyServer(dataDir);
    rmSync(home, { recursive: true, force: true });
  }
}, 400_000);
