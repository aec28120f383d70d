import pg from 'pg';
import type { Partition } from './export-format.ts';
import type { Queryable } from './queryable.ts';

/** A table whose rows are moved; a partitioned one as a whole. */
export type Table = { name: string; columns: string[] };

/** The text form of values must not depend on who asks, here and on the server that reads them. */
export const neutralSettings = `SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO, YMD';
  SET LOCAL intervalstyle = 'postgres'; SET LOCAL extra_float_digits = 1; SET LOCAL bytea_output = 'hex';
  SET LOCAL client_encoding = 'UTF8'; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '30s';
  SET LOCAL idle_in_transaction_session_timeout = 0`;

/**
 * Tables of our schema, without parts of partitioned ones and without the migration runner's own. Numbers of transactions
 * are left out: on another server they are taken for the future, where the one that imports is the right one.
 */
export async function loadTables(db: Queryable): Promise<Table[]> {
  const { rows } = await db.query<Table>(
    `SELECT c.relname AS name, coalesce(array_agg(a.attname::text ORDER BY a.attnum) FILTER (WHERE a.attname IS NOT NULL), '{}') AS columns
       FROM pg_class c LEFT JOIN pg_attribute a
         ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
        AND a.atttypid <> 'xid8'::regtype
      WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND c.relname NOT IN ('schema_migrations', 'schema_functions')
        AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = 'pg_class'::regclass AND e.objid = c.oid AND e.deptype = 'e')
      GROUP BY c.relname ORDER BY c.relname`,
  );
  return rows;
}

/** Parts of partitioned tables, parents first. */
export async function loadPartitions(db: Queryable): Promise<Partition[]> {
  const { rows } = await db.query<Partition>(
    `WITH RECURSIVE part AS (
       SELECT c.oid, c.relname AS parent, 0 AS level FROM pg_class c
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'p' AND NOT c.relispartition
       UNION ALL
       SELECT i.inhrelid, (SELECT relname FROM pg_class WHERE oid = i.inhparent), level + 1
         FROM part JOIN pg_inherits i ON i.inhparent = part.oid)
     SELECT c.relname AS name, part.parent, pg_get_expr(c.relpartbound, c.oid) AS bound,
            CASE c.relkind WHEN 'p' THEN pg_get_partkeydef(c.oid) END AS "partitionBy"
       FROM part JOIN pg_class c USING (oid) WHERE level > 0 ORDER BY level, c.relname`,
  );
  return rows;
}

/** Sequences and where they stand. Read after the rows: they stand outside of snapshots and only grow. */
export async function loadSequences(
  db: Queryable,
): Promise<{ name: string; lastValue: string; isCalled: boolean }[]> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'S' ORDER BY 1`,
  );
  const sequences: { name: string; lastValue: string; isCalled: boolean }[] = [];
  for (const { name } of rows) {
    const state = await db.query<{ lastValue: string; isCalled: boolean }>(
      `SELECT last_value::text AS "lastValue", is_called AS "isCalled" FROM ${pg.escapeIdentifier(name)}`,
    );
    sequences.push({ name, ...state.rows[0]! });
  }
  return sequences;
}

/** Makes the parts of partitioned tables those of the export. The tables are empty, or about to be emptied. */
export async function savePartitions(db: Queryable, wanted: Partition[]): Promise<void> {
  const key = (part: Partition): string =>
    JSON.stringify([part.name, part.parent, part.bound, part.partitionBy]);
  const wantedKeys = new Set(wanted.map(key));
  for (const part of await loadPartitions(db))
    if (!wantedKeys.has(key(part)))
      await db.query(`DROP TABLE IF EXISTS ${pg.escapeIdentifier(part.name)} CASCADE`);
  // Dropping a part drops the parts below it: what exists is asked again.
  const existing = new Set((await loadPartitions(db)).map(key));
  for (const part of wanted) {
    if (existing.has(key(part))) continue;
    const by = part.partitionBy === null ? '' : ` PARTITION BY ${part.partitionBy}`;
    // The bound is SQL from a file: the extended protocol takes one statement and no second behind a semicolon.
    await db.query({
      text: `CREATE TABLE ${pg.escapeIdentifier(part.name)} PARTITION OF ${pg.escapeIdentifier(part.parent)} ${part.bound}${by}`,
      queryMode: 'extended',
    } as pg.QueryConfig);
  }
}

/** Takes foreign keys away and gives back how to restore them: tables are then loaded in any order, also cycles. */
export async function dropForeignKeys(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ drop: string; restore: string }>(
    `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS drop,
            format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS restore
       FROM pg_constraint
      WHERE connamespace = current_schema()::regnamespace AND contype = 'f' AND conparentid = 0
      ORDER BY conrelid::regclass::text, conname`,
  );
  for (const row of rows) await db.query(row.drop);
  return rows.map((row) => row.restore);
}
