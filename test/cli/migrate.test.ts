import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CliHost, type Ended } from '../process/outrider.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let home: string;
let database: TestDatabase;
const host = new CliHost();
const migrate = (...args: string[]): Promise<Ended> =>
  host.run(['migrate', ...args], { home, env: { DATABASE_URL: database.url } });
const newest = async (): Promise<number> =>
  (await database.pool.query<{ n: number }>('SELECT max(version) AS n FROM schema_migrations')).rows[0]!.n;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-migrate-'));
  database = await createTestDatabase();
  await database.pool.query(
    `INSERT INTO sources (slug, name, url) VALUES ('one', 'One', 'https://one.test/')`,
  );
});
afterAll(async () => {
  await host.close();
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

test('no step is taken back under a process that works', async () => {
  const version = await newest();
  await database.pool.query(
    `INSERT INTO workers (id, role, host, pid, version) VALUES ('w1', 'fetch', 'here', 1, '0')`,
  );
  for (const args of [
    ['--to', String(version - 1)],
    ['--to', '0', '--force'],
  ]) {
    const { code, stderr } = await migrate(...args);
    expect(stderr).toContain('1 process of the engine works with this database');
    expect(code).toBe(1);
  }
  expect(await newest()).toBe(version);
  // What is at the version already takes nothing back.
  expect((await migrate('--to', String(version))).code).toBe(0);
  await database.pool.query('DELETE FROM workers');
});

test.each(['', ' ', '1e1', '0x2', '-1', '1.0', 'two'])('"%s" is no version', async (text) => {
  const { code, stderr } = await migrate('--to', text);
  expect(`${code} ${stderr}`).toContain(`2 error: --to takes a version number, not "${text}"`);
  expect(await newest()).toBeGreaterThan(20);
});

test('nothing is replaced under a process that works', async () => {
  const run = (...args: string[]) => host.run(args, { home, env: { DATABASE_URL: database.url } });
  expect((await run('db', 'export', 'all.export')).code).toBe(0);
  await database.pool.query(
    `INSERT INTO workers (id, role, host, pid, version) VALUES ('w2', 'fetch', 'here', 1, '0')`,
  );
  const { code, stderr } = await run('db', 'import', 'all.export', '--force');
  expect(stderr).toContain('1 process of the engine works with this database');
  expect(code).toBe(1);
  await database.pool.query('DELETE FROM workers');
  expect((await run('db', 'import', 'all.export', '--force')).code).toBe(0);
});

test('sources, URLs and documents are not dropped by a number alone', async () => {
  const version = await newest();
  const { code, stderr } = await migrate('--to', '0');
  expect(stderr).toContain('Version 0 would drop 1 source for good.');
  expect(stderr).toContain('--force');
  expect(code).toBe(1);
  expect(await newest()).toBe(version);
  expect((await migrate('--to', '0', '--dry-run')).stdout).toContain(`-${version}`);
  expect((await migrate('--to', String(version - 1))).code).toBe(0);
  expect((await migrate()).code).toBe(0);
  const kept = await database.pool.query('SELECT slug FROM sources');
  expect(kept.rows).toEqual([{ slug: 'one' }]);
  expect((await migrate('--to', '0', '--force')).code).toBe(0);
  expect((await database.pool.query(`SELECT to_regclass('sources') AS it`)).rows).toEqual([{ it: null }]);
});
