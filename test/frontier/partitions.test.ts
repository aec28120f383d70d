import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensurePartitions } from '../../src/frontier/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const lieIn = async () =>
  (
    await database.pool.query<{ part: string; n: number }>(
      `SELECT tableoid::regclass::text AS part, count(*)::integer AS n FROM crawl_log GROUP BY 1 ORDER BY 1`,
    )
  ).rows;
const log = (ago: string) =>
  database.pool.query(
    `INSERT INTO crawl_log (at, bucket, domain_key, epoch, kind, outcome, url, total_ms, bytes, worker)
     VALUES (now() - $1::interval, 0, 1, 1, 'article', 'response', 'https://a.example/', 1, 1, 'w')`,
    [ago],
  );

test('what a fetcher logged before there was a scheduler finds its day', async () => {
  await log('0 seconds');
  await log('3 days');
  expect(await lieIn()).toEqual([{ part: 'crawl_log_default', n: 2 }]);
  // Several start at once.
  await Promise.all(Array.from({ length: 4 }, () => ensurePartitions(database.pool, 'crawl_log')));
  const day = (await database.pool.query(`SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD') AS day`))
    .rows[0]!.day;
  expect(await lieIn()).toEqual([
    { part: `crawl_log_${day}`, n: 1 },
    { part: 'crawl_log_default', n: 1 },
  ]);
});

test('a partition that was made and not attached is attached by the next', async () => {
  const name = (
    await database.pool.query<{ name: string }>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'crawl_log'::regclass ORDER BY 1 DESC OFFSET 1 LIMIT 1`,
    )
  ).rows[0]!.name;
  await database.pool.query(`ALTER TABLE crawl_log DETACH PARTITION ${name}`);
  await ensurePartitions(database.pool, 'crawl_log');
  const attached = await database.pool.query(`SELECT FROM pg_inherits WHERE inhrelid = $1::regclass`, [name]);
  expect(attached.rowCount).toBe(1);
});

test('pages that are dropped by the day are not looked through for the sake of later scans', async () => {
  await ensurePartitions(database.pool, 'raw_pages');
  const { rows } = await database.pool.query<{ options: string[] | null; toast: string[] | null }>(
    `SELECT DISTINCT c.reloptions AS options, t.reloptions AS toast
       FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class t ON t.oid = c.reltoastrelid
      WHERE i.inhparent = 'raw_pages'::regclass AND c.relname <> 'raw_pages_default'`,
  );
  const never = ['autovacuum_vacuum_insert_threshold=-1'];
  expect(rows).toEqual([{ options: never, toast: never }]);
});
