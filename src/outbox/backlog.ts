import type { Queryable } from '../db/index.ts';

/** How much may wait for sinks before fetching slows. */
export type BacklogBounds = { most: number; mostResponseBytes: number };

/** Whether what waits is within its bounds, beyond them, or at twice as much, where nothing may be added. */
export type Backlog = 'light' | 'heavy' | 'full';

/**
 * How far sinks are behind; reads no further than twice the bound. What waits for a paused sink holds nobody up.
 * Responses are bounded by their bytes too, which stand in the leaves of their key.
 */
export async function measureBacklog(db: Queryable, bounds: BacklogBounds): Promise<Backlog> {
  const { most, mostResponseBytes } = bounds;
  const result = await db.query<{ rows: number; responses: number; bytes: number }>(
    `WITH enabled AS MATERIALIZED (SELECT name FROM sinks WHERE enabled)
     SELECT (SELECT count(*)::float8 FROM (
               SELECT FROM outbox o WHERE o.sink IN (SELECT name FROM enabled) LIMIT 2 * $1::bigint + 1) x) AS rows,
            r.responses, r.bytes
       FROM (SELECT count(*)::float8 AS responses, coalesce(sum(x.bytes), 0)::float8 AS bytes FROM (
               SELECT r.bytes FROM outbox_responses r WHERE r.sink IN (SELECT name FROM enabled)
                LIMIT 2 * $1::bigint + 1) x) r`,
    [most],
  );
  const { rows, responses, bytes } = result.rows[0]!;
  const isBeyond = (times: number): boolean =>
    rows > times * most || responses > times * most || bytes > times * mostResponseBytes;
  return isBeyond(2) ? 'full' : isBeyond(1) ? 'heavy' : 'light';
}

// Below this nobody would notice, and a rebuilt index of a busy outbox is soon as large again.
const worthTidyingBytes = 4 * 1024 * 1024;
const bytesPerRow = 400;

/**
 * Gives back the room of a backlog that is gone. Vacuum shortens a table by itself, but an index never; and a backlog
 * of hours would be carried for ever. Not in a transaction: REINDEX CONCURRENTLY blocks no settle.
 */
export async function tidyOutbox(db: Queryable): Promise<boolean> {
  let isTidied = false;
  for (const [table, contents] of [
    ['outbox', '0'],
    ['outbox_responses', 'coalesce(sum(bytes), 0)'],
  ] as const) {
    const result = await db.query<{ bytes: number; needed: number }>(
      `SELECT pg_total_relation_size('${table}')::float8 AS bytes,
              (SELECT count(*) * ${bytesPerRow} + 2 * ${contents} FROM ${table})::float8 AS needed`,
    );
    const { bytes, needed } = result.rows[0]!;
    if (bytes < worthTidyingBytes || bytes < needed) continue;
    await db.query(`VACUUM ${table}`);
    // With the index of its TOAST table, which is the larger one for responses.
    await db.query(`REINDEX TABLE CONCURRENTLY ${table}`);
    isTidied = true;
  }
  return isTidied;
}
