import type { Queryable } from '../db/index.ts';
import type { JobKind, JobStatus } from './states.ts';

/** A job that this process runs, as it was when it was taken. The token is the fence of everything it does to it. */
export type LeasedJob = {
  id: number;
  kind: JobKind;
  token: string;
  executionId: bigint;
  /** Another scheduler began the execution and stopped in order. */
  takenOver: boolean;
  /** Its first step was taken. */
  begun: boolean;
  startedAt: Date;
  number: number;
  attempt: number;
  trigger: 'schedule' | 'force_run' | 'retry';
  sourceId: number | null;
  source: string | null;
  url: string | null;
  maxPages: number | null;
  maxDepth: number | null;
  metadata: Record<string, unknown>;
  /** What the execution has noted so far. */
  progress: Record<string, unknown>;
};

/** Moves the database's time, for tests. */
export type Skew = { skewMs?: number };

/** Takes jobs: first those that were handed back, then those that are due. With a limit of 0 it only says that it lives. */
export async function leaseJobs(
  db: Queryable,
  { owner, limit, skewMs = 0 }: { owner: string; limit: number } & Skew,
): Promise<LeasedJob[]> {
  // The join reads what the function wrote only in a statement of its own.
  const taken = await db.query<{ job_id: number; token: string; taken_over: boolean }>(
    `SELECT job_id, token, taken_over FROM job_lease($1, $2, $3 * interval '1 millisecond')`,
    [owner, limit, skewMs],
  );
  if (taken.rows.length === 0) return [];
  const jobs = await db.query<Omit<LeasedJob, 'takenOver'>>(
    `SELECT j.id, j.kind, j.lock_token AS token, e.id AS "executionId", e.begun, e.started_at AS "startedAt", e.number,
            e.retry_attempt AS attempt, e.trigger, j.source_id AS "sourceId", s.slug AS source, j.url,
            j.max_pages AS "maxPages", j.max_depth AS "maxDepth", j.metadata, e.metadata AS progress
       FROM jobs j JOIN job_executions e ON e.id = j.execution_id LEFT JOIN sources s ON s.id = j.source_id
      WHERE j.lock_token = ANY ($1::uuid[]) AND j.id = ANY ($2) ORDER BY e.id`,
    [taken.rows.map((row) => row.token), taken.rows.map((row) => row.job_id)],
  );
  const handed = new Set(taken.rows.filter((row) => row.taken_over).map((row) => row.token));
  return jobs.rows.map((job) => ({ ...job, takenOver: handed.has(job.token) }));
}

/** Says that these jobs are being run; answers the tokens that still hold. */
export async function beatJobs(
  db: Queryable,
  tokens: readonly string[],
  { skewMs = 0 }: Skew = {},
): Promise<Set<string>> {
  const result = await db.query<{ token: string }>(
    `SELECT token FROM job_beat($1::uuid[], $2 * interval '1 millisecond') AS b(token)`,
    [tokens, skewMs],
  );
  return new Set(result.rows.map((row) => row.token));
}

/** Gives jobs to whoever comes next, in the middle of their executions; answers how many. */
export async function handBackJobs(
  db: Queryable,
  tokens: readonly string[],
  { skewMs = 0 }: Skew = {},
): Promise<number> {
  const result = await db.query<{ count: number }>(
    `SELECT job_hand_back($1::uuid[], $2 * interval '1 millisecond') AS count`,
    [tokens, skewMs],
  );
  return result.rows[0]!.count;
}

/** How a run ended. */
export type RunEnd = {
  outcome: 'completed' | 'failed';
  error?: string | null;
  stack?: string | null;
  foundHash?: Buffer | null;
  metadata?: Record<string, unknown>;
  /** What becomes of rows that still wait under it. */
  sweep?: 'free' | 'run_ended' | null;
  actor: string;
};

const mostErrorCharacters = 2000;
const clean = (text: string | null | undefined): string | null =>
  text?.replaceAll('\u0000', '').slice(0, mostErrorCharacters) ?? null;

/** Ends a run; answers what the job is now, or null when it is somebody else's by now. */
export async function endJob(
  db: Queryable,
  job: Pick<LeasedJob, 'id' | 'token'>,
  end: RunEnd & Skew,
): Promise<JobStatus | null> {
  const result = await db.query<{ status: JobStatus | null }>(
    `SELECT job_end($1, $2, $3, $4, $5, $6, $7, $8, $9, $10 * interval '1 millisecond') AS status`,
    [
      job.id,
      job.token,
      end.outcome,
      clean(end.error),
      clean(end.stack),
      end.foundHash ?? null,
      JSON.stringify(end.metadata ?? {}),
      end.sweep ?? null,
      end.actor,
      end.skewMs ?? 0,
    ],
  );
  return result.rows[0]!.status;
}

/** A job that was taken from a scheduler that is lost. */
export type RecoveredJob = { jobId: number; executionId: bigint; worker: string };

/** Takes jobs from schedulers that have not been heard for so long; each is due now, and its execution failed. */
export async function recoverJobs(
  db: Queryable,
  { actor, lostMs, skewMs = 0 }: { actor: string; lostMs: number } & Skew,
): Promise<RecoveredJob[]> {
  const result = await db.query<RecoveredJob>(
    `SELECT job_id AS "jobId", execution_id AS "executionId", worker FROM job_recover($1 * interval '1 millisecond', $2, $3 * interval '1 millisecond')`,
    [lostMs, actor, skewMs],
  );
  return result.rows;
}

/** Cancels a job, running or not; answers what it was, or null when it is nothing that can be cancelled. */
export async function cancelJob(
  db: Queryable,
  id: number,
  { actor, reason = null, skewMs = 0 }: { actor: string; reason?: string | null } & Skew,
): Promise<JobStatus | null> {
  const result = await db.query<{ was: JobStatus | null }>(
    `SELECT job_cancel($1, $2, $3, $4 * interval '1 millisecond') AS was`,
    [id, reason, actor, skewMs],
  );
  return result.rows[0]!.was;
}
