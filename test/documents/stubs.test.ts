import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  indexDocuments,
  loadChanges,
  loadCluster,
  loadLastPlace,
  searchDocuments,
} from '../../src/documents/index.ts';
import { retryDeadLetters, saveSink } from '../../src/outbox/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { idOf, storeDocuments, textOf } from '../sinks/store.ts';

// An article whose page has next to no text when it is looked at again.
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await saveSink(database.pool, { name: 'somewhere', kind: 'test', enabled: true });
});
afterAll(() => database.drop());

const index = () => database.db.withTransaction((tx) => indexDocuments(tx, 200));
const found = async (query: string): Promise<string[]> =>
  (await searchDocuments(database.pool, query)).hits.map(({ url }) => url);
const waiting = async (): Promise<string[]> =>
  (
    await database.pool.query<{ sink: string }>(
      `SELECT o.sink FROM outbox o JOIN documents d USING (bucket, domain_key, url_hash) WHERE d.url = $1 ORDER BY 1`,
      [url],
    )
  ).rows.map(({ sink }) => sink);

const url = 'https://a.example/report';
const copy = 'https://b.example/report';
const text = `A lighthouse keeper remembers. ${textOf('the report')}`;
const stub = { url, title: 'Moved', text: 'This page has moved.', pageType: 'stub' } as const;

test('is found, copied and delivered no more, and again when it is back', async () => {
  await storeDocuments(database.pool, [{ url, text }]);
  await storeDocuments(database.pool, [{ url: copy, text: `${text} Also here.` }]);
  await index();
  expect((await found('lighthouse')).sort()).toEqual([url, copy]);
  expect((await loadCluster(database.pool, idOf(copy)))?.size).toBe(2);
  expect(await waiting()).toEqual(['somewhere']);
  const place = await loadLastPlace(database.pool);

  await storeDocuments(database.pool, [stub]);
  // Nobody has taken the first version yet; what there is now is nothing to deliver.
  expect(await waiting()).toEqual(['index']);
  await index();
  expect(await waiting()).toEqual([]);
  expect(await found('lighthouse')).toEqual([copy]);
  expect(await found('moved')).toEqual([]);
  expect(await loadCluster(database.pool, idOf(copy))).toBeNull();
  expect((await loadChanges(database.pool, place, { limit: 10 })).changes).toEqual([]);

  await storeDocuments(database.pool, [{ url, text }]);
  await index();
  expect((await found('lighthouse')).sort()).toEqual([url, copy]);
  expect((await loadCluster(database.pool, idOf(copy)))?.size).toBe(2);
  expect(await waiting()).toEqual(['somewhere']);
  const { changes } = await loadChanges(database.pool, place, { limit: 10 });
  expect(changes.map(({ document }) => [document.url, document.version])).toEqual([[url, 3]]);
});

test('a page that was a stub from the beginning goes to nobody', async () => {
  await storeDocuments(database.pool, [{ ...stub, url: 'https://c.example/short' }]);
  await storeDocuments(database.pool, [
    { ...stub, url: 'https://c.example/short', text: 'And moved again.' },
  ]);
  await index();
  expect(await found('moved')).toEqual([]);
});

test('what a sink refused is not tried again as a stub', async () => {
  const refused = ['https://d.example/stays', 'https://d.example/goes'];
  await storeDocuments(
    database.pool,
    refused.map((one) => ({ url: one })),
  );
  await database.pool.query(
    `WITH gone AS (DELETE FROM outbox WHERE sink = 'somewhere' RETURNING *)
     INSERT INTO dead_letters (bucket, sink, domain_key, url_hash, version, enqueued_at, dead_at, attempts, error)
     SELECT g.bucket, g.sink, g.domain_key, g.url_hash, g.version, g.enqueued_at, now(), 1, 'no'
       FROM gone g JOIN documents d USING (bucket, domain_key, url_hash) WHERE d.url = ANY ($1)`,
    [refused],
  );
  await storeDocuments(database.pool, [{ ...stub, url: refused[1]! }]);
  expect(await retryDeadLetters(database.pool, 'somewhere')).toBe(1);
});
