import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensurePartitions } from '../../src/frontier/index.ts';
import { waitUntil } from '../e2e/wait.ts';
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

test('several that make the days at once wait for one another, and none gives up', async () => {
  for (let round = 0; round < 10; round += 1) {
    for (const { name } of (
      await database.pool.query<{ name: string }>(
        `SELECT inhrelid::regclass::text AS name FROM pg_inherits
          WHERE inhparent = 'crawl_log'::regclass AND inhrelid <> 'crawl_log_default'::regclass`,
      )
    ).rows) {
      await database.pool.query(`ALTER TABLE crawl_log DETACH PARTITION ${name}`);
      await database.pool.query(`DROP TABLE ${name}`);
    }
    await Promise.all([
      ...Array.from({ length: 5 }, () => ensurePartitions(database.pool, 'crawl_log')),
      ...Array.from({ length: 5 }, () => log('0 seconds')),
    ]);
  }
});

test('a fetcher that logs while its day is made is not refused', async () => {
  const today = (await lieIn()).find(({ part }) => part !== 'crawl_log_default')!.part;
  await database.pool.query(`ALTER TABLE crawl_log DETACH PARTITION ${today}`);
  await database.pool.query(`DROP TABLE ${today}`);
  const waitsForLock = async (count: number) =>
    waitUntil(`${count} wait for a lock`, async () => {
      const { rows } = await database.pool.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows.length === count;
    });
  // Somebody reads the default partition, so that the day is made half until both others are under way.
  const reader = await database.pool.connect();
  try {
    await reader.query('BEGIN');
    await reader.query('SELECT FROM crawl_log_default');
    const made = ensurePartitions(database.pool, 'crawl_log');
    await waitsForLock(1);
    const logged = log('0 seconds');
    await waitsForLock(2);
    await reader.query('COMMIT');
    await Promise.all([made, logged]);
  } finally {
    reader.release();
  }
  expect(await lieIn()).toContainEqual({ part: today, n: 1 });
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
