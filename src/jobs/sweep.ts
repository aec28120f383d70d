import type { Queryable } from '../db/index.ts';
import { removeFound } from './executions.ts';

const portion = 2000;

type Sweep = { id: bigint; what: 'free' | 'run_ended' | 'cancelled' };

/** Executions that are over and whose rows still wait; of one job, or of any. Index: job_executions_sweep. */
async function loadSweeps(db: Queryable, jobId: number | null): Promise<Sweep[]> {
  const result = await db.query<Sweep>(
    `SELECT id, sweep AS what FROM job_executions
      WHERE sweep IS NOT NULL AND status <> 'running' AND ($1::integer IS NULL OR job_id = $1) ORDER BY id LIMIT 100`,
    [jobId],
  );
  return result.rows;
}

/**
 * Takes the rows of executions that are over away from them, domain by domain in key order and in portions: each is a
 * short transaction of its own. Rows in flight stay for the next call. Answers how many rows were moved.
 */
export async function sweepExecutions(db: Queryable, jobId: number | null = null): Promise<number> {
  let swept = 0;
  for (const sweep of await loadSweeps(db, jobId)) swept += await sweepOne(db, sweep);
  return swept;
}

/** Whether rows of executions that are over still wait, since they were in flight. Index: job_executions_sweep. */
export async function areSweepsLeft(db: Queryable): Promise<boolean> {
  return (await loadSweeps(db, null)).length > 0;
}

async function sweepOne(db: Queryable, { id, what }: Sweep): Promise<number> {
  let swept = 0;
  for (const { bucket, domain_key } of await loadDomains(db, id)) {
    for (;;) {
      const result = await db.query<{ rows: number }>(
        'SELECT execution_sweep($1, $2::smallint, $3, $4, $5) AS rows',
        [id.toString(), bucket, domain_key.toString(), what, portion],
      );
      const { rows } = result.rows[0]!;
      swept += rows;
      if (rows < portion) break;
    }
  }
  // What was found by a page in flight was submitted before that page was settled: while one flies, this is not the end.
  if ((await loadDomains(db, id)).length > 0) return swept;
  await removeFound(db, id);
  await db.query('UPDATE job_executions SET sweep = NULL WHERE id = $1', [id.toString()]);
  return swept;
}

/** Domains in which rows of an execution wait. Index: url_frontier_execution. */
async function loadDomains(
  db: Queryable,
  executionId: bigint,
): Promise<{ bucket: number; domain_key: bigint }[]> {
  const result = await db.query<{ bucket: number; domain_key: bigint }>(
    `SELECT DISTINCT bucket, domain_key FROM url_frontier
      WHERE execution_id = $1 AND status IN ('pending', 'failed', 'needs_render') ORDER BY bucket, domain_key`,
    [executionId.toString()],
  );
  return result.rows;
}
