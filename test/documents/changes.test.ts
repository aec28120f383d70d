import { afterAll, beforeAll, expect, test } from 'vitest';
import { indexDocuments, loadChanges } from '../../src/documents/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { storeDocuments } from '../sinks/store.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('changes with long texts come in portions that a process can hold', async () => {
  const urls = Array.from({ length: 5 }, (_, n) => `https://long.example/${n}`);
  for (const url of urls)
    await storeDocuments(database.pool, [{ url, text: `${url} ${'x'.repeat(7_000_000)}` }]);
  await storeDocuments(database.pool, [{ url: 'https://long.example/short', text: 'short' }]);
  await database.db.withTransaction((tx) => indexDocuments(tx, 200));
  const portions: string[][] = [];
  for (let place = 0n; ; ) {
    const found = await loadChanges(database.pool, place, { limit: 100 });
    if (found.place === place) break;
    place = found.place;
    portions.push(found.changes.map(({ document }) => document.url));
  }
  expect(portions.map((one) => one.length)).toEqual([3, 3]);
  expect(portions.flat().sort()).toEqual([...urls, 'https://long.example/short'].sort());
});
