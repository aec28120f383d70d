import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { submit } from '../../src/frontier/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { done, finish, item, take } from './fixtures.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

describe('a settle that is repeated because its answer was lost', () => {
  const request = (hash: Buffer, url: string, totalMs: number) => ({
    endedAt: performance.now(),
    status: 200,
    kind: 'article',
    outcome: 'response',
    hash,
    url,
    sourceId: null,
    executionId: null,
    waitMs: 0,
    headersMs: 5,
    totalMs,
    bytes: 100,
  });
  const counted = async () =>
    (
      await test.pool.query<{ logged: number; pages: number }>(
        `SELECT (SELECT count(*)::integer FROM crawl_log) AS logged, (SELECT sum(pages_crawled)::integer FROM domains) AS pages`,
      )
    ).rows[0];

  it.each([true, false])('is done once, logged once and counted once (final: %s)', async (final) => {
    await test.pool.query('TRUNCATE url_frontier, domain_slots, domains, crawl_log, counter_deltas');
    await submit(test.pool, [item('again.test', `one-${final}`), item('again.test', `two-${final}`)]);
    const [held] = await take(test.db);
    const [first, second] = held!.urls;
    const once = {
      final,
      items: [done(first!.hash)],
      requests: [request(first!.hash, first!.url, 17)],
    };
    expect(await finish(test.db, held!, once)).toMatchObject({ outcome: 'settled', settled: 1 });
    expect(await finish(test.db, held!, { ...once, repeated: true })).toMatchObject({ outcome: 'settled' });
    expect(await counted()).toEqual({ logged: 1, pages: 1 });
    // Another one that never arrived is done when it is repeated, or is a late worker's.
    const lost = {
      final: true,
      items: [done(second!.hash)],
      requests: [request(second!.hash, second!.url, 18)],
    };
    expect(await finish(test.db, held!, { ...lost, repeated: true })).toMatchObject({
      outcome: final ? 'stale' : 'settled',
    });
    expect(await counted()).toEqual({ logged: 2, pages: final ? 1 : 2 });
  });
});
