import type { Database, Queryable } from '../db/index.ts';
import { appendLog, type NewLogLine } from './log.ts';

/** What a settle told an execution. */
export type Report = {
  what: 'request' | 'document' | 'hold';
  at: Date;
  /** Of a request or a page; of a hold its reason. */
  kind: string | null;
  status: number | null;
  /** Of a request how it ended; of a document what became of it; of a hold why the domain rests. */
  outcome: string | null;
  url: string | null;
  /** Of a hold how long it lasts. */
  totalMs: number | null;
  /** Of a hold by how much the domain's delay has grown, in milliseconds. */
  bytes: bigint | null;
  title: string | null;
  words: number | null;
};

const atOnce = 500;

/** Whether a request brought a page: it was answered, and not with another address. */
export const isPage = (report: Report): boolean =>
  report.what === 'request' && report.status !== null && report.outcome !== 'redirect';

/** Whether a document is new or has changed. */
export const isIndexed = (report: Report): boolean =>
  report.what === 'document' && (report.outcome === 'new' || report.outcome === 'changed');

/** The line of the log that says what a report says. */
export function lineOf(report: Report): NewLogLine[] {
  const { at, url, status } = report;
  if (report.what === 'hold') {
    const seconds = Math.round((report.totalMs ?? 0) / 1000);
    const words = (report.kind ?? 'politeness').replaceAll('_', ' ');
    const rest = report.outcome === null ? '' : `, ${report.outcome.replaceAll('_', ' ')}`;
    return [
      {
        at,
        category: 'rate_limit',
        level: 'warn',
        message: `the domain rests for ${seconds} s (${words}${rest})`,
        detail: { holdMs: report.totalMs, reason: report.kind, penaltyMs: Number(report.bytes ?? 0) },
      },
    ];
  }
  if (report.what === 'document')
    return [
      {
        at,
        category: 'extract',
        level: 'info',
        message: `${report.outcome}: ${report.title ?? url ?? ''} (${report.words ?? 0} words)`,
        detail: {
          url,
          title: report.title,
          words: report.words,
          pageType: report.kind,
          change: report.outcome,
        },
      },
    ];
  const bytes = Number(report.bytes ?? 0);
  const detail = { url, status, kind: report.kind, outcome: report.outcome, bytes, ms: report.totalMs };
  if (status === null)
    return [{ at, category: 'error', level: 'warn', message: `${report.outcome} ${url}`, detail }];
  const message = `${status} ${report.kind} ${url} (${bytes} bytes, ${report.totalMs ?? 0} ms)`;
  const level = status >= 400 ? 'warn' : 'info';
  return [
    { at, category: 'fetch', level, message, detail },
    ...(status === 429
      ? [
          {
            at,
            category: 'rate_limit',
            level: 'warn',
            message: `asked to slow down by ${url}`,
            detail,
          } as const,
        ]
      : []),
  ];
}

/** How often each outcome came, added to what was counted before. */
function countOutcomes(before: Record<string, number>, reports: readonly Report[]): Record<string, number> {
  const counts = { ...before };
  for (const report of reports) {
    if (report.what !== 'request') continue;
    const name = report.outcome === 'response' ? `http_${report.status}` : (report.outcome ?? 'unknown');
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/**
 * Takes what settles told an execution, writes it into its log and counts it, in one transaction: whoever does it, each
 * report is counted and written once. Answers how many were taken. Index: execution_reports_execution.
 */
export async function takeReports(database: Database, executionId: bigint): Promise<number> {
  const some = await database.pool.query('SELECT FROM execution_reports WHERE execution_id = $1 LIMIT 1', [
    executionId.toString(),
  ]);
  if (some.rowCount === 0) return 0;
  return database.withTransaction(async (tx) => {
    const id = executionId.toString();
    // Locked first: two that take reports of one execution would count from the same numbers.
    const execution = await tx.query<{ outcomes: Record<string, number> | null }>(
      `SELECT metadata -> 'outcomes' AS outcomes FROM job_executions WHERE id = $1 FOR UPDATE`,
      [id],
    );
    const reports = await deleteReports(tx, id);
    if (reports.length === 0 || execution.rows[0] === undefined) return reports.length;
    await appendLog(tx, executionId, reports.flatMap(lineOf));
    await tx.query(
      `UPDATE job_executions SET items_crawled = items_crawled + $2, items_indexed = items_indexed + $3,
              metadata = metadata || jsonb_build_object('outcomes', $4::jsonb) WHERE id = $1`,
      [
        id,
        reports.filter(isPage).length,
        reports.filter(isIndexed).length,
        JSON.stringify(countOutcomes(execution.rows[0].outcomes ?? {}, reports)),
      ],
    );
    return reports.length;
  });
}

async function deleteReports(tx: Queryable, id: string): Promise<Report[]> {
  const result = await tx.query<Report>(
    `WITH taken AS (
       DELETE FROM execution_reports WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM execution_reports WHERE execution_id = $1 ORDER BY at LIMIT ${atOnce} FOR UPDATE SKIP LOCKED))
       RETURNING *)
     SELECT what, at, kind, status, outcome, url, total_ms AS "totalMs", bytes, title, words FROM taken
      ORDER BY at, what DESC`,
    [id],
  );
  return result.rows;
}

/**
 * Executions that are over and to which a late settle has told something; of ids that have no execution any more the
 * reports are removed. Reads the newest few: there is seldom one.
 */
export async function loadLateReports(db: Queryable): Promise<bigint[]> {
  await db.query(
    `DELETE FROM execution_reports r WHERE r.execution_id IN (
       SELECT DISTINCT x.execution_id FROM (SELECT execution_id FROM execution_reports ORDER BY execution_id LIMIT 1000) x
        WHERE NOT EXISTS (SELECT FROM job_executions e WHERE e.id = x.execution_id))`,
  );
  const result = await db.query<{ id: bigint }>(
    `SELECT DISTINCT e.id FROM (SELECT execution_id FROM execution_reports ORDER BY execution_id LIMIT 1000) x
       JOIN job_executions e ON e.id = x.execution_id WHERE e.status <> 'running'`,
  );
  return result.rows.map((row) => row.id);
}
