import { afterAll, beforeAll, expect, test } from 'vitest';
import { indexDocuments } from '../../src/documents/index.ts';
import { askReplay, listSinks, runReplays, saveSink } from '../../src/outbox/index.ts';
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

test('what resembles an older page of its own publisher is no copy of anybody', async () => {
  const column =
    'Every Friday the almanac lists the tides, the ferries and the hours of the library. '.repeat(6);
  await storeDocuments(database.pool, [{ url: 'https://f-own.example/week-1', text: column, hold: true }]);
  await index();
  const second = 'https://f-own.example/week-2';
  await storeDocuments(database.pool, [{ url: second, text: `${column} High water at nine.`, hold: true }]);
  await index();
  expect((await waiting()).find((row) => row.url === second)).toEqual({ url: second, held: false });
});

test('a replay leaves out what a source holds back', async () => {
  const story = 'The last lamplighter of the old town put his ladder away on a Tuesday in the rain. '.repeat(
    6,
  );
  await storeDocuments(database.pool, [{ url: 'https://g-first.example/lamps', text: story }]);
  await index();
  const copy = 'https://h-second.example/lamps';
  const own = 'https://h-second.example/own';
  await storeDocuments(database.pool, [
    { url: copy, text: `${story} Printed here too.`, hold: true },
    {
      url: own,
      text: 'Forty swans were counted on the canal, two more than a year ago. '.repeat(8),
      hold: true,
    },
  ]);
  await index();
  const replayed = async (): Promise<string[]> => {
    await database.pool.query(`DELETE FROM outbox WHERE sink = 'somewhere'`);
    await askReplay(database.pool, { sink: 'somewhere' });
    while ((await runReplays(database.db, 1000)) > 0);
    return (await waiting()).map(({ url }) => url);
  };
  expect(await replayed()).toEqual(expect.arrayContaining([copy, own]));
  const source = await database.pool.query<{ id: number }>(
    `INSERT INTO sources (name, slug, url, settings) VALUES ('h', 'h', 'https://h-second.example/', '{"copies": "hold"}') RETURNING id`,
  );
  await database.pool.query(
    `UPDATE documents SET source_id = $1 WHERE url LIKE 'https://h-second.example/%'`,
    [source.rows[0]!.id],
  );
  const after = await replayed();
  expect(after).toContain(own);
  expect(after).not.toContain(copy);
});

test('without the index nobody could let go, so nothing is held', async () => {
  await saveSink(database.pool, { name: 'index', kind: 'postgres', enabled: false });
  const url = 'https://e-alone.example/report';
  await storeDocuments(database.pool, [{ url, hold: true }]);
  expect((await waiting()).find((row) => row.url === url)).toEqual({ url, held: false });
});
