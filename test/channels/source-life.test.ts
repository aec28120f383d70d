import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  deleteSource,
  disableSource,
  enableSource,
  findChannel,
  startDiscovery,
  updateChannel,
} from '../../src/channels/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { type Engine, startEngine } from '../../src/engine.ts';
import { findSlotProblems } from '../../src/frontier/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { createLog } from '../../src/telemetry/index.ts';
import { makeDue } from '../e2e/crawl-state.ts';
import { waitUntil } from '../e2e/wait.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { startWeb, type Web } from '../web/index.ts';

let dir: string;
let database: TestDatabase;
let web: Web;
let engine: Engine;
const actor = 'test';

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'outrider-life-'));
  database = await createTestDatabase();
  web = await startWeb({
    seed: 9,
    publishers: 3,
    changes: Array.from({ length: 3 }, () => ({
      backlog: 4,
      ratePerDay: 1,
      charset: 'utf-8',
      sitemaps: [],
      duplicates: false,
      feeds: [
        {
          kind: 'rss' as const,
          path: '/feed',
          advertised: true,
          full: false,
          tracking: false,
          origLink: false,
          relative: false,
          items: 25,
        },
      ],
    })),
    startMs: Date.parse('2024-06-05T12:00:00Z'),
    speed: 0,
  });
  await web.writeHostsFile(join(dir, 'hosts'));
  const { config } = loadConfig({
    env: {},
    overrides: {
      'database.url': database.url,
      'fetch.hosts_file': join(dir, 'hosts'),
      'fetch.allow_networks': [`127.0.0.0/8:${web.port}`],
      'fetch.default_delay_ms': 50,
    },
  });
  for (const { host } of web.publishers) {
    const { source } = await createSource(database.pool, { url: `http://${host}/`, name: host });
    await startDiscovery(database.pool, source.id);
  }
  engine = await startEngine({
    config,
    roles: ['fetch', 'schedule'],
    version: '0.0.0-test',
    log: createLog({ level: 'error', format: 'json' }),
  });
  await waitUntil(
    'the first articles are stored',
    async () => (await documents()) === 12 || `${await documents()}`,
  );
});
afterAll(async () => {
  await engine?.stop();
  await web.close();
  await database.drop();
  rmSync(dir, { recursive: true, force: true });
});

const documents = async (): Promise<number> =>
  (await database.pool.query('SELECT count(*)::integer AS n FROM documents')).rows[0]!.n;
const slugOf = async (index: number): Promise<string> =>
  (await database.pool.query('SELECT slug FROM sources WHERE name = $1', [web.publishers[index]!.host]))
    .rows[0]!.slug;
const channelOf = (index: number) => findChannel(database.pool, `http://${web.publishers[index]!.host}/feed`);
const rowOf = async (index: number) =>
  (
    await database.pool.query(
      `SELECT status, ready, error_code, due_at > now() + interval '5 hours' AS is_far FROM url_frontier WHERE url_hash = $1`,
      [(await channelOf(index))!.hash],
    )
  ).rows[0];
const requestsTo = (index: number): number =>
  web.log.read().filter((one) => web.publishers[index]!.hosts.includes(one.host)).length;

/** Makes the poll due until the fetcher, whose settings are some seconds old, puts it off; then once more, unasked. */
async function putOff(index: number, code: string): Promise<void> {
  const isOff = async (): Promise<true | string> => {
    const row = await rowOf(index);
    return (row.error_code === code && !row.ready && row.is_far) || JSON.stringify(row);
  };
  await waitUntil('its poll is put off', async () => {
    const answer = await isOff();
    if (answer !== true) await makeDue(database.pool, { kind: 'channel' });
    return answer;
  });
  const before = requestsTo(index);
  await makeDue(database.pool, { kind: 'channel' });
  await waitUntil('it is put off again', isOff);
  expect(requestsTo(index)).toBe(before);
}

test('a disabled source is left alone, and followed again where it was', async () => {
  const slug = await slugOf(0);
  expect(await disableSource(database.pool, slug, { reason: 'asked to', actor })).toMatchObject({
    enabled: false,
    disableReason: 'asked to',
  });
  await putOff(0, 'source_disabled');
  expect(await rowOf(0)).toMatchObject({ status: 'pending', ready: false, is_far: true });
  web.clock.advance(2000);
  const [url] = web.publish(web.publishers[0]!.domain, 1);
  const enabled = await enableSource(database.pool, slug, { actor });
  expect(enabled).toMatchObject({
    resumed: 1,
    source: { enabled: true, disabledAt: null, disableReason: null },
  });
  await waitUntil('what it published meanwhile is stored', async () => {
    const found = await database.pool.query('SELECT FROM documents WHERE url = $1', [url]);
    return found.rowCount === 1 || JSON.stringify(await rowOf(0));
  });
  expect(await findSlotProblems(database.pool)).toEqual([]);
  const audit = await database.pool.query(
    `SELECT detail FROM audit WHERE subject = $1 AND action = 'source' ORDER BY id`,
    [slug],
  );
  expect(audit.rows.map((row) => row.detail)).toEqual([
    { enabled: false, reason: 'asked to' },
    { enabled: true, reason: null },
  ]);
});

test('a disabled channel is put off as well', async () => {
  await updateChannel(database.pool, (await channelOf(1))!, { enabled: false }, actor);
  await putOff(1, 'channel_disabled');
  const before = requestsTo(1);
  await updateChannel(database.pool, (await channelOf(1))!, { enabled: true }, actor);
  await waitUntil(
    'it is polled again',
    async () => (await rowOf(1)).error_code === null && requestsTo(1) > before,
  );
});

test('a deleted source gives up what waits and keeps its documents', async () => {
  const slug = await slugOf(2);
  const { sourceId } = (await channelOf(2))!;
  const before = await documents();
  const deleted = await deleteSource(database.pool, slug, { actor });
  expect(deleted?.dropped).toBeGreaterThan(0);
  expect(await deleteSource(database.pool, slug, { actor })).toBeNull();
  expect(await channelOf(2)).toBeNull();
  expect(await documents()).toBe(before);
  const rows = await database.pool.query(
    `SELECT DISTINCT kind, status, error_code, due_at FROM url_frontier WHERE source_id = $1 ORDER BY kind`,
    [sourceId],
  );
  expect(rows.rows).toContainEqual({ kind: 'article', status: 'fetched', error_code: null, due_at: null });
  expect(rows.rows).toContainEqual({
    kind: 'channel',
    status: 'dead',
    error_code: 'source_deleted',
    due_at: null,
  });
  expect(await findSlotProblems(database.pool)).toEqual([]);
});
