import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDiscovery } from '../../src/channels/index.ts';
import { grantFetcher } from '../../src/db/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { Outrider, runOutrider } from '../process/outrider.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { startWeb, type Web } from '../web/index.ts';
import { isQuiet, loadBalances } from './crawl-state.ts';
import { waitUntil } from './wait.ts';

// A fetcher on somebody else's machine: its role of the database does the work and sees nothing else.
const role = `fetcher_${randomBytes(4).toString('hex')}`;
const publishers = 12; // every kind of channel the simulated web has, indexes of sitemaps among them

let home: string;
let database: TestDatabase;
let web: Web;
let fetcherUrl: string;
let asFetcher: pg.Client;
const running: Outrider[] = [];

const environment = (url: string): Record<string, string> => ({
  DATABASE_URL: url,
  OUTRIDER_FETCH_HOSTS_FILE: join(home, 'hosts'),
  OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${web.port}`,
  OUTRIDER_FETCH_DEFAULT_DELAY_MS: '50',
  OUTRIDER_POLLING_SITEMAP_MAX_AGE_HOURS: '87600',
  LOG_LEVEL: 'warn',
});

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-role-'));
  database = await createTestDatabase();
  web = await startWeb({
    seed: 17,
    publishers,
    changes: Array.from({ length: publishers }, (_, n) => ({
      backlog: 6,
      ratePerDay: 20,
      // A feed that has moved for good is one of the few things by which a poll changes a channel.
      ...(n === 0 ? { faults: [{ name: 'redirect-chain', options: { hops: 1, status: 301 } }] } : {}),
    })),
    startMs: Date.parse('2024-06-05T12:00:00Z'),
    speed: 0,
  });
  await web.writeHostsFile(join(home, 'hosts'));
  const url = new URL(database.url);
  url.username = role;
  fetcherUrl = url.href;
});
afterAll(async () => {
  for (const one of running) await one.stop('SIGKILL');
  await asFetcher?.end();
  await web?.close();
  await database?.pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`).catch(() => undefined);
  await database?.drop();
  rmSync(home, { recursive: true, force: true });
});

test('the role is made once and brought up to date after that', async () => {
  const env = { DATABASE_URL: database.url };
  const first = await runOutrider(['db', 'grant-fetcher', role, '--json'], { home, env });
  expect(`${first.code} ${first.stderr}`).toBe('0 ');
  expect(JSON.parse(first.stdout)).toEqual({ role, created: true });
  expect(await grantFetcher(database.db, role, 'test')).toBe(false);
  const own = new URL(database.url).username;
  await expect(grantFetcher(database.db, own, 'test')).rejects.toMatchObject({
    code: 'fetcher_role_invalid',
  });
});

test('an owner that may not make roles gives one that an administrator made its rights', async () => {
  const [owner, made] = [`owner_${randomBytes(4).toString('hex')}`, `made_${randomBytes(4).toString('hex')}`];
  const other = await createTestDatabase({ empty: true });
  const name = pg.escapeIdentifier(new URL(other.url).pathname.slice(1));
  const own = new URL(other.url);
  own.username = owner;
  try {
    await other.pool.query(`CREATE ROLE ${owner} LOGIN; GRANT ALL ON DATABASE ${name} TO ${owner}`);
    await other.pool.query(`ALTER SCHEMA public OWNER TO ${owner}`);
    const run = (...args: string[]): ReturnType<typeof runOutrider> =>
      runOutrider(args, { home, env: { DATABASE_URL: own.href } });
    const refused = await run('db', 'grant-fetcher', made);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`CREATE ROLE "${made}" LOGIN PASSWORD`);
    expect(refused.stderr).not.toContain('unforeseen');
    await other.pool.query(`CREATE ROLE ${made} LOGIN`);
    const granted = await run('db', 'grant-fetcher', made, '--json');
    expect(`${granted.code} ${granted.stderr}`).toBe('0 ');
    expect(JSON.parse(granted.stdout)).toEqual({ role: made, created: false });
    const { rows } = await other.pool.query(
      `SELECT has_table_privilege($1, 'url_frontier', 'UPDATE') AS works, has_table_privilege($1, 'api_tokens', 'SELECT') AS sees`,
      [made],
    );
    expect(rows).toEqual([{ works: true, sees: false }]);
    // A later version gives all roles their rights again, as the same owner.
    const client = new pg.Client({ connectionString: own.href });
    await client.connect();
    await client.query('SELECT fetcher_regrant()').finally(() => client.end());
  } finally {
    for (const one of [made, owner])
      await other.pool.query(`DROP OWNED BY ${one} CASCADE; DROP ROLE ${one}`).catch(() => undefined);
    await other.drop();
  }
});

test.each(['', 'public', 'none', 'pg_monitor', 'x'.repeat(64)])('the name "%s" is refused', async (name) => {
  await expect(grantFetcher(database.db, name, 'test')).rejects.toMatchObject({
    code: 'fetcher_role_invalid',
  });
});

test('a diagnosis with it fails for nothing that it may not see', async () => {
  const looked = await runOutrider(['doctor', '--json'], { home, env: { DATABASE_URL: fetcherUrl } });
  const { findings } = JSON.parse(looked.stdout) as { findings: { name: string; sentence: string }[] };
  expect(findings.filter((one) => one.sentence.includes('permission denied'))).toEqual([]);
  const left = findings.filter((one) => one.sentence.startsWith('Not looked at'));
  expect(left.map((one) => one.name)).toContain('jobs');
});

test.each([
  [['switch', 'fetching', 'off'], 'settings'],
  [['token', 'list'], 'api_tokens'],
  [['backup', 'b'], ''],
  [['scale', 'buckets'], 'domain_slots'],
  [['migrate', '--to', '1'], ''],
  [['schedule'], 'settings'],
])('with it %j says in words that it may not', async (args, what) => {
  const { code, stderr } = await runOutrider(args, { home, env: { DATABASE_URL: fetcherUrl } });
  expect(code).toBe(3);
  expect(stderr).toContain('this role of the database may not do that');
  expect(stderr).toContain(what);
  expect(stderr).not.toMatch(/unforeseen|the log says|older than|"stack"|\n {4}at /);
});

test('it runs a whole crawl', async () => {
  for (const { host } of web.publishers) {
    const { source } = await createSource(database.pool, { url: `http://${host}/` });
    await startDiscovery(database.pool, source.id);
  }
  running.push(new Outrider(['schedule'], { home, env: environment(database.url) }));
  running.push(new Outrider(['fetch'], { home, env: environment(fetcherUrl) }));
  await waitUntil(
    'the crawl is done',
    async () => {
      const broken = running.find((one) => !one.isRunning);
      if (broken !== undefined) throw new Error(broken.stderr);
      const { rows } = await database.pool.query<{ n: number }>(
        'SELECT count(*)::integer AS n FROM documents',
      );
      return rows[0]!.n >= publishers * 3 ? isQuiet(database.pool) : `${rows[0]!.n} documents`;
    },
    120_000,
  );
  for (const one of running) expect((await one.stop('SIGTERM')).code, one.stderr).toBe(0);
  for (const one of running) expect(one.stderr).toBe('');
  const { rows } = await database.pool.query<{ files: number; errors: number }>(
    `SELECT (SELECT count(*)::integer FROM channels WHERE parent_id IS NOT NULL) AS files,
            (SELECT count(*)::integer FROM url_frontier WHERE error_text LIKE '%permission%') AS errors`,
  );
  expect(rows[0]!.files).toBeGreaterThan(0);
  expect(rows[0]!.errors).toBe(0);
  for (const [what, one, other] of await loadBalances(database.pool))
    expect([what, one]).toEqual([what, other]);
}, 180_000);

test('it sees no secret and changes no setting, source or channel', async () => {
  asFetcher = new pg.Client({ connectionString: fetcherUrl });
  await asFetcher.connect();
  const denied = async (sql: string): Promise<void> => {
    await expect(asFetcher.query(sql), sql).rejects.toMatchObject({ code: '42501' });
  };
  for (const table of ['api_tokens', 'auth_secrets', 'sign_in_codes', 'websub_subscriptions', 'audit'])
    await denied(`SELECT FROM ${table}`);
  for (const table of ['settings', 'sources', 'channels', 'jobs', 'sinks']) {
    await asFetcher.query(`SELECT FROM ${table} LIMIT 1`);
    await denied(`DELETE FROM ${table}`);
  }
  await denied(`UPDATE settings SET value = 'true'`);
  await denied(`SELECT setting_set('lease_mode', '"bucket"', 'me')`);
  await denied(`SELECT switch_set('fetching', false, 'me', 'because')`);
  await denied(`UPDATE sources SET url = 'http://evil.test/'`);
  await denied('DROP TABLE url_frontier');
  await denied('CREATE TABLE mine (a int)');
  await denied(`SELECT fetcher_add('${role}', 'me')`);
});

test('every table is one that fetchers work with, read, or never see', async () => {
  // A new table belongs into one of them: into fetcher_grant, or here.
  const unseen = [
    ...['api_tokens', 'audit', 'auth_secrets', 'counters', 'document_changes', 'ended_sessions'],
    ...[
      'execution_logs',
      'former_sources',
      'job_events',
      'job_scheduler',
      'rollups',
      'sign_in_codes',
      'sink_replays',
    ],
    ...['source_days', 'source_totals', 'websub_subscriptions'],
  ];
  const { rows } = await database.pool.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c
      WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND NOT has_table_privilege($1, c.oid, 'SELECT') ORDER BY 1`,
    [role],
  );
  expect(rows.map((row) => row.name)).toEqual(unseen);
});

test('a newer version gives it what its functions need', async () => {
  await database.pool.query(`REVOKE ALL ON url_frontier, settings FROM ${role}`);
  await database.pool.query(`UPDATE schema_functions SET checksum = 'old'`);
  const { code, stderr } = await runOutrider(['migrate'], { home, env: { DATABASE_URL: database.url } });
  expect(`${code} ${stderr}`).toBe('0 ');
  await asFetcher.query('SELECT FROM url_frontier LIMIT 1');
  // And before that is done a fetcher says what is missing.
  await database.pool.query(`UPDATE schema_functions SET checksum = 'old'`);
  const early = await runOutrider(['fetch'], { home, env: environment(fetcherUrl) });
  expect(early.stderr).toContain('may not change it');
  expect(early.code).not.toBe(0);
});
