import type { Queryable } from '../db/index.ts';
import { bucketOf, type DocumentKey } from './signatures.ts';

/** A version of a document, without its text. */
export type DocumentVersion = { version: number; crawledAt: Date; title: string | null; contentHash: string };

/** Who told us of a document's address: the first teller, then the others. */
export type Sighting = {
  sourceId: number | null;
  /** The slug and the name of the source. */
  source: string | null;
  sourceName: string | null;
  origin: string;
  /** The feed, sitemap or page that names it. */
  parentUrl: string | null;
  seenAt: Date;
};

const mostListed = 200;

/** The versions of a document that are kept, newest first; the first of them is the document as it is. */
export async function loadVersions(db: Queryable, key: DocumentKey): Promise<DocumentVersion[]> {
  const result = await db.query<DocumentVersion>(
    `SELECT version, crawled_at AS "crawledAt", title, encode(content_hash, 'hex') AS "contentHash" FROM (
       SELECT version, crawled_at, title, content_hash FROM documents WHERE bucket = $1 AND domain_key = $2 AND url_hash = $3
       UNION ALL
       SELECT version, crawled_at, title, content_hash FROM document_versions WHERE bucket = $1 AND domain_key = $2 AND url_hash = $3) v
      ORDER BY version DESC LIMIT ${mostListed}`,
    [bucketOf(key.domainKey), key.domainKey.toString(), key.hash],
  );
  return result.rows;
}

/** The text of a version that is kept; null: there is none of that number. */
export async function loadVersionText(
  db: Queryable,
  key: DocumentKey,
  version: number,
): Promise<{ title: string | null; text: string } | null> {
  const result = await db.query<{ title: string | null; text: string }>(
    `SELECT title, text FROM documents WHERE bucket = $1 AND domain_key = $2 AND url_hash = $3 AND version = $4
     UNION ALL
     SELECT title, text FROM document_versions WHERE bucket = $1 AND domain_key = $2 AND url_hash = $3 AND version = $4`,
    [bucketOf(key.domainKey), key.domainKey.toString(), key.hash, version],
  );
  return result.rows[0] ?? null;
}

/** Where a document's address was seen. */
export async function loadSightings(db: Queryable, key: DocumentKey): Promise<Sighting[]> {
  const result = await db.query<Sighting>(
    `SELECT s.source_id AS "sourceId", o.slug AS source, o.name AS "sourceName", s.origin, s.parent_url AS "parentUrl",
            s.seen_at AS "seenAt" FROM (
       SELECT source_id, origin, parent_url, discovered_at AS seen_at FROM url_frontier
        WHERE bucket = $1 AND domain_key = $2 AND url_hash = $3
       UNION ALL
       SELECT source_id, origin, parent_url, seen_at FROM url_sightings WHERE bucket = $1 AND domain_key = $2 AND url_hash = $3) s
       LEFT JOIN sources o ON o.id = s.source_id
      ORDER BY s.seen_at LIMIT ${mostListed}`,
    [bucketOf(key.domainKey), key.domainKey.toString(), key.hash],
  );
  return result.rows;
}
