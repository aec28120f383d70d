import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDiscovery } from '../../src/channels/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { type Engine, startEngine } from '../../src/engine.ts';
import { listSinks } from '../../src/outbox/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { createLog } from '../../src/telemetry/index.ts';
import { findOpenSearch, type OpenSearch, startOpenSearch } from '../opensearch/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { makeToken } from '../setup/token.ts';
import { startWeb, type Web } from '../web/index.ts';
import { isQuiet } from './crawl-state.ts';
import { waitUntil } from './wait.ts';

// source → feed → frontier → fetch → document → classified → published, and into every sink on the way. The classifier
// and the publisher are the examples, as processes of their own.
const found = await findOpenSearch();
if ('missing' in found) console.warn(`SKIPPED, the part about OpenSearch: ${found.missing}`);

const examples = join(import.meta.dirname, '..', '..', 'examples');
let database: TestDatabase;
let dir: string;
let web: Web;
let server: OpenSearch | null = null;
let engine: Engine;
let token: string;
const programs: ChildProcess[] = [];

const start = (name: string, ...args: string[]): ChildProcess => {
  const program = spawn(process.execPath, [join(examples, name), engine.address!, ...args], {
    cwd: dir,
    env: { ...process.env, OUTRIDER_TOKEN: token },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  programs.push(program);
  return program;
};
const end = async (program: ChildProcess, signal: NodeJS.Signals): Promise<void> => {
  if (program.exitCode !== null || program.signalCode !== null) return;
  const ended = new Promise((resolve) => program.once('exit', resolve));
  program.kill(signal);
  await ended;
};

beforeAll(async () => {
  database = await createTestDatabase();
  dir = mkdtempSync(join(tmpdir(), 'outrider-walk-'));
  web = await startWeb({ seed: 41, publishers: 6, startMs: Date.parse('2024-06-05T12:00:00Z'), speed: 0 });
  await web.writeHostsFile(join(dir, 'hosts'));
  if ('classPath' in found) server = await startOpenSearch(found.classPath);
  const { config } = loadConfig({
    env: {
      DATABASE_URL: database.url,
      OUTRIDER_RENDER_ENABLED: 'off',
      OUTRIDER_API_PORT: '0',
      OUTRIDER_FETCH_HOSTS_FILE: join(dir, 'hosts'),
      OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${web.port}`,
      OUTRIDER_FETCH_DEFAULT_DELAY_MS: '20',
      OUTRIDER_FETCH_NETWORK_GAP_MS: '0',
      OUTRIDER_FILES_DIR: join(dir, 'files'),
      ...(server === null ? {} : { ELASTICSEARCH_URL: server.url }),
      LOG_LEVEL: 'error',
    },
  });
  engine = await startEngine({
    config,
    roles: ['serve', 'fetch', 'schedule'],
    version: '0.0.0-test',
    log: createLog({ level: 'error', format: 'json' }),
  });
  token = await makeToken(database.pool, 'write');
}, 300_000);
afterAll(async () => {
  for (const program of programs) await end(program, 'SIGKILL');
  await engine?.stop();
  await server?.close();
  await web?.close();
  await database?.drop();
  rmSync(dir, { recursive: true, force: true });
});

test('what publishers publish is classified, published and delivered, each once', async () => {
  let classifier = start('classifier.mjs', 'classifier-place');
  const publisher = start('publisher.mjs', 'published', 'publisher-place');
  for (const { host } of web.publishers) {
    const { source } = await createSource(database.pool, { url: `http://${host}/`, name: host });
    await startDiscovery(database.pool, source.id);
  }
  const documents = async (): Promise<{ id: string; text: string }[]> =>
    (
      await database.pool.query<{ id: string; text: string }>(
        `SELECT lpad(to_hex(domain_key), 16, '0') || '-' || encode(url_hash, 'hex') AS id, text FROM documents WHERE page_type <> 'stub'`,
      )
    ).rows;
  await waitUntil('some documents are there', async () => (await documents()).length > 10);
  // Everybody may fall down on the way.
  await end(classifier, 'SIGKILL');
  await server?.kill();
  await waitUntil('more documents are there', async () => (await documents()).length > 25);
  classifier = start('classifier.mjs', 'classifier-place');
  await server?.start();
  await waitUntil(
    'everything is fetched and delivered',
    async () => {
      // The pause after an outage grows; here it is over.
      await database.pool.query(
        "UPDATE sink_states SET retry_at = NULL WHERE retry_at > now() + interval '2 seconds'",
      );
      return isQuiet(database.pool);
    },
    180_000,
  );
  const all = await documents();
  const published = (): Map<string, string[]> => {
    const topics = new Map<string, string[]>();
    for (const topic of readdirSync(join(dir, 'published')))
      for (const name of readdirSync(join(dir, 'published', topic)))
        topics.set(name.replace('.json', ''), [...(topics.get(name.replace('.json', '')) ?? []), topic]);
    return topics;
  };
  await waitUntil(
    'everything is published',
    () => published().size === all.length || `${published().size} of ${all.length}`,
  );
  expect([...published().values()].every((topics) => topics.length === 1)).toBe(true);
  const labels = await database.pool.query<{ id: string; topic: string }>(
    `SELECT lpad(to_hex(domain_key), 16, '0') || '-' || encode(url_hash, 'hex') AS id, labels ->> 'topic' AS topic
       FROM documents WHERE classification_status = 'classified'`,
  );
  expect(new Map(labels.rows.map(({ id, topic }) => [id, [topic]]))).toEqual(published());
  await end(publisher, 'SIGTERM');
  expect(publisher.exitCode).toBe(0);
}, 300_000);

test('the files have every document once', async () => {
  const all = (await database.pool.query(`SELECT url FROM documents WHERE page_type <> 'stub'`)).rows;
  const lines = readdirSync(join(dir, 'files'))
    .filter((name) => name.startsWith('documents-'))
    .flatMap((name) =>
      readFileSync(join(dir, 'files', name), 'utf8')
        .trimEnd()
        .split('\n'),
    )
    .map((line) => JSON.parse(line) as { url: string });
  expect(lines.map((line) => line.url).sort()).toEqual(all.map((row) => row.url).sort());
});

test.skipIf('missing' in found)('OpenSearch has every document once, under the strict mapping', async () => {
  const all = await database.pool.query<{ url: string; text: string }>(
    `SELECT url, text FROM documents WHERE page_type <> 'stub' ORDER BY url`,
  );
  await server!.ask('POST', '/*_raw_content/_refresh');
  const hits = await server!.ask<{
    hits: { hits: { _source: { url: string; raw_text: string; raw_html: string } }[] };
  }>('POST', '/*_raw_content/_search', { size: 10_000 });
  const there = hits.hits.hits.map(({ _source }) => _source);
  expect(
    there.map(({ url, raw_text }) => ({ url, text: raw_text })).sort((a, b) => (a.url < b.url ? -1 : 1)),
  ).toEqual(all.rows.sort((a, b) => (a.url < b.url ? -1 : 1)));
  expect(there.every((one) => /<html|<!doctype/i.test(one.raw_html))).toBe(true);
  expect((await listSinks(database.pool)).every((sink) => sink.waiting === 0 && sink.deadLetters === 0)).toBe(
    true,
  );
});
