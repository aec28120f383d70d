import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/setup/database.ts';
import { dumpSchema, exportDatabase, importDatabase, migrate, openDatabase } from './index.ts';

const base = `
CREATE TABLE author (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, best_book bigint);
CREATE TABLE book (id bigserial PRIMARY KEY, author_id bigint REFERENCES author, title text, blob bytea, tags text[],
  extra jsonb, price numeric, at timestamptz, took interval, ratio double precision, search tsvector,
  title_length int GENERATED ALWAYS AS (length(title)) STORED);
ALTER TABLE author ADD CONSTRAINT author_best FOREIGN KEY (best_book) REFERENCES book;
CREATE TABLE "Empty Table" (id int);
CREATE TABLE visit (at timestamptz NOT NULL, id int NOT NULL, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
CREATE TABLE visit_rest PARTITION OF visit DEFAULT PARTITION BY HASH (id);
CREATE TABLE visit_rest_0 PARTITION OF visit_rest FOR VALUES WITH (MODULUS 1, REMAINDER 0);
`;
const baseDown =
  'DROP TABLE visit; DROP TABLE "Empty Table"; ALTER TABLE author DROP CONSTRAINT author_best; DROP TABLE book; DROP TABLE author';
const later = `ALTER TABLE author ADD COLUMN country text NOT NULL DEFAULT 'xx'`;

let dir: string;
let oneStep: string;
let twoSteps: string;
const databases: TestDatabase[] = [];

async function newDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase({ empty: true });
  databases.push(database);
  return database;
}

function writeMigrations(name: string, steps: [string, string][]): string {
  const path = mkdtempSync(join(dir, `${name}-`));
  for (const [index, [up, down]] of steps.entries()) {
    writeFileSync(join(path, `000${index + 1}_step.up.sql`), up);
    writeFileSync(join(path, `000${index + 1}_step.down.sql`), down);
  }
  return path;
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'outrider-transfer-'));
  oneStep = writeMigrations('one', [[base, baseDown]]);
  twoSteps = writeMigrations('two', [
    [base, baseDown],
    [later, 'ALTER TABLE author DROP COLUMN country'],
  ]);
});
afterEach(async () => {
  for (const database of databases.splice(0)) await database.drop();
  rmSync(dir, { recursive: true });
});

const hard = [
  '',
  '\\.',
  '\n\\.\n',
  'tab\tnew\nline\rreturn\\back\\\\slash',
  '\\N',
  'ÄÖ 漢字 🦊',
  'a'.repeat(300_000),
  '"{};',
];

async function fill({ pool }: TestDatabase): Promise<void> {
  await pool.query(`INSERT INTO author (name) SELECT 'author ' || n FROM generate_series(1, 2000) n`);
  for (const title of hard)
    await pool.query(
      `INSERT INTO book (author_id, title, blob, tags, extra, price, at, took, ratio, search)
       VALUES (1, $1, convert_to($1, 'UTF8'), ARRAY[$1, NULL], jsonb_build_object('t', $1::text), 12345678901234567890.123,
         '2026-03-29 01:30:00.123456+00', '1 mon 2 days 03:04:05.678', 0.1::float8 + 0.2::float8, to_tsvector('simple', left($1, 1000)))`,
      [title],
    );
  await pool.query('INSERT INTO book (author_id) VALUES (NULL)');
  await pool.query('UPDATE author SET best_book = 3 WHERE id = 1');
  // Made at run time: no migration knows it.
  await pool.query(
    `CREATE TABLE visit_2026 PARTITION OF visit FOR VALUES FROM ('2026-01-01Z') TO ('2027-01-01Z')`,
  );
  await pool.query(
    `INSERT INTO visit SELECT timestamptz '2025-12-30Z' + n * interval '1 day', n FROM generate_series(1, 100) n`,
  );
}

async function contents({ pool }: TestDatabase): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const table of ['author', 'book', '"Empty Table"', 'visit', 'visit_2026', 'visit_rest_0']) {
    const { rows } = await pool.query(
      `SELECT count(*)::int AS rows, md5(coalesce(string_agg(t::text, E'\\x01' ORDER BY t::text COLLATE "C"), '')) AS sum FROM ${table} t`,
    );
    found[table] = rows[0];
  }
  return found;
}

test('everything arrives: rows, partitions, generated columns, identities', async () => {
  const [source, target] = [await newDatabase(), await newDatabase()];
  await migrate(source.pool, { migrationsDir: oneStep });
  await fill(source);
  const file = join(dir, 'export');
  const exported = await exportDatabase(source.pool, file);
  expect(exported).toEqual({ schemaVersion: 1, tables: 4, rows: 2000 + hard.length + 1 + 100 });
  expect(await importDatabase(target.pool, file, { migrationsDir: oneStep })).toEqual(exported);
  expect(await contents(target)).toEqual(await contents(source));
  expect(await dumpSchema(target.pool)).toBe(await dumpSchema(source.pool));
  const next = await target.pool.query(`INSERT INTO author (name) VALUES ('next') RETURNING id`);
  expect(next.rows).toEqual([{ id: 2001n }]);
  const nextBook = await target.pool.query('INSERT INTO book DEFAULT VALUES RETURNING id');
  expect(nextBook.rows).toEqual([{ id: BigInt(hard.length + 2) }]);
});

test('an older export is brought up to date, also into a database that is ahead of it', async () => {
  const source = await newDatabase();
  await migrate(source.pool, { migrationsDir: oneStep });
  await fill(source);
  const file = join(dir, 'export');
  await exportDatabase(source.pool, file);
  for (const ahead of [false, true]) {
    const target = await newDatabase();
    if (ahead) await migrate(target.pool, { migrationsDir: twoSteps });
    await importDatabase(target.pool, file, { migrationsDir: twoSteps });
    const { rows } = await target.pool.query('SELECT DISTINCT country FROM author');
    expect(rows).toEqual([{ country: 'xx' }]);
  }
});

test('refuses an export of a newer schema', async () => {
  const [source, target] = [await newDatabase(), await newDatabase()];
  await migrate(source.pool, { migrationsDir: twoSteps });
  const file = join(dir, 'export');
  await exportDatabase(source.pool, file);
  await expect(importDatabase(target.pool, file, { migrationsDir: oneStep })).rejects.toMatchObject({
    code: 'db_newer_schema',
  });
});

test('refuses a database with rows unless forced, and then replaces them', async () => {
  const [source, target] = [await newDatabase(), await newDatabase()];
  for (const database of [source, target]) {
    await migrate(database.pool, { migrationsDir: oneStep });
    await fill(database);
  }
  await source.pool.query('DELETE FROM visit WHERE id > 50; DROP TABLE visit_2026');
  await source.pool.query(
    `CREATE TABLE visit_2026 PARTITION OF visit FOR VALUES FROM ('2026-01-01Z') TO ('2026-06-01Z')`,
  );
  const file = join(dir, 'export');
  await exportDatabase(source.pool, file);
  const before = await contents(target);
  await expect(importDatabase(target.pool, file, { migrationsDir: oneStep })).rejects.toMatchObject({
    code: 'db_not_empty',
  });
  expect(await contents(target)).toEqual(before);
  await importDatabase(target.pool, file, { migrationsDir: oneStep, force: true });
  expect(await contents(target)).toEqual(await contents(source));
});

test('rows that migrations wrote are no reason to refuse, until they are changed', async () => {
  const seeded = writeMigrations('seeded', [
    [`${base}; INSERT INTO author (name) VALUES ('seed')`, baseDown],
  ]);
  const [source, target] = [await newDatabase(), await newDatabase()];
  for (const database of [source, target]) await migrate(database.pool, { migrationsDir: seeded });
  await source.pool.query(`UPDATE author SET name = 'changed'`);
  const file = join(dir, 'export');
  await exportDatabase(source.pool, file);
  await expect(importDatabase(source.pool, file, { migrationsDir: seeded })).rejects.toMatchObject({
    code: 'db_not_empty',
  });
  await importDatabase(target.pool, file, { migrationsDir: seeded });
  const { rows } = await target.pool.query('SELECT id, name FROM author');
  expect(rows).toEqual([{ id: 1n, name: 'changed' }]);
});

test('the export is one moment, whatever is written meanwhile', async () => {
  const [source, target] = [await newDatabase(), await newDatabase()];
  await migrate(source.pool, { migrationsDir: oneStep });
  await fill(source);
  const before = await contents(source);
  const file = join(dir, 'export');
  const writer = await openDatabase({ databaseUrl: source.url, migrate: false });
  let writing: Promise<unknown> | undefined;
  await exportDatabase(source.pool, file, {
    onTable: () => {
      writing ??= writer.pool.query(`INSERT INTO visit SELECT now(), n FROM generate_series(1000, 2000) n`);
    },
  });
  await writing;
  await writer.close();
  await importDatabase(target.pool, file, { migrationsDir: oneStep });
  expect(await contents(target)).toEqual(before);
});

test('a damaged file changes nothing, even with force', async () => {
  const [source, target] = [await newDatabase(), await newDatabase()];
  for (const database of [source, target]) await migrate(database.pool, { migrationsDir: oneStep });
  await fill(source);
  await target.pool.query(`INSERT INTO author (name) VALUES ('kept')`);
  const file = join(dir, 'export');
  await exportDatabase(source.pool, file);
  const whole = readFileSync(file);
  const text = gunzipSync(whole);
  const lines = text.toString('latin1').split('\n');
  const damages: [what: string, content: Buffer][] = [
    ['cut off', whole.subarray(0, whole.length - 100)],
    [
      'a flipped bit',
      Buffer.concat([whole.subarray(0, 5000), Buffer.from([whole[5000]! ^ 1]), whole.subarray(5001)]),
    ],
    [
      'a changed row',
      gzipSync(Buffer.from(text.toString('latin1').replace('author 7\t', 'author 8\t'), 'latin1')),
    ],
    [
      'a lost row',
      gzipSync(Buffer.from(lines.filter((line) => !line.includes('author 77\t')).join('\n'), 'latin1')),
    ],
    ['no end', gzipSync(Buffer.from(`${lines.slice(0, -2).join('\n')}\n`, 'latin1'))],
    ['no gzip', Buffer.from('hello')],
    ['something else', gzipSync('{"format":"other"}\n')],
    ['nothing', Buffer.alloc(0)],
  ];
  for (const [what, content] of damages) {
    const path = join(dir, 'damaged');
    writeFileSync(path, content);
    const attempt = importDatabase(target.pool, path, { migrationsDir: oneStep, force: true });
    await expect(attempt, what).rejects.toMatchObject({ code: 'db_import_damaged' });
  }
  const { rows } = await target.pool.query('SELECT name FROM author');
  expect(rows).toEqual([{ name: 'kept' }]);
});

test('a failing export leaves no file and the pool stays usable', async () => {
  const source = await newDatabase();
  const file = join(dir, 'export');
  await expect(exportDatabase(source.pool, file)).rejects.toMatchObject({ code: 'db_nothing_to_export' });
  await migrate(source.pool, { migrationsDir: oneStep });
  await expect(exportDatabase(source.pool, join(dir, 'missing', 'export'))).rejects.toMatchObject({
    code: 'out_unwritable',
    exitCode: 2,
  });
  await expect(exportDatabase(source.pool, dir)).rejects.toMatchObject({ code: 'out_unwritable' });
  await expect(importDatabase(source.pool, file)).rejects.toMatchObject({
    code: 'db_import_unreadable',
    exitCode: 2,
  });
  expect((await exportDatabase(source.pool, file)).rows).toBe(0);
});
