import type { Queryable } from '../db/index.ts';
import type { UrlStatus } from './rows.ts';

/** How many URLs are in each state; probes do not count. */
export type FrontierStats = Record<UrlStatus, number> & {
  submitted: number;
  inFlight: number;
  channels: number;
};

/** Counts rows by state. Reads the whole table: for the demo, `run` and small installations; screens use counters. */
export async function countRows(db: Queryable): Promise<FrontierStats> {
  const rows = await db.query<{ status: UrlStatus; count: number }>(
    `SELECT status, count(*)::integer AS count FROM url_frontier WHERE kind NOT IN ('probe', 'channel') GROUP BY status`,
  );
  const others = await db.query<{ channels: number; in_flight: number }>(
    `SELECT (SELECT count(*)::integer FROM url_frontier WHERE kind = 'channel') AS channels,
            (SELECT coalesce(sum(cardinality(in_flight)), 0)::integer FROM domain_slots WHERE lease_owner IS NOT NULL) AS in_flight`,
  );
  const stats: FrontierStats = {
    pending: 0,
    fetched: 0,
    redirected: 0,
    duplicate: 0,
    failed: 0,
    needs_render: 0,
    dead: 0,
    submitted: 0,
    inFlight: others.rows[0]!.in_flight,
    channels: others.rows[0]!.channels,
  };
  for (const row of rows.rows) {
    stats[row.status] = row.count;
    stats.submitted += row.count;
  }
  return stats;
}

/** Registers a process, or says that it lives. */
export async function saveWorker(
  db: Queryable,
  worker: {
    id: string;
    role: string;
    pool: string;
    version: string;
    host: string;
    pid: number;
    /** It has a browser: rows that need one may wait for it. */
    renders?: boolean;
    state: object;
  },
): Promise<void> {
  await db.query(
    `INSERT INTO workers (id, role, pool, version, host, pid, renders, state) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (id) DO UPDATE SET heartbeat_at = now(), renders = excluded.renders, state = excluded.state`,
    [
      worker.id,
      worker.role,
      worker.pool,
      worker.version,
      worker.host,
      worker.pid,
      worker.renders ?? false,
      JSON.stringify(worker.state),
    ],
  );
}

/** Forgets a process that left, and those that have been silent for a day. */
export async function removeWorker(db: Queryable, id: string): Promise<void> {
  await db.query(`DELETE FROM workers WHERE id = $1 OR heartbeat_at < now() - interval '1 day'`, [id]);
}

/** How the URLs of one execution stand; `waiting` are those that will be tried within the horizon. */
export type ExecutionStats = {
  total: number;
  waiting: number;
  byOutcome: { status: UrlStatus; reason: string | null; count: number }[];
};

/** Counts an execution's rows. Index: url_frontier_source (the source and the time it began narrow it down). */
export async function countExecution(
  db: Queryable,
  execution: { id: bigint; sourceId: number | null; since: Date; horizonMs: number },
): Promise<ExecutionStats> {
  const result = await db.query<{ status: UrlStatus; reason: string | null; waiting: number; count: number }>(
    `SELECT status, CASE WHEN status IN ('dead', 'failed', 'needs_render') THEN error_code END AS reason, count(*)::integer AS count,
            count(*) FILTER (WHERE status IN ('pending', 'failed') AND due_at < now() + $4 * interval '1 millisecond')::integer AS waiting
       FROM url_frontier WHERE source_id IS NOT DISTINCT FROM $2 AND discovered_at >= $3 AND execution_id = $1
      GROUP BY 1, 2 ORDER BY 3 DESC`,
    [execution.id.toString(), execution.sourceId, execution.since, execution.horizonMs],
  );
  return {
    total: result.rows.reduce((sum, row) => sum + row.count, 0),
    waiting: result.rows.reduce((sum, row) => sum + row.waiting, 0),
    byOutcome: result.rows.map(({ status, reason, count }) => ({ status, reason, count })),
  };
}
