import type { Queryable } from '../db/index.ts';
import { type StoredDocument, storedColumns } from '../documents/index.ts';

/** The bytes of a page as they came. */
export type RawPage = { body: Buffer; encoding: string; contentType: string | null };

/** A document that waits for a sink. */
export type Delivery = {
  document: StoredDocument;
  /** Deliveries that failed before. */
  attempts: number;
  enqueuedAt: Date;
  /** When it was claimed, by the database's clock: the one to tell others, since a machine's own may be wrong. */
  claimedAt: Date;
  /** The page it was made from; null where it was not kept or not asked for. */
  raw: RawPage | null;
};

export type ClaimOptions = {
  sink: string;
  most: number;
  /** Of texts and raw pages together; the first document comes whatever it weighs. */
  mostBytes: number;
  withRaw: boolean;
  /** The bucket to begin with, so that a poor one does not keep the others waiting. */
  fromBucket: number;
};

type ClaimedRow = StoredDocument & {
  attempts: number;
  enqueuedAt: Date;
  claimedAt: Date;
  rawBody: Buffer | null;
  rawEncoding: string | null;
  rawType: string | null;
};

const allBuckets = 256;

/**
 * A sink's next documents, as they are now: of several versions that wait the last is delivered for all. Rows stay
 * where they are; whoever asks holds the sink's lease. Index: the outbox's key, one probe per bucket.
 */
export async function claimDeliveries(db: Queryable, options: ClaimOptions): Promise<Delivery[]> {
  const { sink, most, mostBytes, withRaw, fromBucket } = options;
  const buckets = Array.from({ length: allBuckets }, (_, index) => (fromBucket + index) % allBuckets);
  const raw = withRaw
    ? `LEFT JOIN LATERAL (SELECT r.body, r.encoding, r.content_type FROM raw_pages r
         WHERE r.bucket = d.bucket AND r.domain_key = d.domain_key AND r.url_hash = d.url_hash AND r.fetched_at = d.crawled_at) r ON true`
    : 'CROSS JOIN (SELECT NULL::bytea AS body, NULL::text AS encoding, NULL::text AS content_type) r';
  const result = await db.query<ClaimedRow>(
    `WITH waiting AS MATERIALIZED (
       SELECT o.*, b.n FROM unnest($2::smallint[]) WITH ORDINALITY b(bucket, n)
         CROSS JOIN LATERAL (
           SELECT o.bucket, o.domain_key, o.url_hash, o.attempts, o.enqueued_at FROM outbox o
            WHERE o.bucket = b.bucket AND o.sink = $1 AND NOT o.held AND (o.retry_at IS NULL OR o.retry_at <= now())
            ORDER BY o.domain_key, o.url_hash, o.version LIMIT $3) o
        -- Who paused it does not wait for the lease to be renewed.
        WHERE EXISTS (SELECT FROM sinks s WHERE s.name = $1 AND s.enabled)
        LIMIT $3
     ), claimed AS (
       SELECT o.bucket, o.domain_key, o.url_hash, max(o.attempts) AS attempts, min(o.enqueued_at) AS enqueued_at, min(o.n) AS n
         FROM waiting o GROUP BY 1, 2, 3
     ), weighed AS (
       SELECT c.*, sum(octet_length(d.text) + coalesce(octet_length(r.body), 0)) OVER (ORDER BY c.n, c.domain_key, c.url_hash)
                   - octet_length(d.text) - coalesce(octet_length(r.body), 0) AS before
         FROM claimed c JOIN documents d ON d.bucket = c.bucket AND d.domain_key = c.domain_key AND d.url_hash = c.url_hash
         ${raw}
     )
     SELECT ${storedColumns}, w.attempts, w.enqueued_at AS "enqueuedAt", now() AS "claimedAt", r.body AS "rawBody",
            r.encoding AS "rawEncoding", r.content_type AS "rawType"
       FROM weighed w JOIN documents d ON d.bucket = w.bucket AND d.domain_key = w.domain_key AND d.url_hash = w.url_hash
       ${raw}
       -- Of a deleted source what it was called: an index or a folder of that name has its documents already.
       LEFT JOIN LATERAL (SELECT slug, name FROM sources WHERE id = d.source_id
                          UNION ALL SELECT slug, name FROM former_sources WHERE id = d.source_id) s ON true
      WHERE w.before < $4 ORDER BY w.n, w.domain_key, w.url_hash`,
    [sink, buckets, most, mostBytes],
  );
  return result.rows.map(
    ({ attempts, enqueuedAt, claimedAt, rawBody, rawEncoding, rawType, ...document }) => ({
      document,
      attempts,
      enqueuedAt,
      claimedAt,
      raw:
        rawBody === null
          ? null
          : { body: rawBody, encoding: rawEncoding ?? 'identity', contentType: rawType },
    }),
  );
}
