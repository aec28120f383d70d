import type { Queryable } from '../db/index.ts';
import {
  type DocumentRecord,
  documentRecord,
  type StoredDocument,
  storedColumns,
} from '../documents/index.ts';

/**
 * Takes the next documents of an execution's own URLs out of the outbox of its sink, in the caller's transaction:
 * committed means delivered. What others gather meanwhile stays.
 */
export async function takeDeliveries(
  tx: Queryable,
  sink: string,
  limit: number,
  executionId: bigint,
): Promise<DocumentRecord[]> {
  const result = await tx.query<StoredDocument>(
    `WITH claimed AS (
       SELECT o.bucket, o.sink, o.domain_key, o.url_hash, o.version FROM outbox o
        WHERE o.sink = $1 AND EXISTS (
          SELECT FROM url_frontier f WHERE f.bucket = o.bucket AND f.domain_key = o.domain_key AND f.url_hash = o.url_hash
             AND f.execution_id = $3)
        ORDER BY o.bucket LIMIT $2 FOR UPDATE SKIP LOCKED),
     taken AS (
       DELETE FROM outbox o USING claimed c
        WHERE o.bucket = c.bucket AND o.sink = c.sink AND o.domain_key = c.domain_key AND o.url_hash = c.url_hash AND o.version = c.version
       RETURNING o.bucket, o.domain_key, o.url_hash)
     SELECT ${storedColumns}
       FROM (SELECT DISTINCT bucket, domain_key, url_hash FROM taken) t
       JOIN documents d ON d.bucket = t.bucket AND d.domain_key = t.domain_key AND d.url_hash = t.url_hash
       LEFT JOIN sources s ON s.id = d.source_id
      ORDER BY d.crawled_at`,
    [sink, limit, executionId.toString()],
  );
  return result.rows.map(documentRecord);
}
