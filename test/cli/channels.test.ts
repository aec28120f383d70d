import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createChannel } from '../../src/channels/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { CliHost, type Ended } from '../process/outrider.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

// Real processes are for the tests that kill them: these ask much and would load the program again each time.
const host = new CliHost();

const url = 'https://paper.example/feed';
let home: string;
let database: TestDatabase;

const run = (...args: string[]): Promise<Ended> =>
  host.run(args, { home, env: { DATABASE_URL: database.url } });
const row = async () =>
  (
    await database.pool.query<{
      status: string;
      tries: number;
      due: boolean;
      code: string | null;
      held: boolean;
    }>(
      `SELECT status, tries, due_at <= now() AS due, error_code AS code, due_at > now() + interval '500 years' AS held
         FROM url_frontier WHERE kind = 'channel' AND url = $1`,
      [url],
    )
  ).rows[0]!;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-cli-channels-'));
  database = await createTestDatabase();
  const { source } = await createSource(database.pool, { url: 'https://paper.example/', name: 'Paper' });
  const channel = {
    sourceId: source.id,
    kind: 'feed',
    url,
    intervalSeconds: 900,
    foundBy: 'manual',
  } as const;
  await createChannel(database.pool, channel);
  // Asleep since its third 404.
  await database.pool.query(
    `INSERT INTO channel_state (bucket, channel_id, polls, errors_in_row, error_kind, failing_since, slept_at, sleep_reason, delays, delay_seconds)
     SELECT bucket, id, 9, 3, '404', now() - interval '1 day', now(), '404', 4, 480 FROM channels`,
  );
  await database.pool.query(
    `UPDATE url_frontier SET ready = false, tries = 3, due_at = now() + interval '48 hours', error_code = 'channel_404'`,
  );
  await database.pool.query(
    `UPDATE domain_slots SET queued = 0, top = NULL, wake_at = now() + interval '48 hours'`,
  );
});
afterAll(() => host.close());
afterAll(async () => {
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

test('channels say what is wrong, how old news is, and what would help', async () => {
  const { code, stdout } = await run('channels');
  expect(code).toBe(0);
  expect(stdout).toMatch(/3 × 404, asleep/);
  expect(stdout).toMatch(/4 items were found 2 min after their publication on average/);
  const listed = JSON.parse((await run('channels', '--json')).stdout) as object[];
  expect(listed).toMatchObject([
    { url, asleep: true, sleepReason: '404', delaySeconds: 120, delayedItems: 4 },
  ]);
});

test('all that fail are polled again, after a look at how many they are', async () => {
  expect((await run('channels', 'retry-failing', '--dry-run')).stdout).toMatch(
    /^1 of 1 failing channel would be polled/,
  );
  expect((await row()).due).toBe(false);
  expect((await run('channels', 'retry-failing', 'nobody')).code).not.toBe(0);
  expect((await run('channels', 'retry-failing', 'paper', '--json')).stdout).toBe(
    `${JSON.stringify({ dryRun: false, matched: 1, outcomes: { polled: 1 } }, null, 2)}\n`,
  );
  expect(await row()).toMatchObject({ tries: 3, due: true });
  await database.pool.query(`UPDATE channel_state SET errors_in_row = 0`);
  expect((await run('channels', 'retry-failing', '--reset')).stdout).toBe('No channel fails.\n');
  await database.pool.query(`UPDATE channel_state SET errors_in_row = 3`);
  await database.pool.query(`UPDATE url_frontier SET due_at = now() + interval '48 hours'`);
});

test('wake ends the sleep and writes down who did it', async () => {
  expect(await row()).toMatchObject({ tries: 3, due: false });
  expect(await run('channels', 'wake', url)).toMatchObject({ code: 0 });
  expect(await row()).toMatchObject({ status: 'pending', tries: 0, due: true, code: null });
  const noted = await database.pool.query(`SELECT FROM audit WHERE action = 'channel_reset'`);
  expect(noted.rowCount).toBe(1);
  const unknown = await run('channels', 'wake', '4711');
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toContain('there is no channel "4711"');
});

test('a source is disabled, enabled, changed and deleted', async () => {
  expect(await run('sources', 'disable', 'paper', '--reason', 'a pause')).toMatchObject({ code: 0 });
  expect(await row()).toMatchObject({ held: true });
  expect((await run('channels')).stdout).toMatch(/\bheld\b/);
  expect((await run('explain', url)).code).toBe(0);
  expect(await run('sources', 'enable', 'paper')).toMatchObject({ code: 0 });
  expect(await row()).toMatchObject({ held: false, due: true });
  expect(await run('sources', 'set', 'paper', '--every', '30', '--fixed', 'on')).toMatchObject({ code: 0 });
  const changed = await database.pool.query(`SELECT interval_seconds FROM channels`);
  expect(changed.rows).toEqual([{ interval_seconds: 1800 }]);
  expect((await run('sources', 'set', 'paper', '--mode', 'sideways')).code).toBe(2);
  // The list has an option of that name too.
  expect(await run('sources', 'set', 'paper', '--mode', 'both')).toMatchObject({ code: 0 });
  const narrowed = JSON.parse((await run('sources', '--mode', 'both', '--json')).stdout) as object[];
  expect(narrowed).toMatchObject([{ slug: 'paper', ingestionMode: 'both' }]);
  expect((await run('sources', 'list', '--mode', 'spider')).stdout).toBe('No source matches.\n');
  expect((await run('sources', 'delete', 'paper', '--documents', 'burn')).code).toBe(2);
  expect(await run('sources', 'delete', 'paper')).toMatchObject({ code: 0 });
  expect(await row()).toMatchObject({ status: 'dead', code: 'source_deleted' });
  expect((await run('sources', 'delete', 'paper')).code).toBe(2);
});
