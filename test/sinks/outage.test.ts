import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDiscovery } from '../../src/channels/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { type Engine, startEngine } from '../../src/engine.ts';
import { listSinks, saveSink, tidyOutbox } from '../../src/outbox/index.ts';
import { createNdjsonSink } from '../../src/sinks/files/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { createLog } from '../../src/telemetry/index.ts';
import { isQuiet } from '../e2e/crawl-state.ts';
import { waitUntil } from '../e2e/wait.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { startWeb, type Web } from '../web/index.ts';
import { deliverAll } from './deliver.ts';
import { startWebhookWorld } from './webhook-world.ts';

/**
 * Lets an hour pass for the sinks, from one attempt to the next: as if the database's clock had gone on until the next
 * one was due. Answers how many attempts there were.
 */
async function passHour(database: TestDatabase, check: () => Promise<void>): Promise<number> {
  let passedMs = 0;
  let attempts = 0;
  while (passedMs < 3_600_000) {
    const state = async () =>
      (
        await database.pool.query<{ failures: number; waitMs: number | null }>(
          `SELECT failures::integer, (extract(epoch FROM retry_at - now()) * 1000)::float8 AS "waitMs" FROM sink_states WHERE sink = 'webhook'`,
        )
      ).rows[0]!;
    const before = await state();
    const stepMs = Math.min(Math.max(before.waitMs ?? 0, 0), 3_600_000 - passedMs);
    await database.pool.query(
      `WITH moved AS (UPDATE sink_states SET failing_since = failing_since - $1 * interval '1 millisecond',
                             retry_at = retry_at - $1 * interval '1 millisecond')
       UPDATE outbox SET enqueued_at = enqueued_at - $1 * interval '1 millisecond', retry_at = retry_at - $1 * interval '1 millisecond'`,
      [stepMs],
    );
    passedMs += stepMs;
    if (passedMs < 3_600_000)
      await waitUntil('it is tried again', async () => (await state()).failures > before.failures);
    attempts += (await state()).failures - before.failures;
    await check();
  }
  return attempts;
}

test('a sink that is down for an hour: what waits is bounded, fetching slows, and all is delivered afterwards', async () => {
  const database = await createTestDatabase();
  const dir = mkdtempSync(join(tmpdir(), 'outrider-outage-'));
  const world = await startWebhookWorld();
  const publishers = 20;
  const web: Web = await startWeb({
    seed: 43,
    publishers,
    startMs: Date.parse('2024-06-05T12:00:00Z'),
    speed: 0,
  });
  await web.writeHostsFile(join(dir, 'hosts'));
  const bound = 100;
  const batch = 50;
  let engine: Engine | null = null;
  try {
    const { config } = loadConfig({
      env: {
        DATABASE_URL: database.url,
        OUTRIDER_RENDER_ENABLED: 'off',
        OUTRIDER_FETCH_HOSTS_FILE: join(dir, 'hosts'),
        OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${web.port}`,
        OUTRIDER_FETCH_DEFAULT_DELAY_MS: '100',
        // The others are still to be fetched when the bound is met.
        OUTRIDER_FETCH_DOMAINS_AT_ONCE: '2',
        OUTRIDER_FETCH_BATCH: String(batch),
        OUTRIDER_FETCH_NETWORK_GAP_MS: '0',
        OUTRIDER_DOCUMENTS_MAX_UNDELIVERED: String(bound),
        OUTRIDER_WEBHOOK_URL: world.url,
        OUTRIDER_WEBHOOK_SECRET: world.secret,
        LOG_LEVEL: 'error',
      },
    });
    await world.break();
    const said: string[] = [];
    const stream = new PassThrough().on('data', (chunk: Buffer) => void said.push(chunk.toString()));
    engine = await startEngine({
      config,
      roles: ['fetch', 'schedule'],
      version: '0.0.0-test',
      log: createLog({ level: 'info', format: 'json', stream }),
    });
    for (const { host } of web.publishers) {
      const { source } = await createSource(database.pool, { url: `http://${host}/`, name: host });
      await startDiscovery(database.pool, source.id);
    }
    const webhook = async () => (await listSinks(database.pool)).find((sink) => sink.name === 'webhook')!;
    // It may be more than twice the bound by the first look that finds more than the bound.
    await waitUntil('fetching slows', () => said.some((line) => line.includes('far behind')));
    // All sinks count together, and the index may have had a few of them.
    expect((await webhook()).waiting).toBeGreaterThan(bound / 2);
    const tried = await passHour(database, async () => {
      // What a run that had begun brings is all that comes on top.
      expect((await webhook()).waiting).toBeLessThanOrEqual(2 * bound + 2 * batch);
    });
    // After 1, 2, 4 … seconds, and every five minutes in the end: an hour has about eight and eleven of them.
    expect(tried).toBeGreaterThanOrEqual(12);
    expect(tried).toBeLessThanOrEqual(30);
    // The index takes its part meanwhile, so that what waits may fall below twice the bound once more.
    await waitUntil(
      'more than twice the bound waits for the webhook alone',
      async () => (await webhook()).waiting > 2 * bound || String((await webhook()).waiting),
      120_000,
    );
    // By its last word: it may have been full before, slow since, and about to take one more domain.
    const isFull = (): boolean =>
      said.findLast((line) => line.includes('"backlog"'))!.includes('nothing may be added');
    await waitUntil('fetching waits', isFull);
    await waitUntil('no domain is held', async () => {
      const held = await database.pool.query('SELECT FROM domain_slots WHERE lease_owner IS NOT NULL');
      return held.rowCount === 0;
    });
    const asked = web.log.nextSeq;
    const full = await webhook();
    expect(full.failingSince!.getTime()).toBeLessThan(Date.now() - 3_600_000);
    const left = await database.pool.query<{ n: number }>(
      'SELECT count(*)::integer AS n FROM url_frontier WHERE ready',
    );
    expect(left.rows[0]!.n).toBeGreaterThan(0);
    // A change is said, not every look: there were dozens.
    expect(said.filter((line) => line.includes('far behind:')).length).toBeLessThan(6);
    await passHour(database, async () => expect((await webhook()).waiting).toBe(full.waiting));
    expect(web.log.nextSeq).toBe(asked);
    await world.mend();
    await waitUntil(
      'everything is fetched and delivered',
      async () => {
        await database.pool.query(`UPDATE sink_states SET retry_at = NULL WHERE sink = 'webhook'`);
        return isQuiet(database.pool);
      },
      180_000,
    );
    const documents = await database.pool.query<{ text: string }>(
      `SELECT text FROM documents WHERE page_type <> 'stub' ORDER BY text`,
    );
    const received = [...(await world.received()).values()];
    expect(received.map((one) => one.text).sort()).toEqual(documents.rows.map((row) => row.text).sort());
    expect(received.every((one) => one.times === 1)).toBe(true);
    expect(await webhook()).toMatchObject({ waiting: 0, deadLetters: 0, error: null });
  } finally {
    await engine?.stop();
    await web.close();
    await world.close();
    await database.drop();
    rmSync(dir, { recursive: true, force: true });
  }
}, 300_000);

let database: TestDatabase;
let dir: string;
beforeAll(async () => {
  database = await createTestDatabase();
  dir = mkdtempSync(join(tmpdir(), 'outrider-backlog-'));
});
afterAll(async () => {
  await database.drop();
  rmSync(dir, { recursive: true, force: true });
});

test('a backlog of tens of thousands leaves no room taken behind', async () => {
  const documents = 30_000;
  const sink = createNdjsonSink({
    name: 'files',
    dir,
    mostBytes: 1e9,
    mostAgeMs: 1e9,
    now: () => Date.now(),
  });
  await saveSink(database.pool, sink);
  const size = async () =>
    (
      await database.pool.query<{ bytes: number }>(
        `SELECT pg_total_relation_size('outbox')::integer AS bytes`,
      )
    ).rows[0]!.bytes;
  const before = await size();
  await database.pool.query(
    `WITH made AS (
       INSERT INTO documents (bucket, domain_key, url_hash, version, word_count, confidence, first_seen_at, last_seen_at, crawled_at,
         content_hash, page_type, url, text)
       SELECT n % 256, (n % 256) + 256 * (n % 50)::bigint, sha256(n::text::bytea), 1, 1, 1, now(), now(), now(), sha256(n::text::bytea), 'article',
              'https://a.example/' || n, 'text ' || n FROM generate_series(1, $1) n
       RETURNING bucket, domain_key, url_hash, version)
     INSERT INTO outbox (bucket, sink, domain_key, url_hash, version, enqueued_at)
     SELECT bucket, 'files', domain_key, url_hash, version, now() FROM made`,
    [documents],
  );
  expect(await size()).toBeGreaterThan(before + 1_000_000);
  await deliverAll(database, sink);
  const lines = readdirSync(dir)
    .filter((name) => name.startsWith('documents-'))
    .flatMap((name) => readFileSync(join(dir, name), 'utf8').trimEnd().split('\n'));
  expect(lines).toHaveLength(documents);
  expect(new Set(lines).size).toBe(documents);
  expect(await tidyOutbox(database.pool)).toBe(true);
  expect(await size()).toBeLessThanOrEqual(before + 3 * 8192);
  expect(await tidyOutbox(database.pool)).toBe(false);
});
