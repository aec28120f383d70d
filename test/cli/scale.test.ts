import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { openDatabase } from '../../src/db/index.ts';
import { type Diagnosis, diagnose, type Finding } from '../../src/diagnose/index.ts';
import { findCitusObstacles, loadScale, tryHotPath } from '../../src/frontier/index.ts';
import { CliHost, type Ended } from '../process/outrider.ts';
import { startTransactionPooler } from '../process/transaction-pooler.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let home: string;
let database: TestDatabase;
const host = new CliHost();
const run = (...args: string[]): Promise<Ended> =>
  host.run(args, { home, env: { DATABASE_URL: database.url } });
const scaleIs = async (): Promise<string> => (await loadScale(database.pool)).mode;
const looks = async (open: () => Promise<TestDatabase['db']>, name: string): Promise<Finding | undefined> => {
  const found: Diagnosis = await diagnose({
    config: loadConfig({ env: {} }).config,
    version: '1.0.0',
    withPort: false,
    open,
  });
  return found.findings.find((one) => one.name === name);
};

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-scale-'));
  database = await createTestDatabase();
  await run('scale', 'single');
});
afterAll(async () => {
  await host.close();
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

test('the mode is shown and changed, and a dry run changes nothing', async () => {
  expect((await run('scale')).stdout).toContain('over all domains');
  expect((await run('scale', 'buckets', '--dry-run')).stdout).toContain('Would');
  expect(await scaleIs()).toBe('single');
  expect((await run('scale', 'buckets')).stdout).toContain('bucket by bucket');
  expect((await run('scale', 'buckets')).stdout).toContain('Nothing to do');
  expect(JSON.parse((await run('scale', '--json')).stdout)).toMatchObject({
    mode: 'buckets',
    citus: null,
    missingIndexes: [],
  });
  expect((await looks(async () => database.db, 'scale'))?.sentence).toContain('bucket by bucket');
  expect((await run('scale', 'single')).code).toBe(0);
  expect(await scaleIs()).toBe('single');
  const wrong = await run('scale', 'sideways');
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('single, buckets, citus');
});

test('an index that was lost is missed and made anew', async () => {
  await database.pool.query('DROP INDEX domain_slots_wake');
  expect(await looks(async () => database.db, 'scale')).toMatchObject({
    state: 'fail',
    sentence: expect.stringContaining('domain_slots_wake'),
    advice: expect.stringContaining('outrider scale single'),
  });
  await run('scale', 'single');
  expect((await looks(async () => database.db, 'scale'))?.state).toBe('ok');
});

test('without Citus it says so, names the statements and changes nothing', async () => {
  const { code, stdout, stderr } = await run('scale', 'citus', '--dry-run');
  expect(code).toBe(1);
  expect(stderr).toContain('has no Citus');
  expect(stdout).toContain(`SELECT create_distributed_table('domain_slots', 'bucket');`);
  expect(stdout).toContain(
    `create_distributed_table('crawl_log', 'bucket', colocate_with => 'domain_slots');`,
  );
  for (const small of ['channels', 'sources', 'jobs', 'settings', 'sink_replays'])
    expect(stdout).not.toContain(`'${small}'`);
  expect(await scaleIs()).toBe('single');
});

test('what a distributed database refuses is found in the tables', async () => {
  expect(await findCitusObstacles(database.pool)).toEqual([]);
  await database.pool.query(
    `CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
     CREATE TRIGGER watcher BEFORE INSERT ON domains FOR EACH ROW EXECUTE FUNCTION nothing();
     CREATE UNIQUE INDEX one_name ON domains (name);
     ALTER TABLE robots ADD COLUMN number bigserial;
     ALTER TABLE channel_state ADD CONSTRAINT to_channel FOREIGN KEY (channel_id) REFERENCES channels (id)`,
  );
  expect(await findCitusObstacles(database.pool)).toEqual([
    'channel_state: the foreign key to_channel leaves the bucket',
    'domains has the trigger watcher',
    'domains: the unique index one_name lacks the bucket',
    'robots: number is numbered by a sequence',
  ]);
  await database.pool.query(
    `DROP TRIGGER watcher ON domains; DROP FUNCTION nothing; DROP INDEX one_name;
     ALTER TABLE robots DROP COLUMN number; ALTER TABLE channel_state DROP CONSTRAINT to_channel`,
  );
});

test('the trial takes a URL through the hot path and leaves nothing behind', async () => {
  expect(await database.db.withTransaction((tx) => tryHotPath(tx))).toEqual([]);
  const { rows } = await database.pool.query(
    'SELECT (SELECT count(*) FROM url_frontier) + (SELECT count(*) FROM domains) + (SELECT count(*) FROM counter_deltas) AS n',
  );
  expect(rows[0]).toEqual({ n: 0n });
  expect(await scaleIs()).toBe('single');
});

test('many processes are too many for the server, unless a pooler is between', async () => {
  const { searchParams, pathname, username } = new URL(database.url);
  const pooler = await startTransactionPooler({ socketDir: searchParams.get('host') ?? '', servers: 2 });
  const through = await openDatabase({
    databaseUrl: `postgresql://${username}@127.0.0.1:${pooler.port}${pathname}`,
    migrate: false,
  });
  const past = await openDatabase({ databaseUrl: database.url, migrate: false });
  const { rows } = await database.pool.query(
    `INSERT INTO workers (id, role, version, host, pid)
     SELECT 'many-' || n, 'fetch', '1', 'elsewhere', n
       FROM generate_series(1, current_setting('max_connections')::integer / 10 + 1) AS n RETURNING id`,
  );
  expect(rows.length).toBeGreaterThan(1);
  try {
    expect(await looks(async () => past, 'connections')).toMatchObject({
      state: 'warn',
      advice: expect.stringContaining('put PgBouncer between'),
    });
    expect(await looks(async () => through, 'connections')).toMatchObject({ state: 'ok' });
  } finally {
    await database.pool.query(`DELETE FROM workers WHERE id LIKE 'many-%'`);
    await through.close();
    await past.close();
    await pooler.close();
  }
});

test('a pooler that lets no limits through is told of, with what to do', async () => {
  const role = `limitless_${randomBytes(4).toString('hex')}`;
  await database.pool.query(
    // The embedded server has our limits in its settings.
    `DROP ROLE IF EXISTS ${role}; CREATE ROLE ${role} SUPERUSER LOGIN; ALTER ROLE ${role} SET lock_timeout = 0;
     ALTER ROLE ${role} SET idle_in_transaction_session_timeout = 0`,
  );
  const { searchParams, pathname } = new URL(database.url);
  const pooler = await startTransactionPooler({ socketDir: searchParams.get('host') ?? '', servers: 2 });
  const through = await openDatabase({
    databaseUrl: `postgresql://${role}@127.0.0.1:${pooler.port}${pathname}`,
    migrate: false,
  });
  try {
    expect(await looks(async () => through, 'pooler')).toMatchObject({
      state: 'warn',
      sentence: expect.stringContaining('a pooler before the server'),
      advice: expect.stringContaining(`ALTER ROLE ${role} SET lock_timeout`),
    });
    // The advice is followed, and the pooler has the connections that it made before.
    await database.pool.query(
      `ALTER ROLE ${role} SET lock_timeout = '3s'; ALTER ROLE ${role} SET idle_in_transaction_session_timeout = '10s'`,
    );
    expect(await looks(async () => through, 'pooler')).toMatchObject({
      state: 'warn',
      sentence: expect.stringContaining('The role has limits'),
      advice: expect.stringContaining('RECONNECT'),
    });
  } finally {
    await through.close();
    await pooler.close();
    await database.pool.query(`DROP ROLE ${role}`);
  }
});
