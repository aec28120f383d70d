import type { Queryable } from '../db/index.ts';

const atOnce = 1000;

/**
 * Deletes executions, with their logs, that are beyond the newest of their job or older than so many days; never one that
 * runs or whose rows still wait. Answers how many. Indexes: job_executions_job_id_number_key, job_executions_started.
 */
export async function pruneExecutions(
  db: Queryable,
  { keep, days, skewMs = 0 }: { keep: number; days: number; skewMs?: number },
): Promise<number> {
  let pruned = 0;
  for (;;) {
    const result = await db.query(
      `DELETE FROM job_executions WHERE id = ANY (ARRAY(
         SELECT e.id FROM job_executions e JOIN jobs j ON j.id = e.job_id
          WHERE e.status <> 'running' AND e.sweep IS NULL
            AND (e.number <= j.executions - $1 OR e.started_at < now() + $3 * interval '1 millisecond' - make_interval(days => $2))
          LIMIT ${atOnce}))`,
      [keep, days, skewMs],
    );
    pruned += result.rowCount ?? 0;
    if ((result.rowCount ?? 0) < atOnce) break;
  }
  // What runs of a deleted source had met.
  await db.query(
    `DELETE FROM execution_found f WHERE NOT EXISTS (SELECT FROM job_executions e WHERE e.id = f.execution_id)`,
  );
  return pruned;
}

/** Deletes log lines older than so many days; an execution keeps its numbers. Answers how many. */
export async function pruneExecutionLogs(
  db: Queryable,
  { days, skewMs = 0 }: { days: number; skewMs?: number },
): Promise<number> {
  const result = await db.query(
    `DELETE FROM execution_logs l USING job_executions e
      WHERE e.id = l.execution_id AND e.started_at < now() + $2 * interval '1 millisecond' - make_interval(days => $1)
        AND l.at < now() + $2 * interval '1 millisecond' - make_interval(days => $1)`,
    [days, skewMs],
  );
  return result.rowCount ?? 0;
}
