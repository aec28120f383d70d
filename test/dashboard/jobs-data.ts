import { appendLog, type NewLogLine } from '../../src/jobs/index.ts';
import { endRun, putJob, startRun } from '../jobs/standing.ts';
import type { TestDatabase } from '../setup/database.ts';
import type { DashboardLab } from './lab.ts';

type Pool = TestDatabase['pool'];

/** The jobs of the tests, by what they are there for. */
export type MadeJobs = { recurring: number; failed: number; running: number; paused: number; once: number };

/** Two sources with jobs in every interesting state, and runs that went well and badly. */
export async function makeJobs(lab: DashboardLab): Promise<MadeJobs> {
  const { pool } = lab.api.database;
  const sources: number[] = [];
  for (const name of ['herald', 'coast'])
    sources.push(
      (await lab.api.ask('POST', '/api/v1/sources', { url: `https://${name}.example/`, name })).body.id,
    );
  const [herald, coast] = sources as [number, number];
  const hours = (count: number): Date => new Date(Date.now() + count * 3_600_000);
  const recurring = await putJob(pool, 'scheduled', {
    kind: 'crawl',
    sourceId: herald,
    intervalSeconds: 21_600,
    at: hours(5),
  });
  await pool.query('UPDATE jobs SET unchanged_runs = 2 WHERE id = $1', [recurring]);
  await addRuns(pool, recurring, 23);
  const failed = await putJob(pool, 'failed', { kind: 'refresh', sourceId: coast, retries: 3 });
  await addRuns(pool, failed, 4, 'the database went away');
  const paused = await putJob(pool, 'paused', { kind: 'crawl', sourceId: coast, intervalSeconds: 3600 });
  const once = await putJob(pool, 'completed', { kind: 'prune', intervalSeconds: null });
  await addRuns(pool, once, 1);
  const running = await putJob(pool, 'running', {
    kind: 'discover',
    sourceId: herald,
    intervalSeconds: 86_400,
  });
  return { recurring, failed, running, paused, once };
}

/** Ended runs of a job; of several that are to fail the newest does, with an error and its stack. */
async function addRuns(pool: Pool, jobId: number, count: number, error: string | null = null): Promise<void> {
  await pool.query(
    `INSERT INTO job_executions (job_id, number, status, trigger, worker, started_at, completed_at, items_crawled,
                                 items_indexed, cpu_ms, peak_memory_bytes, error_message, error_stack, metadata)
     SELECT $1, n, CASE WHEN $3::text IS NOT NULL AND n = $2 OR n % 7 = 3 THEN 'failed' WHEN n % 11 = 5 THEN 'cancelled' ELSE 'completed' END::execution_status,
            'schedule', 'crawler-1', now() - ($2 - n) * interval '6 hours' - interval '1 hour',
            now() - ($2 - n) * interval '6 hours' - interval '57 minutes', 40 + n, n, 900 * n, 90000000,
            CASE WHEN n = $2 THEN $3 END, CASE WHEN n = $2 AND $3::text IS NOT NULL THEN E'Error: ' || $3 || E'\\n    at settle (settle.ts:1:1)' END,
            '{"found": 12, "outcomes": {"response": 40, "timeout": 2}}'
       FROM generate_series(1, $2::integer) n`,
    [jobId, count, error],
  );
  await pool.query('UPDATE jobs SET executions = $2 WHERE id = $1', [jobId, count]);
}

const pages = (from: number, count: number): NewLogLine[] =>
  Array.from({ length: count }, (_, index) => {
    const number = from + index;
    if (number % 10 === 0)
      return {
        category: 'rate_limit',
        level: 'warn',
        message: `page ${number}: 429, asked to wait 30 s`,
        detail: { retryAfter: 30 },
      };
    if (number % 25 === 7)
      return { category: 'error', level: 'error', message: `page ${number}: connection reset` };
    return {
      category: 'fetch',
      level: 'info',
      message: `page ${number}: 200, 14 kB in 120 ms, /news/${number}`,
    };
  });

/** Writes lines into the log of a run, numbered by their pages. */
export const writeLines = (pool: Pool, executionId: string, from: number, count: number): Promise<number> =>
  appendLog(pool, BigInt(executionId), pages(from, count));

/** Ten quarters of an hour, one of them with most runs. */
export async function bunch(pool: Pool, count: number): Promise<void> {
  const at = new Date(Date.now() + 4 * 3_600_000);
  for (let number = 0; number < count; number += 1)
    await putJob(pool, 'scheduled', { intervalSeconds: 86_400, at });
}

/** The run under way of a job. */
export async function runOf(pool: Pool, jobId: number): Promise<string> {
  const result = await pool.query<{ id: string }>(`SELECT execution_id::text AS id FROM jobs WHERE id = $1`, [
    jobId,
  ]);
  return result.rows[0]!.id;
}

export { endRun, startRun };
