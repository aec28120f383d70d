import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeArchivedPages } from '../../src/documents/index.ts';
import { saveSink } from '../../src/outbox/index.ts';
import { archiveKey, createArchiveSink } from '../../src/sinks/archive/index.ts';
import { startS3, type TestS3 } from '../s3/server.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { testSink } from './conformance.ts';
import { deliverAll } from './deliver.ts';
import { idOf, storeDocuments } from './store.ts';
import type { Received, SinkWorld } from './world.ts';

const sinkOf = (server: TestS3) =>
  createArchiveSink({ name: 'archive', store: { ...server, maxTries: 1 }, prefix: '/pages/' });

/** A store that checks signatures, with what lies in it read back as documents. */
async function startArchiveWorld(): Promise<SinkWorld> {
  const server = await startS3({ bucket: 'archive' });
  const sinks = [sinkOf(server)];
  return {
    sink: sinks[0]!,
    again: () => {
      sinks.push(sinkOf(server));
      return sinks.at(-1)!;
    },
    received: async () => {
      const all = new Map<string, Received>();
      for (const [key, { body }] of [...server.objects].sort()) {
        const hash = key.split('/').at(-1)!.split('.')[0]!;
        // The test's pages name their document; a later version comes later in the order of keys.
        const text = body.toString('utf8').replace('<html><p>', '');
        const url = /what (\S+) has to say/.exec(text)![1]!;
        const id = idOf(url);
        expect(id.endsWith(hash)).toBe(true);
        all.set(id, { id, text, times: 1 });
      }
      return all;
    },
    break: async () => server.setFault(() => 'hang_up'),
    mend: async () => server.setFault(null),
    close: async () => {
      for (const sink of sinks) await sink.close();
      await server.close();
    },
  };
}

testSink('archive', startArchiveWorld);

let database: TestDatabase;
let server: TestS3;
beforeAll(async () => {
  database = await createTestDatabase();
  server = await startS3({ bucket: 'archive' });
});
afterAll(async () => {
  await server.close();
  await database.drop();
});

test('pages lie under source, day and hash, packed as they came, and need not lie here any more', async () => {
  const sink = sinkOf(server);
  await saveSink(database.pool, sink);
  await database.pool.query(`UPDATE sinks SET enabled = false WHERE name = 'index'`);
  const body = Buffer.from([31, 139, 8, 0, 1, 2, 3]);
  const url = 'https://a.example/packed';
  const raw = { body, encoding: 'gzip', contentType: 'text/html; charset=latin1' };
  await storeDocuments(database.pool, [{ url, raw }]);
  expect(await removeArchivedPages(database.pool)).toBe(0);
  await deliverAll(database, sink);
  const day = new Date().toISOString().slice(0, 10).replaceAll('-', '/');
  const [key] = [...server.objects.keys()];
  expect(key).toBe(`pages/unknown/${day}/${idOf(url).split('-')[1]}`);
  expect(server.objects.get(key!)).toMatchObject({ body, contentType: raw.contentType });
  expect(await removeArchivedPages(database.pool)).toBe(1);
  expect((await database.pool.query('SELECT FROM raw_pages')).rowCount).toBe(0);
});

test('later versions have keys of their own', () => {
  const document = {
    sourceSlug: 'herald',
    crawledAt: new Date('2026-03-04T23:59:59Z'),
    hash: Buffer.alloc(32, 0xab),
    version: 1,
  };
  expect(archiveKey(document)).toBe(`herald/2026/03/04/${'ab'.repeat(32)}`);
  expect(archiveKey({ ...document, version: 12 })).toBe(`herald/2026/03/04/${'ab'.repeat(32)}.12`);
});
