import type { Queryable } from '../db/index.ts';

/** The right to deliver to a sink, until a time. */
export type SinkLease = { sink: string; owner: string; epoch: bigint; position: unknown };

/** Takes a sink that nobody delivers to and that does not rest after an error; null where it is not to be had. */
export async function leaseSink(
  db: Queryable,
  sink: string,
  owner: string,
  leaseMs: number,
): Promise<SinkLease | null> {
  const result = await db.query<{ epoch: bigint; position: unknown }>(
    `UPDATE sink_states SET lease_epoch = lease_epoch + 1, lease_owner = $2, lease_until = now() + $3 * interval '1 millisecond'
      WHERE sink = $1 AND (lease_until IS NULL OR lease_until <= now()) AND (retry_at IS NULL OR retry_at <= now())
        AND EXISTS (SELECT FROM sinks s WHERE s.name = $1 AND s.enabled)
      RETURNING lease_epoch AS epoch, position`,
    [sink, owner, leaseMs],
  );
  const [row] = result.rows;
  return row === undefined ? null : { sink, owner, ...row };
}

/** Makes a lease last longer; false where it is lost or the sink was paused. */
export async function renewSink(db: Queryable, lease: SinkLease, leaseMs: number): Promise<boolean> {
  const result = await db.query(
    `UPDATE sink_states SET lease_until = now() + $3 * interval '1 millisecond'
      WHERE sink = $1 AND lease_epoch = $2 AND lease_owner IS NOT NULL
        AND EXISTS (SELECT FROM sinks s WHERE s.name = $1 AND s.enabled)`,
    [lease.sink, lease.epoch.toString(), leaseMs],
  );
  return result.rowCount === 1;
}

/** Gives a lease back. */
export async function releaseSink(db: Queryable, lease: SinkLease): Promise<void> {
  await db.query(
    'UPDATE sink_states SET lease_owner = NULL, lease_until = NULL WHERE sink = $1 AND lease_epoch = $2',
    [lease.sink, lease.epoch.toString()],
  );
}

/** Gives a lease back because the sink as a whole takes nothing, and says when to try again. */
export async function saveSinkFailure(
  db: Queryable,
  lease: SinkLease,
  failure: { error: string; retryInMs: number },
): Promise<void> {
  await db.query(
    `UPDATE sink_states SET lease_owner = NULL, lease_until = NULL, failures = failures + 1, error = $3,
            failing_since = coalesce(failing_since, now()), retry_at = now() + $4 * interval '1 millisecond'
      WHERE sink = $1 AND lease_epoch = $2`,
    [lease.sink, lease.epoch.toString(), failure.error, failure.retryInMs],
  );
}
