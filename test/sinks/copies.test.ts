import { afterAll, beforeAll, expect, test } from 'vitest';
import { indexDocuments } from '../../src/documents/index.ts';
import { listSinks, saveSink } from '../../src/outbox/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { storeDocuments, textOf } from './store.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await saveSink(database.pool, { name: 'somewhere', kind: 'test', enabled: true });
});
afterAll(() => database.drop());

const waiting = async (): Promise<{ url: string; held: boolean }[]> =>
  (
    await database.pool.query(
      `SELECT d.url, o.held FROM outbox o JOIN documents d USING (bucket, domain_key, url_hash)
        WHERE o.sink = 'somewhere' ORDER BY d.url`,
    )
  ).rows;
const index = () => database.db.withTransaction((tx) => indexDocuments(tx, 200));

test('where a source holds copies back, sinks wait until it is known what is one', async () => {
  const story = textOf('the wire report').repeat(3);
  const original = 'https://a-first.example/report';
  const copy = 'https://b-second.example/report';
  const own = 'https://b-second.example/own';
  await storeDocuments(database.pool, [{ url: original, text: story }]);
  await index();
  expect(await waiting()).toEqual([{ url: original, held: false }]);
  await storeDocuments(database.pool, [
    { url: copy, text: `${story} Printed here too.`, hold: true },
    {
      url: own,
      text: 'Nothing of this was said by anybody before us, whatever they may claim. '.repeat(9),
      hold: true,
    },
  ]);
  expect(await waiting()).toEqual([
    { url: original, held: false },
    { url: own, held: true },
    { url: copy, held: true },
  ]);
  expect((await listSinks(database.pool)).find((sink) => sink.name === 'somewhere')).toMatchObject({
    waiting: 3,
    held: 2,
  });
  await index();
  // The copy stays a document; only the sinks do not get it.
  expect(await waiting()).toEqual([
    { url: original, held: false },
    { url: own, held: false },
  ]);
  expect((await database.pool.query('SELECT FROM documents WHERE url = $1', [copy])).rowCount).toBe(1);
});

test('the first of a cluster is delivered, whoever prints it later', async () => {
  const story =
    'The harbour master found a second clock under the old pier, and it was right twice a day. '.repeat(6);
  const first = 'https://c-first.example/report';
  await storeDocuments(database.pool, [{ url: first, text: story, hold: true }]);
  await index();
  await storeDocuments(database.pool, [
    { url: 'https://d-later.example/report', text: `${story} And more.` },
  ]);
  await index();
  expect((await waiting()).map((row) => row.url)).toContain(first);
});

test('without the index nobody could let go, so nothing is held', async () => {
  await saveSink(database.pool, { name: 'index', kind: 'postgres', enabled: false });
  const url = 'https://e-alone.example/report';
  await storeDocuments(database.pool, [{ url, hold: true }]);
  expect((await waiting()).find((row) => row.url === url)).toEqual({ url, held: false });
});
