import type { Queryable } from '../db/index.ts';
import { type LeaseMode, loadLeaseMode } from './lease-mode.ts';

/** How the hot tables lie and how leases are taken from them. */
export type ScaleState = {
  mode: 'single' | 'buckets' | 'citus';
  /** Version of the Citus extension of this database; null: it has none. */
  citus: string | null;
  /** Servers of a Citus cluster that hold shards. */
  nodes: number;
  /** Hot tables: how many there are, and how many are spread. */
  tables: number;
  distributed: number;
  /** Indexes the mode in force lacks; leases would read every slot. */
  missingIndexes: string[];
};

const modeIndexes: Record<LeaseMode, readonly string[]> = {
  single: ['domain_slots_ready', 'domain_slots_wake'],
  bucket: ['domain_slots_bucket_ready', 'domain_slots_bucket_wake'],
};

// Logs and counts have no key. Of the tables with one it is the leading column that says it: `channels` has a bucket too,
// but it is the setting of a channel and small.
const withoutKey = ['crawl_log', 'counter_deltas', 'execution_reports'];
const hotTables = `
  SELECT c.oid, c.relname AS name FROM pg_class c
   WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
     AND (c.relname = ANY ('{${withoutKey.join(',')}}') OR EXISTS (
       SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
        WHERE i.indrelid = c.oid AND i.indisprimary AND a.attname = 'bucket'))`;

/** Looks at the catalogue only. */
export async function loadScale(db: Queryable): Promise<ScaleState> {
  const lease = await loadLeaseMode(db);
  const found = await db.query<{ citus: string | null; tables: string[]; indexes: string[] }>(
    `SELECT (SELECT extversion FROM pg_extension WHERE extname = 'citus') AS citus,
            (SELECT array_agg(h.name::text) FROM (${hotTables}) h) AS tables,
            ARRAY(SELECT indexrelid::regclass::text FROM pg_index
                   WHERE indrelid = to_regclass('domain_slots') AND indisvalid) AS indexes`,
  );
  const { citus, tables, indexes } = found.rows[0]!;
  const spread = citus === null ? { distributed: 0, nodes: 0 } : await loadSpread(db, tables);
  const isSpread = spread.distributed > 0;
  return {
    mode: isSpread ? 'citus' : lease === 'bucket' ? 'buckets' : 'single',
    citus,
    tables: tables.length,
    ...spread,
    missingIndexes: modeIndexes[lease].filter((name) => !indexes.includes(name)),
  };
}

async function loadSpread(db: Queryable, tables: string[]): Promise<{ distributed: number; nodes: number }> {
  const { rows } = await db.query<{ distributed: number; nodes: number }>(
    `SELECT (SELECT count(*)::integer FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid
              WHERE p.partmethod = 'h' AND c.relname = ANY ($1)) AS distributed,
            (SELECT count(*)::integer FROM pg_dist_node WHERE isactive AND shouldhaveshards) AS nodes`,
    [tables],
  );
  return rows[0]!;
}

/** What a distributed database would refuse in the tables as they are; empty: nothing. In words, each with its table. */
export async function findCitusObstacles(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ words: string }>(
    `WITH hot AS (${hotTables})
     SELECT format('%s has the trigger %s', h.name, t.tgname) AS words
       FROM hot h JOIN pg_trigger t ON t.tgrelid = h.oid AND NOT t.tgisinternal
     UNION ALL
     SELECT format('%s: the unique index %s lacks the bucket', h.name, i.indexrelid::regclass)
       FROM hot h JOIN pg_index i ON i.indrelid = h.oid AND i.indisunique
      WHERE NOT EXISTS (SELECT FROM pg_attribute a
                         WHERE a.attrelid = h.oid AND a.attname = 'bucket' AND a.attnum = ANY (i.indkey))
     UNION ALL
     SELECT format('%s: the foreign key %s leaves the bucket', k.conrelid::regclass, k.conname)
       FROM pg_constraint k
      WHERE k.contype = 'f' AND k.conparentid = 0
        AND (k.conrelid IN (SELECT oid FROM hot) OR k.confrelid IN (SELECT oid FROM hot))
     UNION ALL
     SELECT format('%s: %s is numbered by a sequence', h.name, a.attname)
       FROM hot h JOIN pg_attribute a ON a.attrelid = h.oid AND a.attnum > 0
       LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      WHERE a.attidentity <> '' OR pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%'
      ORDER BY 1`,
  );
  return rows.map((row) => row.words);
}

/** The statements that spread the hot tables by bucket, those that are spread already left out. */
export async function planCitus(db: Queryable, shards: number): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT h.name::text AS name FROM (${hotTables}) h ORDER BY h.name <> 'domain_slots', h.name`,
  );
  const has = await db.query(`SELECT FROM pg_extension WHERE extname = 'citus'`);
  const done = await loadDistributed(db, has.rowCount === 1);
  // The slots come first: every other table lies beside them, so that a domain's rows are on one server.
  return [
    ...(has.rowCount === 1 ? [] : ['CREATE EXTENSION citus']),
    `SET LOCAL citus.shard_count = ${shards}`,
    // One connection per server: what was just spread is read again in the same transaction.
    `SET LOCAL citus.multi_shard_modify_mode = 'sequential'`,
    ...rows
      .filter(({ name }) => !done.has(name))
      .map(({ name }) =>
        name === 'domain_slots'
          ? `SELECT create_distributed_table('domain_slots', 'bucket')`
          : `SELECT create_distributed_table('${name}', 'bucket', colocate_with => 'domain_slots')`,
      ),
  ];
}

async function loadDistributed(db: Queryable, hasCitus: boolean): Promise<Set<string>> {
  if (!hasCitus) return new Set();
  const { rows } = await db.query<{ name: string }>(
    `SELECT c.relname::text AS name FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid`,
  );
  return new Set(rows.map((row) => row.name));
}
