import type { Queryable } from '../db/index.ts';

/** What a line of an execution's log is about. */
export const logCategories = [
  'lifecycle',
  'fetch',
  'extract',
  'error',
  'rate_limit',
  'queue',
  'metrics',
] as const;
export type LogCategory = (typeof logCategories)[number];
export const logLevels = ['info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

/** A line of an execution's log. Numbers begin at 1 and have no gaps. */
export type LogLine = {
  id: number;
  at: Date;
  category: LogCategory;
  level: LogLevel;
  message: string;
  detail: Record<string, unknown> | null;
};

/** A line before it has its number; without a time it is of now. */
export type NewLogLine = Omit<LogLine, 'id' | 'at' | 'detail'> & {
  at?: Date;
  detail?: Record<string, unknown>;
};

// A thousand pages make some two thousand lines; a hundred times that nobody reads.
const mostLines = 200_000;
const fullLine: NewLogLine = {
  category: 'lifecycle',
  level: 'warn',
  message: `the log is full at ${mostLines} lines: single pages are no longer told, what they come to is`,
};
// How a run ended and what it came to are told however long its log is.
const isAlwaysTold = ({ category }: NewLogLine): boolean =>
  category === 'lifecycle' || category === 'metrics';
const mostCharacters = 2000;

/**
 * Adds lines to an execution's log. Their numbers are given under the lock of the execution's row, which is held until
 * they are committed: a reader who has seen a number has seen all before it. A log that is full says so and takes no
 * more of single pages. Answers how many of the lines were written.
 */
export async function appendLog(
  db: Queryable,
  executionId: bigint,
  lines: readonly NewLogLine[],
): Promise<number> {
  if (lines.length === 0) return 0;
  const result = await db.query<{ id: number }>(
    `WITH place AS (
       UPDATE job_executions SET log_lines = log_lines + $7::integer
        WHERE id = $1 AND (log_lines < $8 OR $9) RETURNING log_lines - $7::integer AS last)
     INSERT INTO execution_logs (execution_id, id, at, category, level, message, detail)
     SELECT $1, p.last + l.ord, coalesce(l.at, clock_timestamp()), l.category, l.level, l.message, l.detail
       FROM place p CROSS JOIN unnest($2::timestamptz[], $3::log_category[], $4::text[], $5::text[], $6::jsonb[])
              WITH ORDINALITY AS l(at, category, level, message, detail, ord)
     RETURNING id`,
    [
      executionId.toString(),
      lines.map((line) => line.at ?? null),
      lines.map((line) => line.category),
      lines.map((line) => line.level),
      lines.map((line) => line.message.replaceAll('\u0000', '').slice(0, mostCharacters)),
      lines.map((line) => (line.detail === undefined ? null : JSON.stringify(line.detail))),
      lines.length,
      mostLines,
      lines.every(isAlwaysTold),
    ],
  );
  const written = result.rows.length;
  const last = result.rows.reduce((most, { id }) => Math.max(most, id), 0);
  // The line that says it belongs to whoever filled it, once.
  if (last >= mostLines && last - written < mostLines) await appendLog(db, executionId, [fullLine]);
  return written;
}

/** Lines after a number, in order. Index: execution_logs_pkey. */
export async function readLog(
  db: Queryable,
  executionId: bigint,
  { after = 0, limit }: { after?: number; limit: number },
): Promise<LogLine[]> {
  const result = await db.query<LogLine>(
    `SELECT id, at, category, level, message, detail FROM execution_logs
      WHERE execution_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
    [executionId.toString(), after, limit],
  );
  return result.rows;
}
