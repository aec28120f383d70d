import type { Queryable } from '../db/index.ts';
import type { JobKind } from './states.ts';

/** What a fetcher must know of an execution whose row it holds. */
export type ExecutionState = {
  id: bigint;
  kind: JobKind;
  /** `over`: it has ended and let its rows go; `stopped`: it has ended and its rows are about to be taken away. */
  stands: 'running' | 'stopped' | 'over';
  startedAt: Date;
  crawled: number;
  maxPages: number | null;
  maxDepth: number | null;
};

/** How executions stand; ids that are no job's are not answered. Index: job_executions_pkey. */
export async function loadExecutionStates(
  db: Queryable,
  ids: readonly bigint[],
): Promise<Map<bigint, ExecutionState>> {
  const result = await db.query<ExecutionState>(
    `SELECT e.id, j.kind, e.started_at AS "startedAt", e.items_crawled AS crawled, j.max_pages AS "maxPages",
            j.max_depth AS "maxDepth",
            CASE WHEN e.status = 'running' THEN 'running' WHEN e.sweep IN ('run_ended', 'cancelled') THEN 'stopped'
                 ELSE 'over' END AS stands
       FROM job_executions e JOIN jobs j ON j.id = e.job_id WHERE e.id = ANY ($1::bigint[])`,
    [ids.map(String)],
  );
  return new Map(result.rows.map((row) => [row.id, row]));
}

/** How an execution stands; null: it is gone. */
export async function loadEnd(db: Queryable, executionId: bigint): Promise<string | null> {
  const result = await db.query<{ status: string }>('SELECT status FROM job_executions WHERE id = $1', [
    executionId.toString(),
  ]);
  return result.rows[0]?.status ?? null;
}

/** Marks the first step as taken, with what is to be remembered of it. */
export async function saveBegun(
  db: Queryable,
  executionId: bigint,
  progress: Record<string, unknown> = {},
): Promise<void> {
  await db.query('UPDATE job_executions SET begun = true, metadata = metadata || $2::jsonb WHERE id = $1', [
    executionId.toString(),
    JSON.stringify(progress),
  ]);
}

/** What the fetchers of a process spent on an execution's pages since they last said so. */
export type Usage = { executionId: bigint; cpuMs: number; peakMemoryBytes: number };

/** Adds what a process spent; the peak is that of any process. */
export async function saveUsage(db: Queryable, usages: readonly Usage[]): Promise<void> {
  await db.query(
    `UPDATE job_executions e SET cpu_ms = e.cpu_ms + u.cpu_ms, peak_memory_bytes = greatest(e.peak_memory_bytes, u.peak)
       FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS u(id, cpu_ms, peak) WHERE e.id = u.id`,
    [
      usages.map((one) => one.executionId.toString()),
      usages.map((one) => Math.round(one.cpuMs)),
      usages.map((one) => Math.round(one.peakMemoryBytes)),
    ],
  );
}

/** An article that a run's listing named. */
export type FoundArticle = { hash: Buffer; isNew: boolean };

/** Remembers articles that a run has met, each once. */
export async function saveFound(
  db: Queryable,
  executionId: bigint,
  articles: readonly FoundArticle[],
): Promise<void> {
  if (articles.length === 0) return;
  await db.query(
    `INSERT INTO execution_found AS f (execution_id, url_hash, is_new)
     SELECT $1, x.hash, bool_or(x.is_new) FROM unnest($2::bytea[], $3::boolean[]) AS x(hash, is_new) GROUP BY x.hash ORDER BY x.hash
     ON CONFLICT (execution_id, url_hash) DO NOTHING`,
    [executionId.toString(), articles.map((one) => one.hash), articles.map((one) => one.isNew)],
  );
}

/** The articles a run has met: how many, how many of them are new, and the hash of their set. */
export type FoundSet = { found: number; fresh: number; hash: Buffer };

/** Reads the set of articles that a run has met. Index: execution_found_pkey, which gives the order. */
export async function loadFound(db: Queryable, executionId: bigint): Promise<FoundSet> {
  const result = await db.query<FoundSet>(
    `SELECT count(*)::integer AS found, count(*) FILTER (WHERE is_new)::integer AS fresh,
            sha256(coalesce(string_agg(url_hash, '' ORDER BY url_hash), '')) AS hash
       FROM execution_found WHERE execution_id = $1`,
    [executionId.toString()],
  );
  return result.rows[0]!;
}

/** Forgets the articles of a run that has ended. */
export async function removeFound(db: Queryable, executionId: bigint): Promise<void> {
  await db.query('DELETE FROM execution_found WHERE execution_id = $1', [executionId.toString()]);
}

const mostCounted = 10_000;

/** Rows of an execution that are parked for longer than it waits. Index: url_frontier_execution. */
export async function countParked(db: Queryable, executionId: bigint): Promise<number> {
  const result = await db.query<{ parked: number }>(
    `SELECT count(*)::integer AS parked FROM (
       SELECT FROM url_frontier WHERE execution_id = $1 AND status IN ('pending', 'failed', 'needs_render') LIMIT $2) x`,
    [executionId.toString(), mostCounted],
  );
  return result.rows[0]!.parked;
}
