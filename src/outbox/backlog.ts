import type { Queryable } from '../db/index.ts';

/** How much may wait for sinks. */
export type BacklogBounds = { most: number; mostResponseBytes: number };

/**
 * Whether more deliveries wait than may; reads no further than the bound. What waits for a paused sink holds nobody up.
 * Responses are bounded by their bytes too, which stand in the leaves of their key.
 */
export async function hasBacklog(db: Queryable, bounds: BacklogBounds): Promise<boolean> {
  const { most, mostResponseBytes } = bounds;
  const result = await db.query<{ behind: boolean }>(
    `WITH enabled AS MATERIALIZED (SELECT name FROM sinks WHERE enabled)
     SELECT (SELECT count(*) > $1::bigint FROM (
               SELECT FROM outbox o WHERE o.sink IN (SELECT name FROM enabled) LIMIT $1::bigint + 1) x)
         OR (SELECT count(*) > $1::bigint OR coalesce(sum(x.bytes), 0) > $2::bigint FROM (
               SELECT r.bytes FROM outbox_responses r WHERE r.sink IN (SELECT name FROM enabled)
                LIMIT $1::bigint + 1) x) AS behind`,
    [most, mostResponseBytes],
  );
  return result.rows[0]!.behind;
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
