import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  foldCounters,
  type LoggedRequest,
  loadSourceDays,
  loadTotals,
  pruneSourceDays,
  submit,
} from '../../src/frontier/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { storeDocuments } from '../sinks/store.ts';
import { done, finish, item, take } from './fixtures.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
beforeEach(() =>
  test.pool.query(
    'TRUNCATE url_frontier, domain_slots, domains, documents, counter_deltas, counters, source_totals, source_days, crawl_log',
  ),
);
afterAll(() => test.drop());

const request = (change: Partial<LoggedRequest>): LoggedRequest => ({
  endedAt: performance.now(),
  status: 200,
  kind: 'article',
  outcome: 'response',
  hash: null,
  url: 'https://d1.test/a',
  sourceId: 7,
  executionId: null,
  waitMs: null,
  headersMs: null,
  totalMs: 5,
  bytes: 10,
  ...change,
});

// All days together: the night may fall between a settle and the question.
const lately = async (id: number) => {
  const { sources } = await loadSourceDays(test.pool, [id], 3);
  const { sourceId: _id, ...days } = sources[0]!;
  return Object.fromEntries(
    Object.entries(days).map(([name, numbers]) => [name, numbers.reduce((a, b) => a + b)]),
  );
};

it('what a settle did is counted for the source it was done for, before and after the fold', async () => {
  await submit(test.pool, [item(1, 'a', { sourceId: 7 }), item(1, 'b', { sourceId: 8 })]);
  const [held] = await take(test.db);
  await finish(test.db, held!, {
    items: held!.urls.map((one) => done(one.hash)),
    requests: [
      request({ kind: 'robots', sourceId: null }),
      request({}),
      request({ status: 503 }),
      request({ sourceId: 8, status: 200, kind: 'channel' }),
    ],
  });
  const seven = { inserted: 1, requests: 2, pages: 1, errors: 1, documents: 0 };
  const eight = { inserted: 1, requests: 1, pages: 0, errors: 0, documents: 0 };
  expect(await lately(7)).toMatchObject(seven);
  // Two schedulers at once: each row is folded by one of them.
  await Promise.all([foldCounters(test.pool), foldCounters(test.pool)]);
  expect((await test.pool.query('SELECT FROM counter_deltas')).rowCount).toBe(0);
  expect(await lately(7)).toMatchObject(seven);
  expect(await lately(8)).toMatchObject(eight);
  expect(await loadTotals(test.pool)).toMatchObject({ requests: 4, bytes: 40, inserted: 2 });
  expect(await loadTotals(test.pool, 7)).toMatchObject({ requests: 2, bytes: 20 });
});

it('a late worker is logged and not counted', async () => {
  await submit(test.pool, [item(1, 'a', { sourceId: 7 })]);
  const [held] = await take(test.db);
  await finish(test.db, { ...held!, epoch: held!.epoch + 1n }, { requests: [request({})] });
  expect(await lately(7)).toMatchObject({ requests: 0 });
});

it('new documents count for their source, further versions do not', async () => {
  const url = 'https://paper.test/a';
  await storeDocuments(test.pool, [
    { url, sourceId: 7 },
    { url: 'https://paper.test/b', sourceId: 8 },
    { url: 'https://paper.test/c' },
  ]);
  await storeDocuments(test.pool, [{ url, sourceId: 7, text: 'another text' }]);
  // Two of one text in one settle are stored one by one.
  await storeDocuments(test.pool, [
    { url: 'https://twins.test/a', sourceId: 7, text: 'the same words' },
    { url: 'https://twins.test/b', sourceId: 7, text: 'the same words' },
  ]);
  await foldCounters(test.pool);
  expect(await lately(7)).toMatchObject({ documents: 2 });
  expect(await lately(8)).toMatchObject({ documents: 1 });
  expect(await loadTotals(test.pool)).toMatchObject({ documents: 4, versions: 1 });
});

it('each day has its place, by the time of UTC', async () => {
  await test.pool.query(
    `INSERT INTO counter_deltas (bucket, minute, source_id, documents)
     SELECT 0, date_trunc('day', now(), 'UTC') - interval '1 day' * n, 7, n + 1 FROM generate_series(0, 5) n`,
  );
  await test.pool.query(
    `INSERT INTO counter_deltas (bucket, minute, source_id, documents)
     SELECT 0, date_trunc('day', now(), 'UTC') - interval '1 minute', 7, 10`,
  );
  const days = async () => (await loadSourceDays(test.pool, [7, 9], 3)).sources.map((one) => one.documents);
  const expected = [
    [3, 12, 1],
    [0, 0, 0],
  ];
  expect(await days()).toEqual(expected);
  await foldCounters(test.pool);
  expect(await days()).toEqual(expected);
  const { rows } = await test.pool.query<{ day: string }>(
    `SELECT (now() AT TIME ZONE 'UTC')::date::text AS day`,
  );
  expect((await loadSourceDays(test.pool, [], 3)).until).toBe(rows[0]!.day);
});

it('days past their retention are deleted, whatever their number', async () => {
  await test.pool.query(
    `INSERT INTO source_days (source_id, day) SELECT s, (now() AT TIME ZONE 'UTC')::date - d
       FROM generate_series(1, 3000) s, unnest(ARRAY[0, 400, 401, 500]) d`,
  );
  expect(await pruneSourceDays(test.pool, 400)).toBe(6000);
  expect((await test.pool.query('SELECT FROM source_days')).rowCount).toBe(6000);
});
