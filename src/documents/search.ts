import type { Queryable } from '../db/index.ts';
import { mostCounted } from './clusters.ts';

/** A document as lists show it. */
export type DocumentHit = {
  domainKey: bigint;
  hash: Buffer;
  url: string;
  title: string | null;
  language: string | null;
  publishedAt: Date | null;
  crawledAt: Date;
  wordCount: number;
  sourceId: number | null;
  snippet: string;
  /** Copies of it elsewhere, exact or near, counted to 999. */
  copies: number;
};

// Of a document d: two probes, and one row of the cluster's key per copy.
const copiesOfDocument = `(SELECT greatest(count(*) - 1, 0)::integer FROM (
              SELECT FROM document_signatures g
                JOIN document_copies c ON c.bucket = (g.cluster_domain_key & 255)::smallint
                 AND c.cluster_domain_key = g.cluster_domain_key AND c.cluster_url_hash = g.cluster_url_hash
               WHERE g.bucket = d.bucket AND g.domain_key = d.domain_key AND g.url_hash = d.url_hash LIMIT ${mostCounted}) m) AS copies`;

/** Full-text search, best first among the newest 500 matches; `ranked` says how many that were. */
export async function searchDocuments(
  db: Queryable,
  query: string,
  options: { limit?: number } = {},
): Promise<{ hits: DocumentHit[]; ranked: number }> {
  // Documents are indexed as written and, where the language is known, by word stems; the query is tried both ways.
  const result = await db.query<DocumentHit & { ranked: number }>(
    `WITH asked AS (SELECT websearch_to_tsquery('simple', $1) || websearch_to_tsquery('english', $1) AS q),
     newest AS (
       SELECT s.bucket, s.domain_key, s.url_hash, ts_rank(s.words, asked.q) AS rank
         FROM document_search s, asked WHERE s.words @@ asked.q ORDER BY s.crawled_at DESC LIMIT 500)
     SELECT d.domain_key AS "domainKey", d.url_hash AS hash, d.url, d.title, d.language, d.published_at AS "publishedAt",
            d.crawled_at AS "crawledAt", d.word_count AS "wordCount", d.source_id AS "sourceId",
            ts_headline('simple', left(d.text, 20000), asked.q, 'MaxFragments=1, MaxWords=22, MinWords=8, StartSel=«, StopSel=»') AS snippet,
            ${copiesOfDocument},
            (SELECT count(*)::integer FROM newest) AS ranked
       FROM asked, (SELECT * FROM newest ORDER BY rank DESC LIMIT $2) n
       JOIN documents d ON d.bucket = n.bucket AND d.domain_key = n.domain_key AND d.url_hash = n.url_hash
      ORDER BY n.rank DESC, d.crawled_at DESC`,
    [query, options.limit ?? 20],
  );
  return { hits: result.rows, ranked: result.rows[0]?.ranked ?? 0 };
}

/** The newest documents. Index: documents_recent. */
export async function listRecentDocuments(db: Queryable, limit: number): Promise<DocumentHit[]> {
  const result = await db.query<DocumentHit>(
    `SELECT domain_key AS "domainKey", url_hash AS hash, url, title, language, published_at AS "publishedAt",
            crawled_at AS "crawledAt", word_count AS "wordCount", source_id AS "sourceId", left(text, 160) AS snippet,
            ${copiesOfDocument}
       FROM documents d ORDER BY crawled_at DESC LIMIT $1`,
    [limit],
  );
  return result.rows;
}
