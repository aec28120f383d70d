import type { Queryable } from '../db/index.ts';
import { AppError, EXIT } from '../errors/index.ts';
import { type JobKind, type JobStatus, legalActions } from './states.ts';

/** A run that an operator asked for, once or again and again. */
export type Job = {
  id: number;
  kind: JobKind;
  status: JobStatus;
  /** The short name of its source; null: it is about all of them. */
  source: string | null;
  sourceId: number | null;
  /** What is crawled instead of the source's address. */
  url: string | null;
  /** null: it runs once. */
  intervalSeconds: number | null;
  scheduleEnabled: boolean;
  adaptiveScheduling: boolean;
  /** Runs in a row that found what the run before had found; the interval doubles with each. */
  unchangedRuns: number;
  nextRunAt: Date | null;
  /** When rebalancing last gave it another time. */
  movedAt: Date | null;
  maxRetries: number;
  retryBackoffSeconds: number;
  retries: number;
  maxPages: number | null;
  maxDepth: number | null;
  metadata: Record<string, unknown>;
  pauseReason: 'operator' | 'source_disabled' | null;
  /** Where it goes when the run that is asked for or under way has ended; null: as its schedule says. */
  returnsTo: 'scheduled' | 'paused' | null;
  /** The execution under way. */
  executionId: string | null;
  lockedBy: string | null;
  heartbeatAt: Date | null;
  executions: number;
  createdAt: Date;
  createdBy: string;
  updatedAt: Date;
};

/** The columns of a job as it is shown; `j` is the job and `s` its source, joined from the left. */
export const jobColumns = `j.id, j.kind, j.status, s.slug AS source, j.source_id AS "sourceId", j.url,
  j.interval_seconds AS "intervalSeconds", j.schedule_enabled AS "scheduleEnabled",
  j.adaptive_scheduling AS "adaptiveScheduling", j.unchanged_runs AS "unchangedRuns", j.next_run_at AS "nextRunAt",
  j.moved_at AS "movedAt", j.returns_to AS "returnsTo",
  j.max_retries AS "maxRetries", j.retry_backoff_seconds AS "retryBackoffSeconds", j.retries, j.max_pages AS "maxPages",
  j.max_depth AS "maxDepth", j.metadata, j.pause_reason AS "pauseReason", j.execution_id::text AS "executionId",
  j.locked_by AS "lockedBy", j.heartbeat_at AS "heartbeatAt", j.executions, j.created_at AS "createdAt",
  j.created_by AS "createdBy", j.updated_at AS "updatedAt"`;

/** The job of a number; null: there is none. */
export async function findJob(db: Queryable, id: number): Promise<Job | null> {
  const result = await db.query<Job>(
    `SELECT ${jobColumns} FROM jobs j LEFT JOIN sources s ON s.id = j.source_id WHERE j.id = $1`,
    [id],
  );
  return result.rows[0] ?? null;
}

/** The job of a number, or the error that says so. */
export async function requireJob(db: Queryable, id: number): Promise<Job> {
  const job = await findJob(db, id);
  if (job === null) throw unknownJob(id);
  return job;
}

/** The complaint about a number that no job has. */
export const unknownJob = (id: number): AppError =>
  new AppError('job_unknown', `there is no job ${id}`, {
    exitCode: EXIT.usage,
    httpStatus: 404,
    advice: 'The ID column of "outrider jobs" lists them.',
  });

/** The complaint about something that cannot be done with a job as it stands. */
export function jobState(job: Pick<Job, 'id' | 'status'>, what: string): AppError {
  const legal = legalActions(job.status).map((action) => action.replace('_', '-'));
  return new AppError('job_state', `job ${job.id} is ${job.status}: it cannot be ${what}`, {
    httpStatus: 409,
    advice:
      legal.length === 0
        ? 'A cancelled job stays as it is; make a new one.'
        : `What can be done with a ${job.status} job: ${legal.join(', ')}.`,
  });
}
