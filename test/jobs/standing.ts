import type { Queryable } from '../../src/db/index.ts';
import type { JobKind, JobStatus } from '../../src/jobs/index.ts';

/** A job as a test needs it; what is left out is as a person would make it. */
export type JobWish = {
  kind?: JobKind;
  sourceId?: number | null;
  intervalSeconds?: number | null;
  /** Of the next run and of its phase. */
  at?: Date;
  scheduleEnabled?: boolean;
  retries?: number;
};

/** Puts a job into a status as those who run jobs leave it; a running one has its lock and its execution. */
export async function putJob(db: Queryable, status: JobStatus, wish: JobWish = {}): Promise<number> {
  const {
    kind = 'prune',
    sourceId = null,
    intervalSeconds = 3600,
    at = new Date(Date.now() + 7_200_000),
  } = wish;
  const isWaiting = status === 'pending' || status === 'scheduled';
  const result = await db.query<{ id: number }>(
    `INSERT INTO jobs (kind, status, source_id, interval_seconds, schedule_enabled, next_run_at, phase_at, pause_reason,
                       retries, created_by)
     VALUES ($1, CASE WHEN $2 = 'running' THEN 'pending' ELSE $2 END::job_status, $3, $4, $5, $6, $7,
             CASE WHEN $2 = 'paused' THEN 'operator' END, $8, 'test') RETURNING id`,
    [
      kind,
      status,
      sourceId,
      intervalSeconds,
      wish.scheduleEnabled ?? true,
      isWaiting || status === 'running' ? at : null,
      at,
      wish.retries ?? 0,
    ],
  );
  const { id } = result.rows[0]!;
  if (status === 'running') await startRun(db, id);
  return id;
}

/** Makes a job run, as a lease does; answers its execution. */
export async function startRun(db: Queryable, jobId: number): Promise<string> {
  const result = await db.query<{ id: string }>(
    `WITH made AS (
       INSERT INTO job_executions (job_id, number, trigger, worker, started_at)
       SELECT id, executions + 1, 'schedule', 'test', now() FROM jobs WHERE id = $1 RETURNING id),
     moved AS (
       UPDATE jobs SET status = 'running', lock_token = gen_random_uuid(), locked_by = 'test', heartbeat_at = now(),
              execution_id = (SELECT id FROM made), executions = executions + 1 WHERE id = $1)
     SELECT id::text AS id FROM made`,
    [jobId],
  );
  return result.rows[0]!.id;
}

/** Ends the run of a job. */
export async function endRun(
  db: Queryable,
  jobId: number,
  { execution = 'completed', status = 'completed' }: { execution?: string; status?: JobStatus } = {},
): Promise<void> {
  await db.query(
    `WITH ended AS (
       UPDATE job_executions SET status = $2::execution_status, completed_at = now() WHERE job_id = $1 AND status = 'running')
     UPDATE jobs SET status = $3::job_status, lock_token = NULL, locked_by = NULL, heartbeat_at = NULL, execution_id = NULL,
            next_run_at = CASE WHEN $3 = 'scheduled' THEN now() + interval '2 hours' END WHERE id = $1`,
    [jobId, execution, status],
  );
}
