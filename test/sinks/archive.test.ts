import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removeArchivedPages, removeSource } from '../../src/documents/index.ts';
import { askReplay, listDeadLetters, listSinks, runReplays, saveSink } from '../../src/outbox/index.ts';
import { archiveKey, createArchiveSink } from '../../src/sinks/archive/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { startS3, type TestS3 } from '../s3/server.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { testSink } from './conformance.ts';
import { deliverAll, delivererOf } from './deliver.ts';
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

test('pages of a deleted source keep their place, those that wait as well as those that are replayed', async () => {
  await database.pool.query('TRUNCATE sinks CASCADE');
  const sink = sinkOf(server);
  await saveSink(database.pool, sink);
  const { source } = await createSource(database.pool, {
    url: 'https://herald.example/',
    name: 'The Herald',
  });
  const [there, waiting] = ['https://herald.example/there', 'https://herald.example/waiting'];
  const placesOf = (url: string) =>
    [...server.objects.keys()].filter((key) => key.includes(idOf(url).split('-')[1]!));
  await storeDocuments(database.pool, [{ url: there, sourceId: source.id }]);
  await deliverAll(database, sink);
  const before = placesOf(there);
  expect(before).toEqual([expect.stringMatching(/^pages\/the_herald\//)]);
  await storeDocuments(database.pool, [{ url: waiting, sourceId: source.id }]);
  await removeSource(database.db, source.slug, { documents: 'keep', actor: 'test' });
  await askReplay(database.pool, { sink: 'archive' });
  for (let n = 1; n > 0; ) n = await runReplays(database.db, 100);
  await deliverAll(database, sink);
  expect(placesOf(there)).toEqual(before);
  expect(placesOf(waiting)).toEqual([expect.stringMatching(/^pages\/the_herald\//)]);
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

describe('a store on bad days', () => {
  const urls = Array.from({ length: 12 }, (_, n) => `https://b.example/${n}`);
  const hashOf = (url: string): string => idOf(url).split('-')[1]!;
  const state = async () => (await listSinks(database.pool)).find(({ name }) => name === 'archive')!;

  /** Stores a page for each address, and turns until nothing is left to do, as if the pauses had passed. */
  async function runWith(
    raw: { contentType: string | null } = { contentType: 'text/html' },
    unkept: readonly string[] = [],
    rests = 0,
  ): Promise<void> {
    const sink = sinkOf(server);
    await database.pool.query('TRUNCATE sinks CASCADE');
    await database.pool.query(
      'TRUNCATE outbox, dead_letters, documents, url_frontier, domain_slots, domains, raw_pages',
    );
    await saveSink(database.pool, sink);
    const page = (url: string) => ({ body: Buffer.from(`<html>${url}`), encoding: 'identity', ...raw });
    await storeDocuments(database.pool, [
      ...urls.map((url) => ({ url, raw: page(url) })),
      ...unkept.map((url) => ({ url, raw: null })),
    ]);
    const deliverer = delivererOf(database, sink);
    let rested = 0;
    for (let turn = 0; turn < 40 + rests; turn += 1) {
      await database.pool.query(
        'WITH s AS (UPDATE sink_states SET retry_at = NULL) UPDATE outbox SET retry_at = NULL',
      );
      if ((await deliverer.turn(new AbortController().signal)) === 'busy') continue;
      rested += 1;
      if (rested > rests) break;
    }
    await deliverer.stop();
    server.setFault(null);
  }

  test.each([
    [301, 'PermanentRedirect', /301 PermanentRedirect.*check s3.region and s3.endpoint/],
    [307, 'TemporaryRedirect', /307/],
    [400, 'AuthorizationHeaderMalformed', /check s3.region/],
    [400, 'ExpiredToken', /400 ExpiredToken/],
    [400, 'InvalidRequest', /400 InvalidRequest/],
    [403, 'AccessDenied', /403 AccessDenied.*check s3.access_key/],
    [404, 'NotFound', /404 NotFound/],
    [405, 'MethodNotAllowed', /405/],
    [500, 'InternalError', /500/],
    [503, 'SlowDown', /503 SlowDown/],
  ])('%i %s to everything is an outage, and no page is given up', async (status, code, said) => {
    server.setFault(() => ({ status, code }));
    await runWith();
    const now = await state();
    expect(now).toMatchObject({ waiting: urls.length, deadLetters: 0, delivered: 0 });
    expect(now.error).toMatch(said);
    const { rows } = await database.pool.query('SELECT max(attempts) AS most FROM outbox');
    expect(rows[0]!.most).toBe(0);
  });

  test('a store that hangs up on everything is out, and no page is given up', async () => {
    server.setFault(() => 'hang_up');
    await runWith();
    expect(await state()).toMatchObject({ waiting: urls.length, deadLetters: 0, delivered: 0 });
    const { rows } = await database.pool.query('SELECT max(attempts) AS most FROM outbox');
    expect(rows[0]!.most).toBe(0);
  });

  test('most pages of a publisher may be of the kind it hangs up over: the others arrive', async () => {
    const bad = urls.map(hashOf).sort().slice(0, 11);
    server.setFault(({ key }) => (bad.some((hash) => key.includes(hash)) ? 'hang_up' : null));
    await runWith(undefined, [], 60);
    expect(await state()).toMatchObject({ waiting: 0, deadLetters: 11, delivered: 1 });
  });

  test('a page that was not kept is no witness that the store takes others', async () => {
    server.setFault(() => ({ status: 500, code: 'InternalError' }));
    await runWith({ contentType: 'text/html' }, ['https://b.example/not-kept']);
    expect(await state()).toMatchObject({ waiting: urls.length, deadLetters: 0, delivered: 1 });
    const { rows } = await database.pool.query('SELECT max(attempts) AS most FROM outbox');
    expect(rows[0]!.most).toBe(0);
  });

  test.each([
    ['403 AccessDenied', { status: 403, code: 'AccessDenied' }],
    ['400 InvalidRequest', { status: 400, code: 'InvalidRequest' }],
    ['500 InternalError', { status: 500, code: 'InternalError' }],
    ['503 of what is before it', { status: 503, code: '' }],
    ['hanging up', 'hang_up' as const],
  ])('%s over one page is about that page, and holds up no other', async (_what, fault) => {
    const bad = hashOf(urls[5]!);
    server.setFault(({ key }) => (key.includes(bad) ? fault : null));
    await runWith();
    expect(await state()).toMatchObject({ waiting: 0, deadLetters: 1, delivered: 11, failingSince: null });
    const [letter] = await listDeadLetters(database.pool, { limit: 5 });
    expect(letter).toMatchObject({ url: urls[5], attempts: 10 });
  });

  test.each([
    ['in Latin-1', 'text/html; charset="ü"', 'text/html; charset=" "'],
    ['in Chinese', 'text/html; charset=日本', 'text/html; charset='],
    ['with a tab', 'text/html;\tcharset=utf-8', 'text/html; charset=utf-8'],
    ['of nothing that a header may hold', 'é', 'text/html'],
    ['of 9 kB', `text/html; a=${'x'.repeat(9000)}`, `text/html; a=${'x'.repeat(187)}`],
  ])('a publisher cannot stop it by a type %s', async (_how, contentType, kept) => {
    await runWith({ contentType });
    expect(await state()).toMatchObject({ waiting: 0, deadLetters: 0, delivered: urls.length });
    const stored = [...server.objects].find(([key]) => key.includes(hashOf(urls[0]!)));
    expect(stored![1].contentType).toBe(kept);
  });
});
