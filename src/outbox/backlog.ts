import type { Queryable } from '../db/index.ts';

/** Whether more deliveries wait than may; reads no further than the bound. What waits for a paused sink holds nobody up. */
export async function hasBacklog(db: Queryable, most: number): Promise<boolean> {
  const result = await db.query<{ behind: boolean }>(
    `SELECT count(*) > $1::bigint AS behind FROM (
       SELECT FROM outbox o WHERE o.sink IN (SELECT s.name FROM sinks s WHERE s.enabled) LIMIT $1::bigint + 1) x`,
    [most],
  );
  return result.rows[0]!.behind;
}

// Below this nobody would notice, and a rebuilt index of a busy outbox is soon as large again.
const worthTidyingBytes = 4 * 1024 * 1024;
const bytesPerRow = 400;

/**
 * Gives back the room of a backlog that is gone. Vacuum shortens the table by itself, but an index never; and a
 * backlog of hours would be carried for ever. Not in a transaction: REINDEX CONCURRENTLY blocks no settle.
 */
export async function tidyOutbox(db: Queryable): Promise<boolean> {
  const result = await db.query<{ bytes: number; rows: number }>(
    `SELECT pg_total_relation_size('outbox')::float8 AS bytes, (SELECT count(*)::float8 FROM outbox) AS rows`,
  );
  const { bytes, rows } = result.rows[0]!;
  if (bytes < worthTidyingBytes || bytes < rows * bytesPerRow) return false;
  await db.query('VACUUM outbox');
  await db.query('REINDEX INDEX CONCURRENTLY outbox_pkey');
  return true;
}
