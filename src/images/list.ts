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

/** A place in a list of images: behind this one. */
export type ImagePlace = { firstSeenUs: bigint; hash: Buffer; pageHash: Buffer };

export type ImageFilter = {
  sourceId?: number;
  page?: Pick<UrlIdentity, 'domainKey' | 'hash'>;
  after?: ImagePlace;
  limit: number;
};

/**
 * A page of images by their documents, newest first, and where the next one begins; null at the end. Indexes:
 * image_sightings_page, image_sightings_source.
 */
export async function pageImages(
  db: Queryable,
  filter: ImageFilter,
): Promise<{ rows: ListedImage[]; next: ImagePlace | null }> {
  const { after, limit } = filter;
  const result = await db.query<Omit<ListedImage, 'url'> & { url: string | null } & ImagePlace>(
    `SELECT f.url, d.url AS "pageUrl", s.source_id AS "sourceId", f.status, f.error_code AS "errorCode",
            encode(m.sha256, 'hex') AS sha256, m.format, m.width, m.height, m.bytes,
            lpad(to_hex(m.perceptual_hash), 16, '0') AS "perceptualHash", m.stored_in AS "storedIn",
            s.first_seen_at AS "firstSeenAt", s.last_seen_at AS "lastSeenAt",
            (extract(epoch FROM s.first_seen_at) * 1000000)::bigint AS "firstSeenUs", s.url_hash AS hash, s.page_hash AS "pageHash"
       FROM (SELECT s.* FROM image_sightings s
              WHERE ($1::integer IS NULL OR s.source_id = $1)
                AND ($2::bigint IS NULL OR s.page_domain_key = $2 AND s.page_hash = $3::bytea)
                AND ($5::bigint IS NULL OR s.first_seen_at <= 'epoch'::timestamptz + $5 * interval '1 microsecond'
                     AND (s.first_seen_at < 'epoch'::timestamptz + $5 * interval '1 microsecond'
                          OR (s.url_hash, s.page_hash) > ($6::bytea, $7::bytea)))
              ORDER BY s.first_seen_at DESC, s.url_hash, s.page_hash LIMIT $4) s
       LEFT JOIN url_frontier f ON f.bucket = s.bucket AND f.domain_key = s.domain_key AND f.url_hash = s.url_hash
       LEFT JOIN documents d ON d.bucket = (s.page_domain_key & 255)::smallint AND d.domain_key = s.page_domain_key
        AND d.url_hash = s.page_hash
       LEFT JOIN images m ON m.bucket = image_bucket(s.sha256) AND m.sha256 = s.sha256 AND m.stored_at IS NOT NULL
      ORDER BY s.first_seen_at DESC, s.url_hash, s.page_hash`,
    [
      filter.sourceId ?? null,
      filter.page?.domainKey.toString() ?? null,
      filter.page?.hash ?? null,
      limit,
      after?.firstSeenUs.toString() ?? null,
      after?.hash ?? null,
      after?.pageHash ?? null,
    ],
  );
  const last = result.rows.length === limit ? result.rows.at(-1)! : null;
  return {
    // A sighting may outlive its address by a moment; it counts for the page and is not shown.
    rows: result.rows.flatMap(({ url, firstSeenUs: _us, hash: _hash, pageHash: _pageHash, ...row }) =>
      url === null ? [] : [{ url, ...row }],
    ),
    next: last && { firstSeenUs: last.firstSeenUs, hash: last.hash, pageHash: last.pageHash },
  };
}
