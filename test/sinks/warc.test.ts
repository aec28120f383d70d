import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  askReplay,
  claimResponses,
  enableSink,
  leaseSink,
  listSinks,
  measureBacklog,
  ResponseReader,
  removeSink,
  saveSink,
  tidyOutbox,
} from '../../src/outbox/index.ts';
import type { ResponseSink } from '../../src/sinks/index.ts';
import { createWarcSink } from '../../src/sinks/warc/index.ts';
import { waitUntil } from '../e2e/wait.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { type ReadRecord, readFolder, splitMessage } from '../warcio/own-reader.ts';
import { delivererOf as makeDeliverer } from './deliver.ts';
import { pageOf, storeResponses } from './response-store.ts';

// What every sink must do (conformance.ts), for one that takes responses.
let database: TestDatabase;
let root: string;
let dir: string;
let sink: ResponseSink;
const never = new AbortController().signal;
const hosts = Array.from({ length: 7 }, (_, n) => `https://publisher-${n}.example`);
const urlsOf = (round: string, each = 3) =>
  hosts.flatMap((host) => Array.from({ length: each }, (_, n) => `${host}/${round}/${n}`));
const given = (urls: readonly string[]) => urls.map((url) => ({ url }));

const make = (mostBytes = 4000): ResponseSink =>
  createWarcSink({
    name: 'warc',
    dir,
    mostBytes,
    mostAgeMs: 3_600_000,
    operator: 'a library',
    description: null,
    userAgent: 'Outrider/test',
    now: () => Date.now(),
  });
const delivererOf = (to: ResponseSink, owner?: string) => makeDeliverer(database, to, owner);
const run = async (to = sink): Promise<void> => {
  const deliverer = delivererOf(to);
  for (let n = 0; n < 200 && (await deliverer.turn(never)) === 'busy'; n += 1);
  await deliverer.stop();
};
const state = async () => (await listSinks(database.pool)).find((one) => one.name === 'warc')!;
const endLeases = () =>
  database.pool.query(
    `UPDATE sink_states SET lease_until = now() - interval '1 second' WHERE lease_until IS NOT NULL`,
  );
const answersOf = (records: readonly ReadRecord[]) =>
  records.filter(({ fields }) => ['response', 'revisit'].includes(fields.get('WARC-Type')!));
const expectThere = (urls: readonly string[]): void => {
  const found = new Map<string, string[]>();
  for (const { fields, block } of answersOf(readFolder(dir))) {
    const url = fields.get('WARC-Target-URI')!;
    found.set(url, [...(found.get(url) ?? []), splitMessage(block).payload.toString()]);
  }
  for (const url of urls) expect(found.get(url), url).toEqual([pageOf(url)]);
};

beforeAll(async () => {
  database = await createTestDatabase();
  root = mkdtempSync(join(tmpdir(), 'outrider-warc-'));
  dir = join(root, 'archive');
  sink = make();
});
afterAll(async () => {
  rmSync(root, { recursive: true, force: true });
  await database?.drop();
});
beforeEach(async () => {
  await removeSink(database.pool, 'warc');
  await database.pool.query('TRUNCATE outbox, url_frontier, domain_slots, domains');
  rmSync(dir, { recursive: true, force: true });
  await saveSink(database.pool, sink);
});

test('every response arrives once, in numbered files of their own size that begin with who made them', async () => {
  const urls = urlsOf('first');
  await storeResponses(database.pool, given(urls));
  expect(await state()).toMatchObject({ takes: 'responses', waiting: urls.length });
  // A batch goes into one file as a whole, so that files end between batches.
  await run({ ...sink, batch: { items: 4, bytes: 1_000_000 } });
  expectThere(urls);
  expect(await state()).toMatchObject({ waiting: 0, delivered: urls.length, deliverer: null });
  const files = readdirSync(dir).filter((name) => !name.startsWith('.'));
  expect(files.length).toBeGreaterThan(2);
  files.sort().forEach((file, index) => {
    const end = index === files.length - 1 ? '.open' : '';
    const number = String(index).padStart(5, '0');
    expect(file).toMatch(
      new RegExp(`^outrider-\\d{8}T\\d{9}Z-${number}\\.warc\\.gz${end.replace('.', '\\.')}$`),
    );
  });
  const infos = readFolder(dir).filter(({ fields }) => fields.get('WARC-Type') === 'warcinfo');
  expect(infos.map(({ file }) => file)).toEqual(files);
  for (const { file, fields, block } of infos) {
    expect(fields.get('WARC-Filename')).toBe(file.replace(/\.open$/, ''));
    expect(block.toString()).toContain('operator: a library\r\n');
    expect(block.toString()).not.toContain('description');
  }
});

test('a deliverer that dies with its first file leaves nothing behind', async () => {
  const urls = urlsOf('dying');
  await storeResponses(database.pool, given(urls));
  // Its first turn only makes the folder known.
  const first = delivererOf(sink);
  expect(await first.turn(never)).toBe('busy');
  await first.stop();
  expect(await state()).toMatchObject({ waiting: urls.length, delivered: 0 });
  const held = (await leaseSink(database.pool, 'warc', 'dead', 60_000))!;
  expect(await sink.open(held.position, never)).toBeNull();
  const claim = { sink: 'warc', most: 8, mostBytes: 1_000_000, fromBucket: 0 };
  const batch = await claimResponses(database.pool, claim);
  expect(batch).toHaveLength(8);
  expect((await sink.deliver(batch, never)).ends).toEqual(batch.map(() => ({ end: 'delivered' })));
  await sink.close();
  expect(readFolder(dir)).toHaveLength(1 + 2 * 8);
  const next = delivererOf(make(), 'next');
  expect(await next.turn(never)).toBe('idle');
  await endLeases();
  while ((await next.turn(never)) === 'busy');
  await next.stop();
  expectThere(urls);
  expect((await state()).waiting).toBe(0);
});

test('a deliverer that dies in the middle of a saved file leaves nothing behind', async () => {
  const [before, during] = [urlsOf('before', 1), urlsOf('during', 1)];
  const large = make(1_000_000);
  await storeResponses(database.pool, given(before));
  await run(large);
  await storeResponses(database.pool, given(during));
  const held = (await leaseSink(database.pool, 'warc', 'dead', 60_000))!;
  await large.open(held.position, never);
  const claim = { sink: 'warc', most: 3, mostBytes: 1_000_000, fromBucket: 0 };
  await large.deliver(await claimResponses(database.pool, claim), never);
  await large.close();
  await endLeases();
  await run(make(1_000_000));
  expectThere([...before, ...during]);
  expect(readFolder(dir)).toHaveLength(1 + 2 * (before.length + during.length));
});

test('after a restore, which knows of no file, a record that was not whole is cut off', async () => {
  const [before, after] = [urlsOf('before'), urlsOf('after')];
  await storeResponses(database.pool, given(before));
  await run(make(1e9));
  const [open] = readdirSync(dir).filter((name) => name.endsWith('.open'));
  appendFileSync(join(dir, open!), gzipSync(randomBytes(5000)).subarray(0, 3000));
  await database.pool.query('UPDATE sink_states SET position = NULL');
  await storeResponses(database.pool, given(after));
  await run(make(1e9));
  // The reader takes whole records only.
  expectThere([...before, ...after]);
  expect(readdirSync(dir)).toContain(open!.replace(/\.open$/, ''));
});

test('a file that has reached its age is finished although nothing comes', async () => {
  let nowMs = Date.now();
  const aging = createWarcSink({
    name: 'warc',
    dir,
    mostBytes: 1_000_000,
    mostAgeMs: 60_000,
    operator: null,
    description: null,
    userAgent: 'Outrider/test',
    now: () => nowMs,
  });
  const isOpen = () => readdirSync(dir).some((name) => name.endsWith('.open'));
  await storeResponses(database.pool, given(urlsOf('aging', 1)));
  await run(aging);
  expect(isOpen()).toBe(true);
  nowMs += 60_000;
  await run(aging);
  expect(isOpen()).toBe(false);
  await storeResponses(database.pool, given(urlsOf('younger', 1)));
  await run(aging);
  expectThere([...urlsOf('aging', 1), ...urlsOf('younger', 1)]);
  expect(readdirSync(dir).filter((name) => name.includes('.warc.gz'))).toHaveLength(2);
});

test('a late deliverer changes nothing', async () => {
  const urls = urlsOf('late', 1);
  await storeResponses(database.pool, given(urlsOf('early', 1)));
  const late = delivererOf(
    {
      ...sink,
      deliver: async (batch, signal) => {
        const end = await sink.deliver(batch, signal);
        await endLeases();
        expect(await leaseSink(database.pool, 'warc', 'rival', 60_000)).not.toBeNull();
        return end;
      },
    },
    'late',
  );
  await run({ ...sink, batch: { items: 1, bytes: 1 } });
  await storeResponses(database.pool, given(urls));
  const { delivered } = await state();
  expect(await late.turn(never)).toBe('idle');
  await late.stop();
  expect(await state()).toMatchObject({ waiting: urls.length, delivered, deliverer: 'rival' });
});

test('while its folder is away everything waits, and nothing is lost', async () => {
  const urls = urlsOf('down');
  await run();
  await storeResponses(database.pool, given(urls));
  rmSync(dir, { recursive: true, force: true });
  writeFileSync(dir, 'not a folder');
  await run();
  const down = await state();
  expect(down).toMatchObject({ waiting: urls.length, deadLetters: 0 });
  expect(down.error).not.toBeNull();
  expect(down.failingSince).not.toBeNull();
  renameSync(dir, `${dir}.away`);
  await database.pool.query('UPDATE sink_states SET retry_at = NULL');
  await run();
  expectThere(urls);
  expect(await state()).toMatchObject({ waiting: 0, error: null });
  rmSync(`${dir}.away`);
});

test('what comes while it is paused is not kept, and what waits goes with it when it is removed', async () => {
  await enableSink(database.pool, 'warc', false);
  await storeResponses(database.pool, given([`${hosts[0]}/missed`]));
  expect((await state()).waiting).toBe(0);
  await enableSink(database.pool, 'warc', true);
  await storeResponses(database.pool, given([`${hosts[0]}/later`]));
  expect((await state()).waiting).toBe(1);
  await removeSink(database.pool, 'warc');
  const left = await database.pool.query<{ n: number }>(
    'SELECT (SELECT count(*) FROM outbox_responses)::integer + (SELECT count(*) FROM response_marks)::integer AS n',
  );
  expect(left.rows[0]!.n).toBe(0);
});

test('documents are not for it', async () => {
  expect(await askReplay(database.pool, { sink: 'warc' })).toBe('takes_no_documents');
});

test('fetchers learn of it within seconds', async () => {
  let nowMs = 0;
  const reader = new ResponseReader(database.pool, () => nowMs);
  expect(await reader.areWanted()).toBe(true);
  await enableSink(database.pool, 'warc', false);
  expect(await reader.areWanted()).toBe(true);
  nowMs += 3000;
  expect(await reader.areWanted()).toBe(false);
});

describe('a sink that is behind', () => {
  test('slows fetching by the bytes that wait, unless it is paused', async () => {
    const body = { url: `${hosts[2]}/big`, text: 'x'.repeat(300_000) };
    await storeResponses(database.pool, [body]);
    expect(await measureBacklog(database.pool, { most: 100, mostResponseBytes: 400_000 })).toBe('light');
    expect(await measureBacklog(database.pool, { most: 100, mostResponseBytes: 200_000 })).toBe('heavy');
    expect(await measureBacklog(database.pool, { most: 100, mostResponseBytes: 100_000 })).toBe('full');
    await enableSink(database.pool, 'warc', false);
    expect(await measureBacklog(database.pool, { most: 0, mostResponseBytes: 0 })).toBe('light');
  });

  test('leaves a table as small as before when it has caught up', async () => {
    const sizeOf = async () =>
      (
        await database.pool.query<{ n: number }>(
          `SELECT pg_total_relation_size('outbox_responses')::float8 AS n`,
        )
      ).rows[0]!.n;
    await database.pool.query('TRUNCATE outbox_responses');
    const before = await sizeOf();
    // Pages that do not repeat, so that nothing makes them smaller on the way.
    for (let round = 0; round < 6; round += 1)
      await storeResponses(
        database.pool,
        urlsOf(`full${round}`, 10).map((url) => ({ url, text: pageOf(url).repeat(250) })),
      );
    expect(await sizeOf()).toBeGreaterThan(4_500_000);
    expect(await tidyOutbox(database.pool)).toBe(false);
    await run();
    expect((await state()).waiting).toBe(0);
    expect(await tidyOutbox(database.pool)).toBe(true);
    // Whoever has a snapshot in this database, an autoanalyze say, makes a vacuum leave what was just deleted: the next
    // tidying takes it, as the next hour's does.
    await waitUntil('the room is given back', async () => {
      const size = await sizeOf();
      if (size <= before + 65_536) return true;
      await tidyOutbox(database.pool);
      return `${size} bytes, ${before} before`;
    });
  });
});
