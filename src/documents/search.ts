import type { Queryable } from '../db/index.ts';

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
};

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
            crawled_at AS "crawledAt", word_count AS "wordCount", source_id AS "sourceId", left(text, 160) AS snippet
       FROM documents ORDER BY crawled_at DESC LIMIT $1`,
    [limit],
  );
  return result.rows;
}
