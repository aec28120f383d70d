import type { Counted, Queryable } from '../db/index.ts';
import { countJobsByStatus } from './list.ts';
import type { JobStatus } from './states.ts';

/** How runs of jobs go. */
export type JobStats = {
  jobs: Record<JobStatus, Counted>;
  /** Of the last 24 hours, the newest ten thousand at most. */
  executions: {
    total: number;
    running: number;
    completed: number;
    failed: number;
    cancelled: number;
    /** null: none has ended. */
    averageDurationMs: number | null;
    /** Completed among those that completed or failed; null: none has. */
    successRate: number | null;
  };
  /** Locks of schedulers that fell silent, cleared in the last 24 hours. */
  staleLocksCleared: number;
};

const mostRuns = 10_000;

/**
 * How runs go, from the database. Indexes: jobs_status; job_executions_started from its young end, so that a year of runs
 * costs no more than a day; job_events_recovered.
 */
export async function loadJobStats(db: Queryable): Promise<JobStats> {
  const result = await db.query<JobStats['executions'] & { stale: number }>(
    `SELECT count(*)::integer AS total, count(*) FILTER (WHERE status = 'running')::integer AS running,
            count(*) FILTER (WHERE status = 'completed')::integer AS completed,
            count(*) FILTER (WHERE status = 'failed')::integer AS failed,
            count(*) FILTER (WHERE status = 'cancelled')::integer AS cancelled,
            (avg(extract(epoch FROM completed_at - started_at)) * 1000)::float8 AS "averageDurationMs",
            count(*) FILTER (WHERE status = 'completed')::float8
              / nullif(count(*) FILTER (WHERE status IN ('completed', 'failed')), 0) AS "successRate",
            (SELECT count(*)::integer FROM job_events WHERE action = 'recover' AND at > now() - interval '1 day') AS stale
       FROM (SELECT status, started_at, completed_at FROM job_executions
              WHERE started_at > now() - interval '1 day' ORDER BY started_at DESC LIMIT ${mostRuns}) e`,
  );
  const { stale, ...executions } = result.rows[0]!;
  return { jobs: await countJobsByStatus(db), executions, staleLocksCleared: stale };
}

/** A job under way, as screens watch it. */
export type JobProgress = {
  jobId: number;
  executionId: string;
  number: number;
  source: string | null;
  startedAt: Date;
  itemsCrawled: number;
  itemsIndexed: number;
  logLines: number;
};

const mostShown = 100;

/** The jobs that run, how far each is. Indexes: jobs_running, the key of executions. */
export async function loadJobProgress(db: Queryable): Promise<JobProgress[]> {
  const result = await db.query<JobProgress>(
    `SELECT j.id AS "jobId", e.id::text AS "executionId", e.number, s.slug AS source, e.started_at AS "startedAt",
            e.items_crawled AS "itemsCrawled", e.items_indexed AS "itemsIndexed", e.log_lines AS "logLines"
       FROM (SELECT * FROM jobs WHERE status = 'running' ORDER BY heartbeat_at DESC LIMIT ${mostShown}) j
       JOIN job_executions e ON e.id = j.execution_id LEFT JOIN sources s ON s.id = j.source_id
      ORDER BY j.id`,
  );
  return result.rows;
}
