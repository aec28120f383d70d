import pg from 'pg';
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
    ],
    env: { OUTRIDER_FETCH_LEASE_SECONDS: '5' },
  });
  proxy = await startFaultProxy(lab.database.url);
  fetcher = lab.start({ DATABASE_URL: proxy.url });
}, 60_000);
afterAll(async () => {
  await lab?.close();
  await proxy?.close();
});

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

describe('a connection that is reset after the statement was carried out', () => {
  test('a settle whose answer was lost is repeated and changes nothing', async () => {
    const cuts = (async () => {
      for (let cut = 0; cut < 3; cut += 1) await proxy.cutAfter(calls('frontier_settle'));
    })();
    await submitArticles('settles');
    await cuts;
    await lab.idle();
    expect(await lab.statuses('settles')).toEqual({ fetched: backlog });
    expect(asked('settles')).toEqual(Array(backlog).fill(1));
    await checkCrawl(lab, delayMs);
  });

  test('a lease whose answer was lost ends by itself, and its pages are asked for once', async () => {
    const cut = proxy.cutAfter(calls('frontier_lease'));
    await submitArticles('leases');
    await cut;
    await waitUntil('all are fetched', async () => {
      const statuses = await lab.statuses('leases');
      return statuses.fetched === backlog || JSON.stringify(statuses);
    });
    expect(asked('leases')).toEqual(Array(backlog).fill(1));
    await checkCrawl(lab, delayMs);
  });
});

describe('a server that cannot be reached', () => {
  test('a fetcher cut off for twice its lease is replaced, and changes nothing when it comes back', async () => {
    await submitArticles('away');
    await waitUntil('it is under way', () => lab.requests('away').length >= 3);
    proxy.freeze();
    const frozenAt = performance.now();
    const other = lab.start();
    await waitUntil('the other one has done the rest, and twice the lease is over', async () => {
      const { fetched } = await lab.statuses('away');
      return (fetched === backlog && performance.now() > frozenAt + 10_000) || `${fetched} fetched`;
    });
    const before = await lab.database.pool.query('SELECT url_hash, xmin::text FROM url_frontier ORDER BY 1');
    proxy.thaw();
    await waitUntil('it has heard that it lost its lease', () =>
      fetcher.stderr.includes('nothing was changed'),
    );
    const after = await lab.database.pool.query('SELECT url_hash, xmin::text FROM url_frontier ORDER BY 1');
    expect(after.rows).toEqual(before.rows);
    await lab.idle();
    const documents = await lab.database.pool.query('SELECT FROM documents WHERE version > 1');
    expect(documents.rowCount).toBe(0);
    await checkEnd(lab, other);
  }, 60_000);

  test('a half-open connection is noticed, and a statement that takes long is left alone', async () => {
    const database = await openDatabase({ databaseUrl: proxy.url, migrate: false, silentMs: 200 });
    expect((await database.pool.query('SELECT count(pg_sleep(1.2))::integer AS n')).rows).toEqual([{ n: 1 }]);
    const held = database.withTransaction(async (tx) => {
      await tx.query('SELECT 1');
      proxy.freezeOpen();
      await tx.query('SELECT 2');
    });
    await expect(held).rejects.toSatisfy(isConnectionLost);
    expect((await database.pool.query('SELECT 3 AS three')).rows).toEqual([{ three: 3 }]);
    // Now nobody gets through at all.
    proxy.freeze();
    await expect(database.pool.query('SELECT 4')).rejects.toSatisfy(isConnectionLost);
    proxy.thaw();
    expect((await database.pool.query('SELECT 5 AS five')).rows).toEqual([{ five: 5 }]);
    await database.close();
  }, 60_000);
});
