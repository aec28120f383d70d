import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { type Engine, startEngine } from '../../src/engine.ts';
import { findSlotProblems } from '../../src/frontier/index.ts';
import { saveSwitch } from '../../src/switches/index.ts';
import { createLog } from '../../src/telemetry/index.ts';
import { plain } from '../fetch/lab.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { makeToken } from '../setup/token.ts';
import { startWeb, type Web } from '../web/index.ts';
import { isQuiet } from './crawl-state.ts';
import { waitUntil } from './wait.ts';

// What an operator says of a domain's addresses, from the API through the scheduler to the documents.
const publishers = [
  plain('choosy', [{ name: 'parameter-selects' }], { compression: 'none' }),
  plain('usual', [{ name: 'parameter-selects' }]),
  plain('slashes', [], { urlStyle: 'slash' }),
  plain('unslashed', [], { urlStyle: 'slash' }),
];
let database: TestDatabase;
let dir: string;
let web: Web;
let engine: Engine;
let token: string;

beforeAll(async () => {
  database = await createTestDatabase();
  dir = mkdtempSync(join(tmpdir(), 'outrider-rules-'));
  web = await startWeb({
    seed: 43,
    publishers: publishers.length,
    changes: publishers,
    startMs: Date.parse('2024-06-05T12:00:00Z'),
    speed: 0,
  });
  await web.writeHostsFile(join(dir, 'hosts'));
  const { config } = loadConfig({
    env: {
      DATABASE_URL: database.url,
      OUTRIDER_RENDER_ENABLED: 'off',
      OUTRIDER_API_PORT: '0',
      OUTRIDER_FETCH_HOSTS_FILE: join(dir, 'hosts'),
      OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${web.port}`,
      OUTRIDER_FETCH_DEFAULT_DELAY_MS: '20',
      OUTRIDER_FETCH_NETWORK_GAP_MS: '0',
      LOG_LEVEL: 'error',
    },
  });
  // Everything is submitted before anything is fetched, so that what waits is what is re-keyed.
  await saveSwitch(database.pool, 'fetching', false, 'test');
  engine = await startEngine({
    config,
    roles: ['serve', 'fetch', 'schedule'],
    version: '0.0.0-test',
    log: createLog({ level: 'error', format: 'json' }),
  });
  token = await makeToken(database.pool, 'write');
}, 300_000);
afterAll(async () => {
  await engine?.stop();
  await web?.close();
  await database?.drop();
  rmSync(dir, { recursive: true, force: true });
});

async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`${engine.address}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as T;
  expect(response.ok, JSON.stringify(answer)).toBe(true);
  return answer;
}
const submit = (...urls: string[]): Promise<{ counts: Record<string, number> }> =>
  ask('POST', '/frontier/submit/bulk', { urls });
const article = (name: string): string => web.groundTruth(`${name}.test`)[0]!.articles[0]!.url;

async function known(name: string): Promise<{ path: string; status: string; text: string | null }[]> {
  const result = await database.pool.query<{ path: string; status: string; text: string | null }>(
    `SELECT f.url AS path, f.status, d.text FROM url_frontier f JOIN domains n USING (bucket, domain_key)
       LEFT JOIN documents d USING (bucket, domain_key, url_hash) WHERE n.name = $1 ORDER BY f.url`,
    [`${name}.test`],
  );
  return result.rows.map(({ path, ...rest }) => ({ path: path.replace(article(name), ''), ...rest }));
}

test('rules given while pages wait decide which of them are one page', async () => {
  const bare = (name: string): string => article(name).replace(/\/$/, '');
  expect(
    await submit(
      `${article('choosy')}?ref=1`,
      `${article('choosy')}?ref=2`,
      `${article('usual')}?ref=1`,
      `${article('usual')}?ref=2`,
      article('slashes'),
      bare('unslashed'),
      article('unslashed'),
    ),
  ).toMatchObject({ counts: { inserted: 4, duplicate: 3 } });
  await ask('PATCH', '/domains/choosy.test', { rules: { keepParameters: ['ref'] } });
  await ask('PATCH', '/domains/slashes.test', { rules: { keepTrailingSlash: true } });
  // By then nobody names addresses by the rules that were.
  await database.pool.query(`UPDATE domain_rekeys SET changed_at = changed_at - interval '1 minute'`);
  await waitUntil('what waits has its keys', async () => {
    const left = await database.pool.query(
      `UPDATE domain_rekeys SET due_at = least(due_at, now()) RETURNING after_hash, again`,
    );
    return left.rowCount === 0 || JSON.stringify(left.rows);
  });
  expect(
    await submit(
      article('choosy'),
      `${article('choosy')}?ref=1`,
      `${article('choosy')}?ref=2`,
      bare('slashes'),
      `${article('usual')}?ref=2`,
    ),
  ).toMatchObject({ counts: { inserted: 3, duplicate: 2 } });
  await saveSwitch(database.pool, 'fetching', true, 'test');
  await waitUntil('everything is fetched', () => isQuiet(database.pool), 120_000);

  const choosy = await known('choosy');
  expect(choosy.map(({ path, status }) => [path, status])).toEqual([
    ['', 'fetched'],
    ['?ref=1', 'fetched'],
    ['?ref=2', 'fetched'],
  ]);
  expect(choosy.map(({ text }) => /In edition (\d)/.exec(text ?? '')?.[1])).toEqual([undefined, '1', '2']);
  expect((await known('usual')).map(({ path, status }) => [path, status])).toEqual([['?ref=1', 'fetched']]);
  // The page lies at its slash: without one it leads there, as another address or as the same.
  expect((await known('slashes')).map(({ status, text }) => [status, text !== null])).toEqual([
    ['redirected', false],
    ['fetched', true],
  ]);
  expect((await known('unslashed')).map(({ status, text }) => [status, text !== null])).toEqual([
    ['fetched', true],
  ]);
  expect(await findSlotProblems(database.pool)).toEqual([]);

  const told = await ask<object>('GET', `/explain?url=${encodeURIComponent(`${article('choosy')}?ref=2`)}`);
  expect(JSON.stringify(told)).toContain('It keeps its parameter ref, by the host rules of this domain.');
  const { items } = await ask<{ items: { url: string }[] }>(
    'GET',
    `/frontier?url=${encodeURIComponent(`${article('choosy')}?ref=2&utm_source=x`)}`,
  );
  expect(items.map(({ url }) => url)).toEqual([`${article('choosy')}?ref=2`]);
}, 300_000);

test('what was fetched keeps its key when it is fetched again', async () => {
  const before = await known('usual');
  await ask('PATCH', '/domains/usual.test', { rules: { keepParameters: ['ref'] } });
  const { items } = await ask<{ items: { id: string }[] }>(
    'GET',
    `/frontier?url=${encodeURIComponent(`${article('usual')}?ref=1`)}`,
  );
  await ask('POST', `/frontier/${items[0]!.id}/retry`);
  await submit(`${article('usual')}?ref=2`);
  await waitUntil('everything is fetched', () => isQuiet(database.pool), 120_000);
  const after = await known('usual');
  expect(after.map(({ path, status }) => [path, status])).toEqual([
    ['?ref=1', 'fetched'],
    ['?ref=2', 'fetched'],
  ]);
  expect(after[0]!.text).toBe(before[0]!.text);
  expect(/In edition (\d)/.exec(after[1]!.text ?? '')?.[1]).toBe('2');
  expect(await findSlotProblems(database.pool)).toEqual([]);
}, 300_000);
