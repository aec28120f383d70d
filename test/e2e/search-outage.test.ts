import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listSinks } from '../../src/outbox/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { findOpenSearch, type OpenSearch, startOpenSearch } from '../opensearch/index.ts';
import { Outrider } from '../process/outrider.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { type Given, storeDocuments, textOf } from '../sinks/store.ts';
import { waitUntil } from './wait.ts';

// The search server is away while documents go on coming. A few seconds of it in CI; SEARCH_OUTAGE_SECONDS=180 for
// minutes, with as many more documents.
const outageSeconds = Number(process.env.SEARCH_OUTAGE_SECONDS ?? 15);
const perSecond = 60;
const found = await findOpenSearch();
if ('missing' in found) console.warn(`SKIPPED: ${found.missing}`);

let database: TestDatabase;
let home: string;
let server: OpenSearch;
let deliverer: Outrider;

beforeAll(async () => {
  if ('missing' in found) return;
  database = await createTestDatabase();
  home = mkdtempSync(join(tmpdir(), 'outrider-search-outage-'));
  server = await startOpenSearch(found.classPath);
}, 300_000);
afterAll(async () => {
  await deliverer?.stop('SIGKILL');
  await server?.close();
  await database?.drop();
  if (home !== undefined) rmSync(home, { recursive: true, force: true });
});

/** Megabytes of memory the deliverer has. */
const memoryMb = (): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${deliverer.pid}/status`, 'utf8'))![1]) / 1024;

test.skipIf('missing' in found || process.platform !== 'linux')(
  'the search server is away while documents come: none is lost or double, and memory stays',
  async () => {
    const { source } = await createSource(database.pool, { url: 'https://herald.example/', name: 'Herald' });
    // Pages of some 100 kB, so that a deliverer that kept them would show it.
    const padding = '<p>advertisement</p>'.repeat(5000);
    let stored = 0;
    const store = async (count: number): Promise<void> => {
      const given: Given[] = Array.from({ length: count }, () => {
        stored += 1;
        const url = `https://herald.example/${stored}`;
        const body = Buffer.from(`<html><p>${textOf(url)}${padding}`);
        return {
          url,
          sourceId: source.id,
          raw: { body, encoding: 'identity', contentType: 'text/html; charset=utf-8' },
        };
      });
      await storeDocuments(database.pool, given);
    };
    deliverer = new Outrider(['schedule'], {
      home,
      env: { DATABASE_URL: database.url, ELASTICSEARCH_URL: server.url, LOG_LEVEL: 'info' },
    });
    const state = async () => (await listSinks(database.pool)).find((one) => one.kind === 'elasticsearch');
    await waitUntil('the sink is known', async () => (await state()) !== undefined);
    const isDelivered = async () => {
      const { waiting } = (await state())!;
      return waiting === 0 || `${waiting} wait`;
    };
    for (let n = 0; n < 10; n += 1) await store(perSecond);
    await waitUntil('what was there is delivered', isDelivered, 120_000);
    let most = memoryMb();
    const before = most;
    await server.kill();
    const until = performance.now() + outageSeconds * 1000;
    for (let second = 1; performance.now() < until; second += 1) {
      await store(perSecond);
      most = Math.max(most, memoryMb());
      const nextMs = until - outageSeconds * 1000 + second * 1000 - performance.now();
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, nextMs)));
    }
    const during = most;
    expect((await state())!.error).not.toBeNull();
    await server.start();
    await waitUntil(
      'all is delivered',
      () => {
        most = Math.max(most, memoryMb());
        return isDelivered();
      },
      900_000,
    );
    console.warn(
      `${stored} documents of 100 kB, ${outageSeconds} s away: ${Math.round(before)} MB before, ${Math.round(during)} MB during, ${Math.round(most)} MB with the backlog`,
    );
    await server.ask('POST', '/herald_raw_content/_refresh');
    const there: string[] = [];
    for (let portion: string[] | null = null; portion === null || portion.length > 0; ) {
      const { hits } = await server.ask<{ hits: { hits: { _source: { url: string } }[] } }>(
        'POST',
        '/herald_raw_content/_search',
        {
          size: 5000,
          sort: ['url'],
          _source: ['url'],
          ...(there.length === 0 ? {} : { search_after: [there.at(-1)] }),
        },
      );
      portion = hits.hits.map(({ _source }) => _source.url);
      there.push(...portion);
    }
    // By their names: what is lost or double says when it was sent.
    const wanted = await database.pool.query<{ url: string }>('SELECT url FROM documents');
    expect(wanted.rowCount).toBe(stored);
    const found = new Set(there);
    expect(wanted.rows.map(({ url }) => url).filter((url) => !found.has(url))).toEqual([]);
    expect(there).toHaveLength(stored);
    expect(await state()).toMatchObject({ waiting: 0, deadLetters: 0, error: null });
    // The deliverer holds one batch of 16 MB, as read, as sent and as JSON; what waits is in the database.
    expect(most - before).toBeLessThan(150);
    expect(during - before).toBeLessThan(100);
  },
  1_800_000,
);
