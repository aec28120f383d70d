import type { Queryable } from '../../src/db/index.ts';
import type { JobKind, JobStatus } from '../../src/jobs/index.ts';

/** A job as it stands in its table. */
export type JobRow = {
  id: number;
  status: JobStatus;
  next_run_at: Date | null;
  updated_at: Date;
  retries: number;
  unchanged_runs: number;
  lock_token: string | null;
  execution_id: bigint | null;
  executions: number;
  pause_reason: string | null;
  phase_at: Date | null;
};

/** Makes a job by its columns. */
export async function makeJob(
  db: Queryable,
  columns: {
    kind?: JobKind;
    status?: JobStatus;
    source_id?: number | null;
    interval_seconds?: number | null;
    next_run_at?: Date;
    [name: string]: unknown;
  } = {},
): Promise<number> {
  const row = {
    kind: 'recalculate',
    status: columns.interval_seconds == null ? 'pending' : 'scheduled',
    next_run_at: new Date(Date.now() - 1000),
    created_by: 'test',
    ...columns,
  };
  const names = Object.keys(row);
  const made = await db.query<{ id: number }>(
    `INSERT INTO jobs (${names.join(', ')}) VALUES (${names.map((_, at) => `$${at + 1}`).join(', ')}) RETURNING id`,
    Object.values(row),
  );
  return made.rows[0]!.id;
}

/** A job as it stands. */
export async function readJob(db: Queryable, id: number): Promise<JobRow> {
  const result = await db.query<JobRow>('SELECT * FROM jobs WHERE id = $1', [id]);
  if (result.rows[0] === undefined) throw new Error(`there is no job ${id}`);
  return result.rows[0];
}

/** An execution as it stands in its table. */
export type ExecutionRow = {
  id: bigint;
  number: number;
  status: string;
  trigger: string;
  worker: string;
  started_at: Date;
  completed_at: Date | null;
  items_crawled: number;
  items_indexed: number;
  retry_attempt: number;
  error_message: string | null;
  error_stack: string | null;
  cpu_ms: bigint;
  peak_memory_bytes: bigint | null;
  found_hash: Buffer | null;
  log_lines: number;
  sweep: string | null;
  metadata: Record<string, unknown>;
};

/** The executions of a job, first first. */
export async function readExecutions(db: Queryable, jobId: number): Promise<ExecutionRow[]> {
  const result = await db.query<ExecutionRow>(
    'SELECT * FROM job_executions WHERE job_id = $1 ORDER BY number',
    [jobId],
  );
  return result.rows;
}

/** What happened to a job: from, to, by which action. */
export async function readEvents(db: Queryable, jobId: number): Promise<string[]> {
  const result = await db.query<{ text: string }>(
    `SELECT concat(from_status, '>', to_status, ' ', action) AS text FROM job_events WHERE job_id = $1 ORDER BY id`,
    [jobId],
  );
  return result.rows.map((row) => row.text);
}
