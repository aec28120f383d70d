import type { Queryable } from '../db/index.ts';
import type { SinkLease } from './leases.ts';

/** What became of one delivery. */
export type DeliveryEnd =
  | { end: 'delivered' }
  /** The sink will never take it. */
  | { end: 'rejected'; reason: string }
  /** Not now: again after this long. */
  | { end: 'retry'; reason: string; afterMs: number }
  /** The same, and it is no failure of the document. */
  | { end: 'later'; reason: string; afterMs: number };

/** A document version and what became of it. */
export type EndedDelivery = { domainKey: bigint; hash: Buffer; version: number } & DeliveryEnd;

const mostErrorChars = 2000;

/** Counts a delivery, keeps the position, and finds a row only while the lease is still the sink's ($1 to $4). */
export const fence = `
       UPDATE sink_states SET delivered = delivered + $3, position = coalesce($4::jsonb, position),
              delivered_at = CASE WHEN $3 > 0 THEN now() ELSE delivered_at END,
              failing_since = NULL, failures = 0, error = NULL, retry_at = NULL
        WHERE sink = $1 AND lease_epoch = $2 AND lease_owner IS NOT NULL
       RETURNING sink`;

/** What stands for $1 to $4 of the fence. */
export const fenceValues = (lease: SinkLease, delivered: number, position: object | null): unknown[] => [
  lease.sink,
  lease.epoch.toString(),
  delivered,
  position === null ? null : JSON.stringify(position),
];

/**
 * Writes down what became of deliveries, and how far the sink's file is whole, in one statement fenced by the lease:
 * false where another deliverer has taken over, and then nothing is changed.
 */
export async function saveEnds(
  db: Queryable,
  lease: SinkLease,
  ends: readonly EndedDelivery[],
  position: object | null = null,
): Promise<boolean> {
  const delivered = ends.filter((one) => one.end === 'delivered').length;
  const result = await db.query(
    `WITH fence AS (${fence}
     ), ended AS (
       SELECT k.*, (k.domain_key & 255)::smallint AS bucket
         FROM unnest($5::bigint[], $6::bytea[], $7::integer[], $8::text[], $9::float8[], $10::integer[])
              AS k(domain_key, url_hash, version, reason, after_ms, tries), fence
     ), gone AS (
       DELETE FROM outbox o USING ended k
        WHERE k.after_ms IS NULL AND o.bucket = k.bucket AND o.sink = $1 AND o.domain_key = k.domain_key
          AND o.url_hash = k.url_hash AND o.version <= k.version
       RETURNING o.*, k.reason
     ), letters AS (
       INSERT INTO dead_letters (bucket, sink, domain_key, url_hash, version, enqueued_at, dead_at, attempts, error)
       SELECT bucket, sink, domain_key, url_hash, version, enqueued_at, now(), attempts + 1, reason FROM gone
        WHERE reason IS NOT NULL
       ON CONFLICT (bucket, sink, domain_key, url_hash, version) DO UPDATE
         SET dead_at = excluded.dead_at, attempts = dead_letters.attempts + excluded.attempts, error = excluded.error
     ), settled AS (
       -- It has the document after all, this version or a newer one, by a replay or a change.
       DELETE FROM dead_letters l USING ended k
        WHERE k.reason IS NULL AND l.bucket = k.bucket AND l.sink = $1 AND l.domain_key = k.domain_key
          AND l.url_hash = k.url_hash AND l.version <= k.version
     ), later AS (
       UPDATE outbox o SET attempts = o.attempts + k.tries, retry_at = now() + k.after_ms * interval '1 millisecond'
         FROM ended k
        WHERE k.after_ms IS NOT NULL AND o.bucket = k.bucket AND o.sink = $1 AND o.domain_key = k.domain_key
          AND o.url_hash = k.url_hash AND o.version <= k.version)
     SELECT FROM fence`,
    [
      ...fenceValues(lease, delivered, position),
      ends.map((one) => one.domainKey.toString()),
      ends.map((one) => one.hash),
      ends.map((one) => one.version),
      ends.map((one) =>
        one.end === 'delivered' ? null : one.reason.replaceAll('\u0000', '').slice(0, mostErrorChars),
      ),
      ends.map((one) => ('afterMs' in one ? one.afterMs : null)),
      ends.map((one) => (one.end === 'retry' ? 1 : 0)),
    ],
  );
  return result.rowCount === 1;
}
