import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isConnectionLost, openDatabase } from '../../src/db/index.ts';
import { waitUntil } from '../e2e/wait.ts';
import { checkCrawl, checkEnd } from '../fetch/end.ts';
import { Lab, plain } from '../fetch/lab.ts';
import { type FaultProxy, startFaultProxy } from '../process/fault-proxy.ts';
import type { Outrider } from '../process/outrider.ts';

// Real fetchers reach a real PostgreSQL through a proxy that loses answers, falls silent and comes back.
const delayMs = 50;
const slow = [{ name: 'slow', on: ['article' as const], options: { delayMs: 1500 } }];
const backlog = 12;

let lab: Lab;
let proxy: FaultProxy;
let fetcher: Outrider;

beforeAll(async () => {
  lab = await Lab.open({
    publishers: [
      plain('settles', [], { backlog }),
      plain('leases', [], { backlog }),
      plain('away', [{ name: 'slow', on: ['article'], options: { delayMs: 400 } }], { backlog }),
      plain('crowded', [], { backlog }),
      plain('deadlocked', slow),
      plain('serialized', slow),
      plain('read-only', slow),
    ],
    env: { OUTRIDER_FETCH_LEASE_SECONDS: '10' },
  });
  proxy = await startFaultProxy(lab.database.url);
}, 60_000);
afterAll(async () => {
  await lab?.close();
  await proxy?.close();
});

type Act = (session: pg.ClientBase) => Promise<unknown>;

/** Lets another session hold an article's row when its settle comes, and do something while that waits. */
async function meetSettle(name: string, act: Act): Promise<void> {
  const url = lab.article(name);
  await lab.ask(url);
  await waitUntil('the page is asked for', () => asked(name)[0] === 1);
  const session = await lab.database.pool.connect();
  try {
    // The settle is to be the one that is refused, not this session.
    await session.query(`SET deadlock_timeout = '20s'; SET lock_timeout = 0; BEGIN`);
    await session.query('UPDATE url_frontier SET priority = priority WHERE url = $1', [url]);
    await waitUntil('its settle waits for the row', async () => {
      const waiting = await lab.database.pool.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%frontier_settle%'
            AND datname = current_database()`,
      );
      return waiting.rowCount === 1;
    });
    await act(session);
    await session.query('COMMIT');
  } finally {
    session.release(true);
  }
  await lab.idle();
  expect(await lab.row(url)).toMatchObject({ status: 'fetched', tries: 0, documents: 1, version: 1 });
  expect(asked(name)[0]).toBe(1);
}

/** How often each article of a publisher was asked for. */
function asked(name: string): number[] {
  const paths = lab.requests(name).map(({ path }) => path);
  const articles = lab.web.groundTruth(`${name}.test`)[0]!.articles;
  return articles.map(({ url }) => paths.filter((path) => path === new URL(url).pathname).length);
}

async function submitArticles(name: string): Promise<void> {
  for (const { url } of lab.web.groundTruth(`${name}.test`)[0]!.articles) await lab.ask(url);
}

const calls = (statement: string) => (sent: Buffer) => sent.includes(statement);

test('a fetcher cut off for twice its lease is replaced, and changes nothing when it comes back', async () => {
  const way = await startFaultProxy(lab.database.url);
  const away = lab.start({ DATABASE_URL: way.url, OUTRIDER_FETCH_LEASE_SECONDS: '5' });
  await submitArticles('away');
  await waitUntil('it is under way', () => lab.requests('away').length >= 3);
  way.freeze();
  const frozenAt = performance.now();
  fetcher = lab.start({ DATABASE_URL: proxy.url });
  await waitUntil('the other one has done the rest, and twice the lease is over', async () => {
    const { fetched } = await lab.statuses('away');
    return (fetched === backlog && performance.now() > frozenAt + 10_000) || `${fetched} fetched`;
  });
  await lab.idle();
  const rows = () => lab.database.pool.query('SELECT url_hash, xmin::text FROM url_frontier ORDER BY 1');
  const before = await rows();
  way.thaw();
  await waitUntil('it has heard that it lost its lease', () => away.stderr.includes('nothing was changed'));
  // Whoever reads that asks "outrider explain" next.
  const told = away.stderr.split('\n').find((line) => line.includes('nothing was changed'));
  expect(JSON.parse(told!)).toMatchObject({ domain: 'away.test' });
  expect((await rows()).rows).toEqual(before.rows);
  await lab.idle();
  const documents = await lab.database.pool.query('SELECT FROM documents WHERE version > 1');
  expect(documents.rowCount).toBe(0);
  await checkEnd(lab, away);
  await way.close();
}, 180_000);

describe('a connection that is reset after the statement was carried out', () => {
  test('a settle whose answer was lost is repeated and changes nothing', async () => {
    const cuts = (async () => {
      for (let cut = 0; cut < 2; cut += 1) await proxy.cutAfter(calls('frontier_settle'));
    })();
    await submitArticles('settles');
    await cuts;
    await lab.idle();
    expect(await lab.statuses('settles')).toEqual({ fetched: backlog });
    expect(asked('settles')).toEqual(Array(backlog).fill(1));
    await checkCrawl(lab, delayMs);
  }, 180_000);

  test('a lease whose answer was lost ends by itself, and its pages are asked for once', async () => {
    const cutting = (async () => {
      // Every answer is lost until one of them was a lease.
      for (let held: number | null = 0; held === 0; ) {
        await proxy.cutAfter(calls('frontier_lease'));
        held = (await lab.database.pool.query('SELECT FROM domain_slots WHERE lease_owner IS NOT NULL'))
          .rowCount;
      }
    })();
    await submitArticles('leases');
    await cutting;
    expect(lab.requests('leases')).toEqual([]);
    await waitUntil('all are fetched', async () => {
      const statuses = await lab.statuses('leases');
      return statuses.fetched === backlog || JSON.stringify(statuses);
    });
    expect(asked('leases')).toEqual(Array(backlog).fill(1));
    await checkCrawl(lab, delayMs);
  }, 180_000);
});

describe('a server that falls silent', () => {
  test('a half-open connection is noticed, and a statement that takes long is left alone', async () => {
    // Of its own: the fetcher's connections would fall silent with it.
    const way = await startFaultProxy(lab.database.url);
    const database = await openDatabase({ databaseUrl: way.url, migrate: false, silentMs: 500 });
    expect((await database.pool.query('SELECT count(pg_sleep(1.5))::integer AS n')).rows).toEqual([{ n: 1 }]);
    const held = database.withTransaction(async (tx) => {
      await tx.query('SELECT 1');
      way.freezeOpen();
      await tx.query('SELECT 2');
    });
    await expect(held).rejects.toSatisfy(isConnectionLost);
    expect((await database.pool.query('SELECT 3 AS three')).rows).toEqual([{ three: 3 }]);
    // Now nobody gets through at all.
    way.freeze();
    await expect(database.pool.query('SELECT 4')).rejects.toSatisfy(isConnectionLost);
    way.thaw();
    expect((await database.pool.query('SELECT 5 AS five')).rows).toEqual([{ five: 5 }]);
    await database.close();
    await way.close();
  }, 180_000);
});

describe('a settle that the database refuses for the moment', () => {
  test('a deadlock: it is sent again, and the page is asked for once', async () => {
    const deadlocks = async (): Promise<number> => {
      const { rows } = await lab.database.pool.query<{ n: number }>(
        'SELECT deadlocks::integer AS n FROM pg_stat_database WHERE datname = current_database()',
      );
      return rows[0]!.n;
    };
    await meetSettle('deadlocked', (session) =>
      session.query(
        `SELECT FROM domain_slots s JOIN domains d USING (bucket, domain_key) WHERE d.name = 'deadlocked.test' FOR UPDATE OF s`,
      ),
    );
    await waitUntil('the server has counted it', async () => (await deadlocks()) > 0);
  }, 180_000);

  test('a serialization failure: likewise', async () => {
    const { pool } = lab.database;
    const name = (await pool.query<{ name: string }>('SELECT current_database() AS name')).rows[0]!.name;
    // An operator may have set this; connections take it up when they are made.
    await pool.query(`ALTER DATABASE ${name} SET default_transaction_isolation = 'repeatable read'`);
    proxy.resetAll();
    await meetSettle('serialized', async () => undefined);
    await pool.query(`ALTER DATABASE ${name} RESET default_transaction_isolation`);
    proxy.resetAll();
  }, 180_000);

  test('a server that takes no writes for a while: it is sent again until it does', async () => {
    const url = lab.article('read-only');
    await lab.ask(url);
    await waitUntil('the page is asked for', () => asked('read-only')[0] === 1);
    const session = await lab.database.pool.connect();
    const name = (await session.query<{ name: string }>('SELECT current_database() AS name')).rows[0]!.name;
    let sent = 0;
    const isThird = (chunk: Buffer): boolean => chunk.includes('frontier_settle') && ++sent === 3;
    try {
      // Connections take it up when they are made; this session was made before.
      await session.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
      proxy.resetAll();
      await proxy.cutAfter(isThird);
    } finally {
      await session.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
      session.release();
      proxy.resetAll();
    }
    await lab.idle();
    expect(await lab.row(url)).toMatchObject({ status: 'fetched', tries: 0, documents: 1, version: 1 });
    expect(asked('read-only')[0]).toBe(1);
  }, 180_000);
});

test('a server that has fewer connections than fetchers want is waited for', async () => {
  const { pool } = lab.database;
  const role = `few_${process.pid}`;
  await pool.query(
    `CREATE ROLE ${role} LOGIN CONNECTION LIMIT 2; GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role};
     GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${role}`,
  );
  const limited = new URL(lab.database.url);
  limited.username = role;
  await checkEnd(lab, fetcher);
  const few = lab.start({ DATABASE_URL: limited.href });
  await submitArticles('crowded');
  await waitUntil('all are fetched', async () => {
    const statuses = await lab.statuses('crowded');
    return statuses.fetched === backlog || JSON.stringify(statuses) + few.stderr.slice(-500);
  });
  expect(asked('crowded')).toEqual(Array(backlog).fill(1));
  await checkEnd(lab, few);
  await checkCrawl(lab, delayMs);
  await pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
}, 180_000);
