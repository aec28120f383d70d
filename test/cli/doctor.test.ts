import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { type Diagnosis, diagnose, type Finding } from '../../src/diagnose/index.ts';
import { saveSink } from '../../src/outbox/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { saveSwitch } from '../../src/switches/index.ts';
import { domainIdentity } from '../../src/url/index.ts';
import { type ApiLab, startApiLab } from '../api/lab.ts';
import { endRun, putJob, startRun } from '../jobs/standing.ts';
import { CliHost, type Ended, runOutrider } from '../process/outrider.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let home: string;
let database: TestDatabase;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'outrider-doctor-'));
});
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());
afterAll(async () => {
  await host.close();
  rmSync(home, { recursive: true, force: true });
});

// A name that every machine resolves by itself, so that the tests ask no resolver.
const usual = { OUTRIDER_FETCH_CONTACT_URL: 'http://localhost/about', OUTRIDER_API_PORT: '0' };
const host = new CliHost();
const run = (args: string[], env: Record<string, string> = {}): Promise<Ended> =>
  host.run(['doctor', ...args], { home, env: { DATABASE_URL: database.url, ...usual, ...env } });

const config = () => loadConfig({ env: { ...usual } }).config;
const look = (change: Partial<Parameters<typeof diagnose>[0]> = {}): Promise<Diagnosis> =>
  diagnose({ config: config(), version: '1.0.0', open: async () => database.db, ...change });
const of = ({ findings }: Diagnosis, name: string): Finding[] => findings.filter((one) => one.name === name);

const worker = (id: string, role: string, state: object, age = '1 second'): Promise<unknown> =>
  database.pool.query(
    `INSERT INTO workers (id, role, version, host, pid, heartbeat_at, state)
     VALUES ($1, $2, '1.0.0', 'here', 42, now() - $4::interval, $3)`,
    [id, role, JSON.stringify(state), age],
  );
const loop = (name: string, change: object = {}): object => ({
  name,
  intervalMs: 500,
  lastTurnAt: 10_000_000,
  turns: 9,
  errorsInRow: 0,
  lastError: null,
  ...change,
});

test('every check has a sentence, and what is not well has advice', async () => {
  const { stdout, code } = await run(['--json']);
  const { findings, state } = JSON.parse(stdout) as Diagnosis;
  const names = new Set(findings.map((one) => one.name));
  for (const name of ['node', 'settings', 'disk', 'contact', 'dns', 'api', 'database', 'schema', 'clock'])
    expect(names).toContain(name);
  for (const name of ['collation', 'server', 'connections', 'partitions', 'workers', 'loops', 'network'])
    expect(names).toContain(name);
  for (const name of ['switches', 'sinks', 'selectors']) expect(names).toContain(name);
  for (const one of findings) {
    expect(one.sentence).not.toBe('');
    expect(one.advice === null).toBe(one.state === 'ok');
  }
  // Test clusters run without fsync, which is the very thing a doctor must cry out about.
  expect(state).toBe('fail');
  expect(code).toBe(1);
  expect(findings).toContainEqual(
    expect.objectContaining({
      name: 'server',
      state: 'fail',
      sentence: expect.stringMatching(/^fsync is off/),
    }),
  );
  expect(findings.find((one) => one.name === 'workers')).toMatchObject({
    state: 'warn',
    sentence: 'Nothing runs.',
  });
});

test('the text says it in words, with advice below, and ends with a sum', async () => {
  const { stdout, stderr } = await run([]);
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^ok {4}schema +The schema is at version \d+\.$/m);
  expect(stdout).toMatch(/^warn {2}workers +Nothing runs\.\n +→ Start everything with: outrider up$/m);
  expect(stdout).toMatch(/\n\d+ to mend, \d+ to look at, of \d+ checks\.\n$/);
  expect(stdout).not.toContain('\u001b');
});

test('broken settings and a database that is away are told, and the rest as well', async () => {
  writeFileSync(join(home, 'bad.yaml'), 'fetch:\n  batch: many\nnonsense:\n  key: 1\n');
  const { stdout, stderr, code } = await run(['--json', '--config', 'bad.yaml'], {
    DATABASE_URL: 'postgresql://app:hunter2@127.0.0.1:1/none',
  });
  expect(code).toBe(1);
  expect(stdout + stderr).not.toContain('hunter2');
  const diagnosis = JSON.parse(stdout) as Diagnosis;
  const [settings] = of(diagnosis, 'settings');
  expect(settings!.state).toBe('fail');
  for (const words of ['2 problems', 'fetch.batch must be', 'nonsense.key in bad.yaml is not a setting'])
    expect(settings!.sentence).toContain(words);
  expect(of(diagnosis, 'database')[0]).toMatchObject({
    state: 'fail',
    sentence: expect.stringContaining('nothing listens there'),
  });
  expect(of(diagnosis, 'disk').length).toBeGreaterThan(0);
});

test('where there is no embedded database yet, none is made', async () => {
  const data = join(home, 'fresh');
  const { stdout } = await runOutrider(['doctor', '--json'], {
    home,
    env: { OUTRIDER_DATA_DIR: data, ...usual },
  });
  const diagnosis = JSON.parse(stdout) as Diagnosis;
  expect(of(diagnosis, 'database')[0]!.sentence).toContain('no database yet');
  expect(diagnosis.findings.every((one) => one.name !== 'schema')).toBe(true);
});

test('a database that never answers holds up nothing else', async () => {
  const diagnosis = await look({ open: () => new Promise(() => undefined), openTimeoutMs: 20 });
  expect(of(diagnosis, 'database')[0]).toMatchObject({ state: 'fail' });
  expect(of(diagnosis, 'node')).toHaveLength(1);
});

test('an empty database is told by the schema alone', async () => {
  const empty = await createTestDatabase({ empty: true });
  const diagnosis = await look({ open: async () => empty.db });
  expect(of(diagnosis, 'schema')[0]).toMatchObject({ state: 'warn', sentence: 'The database is empty.' });
  expect(of(diagnosis, 'sinks')).toEqual([]);
  await empty.drop();
});

test('loops that fail or have frozen, and processes that fell silent', async () => {
  await worker('a', 'fetch', {
    outage: true,
    loops: [
      loop('heartbeat'),
      loop('lease', { lastTurnAt: 10_000_000 - 600_000 }),
      loop('housekeeping', { intervalMs: 3_600_000, lastTurnAt: 10_000_000 - 3_000_000 }),
      loop('renew', { errorsInRow: 3, lastError: 'deadlock detected' }),
    ],
  });
  await worker('b', 'schedule', { loops: [loop('heartbeat'), loop('index')] });
  await worker('c', 'fetch', {}, '2 minutes');
  const diagnosis = await look();
  expect(of(diagnosis, 'loops').map((one) => [one.state, one.sentence])).toEqual([
    ['fail', 'The lease loop of the fetch process 42 on here has not turned for 10 min.'],
    ['warn', 'The renew loop of the fetch process 42 on here failed 3 times in a row: deadlock detected'],
  ]);
  expect(of(diagnosis, 'workers')).toMatchObject([
    { state: 'warn', sentence: expect.stringContaining('silent since') },
  ]);
  expect(of(diagnosis, 'network')).toMatchObject([
    { state: 'warn', sentence: expect.stringContaining('reaches nobody') },
  ]);
});

test('processes and a database that were restarted', async () => {
  expect(of(await look(), 'restarts')).toMatchObject([{ state: 'ok' }]);
  const at = Date.now() - 1000;
  await worker('w1', 'fetch', {
    restarts: { last: [{ at, reason: 'memory', why: 'its memory ran short' }] },
  });
  await database.pool.query(`UPDATE workers SET started_at = '2020-01-01'`);
  expect(of(await look(), 'restarts')).toMatchObject([
    {
      state: 'warn',
      sentence:
        'The fetch process 42 on here: It was restarted once in the last hour, last because its memory ran short.',
    },
    { state: 'warn', sentence: expect.stringMatching(/^The database was started again at \S+, while/) },
  ]);
});

test('a fetcher without a scheduler, and another version', async () => {
  await worker('a', 'fetch', {});
  const diagnosis = await look({ version: '2.0.0' });
  expect(of(diagnosis, 'workers').map((one) => one.sentence)).toEqual([
    'No scheduler is alive: no feeds are found, and nothing is indexed or delivered.',
    'Processes of version 1.0.0 run beside this 2.0.0.',
  ]);
});

test('switches that are off, sinks in trouble, rows in default partitions', async () => {
  await saveSwitch(database.pool, 'spider', false, 'cli:somebody');
  await saveSink(database.pool, { name: 'paused', kind: 'files', enabled: false });
  await saveSink(database.pool, { name: 'broken', kind: 'files', enabled: true });
  await database.pool.query(
    `UPDATE sink_states SET failing_since = now() - interval '1 hour', failures = 3, error = 'ECONNREFUSED' WHERE sink = 'broken'`,
  );
  await database.pool.query(
    `INSERT INTO crawl_log (at, bucket, domain_key, epoch, kind, outcome, url, worker)
     VALUES ('2001-01-01', 1, 1, 1, 'article', 'fetched', 'https://a.example/', 'w')`,
  );
  const diagnosis = await look();
  expect(of(diagnosis, 'switches')).toMatchObject([
    { state: 'warn', advice: 'Switch it on again with: outrider switch spider on' },
  ]);
  const sinks = of(diagnosis, 'sinks').map((one) => one.sentence);
  expect(sinks).toContain('paused is paused: nothing is kept for it.');
  expect(sinks.join()).toMatch(/broken has failed since .*: ECONNREFUSED/);
  expect(of(diagnosis, 'partitions')[0]).toMatchObject({
    state: 'warn',
    sentence: expect.stringContaining('crawl_log_default'),
  });
});

test('jobs: failed ones, runs that fail, lost schedulers, uneven times', async () => {
  const { pool } = database;
  expect(of(await look(), 'jobs')).toEqual([
    { name: 'jobs', state: 'ok', sentence: 'Jobs go well.', advice: null },
  ]);
  const failed = await putJob(pool, 'running');
  await pool.query(`UPDATE job_executions SET error_message = 'no answer'`);
  await endRun(pool, failed, { execution: 'failed', status: 'failed' });
  const at = new Date(Date.now() + 7_200_000);
  for (let n = 0; n < 20; n += 1) await putJob(pool, 'scheduled', { at, intervalSeconds: 86_400 });
  for (let n = 0; n < 4; n += 1) {
    await startRun(pool, failed);
    await endRun(pool, failed, { execution: n < 3 ? 'completed' : 'failed', status: 'failed' });
  }
  await pool.query(
    `INSERT INTO job_events (job_id, to_status, action, actor)
    SELECT $1, 'scheduled', 'recover', 'test' FROM generate_series(1, 3)`,
    [failed],
  );
  const found = of(await look(), 'jobs');
  expect(found.map((one) => one.sentence)).toEqual([
    expect.stringMatching(/^One job has failed, job \d+ last: /),
    'Only 60 % of 5 runs of jobs went well in the last 24 h.',
    '3 locks of lost schedulers were cleared in the last 24 h.',
    'Only 5 % of the next 20 runs of jobs are spread evenly.',
  ]);
  expect(found.every((one) => one.state === 'warn' && one.advice !== null)).toBe(true);
  expect(found[0]!.advice).toContain(`outrider jobs retry ${failed}`);
});

test('pages that wait for a browser, and browsers without their sandbox', async () => {
  await database.pool.query(
    `INSERT INTO counter_deltas (bucket, minute, source_id, rows_needs_render) VALUES (1, now(), 1, 2)`,
  );
  expect(of(await look(), 'browser')).toMatchObject([
    {
      state: 'warn',
      sentence: '2 pages that need JavaScript wait: no fetcher has a browser.',
      advice: expect.stringContaining('render.browser_path'),
    },
  ]);
  await database.pool.query(
    `INSERT INTO workers (id, role, version, host, pid, renders, state)
     VALUES ('b', 'fetch', '1', 'h', 7, true, '{"browser": {"sandbox": false}}')`,
  );
  expect(of(await look(), 'browser')).toMatchObject([
    { state: 'ok', sentence: '1 fetcher has a browser; 2 pages wait for one.' },
    { state: 'warn', sentence: 'The browser of the fetcher 7 on h runs without its own sandbox.' },
  ]);
  await database.pool.query(`DELETE FROM workers WHERE id = 'b'`);
  await database.pool.query('DELETE FROM counter_deltas WHERE rows_needs_render > 0');
});

test("the API's port: free, ours, or somebody else's", async () => {
  const other: Server = createServer((socket) => void socket.resume().end('220 hello\r\n'));
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as { port: number };
  const at = (number: number) => loadConfig({ env: usual, overrides: { 'api.port': number } }).config;
  const open = async () => null;
  expect(of(await look({ config: at(port), open }), 'api')[0]).toMatchObject({
    state: 'fail',
    sentence: expect.stringContaining('in use by another program'),
  });
  await new Promise((resolve) => other.close(resolve));
  expect(of(await look({ config: at(port), open }), 'api')[0]!.sentence).toContain('is free');
  const lab: ApiLab = await startApiLab();
  const ours = Number(new URL(lab.address).port);
  expect(of(await look({ config: at(ours), open }), 'api')[0]!.sentence).toContain('The API answers');
  const { status, body } = await lab.ask('GET', '/api/v1/diagnosis');
  expect(status).toBe(200);
  expect(Math.abs(Date.parse(body.at) - Date.now())).toBeLessThan(3_600_000);
  expect(of(body as Diagnosis, 'schema')[0]).toMatchObject({ state: 'ok', advice: null });
  expect(of(body as Diagnosis, 'api')).toEqual([]);
  expect((await lab.ask('GET', '/api/v1/diagnosis?deep=1')).status).toBe(400);
  await lab.close();
});

test('a folder that cannot be made', async () => {
  writeFileSync(join(home, 'file'), '');
  const diagnosis = await look({
    config: loadConfig({ env: usual, overrides: { 'warc.dir': '/proc/nowhere/warc' } }).config,
  });
  expect(of(diagnosis, 'disk').find((one) => one.sentence.includes('WARC'))).toMatchObject({ state: 'fail' });
});

test('selectors that a redesign has left behind are told with what to do', async () => {
  expect(of(await look(), 'selectors')).toMatchObject([
    { state: 'ok', sentence: 'No source has selectors of its own.' },
  ]);
  const { source } = await createSource(database.pool, {
    url: 'https://post.example/',
    name: 'The Post',
    settings: { selectors: { title: 'h1', author: '.by', exclude: '.ad' } },
  });
  const { bucket, domainKey } = domainIdentity('post.example');
  const read = async (first: number, evidence: Record<string, string>): Promise<void> => {
    await database.pool.query(
      `INSERT INTO documents (bucket, domain_key, url_hash, source_id, word_count, confidence, first_seen_at, last_seen_at,
         crawled_at, content_hash, page_type, url, text, meta)
       SELECT $1, $2, sha256(n::text::bytea), $3, 100, 1, t, t, t, sha256(n::text::bytea), 'article',
              'https://post.example/' || n, 'Text.', jsonb_build_object('evidence', $5::jsonb)
         FROM generate_series($4::integer, $4::integer + 9) n, LATERAL (SELECT '2026-11-01'::timestamptz + n * interval '1 minute') x(t)`,
      [bucket, domainKey.toString(), source.id, first, JSON.stringify(evidence)],
    );
  };
  await read(0, {
    'selector.title': 'matched',
    'selector.author': 'matched',
    'selector.exclude': 'no_match',
  });
  expect(of(await look(), 'selectors')).toMatchObject([{ state: 'ok' }]);
  await read(100, {
    'selector.title': 'matched',
    'selector.author': 'no_match',
    'selector.exclude': 'no_match',
  });
  await read(200, {
    'selector.title': 'matched',
    'selector.author': 'no_match',
    'selector.exclude': 'no_match',
  });
  const [finding, ...others] = of(await look(), 'selectors');
  expect(others).toEqual([]);
  expect(finding).toMatchObject({
    state: 'warn',
    sentence: 'Selectors of The Post find nothing on most of its newest pages: author (0 of 20).',
  });
  expect(finding?.advice).toContain(`outrider sources selectors ${source.slug}`);
});
