import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { saveSink } from '../../src/outbox/index.ts';
import { CliHost, type Ended } from '../process/outrider.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { storeDocuments } from '../sinks/store.ts';

// Real processes are for the tests that kill them: these ask much and would load the program again each time.
const host = new CliHost();

let database: TestDatabase;
let home: string;
const run = (...args: string[]): Promise<Ended> =>
  host.run(['sinks', ...args], { home, env: { DATABASE_URL: database.url } });

beforeAll(async () => {
  database = await createTestDatabase();
  home = mkdtempSync(join(tmpdir(), 'outrider-cli-sinks-'));
  await saveSink(database.pool, { name: 'files', kind: 'files', enabled: true });
  await saveSink(database.pool, { name: 'warc', kind: 'warc', takes: 'responses', enabled: true });
  await storeDocuments(database.pool, [{ url: 'https://a.example/1' }, { url: 'https://a.example/2' }]);
});
afterAll(() => host.close());
afterAll(async () => {
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

test('the table says what waits and who delivers', async () => {
  const { stdout, code } = await run();
  expect(code).toBe(0);
  expect(stdout).toMatch(/^SINK +STATE +WAITING +SINCE +DELIVERED +DEAD +LAST ERROR$/m);
  expect(stdout).toMatch(/^files +nobody delivers +2 +/m);
  await database.pool.query(
    `UPDATE sink_states SET failing_since = now() - interval '1 hour', failures = 3, error = 'ECONNREFUSED' WHERE sink = 'files'`,
  );
  expect((await run()).stdout).toMatch(/^files +failing for 60 min .*ECONNREFUSED$/m);
  const { items } = JSON.parse((await run('--json')).stdout) as {
    items: { name: string; waiting: number }[];
  };
  expect(items.find((one) => one.name === 'files')).toMatchObject({ waiting: 2, error: 'ECONNREFUSED' });
});

test('what was refused is shown and tried again', async () => {
  expect((await run('dead', 'files')).stdout).toBe('files has taken everything.\n');
  await database.pool.query(
    `WITH gone AS (DELETE FROM outbox WHERE sink = 'files' RETURNING *)
     INSERT INTO dead_letters SELECT bucket, sink, domain_key, url_hash, version, enqueued_at, now(), 1, 'too long' FROM gone`,
  );
  const { stdout } = await run('dead', 'files');
  expect(stdout).toMatch(/^https:\/\/a\.example\/1 +1 +.*too long$/m);
  expect(stdout).toContain('outrider sinks retry files');
  expect((await run('retry', 'files')).stdout).toBe('2 documents are on the way to files again.\n');
  expect((await run('retry', 'files')).stdout).toBe('files has no dead letters.\n');
});

test('a replay is asked for once, and not of what is not stored', async () => {
  expect((await run('replay', 'files', '--since', '7d')).stdout).toContain('given its documents again');
  const again = await run('replay', 'files');
  expect(again.code).toBe(1);
  expect(again.stderr).toContain('under way already');
  expect((await run('replay', 'warc')).stderr).toContain('not stored');
  expect((await run('replay', 'files', '--since', 'once')).code).toBe(2);
  expect((await run()).stdout).toMatch(/^Replay to files, asked .*: 0 documents so far\.$/m);
});

test('a sink is paused, goes on and is forgotten', async () => {
  expect((await run('pause', 'files')).stdout).toContain('is paused');
  expect((await run()).stdout).toMatch(/^files +paused +/m);
  expect((await run('resume', 'files')).stdout).toContain('goes on');
  expect((await run('remove', 'index')).code).toBe(2);
  expect((await run('remove', 'files')).stdout).toContain('is forgotten');
  const gone = await run('retry', 'files');
  expect(gone.code).toBe(2);
  expect(gone.stderr).toContain('there is no sink "files"');
  expect(gone.stderr).toContain('index, warc');
  const { rows } = await database.pool.query('SELECT action FROM audit ORDER BY id');
  expect(rows.map((row) => row.action)).toEqual([
    'sink_retry',
    'sink_retry',
    'sink_replay',
    'sink_pause',
    'sink_resume',
    'sink_remove',
  ]);
});
