import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { migrate, migrationStatus, openDatabase } from '../../src/db/index.ts';
import { findSlotProblems } from '../../src/frontier/index.ts';
import { answers, done, finish, item, take } from '../frontier/fixtures.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

// A database with work in every state, as an older version of the program has left it.
const migrations = fileURLToPath(new URL('../../migrations/', import.meta.url));
const newest = readdirSync(migrations).filter((name) => name.endsWith('.up.sql')).length;
/** How many versions back a database may come from in this test; older ones go the same way, step by step. */
const farthest = 5;
let home: string;
let database: TestDatabase;
const databases: TestDatabase[] = [];

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'outrider-upgrade-'));
});
beforeEach(async () => {
  database = await createTestDatabase();
  databases.push(database);
  await fill(database);
});
afterAll(async () => {
  for (const one of databases) await one.drop();
  rmSync(home, { recursive: true, force: true });
});

const urls = Array.from({ length: 12 }, (_, index) => item(index % 4, `page-${index}`));

/** Sources, URLs that wait, are leased, have failed and are fetched. */
async function fill({ db, pool }: TestDatabase): Promise<void> {
  await pool.query(`INSERT INTO sources (slug, name, url) VALUES ('one', 'One', 'https://d0.test/')`);
  expect(new Set(await answers(db, urls))).toEqual(new Set(['inserted']));
  const [first, second] = await take(db, { slots: 2 });
  await finish(db, first!, { items: first!.urls.map((row) => done(row.hash)) });
  await finish(db, second!, {
    items: second!.urls
      .slice(0, 1)
      .map((row) => done(row.hash, { status: 'failed', tries: 1, dueInMs: 60_000, fetched: false })),
  });
  // Held by somebody when the program is stopped.
  expect(await take(db, { slots: 1 })).toHaveLength(1);
}

async function stateOf({ pool }: TestDatabase): Promise<unknown> {
  const rows = await pool.query('SELECT url, kind, status, tries, priority FROM url_frontier ORDER BY url');
  const sources = await pool.query('SELECT slug, url, enabled FROM sources ORDER BY slug');
  return { rows: rows.rows, sources: sources.rows };
}

const versionOf = async ({ pool }: TestDatabase): Promise<number> =>
  (await migrationStatus(pool)).filter((one) => one.appliedAt !== undefined).length;

test.each(Array.from({ length: farthest }, (_, index) => index + 1))(
  'a database of %i versions ago is brought up to date by whoever starts first, and goes on',
  async (back) => {
    await migrate(database.pool, { to: newest - back });
    expect(await versionOf(database)).toBe(newest - back);
    const before = await stateOf(database);
    // All roles of a machine start at once.
    const roles = await Promise.all(
      ['serve', 'schedule', 'fetch'].map((role) =>
        openDatabase({ databaseUrl: database.url, maxConnections: 2, applicationName: role }),
      ),
    );
    for (const role of roles) await role.close();
    expect(await versionOf(database)).toBe(newest);
    expect(await stateOf(database)).toEqual(before);
    // The same work goes on: known URLs are known, the others are leased and settled, and counts hold.
    expect(new Set(await answers(database.db, urls))).toEqual(new Set(['duplicate']));
    expect(await answers(database.db, [item(9, 'new')])).toEqual(['inserted']);
    const leases = await take(database.db, { owner: 'w2' });
    expect(leases.length).toBeGreaterThan(0);
    for (const held of leases)
      expect(
        await finish(database.db, held, { owner: 'w2', items: held.urls.map((row) => done(row.hash)) }),
      ).toMatchObject({ outcome: 'settled' });
    expect(await findSlotProblems(database.pool)).toEqual([]);
  },
);

test('an older program refuses a newer database and changes nothing; after "migrate --to" it works', async () => {
  // The program of before has the same files without the last step.
  const old = join(home, 'migrations');
  cpSync(migrations, old, { recursive: true });
  for (const name of readdirSync(old))
    if (name.startsWith(String(newest).padStart(4, '0'))) rmSync(join(old, name));
  const openOld = () => openDatabase({ databaseUrl: database.url, migrationsDir: old, maxConnections: 2 });
  const before = await stateOf(database);
  await expect(openOld()).rejects.toMatchObject({
    code: 'db_newer_schema',
    exitCode: 3,
    advice: expect.stringContaining(`outrider migrate --to ${newest - 1}`),
  });
  expect(await versionOf(database)).toBe(newest);
  await migrate(database.pool, { to: newest - 1 });
  const older = await openOld();
  await older.close();
  expect(await stateOf(database)).toEqual(before);
  expect(await versionOf(database)).toBe(newest - 1);
});
