import type { Queryable } from '../db/index.ts';
import { counterNames } from './fold.ts';

/** Totals over all time, folded and unfolded. */
export type Totals = Record<(typeof counterNames)[number], number>;

/** Sums the totals: a row per source, and the deltas of the last seconds. */
export async function loadTotals(db: Queryable, sourceId?: number): Promise<Totals> {
  const sums = counterNames.map((name) => `coalesce(sum(${name}), 0)::float8 AS ${name}`).join(', ');
  const names = counterNames.join(', ');
  const result = await db.query<Totals>(
    `SELECT ${sums} FROM (SELECT source_id, ${names} FROM source_totals
       UNION ALL SELECT coalesce(source_id, 0), ${names} FROM counter_deltas) x WHERE $1::integer IS NULL OR source_id = $1`,
    [sourceId ?? null],
  );
  return result.rows[0]!;
}

const daysAhead = 7;

const dayColumn = { crawl_log: 'at', raw_pages: 'fetched_at' } as const;

// Pages are written once, read one at a time and dropped by the day: looking through their gigabytes after every tenth
// that comes, for the sake of scans nobody makes, was most of what autovacuum did, and that an eighth of the server's
// CPU. Deleted rows are still cleaned up.
const storage = {
  crawl_log: '',
  raw_pages: 'WITH (autovacuum_vacuum_insert_threshold = -1, toast.autovacuum_vacuum_insert_threshold = -1)',
} as const;

/** Makes the day partitions of a log table, a week ahead. Safe when several processes do it at once. */
export async function ensurePartitions(db: Queryable, table: 'crawl_log' | 'raw_pages'): Promise<void> {
  for (let day = 0; day <= daysAhead; day += 1) {
    const names = await db.query<{ name: string; from: string; to: string; isThere: boolean }>(
      `SELECT name, from_day::text AS from, (from_day + 1)::text AS to,
              EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass(name)) AS "isThere"
         FROM (SELECT (now() AT TIME ZONE 'UTC')::date + $2::integer AS from_day) d,
              LATERAL (SELECT $1 || '_' || to_char(from_day, 'YYYYMMDD') AS name) n`,
      [table, day],
    );
    const { name, from, to, isThere } = names.rows[0]!;
    if (isThere) continue;
    const column = dayColumn[table];
    const range = [`'${from} 00:00:00+00'`, `'${to} 00:00:00+00'`] as const;
    // One statement, so that it is made whole or not at all. ATTACH locks the parent only briefly, where CREATE …
    // PARTITION OF would block every writer. What came before anybody made the day lies in the default partition, which
    // would refuse it; a fetcher may well run before the first scheduler does. Whoever is about to write of today would
    // find the default partition closed to it, having chosen it already: for this day writers wait before they choose.
    // Every day locks the parent before the default partition: two that make different days meet there, not crosswise.
    const mode = day === 0 ? 'SHARE ROW EXCLUSIVE' : 'SHARE UPDATE EXCLUSIVE';
    await db.query(
      `DO $$ BEGIN
         LOCK TABLE ONLY ${table} IN ${mode} MODE;
         LOCK TABLE ${table}_default IN ACCESS EXCLUSIVE MODE;
         IF EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass('${name}')) THEN
           RETURN;
         END IF;
         CREATE TABLE IF NOT EXISTS ${name} (LIKE ${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)
           ${storage[table]};
         WITH early AS (DELETE FROM ${table}_default WHERE ${column} >= ${range[0]} AND ${column} < ${range[1]} RETURNING *)
         INSERT INTO ${name} SELECT * FROM early;
         ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM (${range[0]}) TO (${range[1]});
       END $$`,
    );
  }
}

/** Detaches and drops day partitions older than the retention; answers their names. */
export async function dropOldPartitions(
  db: Queryable,
  table: 'crawl_log' | 'raw_pages',
  keepDays: number,
): Promise<string[]> {
  const old = await db.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = $1::regclass AND c.relname ~ '_[0-9]{8}$'
        AND to_date(right(c.relname, 8), 'YYYYMMDD') < (now() AT TIME ZONE 'UTC')::date - $2::integer`,
    [table, keepDays],
  );
  for (const { name } of old.rows) {
    await db.query(`ALTER TABLE ${table} DETACH PARTITION ${name}`);
    await db.query(`DROP TABLE ${name}`);
  }
  return old.rows.map((row) => row.name);
}

/** Deletes probe rows and their answers a day after their end. */
export async function pruneProbes(db: Queryable): Promise<number> {
  const result = await db.query(
    `WITH old AS (SELECT bucket, domain_key, url_hash FROM probe_results WHERE at < now() - interval '1 day' LIMIT 5000),
     rows AS (DELETE FROM url_frontier f USING old WHERE f.bucket = old.bucket AND f.domain_key = old.domain_key
                AND f.url_hash = old.url_hash AND f.kind = 'probe' AND NOT f.ready AND f.due_at IS NULL)
     DELETE FROM probe_results r USING old WHERE r.bucket = old.bucket AND r.domain_key = old.domain_key AND r.url_hash = old.url_hash`,
  );
  return result.rowCount ?? 0;
}
