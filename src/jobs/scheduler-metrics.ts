import type { Queryable } from '../db/index.ts';
import { type JobStatus, jobStatuses } from './states.ts';

/** How the scheduler does, from the database alone. */
export type SchedulerMetrics = {
  jobs: Record<JobStatus, number>;
  executions: {
    /** Of all jobs there are, ever. */
    total: number;
    /** The rest is of the last seven days. */
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

/** Counts jobs by status. */
export async function countJobs(db: Queryable): Promise<Record<JobStatus, number>> {
  const result = await db.query<{ status: JobStatus; count: number }>(
    'SELECT status, count(*)::integer AS count FROM jobs GROUP BY 1',
  );
  return byStatus(Object.fromEntries(result.rows.map(({ status, count }) => [status, count])));
}

const byStatus = (counts: Partial<Record<JobStatus, number>>): Record<JobStatus, number> =>
  Object.fromEntries(jobStatuses.map((status) => [status, counts[status] ?? 0])) as Record<JobStatus, number>;

/** Reads it in one statement, which is one snapshot. Index: job_executions_started. */
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
            (SELECT coalesce(sum(executions), 0)::integer FROM jobs) AS total, count(*) FILTER (WHERE e.status = 'running')::integer AS running,
            count(*) FILTER (WHERE e.status = 'completed')::integer AS completed,
            count(*) FILTER (WHERE e.status = 'failed')::integer AS failed,
            count(*) FILTER (WHERE e.status = 'cancelled')::integer AS cancelled,
            avg(extract(epoch FROM e.completed_at - e.started_at) * 1000) FILTER (WHERE e.status IN ('completed', 'failed'))::float8
              AS "averageDurationMs",
            coalesce((SELECT s.stale_locks_cleared FROM job_scheduler s), 0) AS "staleLocksCleared"
       FROM job_executions e WHERE e.started_at > now() - interval '7 days'`,
  );
  const { jobs, averageDurationMs, staleLocksCleared, ...counts } = result.rows[0]!;
  const ended = counts.completed + counts.failed;
  return {
    jobs: byStatus(jobs ?? {}),
    executions: { ...counts, averageDurationMs, successRate: ended === 0 ? null : counts.completed / ended },
    staleLocksCleared: Number(staleLocksCleared),
  };
}
