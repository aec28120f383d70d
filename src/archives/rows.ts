import type { Queryable } from '../db/index.ts';
import type { ArchiveKey } from './memory.ts';

/** Where a page's row stands; null: it has none. */
export type PageRow = {
  status: string;
  errorCode: string | null;
  redirectedTo: string | null;
};

/** The rows of pages of a domain, by the hex of their hashes. Index: url_frontier_pkey. */
export async function loadPageRows(
  db: Queryable,
  key: ArchiveKey,
  hashes: readonly Buffer[],
): Promise<Map<string, PageRow>> {
  if (hashes.length === 0) return new Map();
  const result = await db.query<PageRow & { hash: Buffer }>(
    `SELECT url_hash AS hash, status, error_code AS "errorCode", redirected_to AS "redirectedTo" FROM url_frontier
      WHERE bucket = $1 AND domain_key = $2 AND url_hash = ANY ($3)`,
    [key.bucket, key.domainKey.toString(), hashes],
  );
  return new Map(result.rows.map(({ hash, ...row }) => [hash.toString('hex'), row]));
}

// Hashes are as good as drawn by lot, so the first of them are a sample of all.
const sampled = 300;

/** Addresses of articles of a domain, a sample. Index: url_frontier_pkey, so many rows of it. */
export async function sampleArticles(db: Queryable, key: ArchiveKey): Promise<string[]> {
  const result = await db.query<{ url: string }>(
    `SELECT url FROM (SELECT url, kind FROM url_frontier WHERE bucket = $1 AND domain_key = $2
      ORDER BY url_hash LIMIT ${sampled}) f WHERE kind = 'article'`,
    [key.bucket, key.domainKey.toString()],
  );
  return result.rows.map(({ url }) => url);
}
