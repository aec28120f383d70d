import type { Queryable } from '../db/index.ts';

/** Which documents a sink is given again. */
export type ReplayOptions = {
  sink: string;
  sourceId?: number;
  since?: Date;
  /** Bounds what waits at a time, so that a replay of millions does not stop the crawl. */
  portion: number;
};

/** Where a replay goes on. */
export type ReplayPlace = { domainKey: bigint; hash: Buffer; bucket: number };

/**
 * Puts the next documents of a replay into the outbox, in the order of their key; answers how many and where to go on.
 * Without refetching: everything comes from what is stored. Index: the key of documents.
 */
export async function replayPortion(
  db: Queryable,
  options: ReplayOptions,
  after: ReplayPlace | null,
): Promise<{ enqueued: number; place: ReplayPlace | null }> {
  const result = await db.query<ReplayPlace & { deliverable: boolean; enqueued: number }>(
    `WITH found AS MATERIALIZED (
       SELECT d.bucket, d.domain_key, d.url_hash, d.version,
              d.page_type <> 'stub' AND ($5::integer IS NULL OR d.source_id = $5) AND ($6::timestamptz IS NULL OR d.crawled_at >= $6) AS deliverable
         FROM documents d WHERE (d.bucket, d.domain_key, d.url_hash) > ($2::smallint, $3::bigint, $4::bytea)
        ORDER BY d.bucket, d.domain_key, d.url_hash LIMIT $7
     ), sent AS (
       INSERT INTO outbox (bucket, sink, domain_key, url_hash, version, enqueued_at)
       SELECT bucket, $1, domain_key, url_hash, version, now() FROM found WHERE deliverable
          -- Responses are not stored, and a sink that takes them takes nothing else.
          AND EXISTS (SELECT FROM sinks s WHERE s.name = $1 AND s.takes = 'documents')
       ON CONFLICT DO NOTHING RETURNING bucket
     )
     SELECT f.bucket, f.domain_key AS "domainKey", f.url_hash AS hash, (SELECT count(*)::integer FROM sent) AS enqueued
       FROM found f ORDER BY f.bucket DESC, f.domain_key DESC, f.url_hash DESC LIMIT 1`,
    [
      options.sink,
      after?.bucket ?? -1,
      after?.domainKey.toString() ?? '0',
      after?.hash ?? Buffer.alloc(0),
      options.sourceId ?? null,
      options.since ?? null,
      options.portion,
    ],
  );
  const [last] = result.rows;
  if (last === undefined) return { enqueued: 0, place: null };
  const { enqueued, ...place } = last;
  return { enqueued, place };
}

/** How many deliveries wait for a sink, counted no further than the bound. */
export async function countWaiting(db: Queryable, sink: string, bound: number): Promise<number> {
  const result = await db.query<{ waiting: number }>(
    'SELECT count(*)::integer AS waiting FROM (SELECT FROM outbox WHERE sink = $1 LIMIT $2) x',
    [sink, bound],
  );
  return result.rows[0]!.waiting;
}
