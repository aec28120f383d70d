import type { Queryable } from '../db/index.ts';

/** Who works, as far as somebody should know. */
export type Processes = {
  fetchers: number;
  schedulers: number;
  /** Fetchers that believe their own network to be down. */
  away: number;
  /** Loops that have failed several times in a row, with the process they belong to. */
  failingLoops: { name: string; role: string; host: string; pid: number }[];
  /** Processes that were replaced within the last hour, the most often first. */
  restarted: {
    role: string;
    host: string;
    pid: number;
    times: number;
    isGrave: boolean;
    why: string | null;
  }[];
  /** When the database was started again while processes ran, within the last hour. */
  databaseRestartedAt: Date | null;
  /** When the next domain may be asked; null: nothing waits. In the past: now. */
  nextAt: Date | null;
  now: Date;
};

const mostWorkers = 500;
const manyErrors = 3;

/**
 * The processes that are alive, and when there is something for them to do. Loops are written by another process, maybe
 * of another version: nothing in them is taken for granted. Indexes: domain_slots_ready per pool and level,
 * domain_slots_wake.
 */
export async function loadProcesses(db: Queryable): Promise<Processes> {
  const result = await db.query<Processes>(
    `WITH alive AS MATERIALIZED (
       SELECT role, pool, renders, host, pid, started_at, state FROM workers WHERE heartbeat_at > now() - interval '30 seconds'
        ORDER BY role, host, pid LIMIT ${mostWorkers}),
     failing AS (
       SELECT left(l.loop ->> 'name', 100) AS name, a.role, a.host, a.pid FROM alive a
        CROSS JOIN LATERAL jsonb_array_elements(
          CASE WHEN jsonb_typeof(a.state -> 'loops') = 'array' THEN a.state -> 'loops' ELSE '[]' END) AS l(loop)
        WHERE CASE WHEN jsonb_typeof(l.loop -> 'errorsInRow') = 'number'
                   THEN (l.loop ->> 'errorsInRow')::numeric >= ${manyErrors} AND l.loop ->> 'name' IS NOT NULL ELSE false END
        LIMIT 20),
     restarted AS (
       SELECT a.role, a.host, a.pid, count(*)::integer AS times,
              coalesce(bool_or(r.one ->> 'reason' IN ('stall', 'crash')), false) AS "isGrave",
              (array_agg(left(r.one ->> 'why', 100) ORDER BY (r.one ->> 'at')::numeric DESC))[1] AS why
         FROM alive a
        CROSS JOIN LATERAL jsonb_array_elements(
          CASE WHEN jsonb_typeof(a.state #> '{restarts,last}') = 'array' THEN a.state #> '{restarts,last}' ELSE '[]' END) AS r(one)
        WHERE CASE WHEN jsonb_typeof(r.one -> 'at') = 'number'
                   THEN (r.one ->> 'at')::numeric > extract(epoch FROM now() - interval '1 hour') * 1000 ELSE false END
        GROUP BY a.role, a.host, a.pid ORDER BY times DESC, a.role, a.host, a.pid LIMIT 20)
     SELECT (SELECT count(*)::integer FROM alive WHERE role IN ('fetch', 'run')) AS fetchers,
            (SELECT count(*)::integer FROM alive WHERE role IN ('schedule', 'run')) AS schedulers,
            (SELECT count(*)::integer FROM alive WHERE role IN ('fetch', 'run') AND state -> 'outage' = 'true') AS away,
            (SELECT coalesce(json_agg(f), '[]') FROM failing f) AS "failingLoops",
            (SELECT coalesce(json_agg(r), '[]') FROM restarted r) AS restarted,
            (SELECT pg_postmaster_start_time()
              WHERE pg_postmaster_start_time() > now() - interval '1 hour'
                AND EXISTS (SELECT FROM alive WHERE started_at < pg_postmaster_start_time())) AS "databaseRestartedAt",
            -- Rows that are held lie a thousand years ahead.
            (SELECT min(n.at) FROM (
               SELECT d.next_at AS at FROM (SELECT pool FROM alive UNION SELECT render_pool(pool) FROM alive WHERE renders
                                                UNION SELECT 'default') p
                CROSS JOIN generate_series(1, 12) AS level
                CROSS JOIN LATERAL (SELECT s.next_at FROM domain_slots s WHERE s.pool = p.pool AND s.top = level
                                     ORDER BY s.next_at LIMIT 1) d
               UNION ALL (SELECT w.wake_at FROM domain_slots w WHERE w.wake_at IS NOT NULL ORDER BY w.wake_at LIMIT 1)) n
              WHERE n.at < now() + interval '400 days') AS "nextAt",
            now() AS now`,
  );
  return result.rows[0]!;
}
