import type { Queryable } from '../db/index.ts';

/** How a run stands that waits for its rows. */
export type RunFacts = {
  crawled: number;
  indexed: number;
  /** By the database's clock. */
  ranMs: number;
  /** Rows that wait or are in flight, counted up to a thousand. */
  waiting: number;
};

// Rows that are parked for longer do not hold a run up.
const horizonMinutes = 60;
const mostCounted = 1000;

/** How an execution stands; null: it is gone. Index: url_frontier_execution. */
export async function loadRun(db: Queryable, executionId: bigint): Promise<RunFacts | null> {
  const result = await db.query<RunFacts>(
    `SELECT e.items_crawled AS crawled, e.items_indexed AS indexed,
            extract(epoch FROM now() - e.started_at)::float8 * 1000 AS "ranMs",
            execution_waiting(e.id, make_interval(mins => $2), $3) AS waiting
       FROM job_executions e WHERE e.id = $1`,
    [executionId.toString(), horizonMinutes, mostCounted],
  );
  return result.rows[0] ?? null;
}

/** Makes known articles of a domain due now for an execution, longest unseen first; answers how many. */
export async function refreshArticles(
  db: Queryable,
  executionId: bigint,
  { bucket, domainKey, limit }: { bucket: number; domainKey: bigint; limit: number },
): Promise<number> {
  const result = await db.query<{ due: number }>(
    'SELECT execution_refresh($1, $2::smallint, $3, $4) AS due',
    [executionId.toString(), bucket, domainKey.toString(), limit],
  );
  return result.rows[0]!.due;
}
