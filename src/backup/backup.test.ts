import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/setup/database.ts';
import { openFolderStore } from '../blobs/index.ts';
import {
  findBackup,
  listBackups,
  nameOfBackup,
  removeOldBackups,
  restoreBackup,
  saveBackup,
} from './index.ts';

let home: string;
let source: TestDatabase;
const databases: TestDatabase[] = [];
const bodies = ['one', 'two', 'three'].map((text) => Buffer.from(text));
const sumOf = (body: Buffer): Buffer => createHash('sha256').update(body).digest();

async function newDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  databases.push(database);
  return database;
}

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-backup-'));
  source = await newDatabase();
  await source.pool.query(
    `INSERT INTO sources (slug, name, url) VALUES ('one', 'One', 'https://one.example/')`,
  );
  for (const body of bodies)
    await source.pool.query(
      `INSERT INTO images (bucket, width, height, bytes, first_seen_at, last_seen_at, stored_at, format, stored_in, sha256)
       VALUES (image_bucket($1), 300, 300, $2, now(), now(), now(), 'png', 'folder', $1)`,
      [sumOf(body), body.length],
    );
  const store = openFolderStore(join(home, 'store'));
  // The third was swept between the two steps of a backup.
  for (const body of bodies.slice(0, 2)) await store.put(sumOf(body), body, 'image/png');
});
afterAll(async () => {
  for (const database of databases) await database.drop();
  rmSync(home, { recursive: true, force: true });
});

test('a backup brings rows and images back, and images are copied once', async () => {
  const dir = join(home, 'backups');
  const images = openFolderStore(join(home, 'store'));
  const first = await saveBackup(source.db, { dir, images, keep: null });
  expect(first.summary.tables).toMatchObject({ sources: 1, images: 3 });
  expect(first).toMatchObject({ images: { copied: 2, there: 0, missing: 1 }, removed: [] });
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  expect(statSync(first.file).mode & 0o777).toBe(0o600);
  const second = await saveBackup(source.db, { dir, images, keep: 1 });
  expect(second).toMatchObject({ images: { copied: 0, there: 2, missing: 1 }, removed: [first.file] });
  expect(await listBackups(dir)).toEqual([second.file]);

  const target = await newDatabase();
  const back = openFolderStore(join(home, 'back'));
  const result = await restoreBackup(target.db, { file: await findBackup(dir), force: false, images: back });
  expect(result).toMatchObject({ rows: second.summary.rows, images: { copied: 2, missing: 1 } });
  const { rows } = await target.pool.query('SELECT slug FROM sources');
  expect(rows).toEqual([{ slug: 'one' }]);
  expect(await back.get(sumOf(bodies[0]!))).toMatchObject({ outcome: 'found', body: bodies[0] });
  // A second time it would be over something.
  await expect(
    restoreBackup(target.db, { file: second.file, force: false, images: null }),
  ).rejects.toMatchObject({ code: 'db_not_empty' });
});

test('a backup that a wrong clock dated in the future costs none that is made after it', async () => {
  const dir = join(home, 'clock');
  const { file: first } = await saveBackup(source.db, { dir, images: null, keep: null });
  const future = join(dir, nameOfBackup(new Date(Date.now() + 400 * 86_400_000)));
  copyFileSync(first, future);
  const made = await saveBackup(source.db, { dir, images: null, keep: 2 });
  expect(made.removed).toEqual([first]);
  expect(await listBackups(dir)).toEqual([made.file, future]);
  await expect(findBackup(dir)).rejects.toMatchObject({ code: 'backup_missing', exitCode: 2 });
  await expect(findBackup(dir)).rejects.toThrow(`${future} is dated in the future`);
  expect(await findBackup(made.file)).toBe(made.file);
  const alone = await saveBackup(source.db, { dir, images: null, keep: 1 });
  expect(await listBackups(dir)).toEqual([alone.file]);
  expect(await findBackup(dir)).toBe(alone.file);
});

test('nothing is restored under the feet of a running engine, and its workers do not come along', async () => {
  const dir = join(home, 'running');
  await source.pool.query(
    `INSERT INTO workers (id, role, pool, version, host, pid, renders, state) VALUES ('w', 'fetch', 'default', '1', 'h', 1, false, '{}')`,
  );
  const { file } = await saveBackup(source.db, { dir, images: null, keep: null });
  await expect(restoreBackup(source.db, { file, force: true, images: null })).rejects.toMatchObject({
    code: 'db_in_use',
  });
  const target = await newDatabase();
  await restoreBackup(target.db, { file, force: false, images: null });
  expect((await target.pool.query('SELECT FROM workers')).rowCount).toBe(0);
  // One that was lost counts for half a minute only.
  await source.pool.query(`UPDATE workers SET heartbeat_at = now() - interval '31 seconds'`);
  await restoreBackup(source.db, { file, force: true, images: null });
});

test('a damaged backup touches nothing', async () => {
  const dir = join(home, 'damaged');
  const { file } = await saveBackup(source.db, { dir, images: null, keep: null });
  writeFileSync(file, readFileSync(file).subarray(0, -50));
  const target = await newDatabase();
  await target.pool.query(`INSERT INTO sources (slug, name, url) VALUES ('kept', 'K', 'https://k.example/')`);
  await expect(restoreBackup(target.db, { file, force: true, images: null })).rejects.toMatchObject({
    code: 'db_import_damaged',
  });
  expect((await target.pool.query('SELECT slug FROM sources')).rows).toEqual([{ slug: 'kept' }]);
});

test('only backups are removed, oldest first, and what killed ones left after a day', async () => {
  const dir = mkdtempSync(join(home, 'old-'));
  const names = [1, 2, 3].map((day) => nameOfBackup(new Date(Date.UTC(2024, 10, day))));
  const left = `${nameOfBackup(new Date(0))}.partial`;
  for (const name of [...names, 'notes.txt', 'mine.outrider', left]) writeFileSync(join(dir, name), '');
  expect(await removeOldBackups(dir, 2)).toEqual([join(dir, names[0]!)]);
  expect(existsSync(join(dir, left))).toBe(true);
  utimesSync(join(dir, left), 1, 1);
  expect(await removeOldBackups(dir, 5)).toEqual([]);
  expect(readdirSync(dir).sort()).toEqual(['mine.outrider', 'notes.txt', ...names.slice(1)].sort());
  expect(await findBackup(dir)).toBe(join(dir, names[2]!));
  expect(await findBackup(join(dir, 'mine.outrider'))).toBe(join(dir, 'mine.outrider'));
  await expect(findBackup(join(dir, 'nowhere'))).rejects.toMatchObject({ code: 'backup_missing' });
  await expect(findBackup(mkdtempSync(join(home, 'empty-')))).rejects.toMatchObject({
    code: 'backup_missing',
  });
});

test('a place that can be no folder is named, and nothing is written', async () => {
  const file = join(home, 'a-file');
  writeFileSync(file, 'mine');
  for (const dir of [file, join(file, 'below'), ...(existsSync('/proc/self') ? ['/proc/backups'] : [])])
    await expect(saveBackup(source.db, { dir, images: null, keep: null }), dir).rejects.toMatchObject({
      code: 'out_unwritable',
      exitCode: 2,
    });
  expect(readFileSync(file, 'utf8')).toBe('mine');
});

test('a program left behind by an upgrade writes no file that it could not check', async () => {
  const newer = await newDatabase();
  await newer.pool.query(
    `INSERT INTO schema_migrations (version, name, checksum) VALUES (9999, 'later', 'x')`,
  );
  const dir = join(home, 'left-behind');
  await expect(saveBackup(newer.db, { dir, images: null, keep: 1 })).rejects.toMatchObject({
    code: 'db_newer_schema',
    message: expect.stringContaining('The database has schema version 9999'),
  });
  expect(existsSync(dir)).toBe(false);
});
