import type { Queryable } from '../db/index.ts';
import { type JobStatus, jobStatuses } from './states.ts';

/** How the scheduler does, from the database alone. */
export type SchedulerMetrics = {
  jobs: Record<JobStatus, number>;
  executions: {
    total: number;
    running: number;
    completed: number;
    failed: number;
    cancelled: number;
    averageDurationMs: number | null;
    /** Completed of those that completed or failed; null: none has ended. */
    successRate: number | null;
  };
  staleLocksCleared: number;
};

/** Reads it in one statement, which is one snapshot. Executions are those that are kept: a hundred of a job, thirty days. */
export async function loadSchedulerMetrics(db: Queryable): Promise<SchedulerMetrics> {
  const result = await db.query<{
    jobs: Partial<Record<JobStatus, number>> | null;
    total: number;
    running: number;
    completed: number;
    failed: number;
    cancelled: number;
    averageDurationMs: number | null;
    staleLocksCleared: bigint;
  }>(
    `SELECT (SELECT jsonb_object_agg(x.status, x.n) FROM (SELECT status, count(*) AS n FROM jobs GROUP BY 1) x) AS jobs,
            count(*)::integer AS total, count(*) FILTER (WHERE e.status = 'running')::integer AS running,
            count(*) FILTER (WHERE e.status = 'completed')::integer AS completed,
            count(*) FILTER (WHERE e.status = 'failed')::integer AS failed,
            count(*) FILTER (WHERE e.status = 'cancelled')::integer AS cancelled,
            avg(extract(epoch FROM e.completed_at - e.started_at) * 1000) FILTER (WHERE e.status IN ('completed', 'failed'))::float8
              AS "averageDurationMs",
            coalesce((SELECT s.stale_locks_cleared FROM job_scheduler s), 0) AS "staleLocksCleared"
       FROM job_executions e`,
  );
  const { jobs, averageDurationMs, staleLocksCleared, ...counts } = result.rows[0]!;
  const ended = counts.completed + counts.failed;
  return {
    jobs: Object.fromEntries(jobStatuses.map((status) => [status, jobs?.[status] ?? 0])) as Record<
      JobStatus,
      number
    >,
    executions: { ...counts, averageDurationMs, successRate: ended === 0 ? null : counts.completed / ended },
    staleLocksCleared: Number(staleLocksCleared),
  };
}
