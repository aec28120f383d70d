import type { Queryable } from '../db/index.ts';
import type { UrlIdentity } from '../url/index.ts';

/** An image address that a page shows, and what became of it. */
export type ListedImage = {
  url: string;
  pageUrl: string | null;
  sourceId: number | null;
  /** State of the address in the frontier, and why it was given up. */
  status: string;
  errorCode: string | null;
  /** Hex; null: not stored (yet). */
  sha256: string | null;
  format: string | null;
  width: number | null;
  height: number | null;
  bytes: number | null;
  /** Hex of 64 bits; alike images differ in few of them. */
  perceptualHash: string | null;
  storedIn: string | null;
  firstSeenAt: Date;
  lastSeenAt: Date;
};

export type ImageFilter = {
  sourceId?: number;
  page?: Pick<UrlIdentity, 'domainKey' | 'hash'>;
  limit: number;
};

/** Images by their pages, newest first. Indexes: image_sightings_page, image_sightings_source. */
export async function listImages(db: Queryable, filter: ImageFilter): Promise<ListedImage[]> {
  const result = await db.query<ListedImage>(
    `SELECT f.url, d.url AS "pageUrl", s.source_id AS "sourceId", f.status, f.error_code AS "errorCode",
            encode(m.sha256, 'hex') AS sha256, m.format, m.width, m.height, m.bytes,
            lpad(to_hex(m.perceptual_hash), 16, '0') AS "perceptualHash", m.stored_in AS "storedIn",
            s.first_seen_at AS "firstSeenAt", s.last_seen_at AS "lastSeenAt"
       FROM (SELECT s.* FROM image_sightings s
              WHERE ($1::integer IS NULL OR s.source_id = $1)
                AND ($2::bigint IS NULL OR s.page_domain_key = $2 AND s.page_hash = $3::bytea)
              ORDER BY s.first_seen_at DESC, s.url_hash LIMIT $4) s
       JOIN url_frontier f ON f.bucket = s.bucket AND f.domain_key = s.domain_key AND f.url_hash = s.url_hash
       LEFT JOIN documents d ON d.bucket = (s.page_domain_key & 255)::smallint AND d.domain_key = s.page_domain_key
        AND d.url_hash = s.page_hash
       LEFT JOIN images m ON m.bucket = image_bucket(s.sha256) AND m.sha256 = s.sha256 AND m.stored_at IS NOT NULL
      ORDER BY s.first_seen_at DESC, s.url_hash`,
    [
      filter.sourceId ?? null,
      filter.page?.domainKey.toString() ?? null,
      filter.page?.hash ?? null,
      filter.limit,
    ],
  );
  return result.rows;
}
