import { afterAll, beforeAll, expect, test } from 'vitest';
import { indexBatch, searchDocuments } from '../../src/documents/index.ts';
import {
  askReplay,
  listDeadLetters,
  retryDeadLetters,
  runReplays,
  saveSink,
} from '../../src/outbox/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { storeDocuments } from '../sinks/store.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await saveSink(database.pool, { name: 'somewhere', kind: 'test', enabled: true });
});
afterAll(() => database.drop());

const found = async (): Promise<number> => (await searchDocuments(database.pool, 'report')).hits.length;

test('a document that cannot be indexed is a dead letter and holds up nobody', async () => {
  // What PostgreSQL says of a list of words that is too long.
  await database.pool.query(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF NEW.words @@ 'poison' THEN RAISE EXCEPTION 'string is too long for tsvector' USING ERRCODE = '54000'; END IF;
       RETURN NEW; END $$;
     CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON document_search FOR EACH ROW EXECUTE FUNCTION refuse()`,
  );
  const urls = Array.from({ length: 9 }, (_, n) => `https://paper-${n}.example/report`);
  await storeDocuments(
    database.pool,
    urls.map((url, n) => ({
      url,
      text: n === 4 ? 'A report of poison.' : `A report of day ${n}.`,
      hold: true,
    })),
  );
  expect(await indexBatch(database.db, 200)).toEqual({
    indexed: 9,
    refused: ['string is too long for tsvector'],
  });
  expect(await found()).toBe(8);
  const letters = await listDeadLetters(database.pool, { sink: 'index', limit: 10 });
  expect(letters).toMatchObject([{ url: urls[4], attempts: 1, error: 'string is too long for tsvector' }]);
  const held = await database.pool.query(`SELECT FROM outbox WHERE sink = 'somewhere' AND held`);
  expect(held.rowCount).toBe(0);

  await database.pool.query('DROP TRIGGER refuse ON document_search');
  expect(await retryDeadLetters(database.pool, 'index')).toBe(1);
  expect(await indexBatch(database.db, 200)).toEqual({ indexed: 1, refused: [] });
  expect(await found()).toBe(9);
});

test('trouble of the server itself blames nobody', async () => {
  await storeDocuments(database.pool, [{ url: 'https://later.example/report', text: 'A late report.' }]);
  await database.pool.query('ALTER TABLE document_search RENAME TO elsewhere');
  await expect(indexBatch(database.db, 200)).rejects.toThrow(/document_search/);
  await database.pool.query('ALTER TABLE elsewhere RENAME TO document_search');
  expect(await indexBatch(database.db, 200)).toEqual({ indexed: 1, refused: [] });
});

test('what is indexed in the end is no dead letter any more', async () => {
  await database.pool.query(
    `INSERT INTO dead_letters (bucket, sink, domain_key, url_hash, version, enqueued_at, dead_at, attempts, error)
     SELECT bucket, 'index', domain_key, url_hash, version, now(), now(), 1, 'as it was then' FROM documents LIMIT 1`,
  );
  await askReplay(database.pool, { sink: 'index' });
  await runReplays(database.db, 200);
  expect((await indexBatch(database.db, 200)).refused).toEqual([]);
  expect(await listDeadLetters(database.pool, { limit: 10 })).toEqual([]);
});
