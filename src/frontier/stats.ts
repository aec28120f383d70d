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
    state: object;
  },
): Promise<void> {
  await db.query(
    `INSERT INTO workers (id, role, pool, version, host, pid, state) VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (id) DO UPDATE SET heartbeat_at = now(), state = excluded.state`,
    [
      worker.id,
      worker.role,
      worker.pool,
      worker.version,
      worker.host,
      worker.pid,
      JSON.stringify(worker.state),
    ],
  );
}

/** Forgets a process that left, and those that have been silent for a day. */
export async function removeWorker(db: Queryable, id: string): Promise<void> {
  await db.query(`DELETE FROM workers WHERE id = $1 OR heartbeat_at < now() - interval '1 day'`, [id]);
}
