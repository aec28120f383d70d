import type { Queryable } from '../db/index.ts';
import { bucketOf } from './signatures.ts';
import type { StoredDocument } from './stored.ts';

/** The bytes a document was made of, as they came. */
export type RawPage = { body: Buffer; encoding: string; contentType: string | null };

/**
 * The kept page of a document's last version; null: none is kept, or it is larger than `maxBytes`. Index: the key of the
 * day's partition of raw_pages.
 */
export async function loadRawPage(
  db: Queryable,
  document: Pick<StoredDocument, 'domainKey' | 'hash'>,
  maxBytes: number,
): Promise<RawPage | null> {
  // The time is read in the database: a date of ours has no microseconds, of which the key has six digits.
  const result = await db.query<RawPage>(
    `SELECT r.body, r.encoding, r.content_type AS "contentType"
       FROM (SELECT crawled_at FROM documents WHERE bucket = $1 AND domain_key = $2 AND url_hash = $3) d
       JOIN raw_pages r ON r.bucket = $1 AND r.domain_key = $2 AND r.url_hash = $3 AND r.fetched_at = d.crawled_at
      WHERE octet_length(r.body) <= $4`,
    [bucketOf(document.domainKey), document.domainKey.toString(), document.hash, maxBytes],
  );
  return result.rows[0] ?? null;
}
