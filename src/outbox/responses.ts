import type { Queryable } from '../db/index.ts';
import { fence, fenceValues } from './ends.ts';
import type { SinkLease } from './leases.ts';

/** A response that waits for a sink. */
export type ResponseDelivery = {
  id: string;
  domainKey: bigint;
  enqueuedAt: Date;
  /** When its request began. */
  at: Date;
  status: number;
  method: string;
  url: string;
  /** Who answered. */
  address: string | null;
  /** SHA-256 of the payload; null where it is a 304 and nobody knows what of. */
  payloadDigest: Buffer | null;
  truncated: 'length' | 'time' | 'disconnect' | 'unspecified' | null;
  /** Why it comes without its payload. */
  revisit: 'server-not-modified' | 'identical-payload-digest' | null;
  /** The response of the same address that has the payload. */
  refersTo: string | null;
  refersToAt: Date | null;
  /** Both as they stood on the wire, with the empty line. */
  requestHead: Buffer;
  responseHead: Buffer;
  body: Buffer | null;
};

export type ClaimResponsesOptions = {
  sink: string;
  most: number;
  /** The first comes whatever it weighs. */
  mostBytes: number;
  fromBucket: number;
};

const allBuckets = 256;

/**
 * A sink's next responses, of each domain in the order they were requested in. Rows stay where they are; whoever asks
 * holds the sink's lease. Index: the table's key, one probe per bucket; it has the weights too.
 */
export async function claimResponses(
  db: Queryable,
  options: ClaimResponsesOptions,
): Promise<ResponseDelivery[]> {
  const { sink, most, mostBytes, fromBucket } = options;
  const buckets = Array.from({ length: allBuckets }, (_, index) => (fromBucket + index) % allBuckets);
  const result = await db.query<ResponseDelivery>(
    `WITH waiting AS MATERIALIZED (
       SELECT r.*, b.n FROM unnest($2::smallint[]) WITH ORDINALITY b(bucket, n)
         CROSS JOIN LATERAL (
           SELECT r.bucket, r.id, r.bytes FROM outbox_responses r WHERE r.bucket = b.bucket AND r.sink = $1
            ORDER BY r.id LIMIT $3) r
        WHERE EXISTS (SELECT FROM sinks s WHERE s.name = $1 AND s.enabled)
        LIMIT $3
     ), weighed AS (
       SELECT w.*, sum(w.bytes) OVER (ORDER BY w.n, w.id) - w.bytes AS before FROM waiting w
     )
     SELECT r.id, r.domain_key AS "domainKey", r.enqueued_at AS "enqueuedAt", r.at, r.status, r.method, r.url, r.address,
            r.payload_digest AS "payloadDigest", r.truncated, r.revisit, r.refers_to AS "refersTo",
            r.refers_to_at AS "refersToAt", r.request_head AS "requestHead", r.response_head AS "responseHead", r.body
       FROM weighed w JOIN outbox_responses r ON r.bucket = w.bucket AND r.sink = $1 AND r.id = w.id
      WHERE w.before < $4 ORDER BY w.n, w.id`,
    [sink, buckets, most, mostBytes],
  );
  return result.rows;
}

/**
 * Takes delivered responses out of the outbox, with the place up to which the sink's file is whole, in one statement
 * fenced by the lease: false where another deliverer has taken over, and then nothing is changed.
 */
export async function saveResponses(
  db: Queryable,
  lease: SinkLease,
  delivered: readonly Pick<ResponseDelivery, 'id' | 'domainKey'>[],
  position: object | null = null,
): Promise<boolean> {
  const result = await db.query(
    `WITH fence AS (${fence}),
     gone AS (
       DELETE FROM outbox_responses r USING unnest($5::bigint[], $6::uuid[]) AS k(domain_key, id), fence
        WHERE r.bucket = (k.domain_key & 255)::smallint AND r.sink = $1 AND r.id = k.id)
     SELECT FROM fence`,
    [
      ...fenceValues(lease, delivered.length, position),
      delivered.map((one) => one.domainKey.toString()),
      delivered.map((one) => one.id),
    ],
  );
  return result.rowCount === 1;
}

const lifeMs = 2000;

/** Whether any sink takes responses, as a fetcher knows it: asked every two seconds, so that settling costs nothing. */
export class ResponseReader {
  readonly #db: Queryable;
  readonly #monotonic: () => number;
  #wanted = false;
  #until = Number.NEGATIVE_INFINITY;

  constructor(db: Queryable, monotonic: () => number) {
    this.#db = db;
    this.#monotonic = monotonic;
  }

  async areWanted(): Promise<boolean> {
    const now = this.#monotonic();
    if (now < this.#until) return this.#wanted;
    const result = await this.#db.query<{ wanted: boolean }>(
      `SELECT EXISTS (SELECT FROM sinks WHERE enabled AND takes = 'responses') AS wanted`,
    );
    this.#wanted = result.rows[0]!.wanted;
    this.#until = now + lifeMs;
    return this.#wanted;
  }
}
