import type { Queryable } from '../db/index.ts';
import { AppError, EXIT } from '../errors/index.ts';
import type { LogCategory, LogLevel, LogLine } from './log.ts';

/** How a run ended, or that it has not. */
export const executionStatuses = ['running', 'completed', 'failed', 'cancelled'] as const;
export type ExecutionStatus = (typeof executionStatuses)[number];

/** One run of a job. */
export type Execution = {
  id: string;
  jobId: number;
  number: number;
  status: ExecutionStatus;
  /** What made it run. */
  trigger: 'schedule' | 'force_run' | 'retry';
  worker: string;
  startedAt: Date;
  completedAt: Date | null;
  /** null: it runs. */
  durationMs: number | null;
  itemsCrawled: number;
  itemsIndexed: number;
  retryAttempt: number;
  errorMessage: string | null;
  cpuMs: number;
  peakMemoryBytes: number | null;
  /** Lines of its log so far. */
  logLines: number;
};

/** One run with all that is kept of it. */
export type ExecutionDetail = Execution & { errorStack: string | null; metadata: Record<string, unknown> };

const columns = `e.id::text AS id, e.job_id AS "jobId", e.number, e.status, e.trigger, e.worker, e.started_at AS "startedAt",
  e.completed_at AS "completedAt", (extract(epoch FROM e.completed_at - e.started_at) * 1000)::float8 AS "durationMs",
  e.items_crawled AS "itemsCrawled", e.items_indexed AS "itemsIndexed", e.retry_attempt AS "retryAttempt",
  e.error_message AS "errorMessage", e.cpu_ms::float8 AS "cpuMs", e.peak_memory_bytes::float8 AS "peakMemoryBytes",
  e.log_lines AS "logLines"`;

/** The runs of a job, newest first, from before a number; or the one of a number. Index: job_executions_job_id_number_key. */
export async function listExecutions(
  db: Queryable,
  jobId: number,
  { number, before, limit }: { number?: number; before?: number; limit: number },
): Promise<Execution[]> {
  const result = await db.query<Execution>(
    `SELECT ${columns} FROM job_executions e
      WHERE e.job_id = $1 AND e.number < $2 AND ($4::integer IS NULL OR e.number = $4) ORDER BY e.number DESC LIMIT $3`,
    [jobId, before ?? 2_147_483_647, limit, number ?? null],
  );
  return result.rows;
}

/** One run. Index: the key. */
export async function findExecution(db: Queryable, id: string): Promise<ExecutionDetail | null> {
  const result = await db.query<ExecutionDetail>(
    `SELECT ${columns}, e.error_stack AS "errorStack", e.metadata FROM job_executions e WHERE e.id = $1`,
    [id],
  );
  return result.rows[0] ?? null;
}

/** One run, or the error that says so. */
export async function requireExecution(db: Queryable, id: string): Promise<ExecutionDetail> {
  const execution = await findExecution(db, id);
  if (execution !== null) return execution;
  throw new AppError('execution_unknown', `there is no execution ${id}; it may have been pruned`, {
    exitCode: EXIT.usage,
    httpStatus: 404,
    advice: '"outrider jobs show <id>" lists the executions of a job.',
  });
}

/** A line that is looked for. */
export type LogSearch = {
  categories?: readonly LogCategory[];
  levels?: readonly LogLevel[];
  /** Part of a message, in upper or lower case. */
  text?: string;
};

/** A page of a log: `next` is the number it goes on from, null at its end. */
export type LogPage = { lines: LogLine[]; next: number | null };

// A filter that finds little reads so many lines and answers where it goes on.
const mostRead = 20_000;

/** Lines after a number, or before one where the newest come first. Index: execution_logs_pkey. */
export async function searchLog(
  db: Queryable,
  execution: Pick<Execution, 'id' | 'logLines'>,
  options: LogSearch & { from: number | null; newestFirst: boolean; limit: number },
): Promise<LogPage> {
  const { newestFirst, limit, categories, levels, text } = options;
  const from = options.from ?? (newestFirst ? execution.logLines + 1 : 0);
  const [after, until] = newestFirst ? [from - mostRead - 1, from - 1] : [from, from + mostRead];
  const result = await db.query<LogLine>(
    `SELECT id, at, category, level, message, detail FROM execution_logs
      WHERE execution_id = $1 AND id > $2 AND id <= $3
        AND ($4::text[] IS NULL OR category = ANY ($4::log_category[])) AND ($5::text[] IS NULL OR level = ANY ($5::text[]))
        AND ($6::text IS NULL OR strpos(lower(message), lower($6)) > 0)
      ORDER BY id ${newestFirst ? 'DESC' : 'ASC'} LIMIT $7`,
    [execution.id, after, until, categories ?? null, levels ?? null, text ?? null, limit],
  );
  const last = result.rows.length === limit ? result.rows.at(-1)! : null;
  if (newestFirst) {
    const next = last?.id ?? after + 1;
    return { lines: result.rows, next: next > 1 ? next : null };
  }
  const next = last?.id ?? until;
  return { lines: result.rows, next: next < execution.logLines ? next : null };
}

/** How far the logs of some runs have come, and which have ended. Index: the key. */
export async function loadLogEnds(
  db: Queryable,
  ids: readonly string[],
): Promise<Map<string, { lines: number; status: ExecutionStatus }>> {
  const result = await db.query<{ id: string; lines: number; status: ExecutionStatus }>(
    'SELECT id::text AS id, log_lines AS lines, status FROM job_executions WHERE id = ANY ($1::bigint[])',
    [ids],
  );
  return new Map(result.rows.map(({ id, lines, status }) => [id, { lines, status }]));
}
