import type { Queryable } from './queryable.ts';

/** A table with its parts, as the server's own statistics know it. */
export type TableFacts = {
  name: string;
  /** Estimated. */
  rows: number;
  tableBytes: number;
  indexBytes: number;
  /** Long values, which lie beside the table. */
  toastBytes: number;
  totalBytes: number;
  /** Share of rows that are deleted or replaced and not cleared away yet. */
  deadShare: number;
  /** The last vacuum of any of its parts. */
  lastVacuumAt: Date | null;
  /** Parts of a partitioned table; 0: it is none. */
  parts: number;
};

/** How the database does. */
export type DatabaseFacts = {
  at: Date;
  version: string;
  startedAt: Date;
  sizeBytes: number;
  /** Connections of clients, to all databases of the server, and how many there may be. */
  connections: { used: number; most: number };
  /** The oldest transaction under way holds back what can be cleared away; null: none is. */
  oldestTransactionMs: number | null;
  /** Transactions since the oldest row was frozen; at 2,000 million the server would stop. */
  transactionAge: number;
  migration: number;
  /** Bytes of pages as they came. */
  rawPageBytes: number;
  /** The largest first. */
  tables: TableFacts[];
};

type Server = Omit<DatabaseFacts, 'connections' | 'tables' | 'rawPageBytes'> & { used: number; most: number };

/**
 * Looks at the catalogue and the statistics, never at rows. Sizes are asked of the file system, a few hundred files with
 * a month of daily parts.
 */
export async function loadDatabaseFacts(db: Queryable, mostTables: number): Promise<DatabaseFacts> {
  const server = await db.query<Server>(
    `SELECT now() AS at, current_setting('server_version') AS version, pg_postmaster_start_time() AS "startedAt",
            pg_database_size(current_database())::float8 AS "sizeBytes",
            (SELECT count(*)::integer FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
            current_setting('max_connections')::integer AS most,
            (SELECT extract(epoch FROM clock_timestamp() - min(a.xact_start))::float8 * 1000 FROM pg_stat_activity a
              WHERE a.datname = current_database() AND a.backend_type = 'client backend' AND a.pid <> pg_backend_pid()) AS "oldestTransactionMs",
            (SELECT age(datfrozenxid)::float8 FROM pg_database WHERE datname = current_database()) AS "transactionAge",
            (SELECT coalesce(max(version), 0) FROM schema_migrations) AS migration`,
  );
  const tables = await db.query<TableFacts>(
    `SELECT t.name, sum(t.live)::float8 AS rows, sum(t.own - t.toast)::float8 AS "tableBytes", sum(t.indexes)::float8 AS "indexBytes",
            sum(t.toast)::float8 AS "toastBytes", sum(t.own + t.indexes)::float8 AS "totalBytes",
            coalesce(sum(t.dead) / nullif(sum(t.live + t.dead), 0), 0)::float8 AS "deadShare", max(t.vacuumed) AS "lastVacuumAt",
            count(*) FILTER (WHERE t.is_part)::integer AS parts
       FROM (SELECT coalesce(pg_partition_root(c.oid), c.oid)::regclass::text AS name, c.relispartition AS is_part,
                    CASE WHEN c.reltuples >= 0 THEN c.reltuples::numeric ELSE s.n_live_tup END AS live, s.n_dead_tup::numeric AS dead,
                    -- A table that was dropped a moment ago has no size.
                    coalesce(pg_table_size(c.oid), 0) AS own, coalesce(pg_indexes_size(c.oid), 0) AS indexes,
                    coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0) AS toast,
                    greatest(s.last_vacuum, s.last_autovacuum) AS vacuumed
               FROM pg_class c JOIN pg_stat_user_tables s ON s.relid = c.oid
              WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace) t
      GROUP BY t.name ORDER BY "totalBytes" DESC, t.name`,
  );
  const { used, most, ...facts } = server.rows[0]!;
  const raw = tables.rows.find((table) => table.name === 'raw_pages');
  return {
    ...facts,
    connections: { used, most },
    rawPageBytes: raw?.totalBytes ?? 0,
    tables: tables.rows.slice(0, mostTables),
  };
}
