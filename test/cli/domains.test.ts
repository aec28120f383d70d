import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keyOfDomain } from '../../src/domains/index.ts';
import { submit } from '../../src/frontier/index.ts';
import { item, take } from '../frontier/fixtures.ts';
import { CliHost, type Ended, Outrider } from '../process/outrider.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

// Real processes are for the tests that kill them: these ask much and would load the program again each time.
const host = new CliHost();

// The operators' commands against a real database.
let database: TestDatabase;
let home: string;
let env: Record<string, string>;
beforeAll(async () => {
  database = await createTestDatabase();
  home = mkdtempSync(join(tmpdir(), 'outrider-domains-'));
  env = { DATABASE_URL: database.url, OUTRIDER_API_PORT: '0', LOG_FORMAT: 'json' };
});
afterAll(() => host.close());
afterAll(async () => {
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

const run = (...args: string[]): Promise<Ended> => host.run(args, { home, env });
async function well(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args);
  expect(code, stderr).toBe(0);
  return stdout;
}
const json = async <T>(...args: string[]): Promise<T> => JSON.parse(await well(...args, '--json')) as T;

test('domains are seeded from a file, and again', async () => {
  writeFileSync(join(home, 'list.csv'), '1,one.test\n2,two.test\nrank,domain\n3,three.test\n');
  const said = await well('domain', 'seed', 'list.csv', '--dataset', 'list_1');
  expect(said).toContain('3 domains: 3 new, 0 known before; 3 entry URLs submitted.');
  expect(said).toContain('line 3: "rank" is not a rank');
  expect(await json('domain', 'seed', 'list.csv', '--dataset', 'list_1')).toMatchObject({
    added: 0,
    known: 3,
    submitted: 0,
  });
  const missing = await run('domain', 'seed', 'nowhere.csv', '--dataset', 'x');
  expect(missing.code).toBe(2);
  expect(missing.stderr).toContain('nowhere.csv cannot be read');
});

test('status lists them, blocked ones with the reason', async () => {
  expect(await well('domain', 'block', 'www.two.test', '--reason', 'nothing but spam')).toBe(
    'two.test is blocked until "outrider domain reset".\n',
  );
  const table = await well('domain', 'status', '--sort', 'name');
  expect(table).toMatch(/^DOMAIN +STATUS +PAGES +DOCS +IMAGES +YIELD +LAST CRAWLED$/m);
  expect(table).toMatch(/^one\.test +pending +0\/1 +0 +0 +0\.00 +–$/m);
  expect(table).toMatch(/^two\.test +blocked .*\n {2}reason: nothing but spam; until it is reset$/m);
  expect(await well('domain', 'status', '--status', 'blocked')).not.toContain('one.test');
  expect(
    await json<{ name: string; seedRank: number }[]>('domain', 'status', '--status', 'blocked'),
  ).toMatchObject([{ name: 'two.test', seedRank: 2, isPermanent: true }]);
  expect(await well('domain', 'status', '--status', 'unreachable')).toBe('No domain matches.\n');
});

test('info and explain tell a domain; what is unknown is said so', async () => {
  const card = await well('domain', 'info', 'two.test');
  for (const words of [
    'two.test',
    'nothing but spam',
    'Events',
    'pending → blocked',
    'cli:',
    'rank 2, list_1',
  ])
    expect(card).toContain(words);
  expect(await well('explain', 'two.test')).toContain('blocked. It was blocked');
  expect(await json('explain', 'two.test')).toMatchObject({
    state: 'blocked',
    facts: { domain: { name: 'two.test' } },
  });
  expect(await json('domain', 'info', 'one.test')).toMatchObject({
    facts: { domain: { dataset: 'list_1' } },
  });
  for (const args of [
    ['domain', 'info', 'nowhere.test'],
    ['domain', 'reset', 'nowhere.test', '--reason', 'x'],
    ['explain', 'nowhere.test'],
  ]) {
    const { code, stderr } = await run(...args);
    expect(code).toBe(2);
    expect(stderr).toContain('no domain "nowhere.test" is known');
    expect(stderr).toContain('outrider domain status');
  }
});

test('reset, set and release', async () => {
  const noReason = await run('domain', 'reset', 'two.test');
  expect(noReason.code).toBe(2);
  expect(noReason.stderr).toContain('--reason');
  expect(await well('domain', 'reset', 'two.test', '--reason', 'a mistake')).toMatch(
    /^two\.test was blocked and begins anew/,
  );
  expect(await json('domain', 'set', 'one.test', '--delay', '2500', '--budget', '7')).toEqual({
    domain: 'one.test',
    delayMs: 2500,
    budget: 7,
    pool: null,
    rules: { keepTrailingSlash: false, stripParameters: [], keepParameters: [] },
  });
  // What is not named stays.
  expect(await well('domain', 'set', 'one.test', '--delay', 'default', '--pool', 'slow')).toBe(
    'one.test: delay default, budget 7, fetchers slow.\n',
  );
  expect((await run('domain', 'set', 'one.test')).stderr).toContain('nothing to set');
  expect((await run('domain', 'set', 'one.test', '--delay', 'soon')).stderr).toContain('"soon"');
  expect(
    await well('domain', 'set', 'one.test', '--keep', 'Ref,src', '--strip', 'sid', '--slash', 'keep'),
  ).toBe(
    'one.test: delay default, budget 7, fetchers slow, keeps ref src, strips sid, keeps the slash.\nWhat waits is given its key by these rules within a minute; what was fetched keeps its own.\n',
  );
  expect(await well('explain', 'one.test')).toContain(
    'the parameters ref and src tell pages apart and the parameter sid says nothing about a page.',
  );
  expect(await json('domain', 'set', 'one.test', '--strip', 'default', '--slash', 'default')).toMatchObject({
    rules: { keepTrailingSlash: false, stripParameters: [], keepParameters: ['ref', 'src'] },
  });
  const wrong = await run('domain', 'set', 'one.test', '--strip', 'two words');
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('"two words" is not the name of a parameter');
  expect((await run('domain', 'set', 'one.test', '--slash', 'drop')).stderr).toContain('--slash');
  await submit(database.pool, [item('held.test', 'a')]);
  await take(database.db, { owner: 'worker-3', slots: 100 });
  expect(await well('workers')).toMatch(/^worker-3 +unknown .* 3 +in \d+ s +–, silent$/m);
  // The others are looked at again at the end of this file, which a busy machine may take minutes to reach.
  await database.pool.query(
    `UPDATE domain_slots SET lease_until = now() + interval '1 hour' WHERE lease_owner IS NOT NULL`,
  );
  expect(await well('domain', 'release', 'held.test')).toBe('held.test was taken from worker-3.\n');
  expect(await well('domain', 'release', 'held.test')).toBe('Nobody holds held.test.\n');
  const audit = await database.pool.query<{ action: string; subject: string }>(
    `SELECT action, subject FROM audit WHERE action <> 'domain_seed' ORDER BY id`,
  );
  expect(audit.rows).toEqual([
    ...Array.from({ length: 4 }, () => ({ action: 'domain_set', subject: 'one.test' })),
    { action: 'release', subject: 'held.test' },
  ]);
});

test('recalculate and backfill say what they mended', async () => {
  await well('domain', 'release', 'three.test');
  await database.pool.query(`UPDATE domains SET pages_known = 50 WHERE name = 'three.test'`);
  expect(await well('domain', 'recalculate')).toContain(
    '1 of them said something else than its rows and was mended: pages_known 1×.',
  );
  const { bucket, domainKey } = keyOfDomain('three.test')!;
  for (const table of ['domains', 'domain_slots'])
    await database.pool.query(`DELETE FROM ${table} WHERE bucket = $1 AND domain_key = $2`, [
      bucket,
      domainKey.toString(),
    ]);
  expect(await well('domain', 'backfill')).toContain('1 domain made: 1 active, 0 exhausted, 0 blocked.');
  expect(await well('domain', 'top')).toBe('No domain matches.\n');
});

test('switches and robots', async () => {
  expect(await well('switch')).toMatch(/^polling +on +– +–$/m);
  expect(await well('switch', 'polling', 'off')).toMatch(/^polling +OFF +(just now|\d+ s ago) +cli:/m);
  expect(await json('switch', 'polling')).toMatchObject([{ name: 'polling', on: false }]);
  await well('switch', 'polling', 'off', '--reason', 'they asked for a quiet night');
  const noted = await database.pool.query(
    `SELECT FROM audit WHERE subject = 'polling' AND detail->>'reason' = 'they asked for a quiet night'`,
  );
  expect(noted.rowCount).toBe(1);
  expect((await run('switch', 'poling', 'off')).stderr).toContain('Known: fetching, polling');
  await database.pool.query(
    `INSERT INTO sources (slug, name, url) VALUES ('paper', 'Paper', 'https://paper.test/')`,
  );
  expect(await well('sources', 'robots', 'paper', 'off', '--reason', 'it is ours')).toContain(
    'no longer hold for Paper',
  );
  expect(await well('sources')).toMatch(/paper .* ignored /);
  expect(await json('sources', 'robots', 'paper', 'on', '--reason', 'done')).toMatchObject({ settings: {} });
  expect(await json('sources', 'set', 'paper', '--render', 'always')).toMatchObject({
    settings: { render: 'always' },
  });
  expect((await run('sources', 'set', 'paper', '--render', 'often')).stderr).toContain(
    'auto, always or never',
  );
  expect((await run('sources', 'robots', 'papers', 'on', '--reason', 'x')).stderr).toContain(
    'there is no source "papers"',
  );
  const audit = await database.pool.query(
    `SELECT subject, detail FROM audit WHERE action = 'respect_robots' ORDER BY id`,
  );
  expect(audit.rows).toEqual([
    { subject: 'paper', detail: { on: false, reason: 'it is ours' } },
    { subject: 'paper', detail: { on: true, reason: 'done' } },
  ]);
});

test('the API reads the same', async () => {
  const server = new Outrider(['serve'], { home, env });
  try {
    await server.says(/http:\/\/127\.0\.0\.1:\d+/);
    const base = /http:\/\/127\.0\.0\.1:\d+/.exec(server.stdout + server.stderr)![0];
    const { token } = (await json('token', 'create', '--name', 'reader', '--role', 'read')) as {
      token: string;
    };
    const get = async (path: string): Promise<{ status: number; body: Record<string, unknown> }> => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${base}/api/v1/${path}`, { headers });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    const page = await get('domains?limit=2&sort=name');
    expect(page.body).toMatchObject({
      items: [{ name: 'held.test' }, { name: 'one.test' }],
      counts: { blocked: { count: 0, exact: true } },
    });
    const rest = await get(`domains?limit=2&sort=name&cursor=${String(page.body.cursor)}`);
    expect(rest.body).toMatchObject({ items: [{ name: 'three.test' }, { name: 'two.test' }] });
    expect((await get('domains?cursor=zzz')).body).toMatchObject({ status: 400, code: 'cursor_invalid' });
    expect((await get('domains?status=odd')).status).toBe(400);
    expect((await get('domains/one.test')).body).toMatchObject({
      name: 'one.test',
      budget: { max: 7 },
      explanation: { state: expect.any(String) },
    });
    expect((await get('domains/nowhere.test')).body).toMatchObject({ status: 404, code: 'domain_unknown' });
    expect((await get('domains/leases')).body).toMatchObject({ expired: 0 });
    expect((await get('workers')).body).toHaveProperty('items');
  } finally {
    await server.stop();
  }
});
