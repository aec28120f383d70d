import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/setup/database.ts';
import { migrate, migrationStatus, openDatabase } from './index.ts';

const dirs: string[] = [];
let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase({ empty: true, maxConnections: 20 });
});
afterEach(() => database.drop());
afterAll(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true });
});

function writeMigrations(...steps: [up: string, down: string][]): string {
  const dir = mkdtempSync(join(tmpdir(), 'outrider-migrations-'));
  dirs.push(dir);
  for (const [index, [up, down]] of steps.entries()) {
    const number = String(index + 1).padStart(4, '0');
    writeFileSync(join(dir, `${number}_step.up.sql`), up);
    writeFileSync(join(dir, `${number}_step.down.sql`), down);
  }
  return dir;
}

const one: [string, string] = ['CREATE TABLE one (id int PRIMARY KEY)', 'DROP TABLE one'];
const two: [string, string] = [
  'CREATE TABLE two (id int); INSERT INTO one VALUES (1);',
  'DROP TABLE two; DELETE FROM one',
];
const three: [string, string] = ['ALTER TABLE two ADD COLUMN name text', 'ALTER TABLE two DROP COLUMN name'];

async function tables(): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1`,
  );
  return rows.map((row) => row.name);
}

test('goes up, down and up again', async () => {
  const migrationsDir = writeMigrations(one, two, three);
  expect(await migrate(database.pool, { migrationsDir })).toMatchObject({
    from: 0,
    to: 3,
    applied: [1, 2, 3],
  });
  expect(await migrate(database.pool, { migrationsDir })).toMatchObject({
    from: 3,
    applied: [],
    reverted: [],
  });
  expect(await migrate(database.pool, { migrationsDir, to: 1 })).toMatchObject({ reverted: [3, 2] });
  expect(await tables()).toEqual(['one', 'schema_migrations']);
  expect(await migrate(database.pool, { migrationsDir })).toMatchObject({ applied: [2, 3] });
  expect(await tables()).toEqual(['one', 'schema_migrations', 'two']);
});

test('a dry run changes nothing, not even its own table', async () => {
  const migrationsDir = writeMigrations(one, two);
  expect(await migrate(database.pool, { migrationsDir, dryRun: true })).toMatchObject({
    applied: [1, 2],
    dryRun: true,
  });
  expect(await tables()).toEqual([]);
});

test('a failing step is undone whole and the ones before it stay', async () => {
  const migrationsDir = writeMigrations(one, ['CREATE TABLE two (id int); SELECT 1/0', 'DROP TABLE two']);
  await expect(migrate(database.pool, { migrationsDir })).rejects.toMatchObject({
    code: 'db_migration_failed',
  });
  expect(await tables()).toEqual(['one', 'schema_migrations']);
  const status = await migrationStatus(database.pool, { migrationsDir });
  expect(status.map((line) => line.appliedAt !== undefined)).toEqual([true, false]);
});

test('many starts at once apply each step once', async () => {
  const migrationsDir = writeMigrations(one, two, three);
  const starts = Array.from({ length: 8 }, async () => {
    const db = await openDatabase({ databaseUrl: database.url, migrationsDir, maxConnections: 2 });
    await db.close();
  });
  await Promise.all(starts);
  const { rows } = await database.pool.query('SELECT version FROM schema_migrations ORDER BY version');
  expect(rows).toEqual([{ version: 1 }, { version: 2 }, { version: 3 }]);
});

test('refuses a database made by a newer program', async () => {
  await migrate(database.pool, { migrationsDir: writeMigrations(one, two) });
  const older = writeMigrations(one);
  await expect(migrate(database.pool, { migrationsDir: older })).rejects.toMatchObject({
    code: 'db_newer_schema',
    advice: expect.stringContaining('--to 1'),
  });
  const status = await migrationStatus(database.pool, { migrationsDir: older });
  expect(status).toHaveLength(2);
});

test('refuses a migration that changed after it was applied, but not other line ends', async () => {
  await migrate(database.pool, {
    migrationsDir: writeMigrations(['CREATE TABLE one (\nid int)', 'DROP TABLE one']),
  });
  const otherLineEnds = writeMigrations(['CREATE TABLE one (\r\nid int)', 'DROP TABLE one']);
  expect(await migrate(database.pool, { migrationsDir: otherLineEnds })).toMatchObject({ applied: [] });
  const changed = writeMigrations(['CREATE TABLE one (\nid bigint)', 'DROP TABLE one']);
  await expect(migrate(database.pool, { migrationsDir: changed })).rejects.toMatchObject({
    code: 'db_changed_migration',
  });
  expect(await migrationStatus(database.pool, { migrationsDir: changed })).toMatchObject([{ changed: true }]);
});

test('refuses a version that does not exist', async () => {
  const migrationsDir = writeMigrations(one);
  for (const to of [-1, 2, 0.5])
    await expect(migrate(database.pool, { migrationsDir, to })).rejects.toMatchObject({
      code: 'db_no_such_version',
    });
});

test('refuses a directory with gaps, doubles or one-way steps', async () => {
  const cases: [file: string, problem: RegExp][] = [
    ['0003_late.up.sql', /migration 2 is missing/],
    ['0001_other.up.sql', /two migrations have the number 0001/],
    ['0002_one_way.up.sql', /needs both/],
    ['2_bad_name.sql', /are named 0001_name/],
  ];
  for (const [file, problem] of cases) {
    const migrationsDir = writeMigrations(one);
    writeFileSync(join(migrationsDir, file), 'SELECT 1');
    await expect(migrate(database.pool, { migrationsDir })).rejects.toThrow(problem);
  }
});
