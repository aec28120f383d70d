import type { Queryable } from '../db/index.ts';
import type { UrlRow } from './list.ts';

/** Everything a row says. */
export type UrlDetails = UrlRow & {
  parentUrl: string | null;
  depth: number;
  hops: number;
  fetchCount: number;
  crashes: number;
  refreshSeconds: number | null;
  etag: string | null;
  lastModified: string | null;
  contentHash: string | null;
  duplicateOf: string | null;
  redirectedTo: string | null;
  errorText: string | null;
  validationStatus: string | null;
  rejectionReason: string | null;
  budgeted: boolean;
  /** A worker is fetching it now. */
  inFlight: boolean;
  domain: string | null;
  /** Its document has the same id. */
  hasDocument: boolean;
};

/** One row by its key; null when there is none. */
export async function loadUrl(
  db: Queryable,
  key: { bucket: number; domainKey: bigint; hash: Buffer },
): Promise<UrlDetails | null> {
  const result = await db.query<UrlDetails>(
    `SELECT f.bucket, f.domain_key AS "domainKey", f.url_hash AS hash, f.url, f.kind, f.origin, f.status, f.priority, f.level,
            f.ready, f.source_id AS "sourceId", f.due_at AS "dueAt", f.discovered_at AS "discoveredAt",
            f.last_fetched_at AS "lastFetchedAt", f.tries, f.http_status AS "httpStatus", f.error_code AS "errorCode",
            c.slug AS "sourceSlug", f.parent_url AS "parentUrl", f.depth, f.hops, f.fetch_count AS "fetchCount", f.crashes,
            f.refresh_seconds AS "refreshSeconds", f.etag, f.last_modified AS "lastModified",
            encode(f.content_hash, 'hex') AS "contentHash", encode(f.duplicate_of, 'hex') AS "duplicateOf",
            f.redirected_to AS "redirectedTo", f.error_text AS "errorText", f.validation_status AS "validationStatus",
            f.rejection_reason AS "rejectionReason", f.budgeted, coalesce(f.url_hash = ANY (s.in_flight), false) AS "inFlight",
            d.name AS domain, EXISTS (SELECT FROM documents o WHERE o.bucket = f.bucket AND o.domain_key = f.domain_key
                                        AND o.url_hash = f.url_hash) AS "hasDocument"
       FROM url_frontier f
       LEFT JOIN domain_slots s ON s.bucket = f.bucket AND s.domain_key = f.domain_key
       LEFT JOIN domains d ON d.bucket = f.bucket AND d.domain_key = f.domain_key
       LEFT JOIN sources c ON c.id = f.source_id
      WHERE f.bucket = $1 AND f.domain_key = $2 AND f.url_hash = $3`,
    [key.bucket, key.domainKey.toString(), key.hash],
  );
  return result.rows[0] ?? null;
}
