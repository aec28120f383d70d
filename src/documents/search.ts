import type { Queryable } from '../db/index.ts';
import { mostCounted } from './clusters.ts';
import { stemmers } from './languages.ts';

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
  /** The beginning, or in a search the passage with the words, marked by « and ». */
  snippet: string;
  /** Copies of it elsewhere, exact or near, counted to 999. */
  copies: number;
};

/** What a search or a list is narrowed to. */
export type DocumentFilter = {
  sourceId?: number;
  domainKey?: bigint;
  /** Two letters. */
  language?: string;
  /** By the date of publication, or of the crawl where there is none. */
  since?: Date;
  until?: Date;
};

// Of a document d: two probes, and one row of the cluster's key per copy.
const copiesOfDocument = `(SELECT greatest(count(*) - 1, 0)::integer FROM (
              SELECT FROM document_signatures g
                JOIN document_copies c ON c.bucket = (g.cluster_domain_key & 255)::smallint
                 AND c.cluster_domain_key = g.cluster_domain_key AND c.cluster_url_hash = g.cluster_url_hash
               WHERE g.bucket = d.bucket AND g.domain_key = d.domain_key AND g.url_hash = d.url_hash LIMIT ${mostCounted}) m) AS copies`;

const hitColumns = `d.domain_key AS "domainKey", d.url_hash AS hash, d.url, d.title, d.language, d.published_at AS "publishedAt",
            d.crawled_at AS "crawledAt", d.word_count AS "wordCount", d.source_id AS "sourceId", ${copiesOfDocument}`;

/** Conditions on document_search s, with their values after those that are there already. */
function conditionsOf(filter: DocumentFilter, values: unknown[]): string {
  const conditions: string[] = [];
  const add = (condition: (place: string) => string, value: unknown): void => {
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  if (filter.sourceId !== undefined) add((at) => `s.source_id = ${at}::integer`, filter.sourceId);
  if (filter.domainKey !== undefined)
    add(
      (at) => `s.bucket = (${at}::bigint & 255)::smallint AND s.domain_key = ${at}::bigint`,
      filter.domainKey.toString(),
    );
  if (filter.language !== undefined) add((at) => `s.language = ${at}`, filter.language);
  if (filter.since !== undefined) add((at) => `s.dated_at >= ${at}::timestamptz`, filter.since);
  if (filter.until !== undefined) add((at) => `s.dated_at < ${at}::timestamptz`, filter.until);
  return conditions.map((condition) => ` AND ${condition}`).join('');
}

/** Full-text search, best first among the newest 500 matches; `ranked` says how many that were. */
export async function searchDocuments(
  db: Queryable,
  query: string,
  options: DocumentFilter & { limit?: number } = {},
): Promise<{ hits: DocumentHit[]; ranked: number }> {
  // Documents are indexed as written and, where the language is known, by word stems; the query is tried both ways.
  const stemmer = stemmers[options.language ?? 'en'] ?? 'english';
  const values: unknown[] = [query, options.limit ?? 20];
  // Written out where it is used: from a subquery the planner could not tell a rare word from a common one.
  const asked = `(websearch_to_tsquery('simple', $1) || websearch_to_tsquery('${stemmer}', $1))`;
  // The index knows which documents have the words of a phrase, not whether they stand side by side: that is looked up in
  // each document, so for phrases of common words only the newest 2,000 are asked.
  const isPhrase = `(${asked}::text ~ '<')`;
  // A phrase that is excluded cannot be loosened: too much would be.
  const loosened = `(CASE WHEN ${asked}::text ~ '!' THEN ${asked} ELSE regexp_replace(${asked}::text, '<(-|\\d+)>', '&', 'g')::tsquery END)`;
  const result = await db.query<DocumentHit & { ranked: number }>(
    `WITH candidates AS MATERIALIZED (
       SELECT s.bucket, s.domain_key, s.url_hash, s.words, s.crawled_at FROM document_search s
        WHERE s.words @@ ${loosened}${conditionsOf(options, values)}
        ORDER BY s.crawled_at DESC LIMIT CASE WHEN ${isPhrase} THEN 2000 ELSE 500 END
     ), newest AS MATERIALIZED (
       SELECT c.* FROM candidates c WHERE NOT ${isPhrase} OR c.words @@ ${asked} ORDER BY c.crawled_at DESC LIMIT 500
     ), best AS MATERIALIZED (
       SELECT n.bucket, n.domain_key, n.url_hash, ts_rank(n.words, ${asked}) AS rank FROM newest n ORDER BY rank DESC LIMIT $2
     )
     SELECT ${hitColumns},
            ts_headline('simple', left(d.text, 20000), ${asked}, 'MaxFragments=1, MaxWords=22, MinWords=8, StartSel=«, StopSel=»') AS snippet,
            (SELECT count(*)::integer FROM newest) AS ranked
       FROM best n
       JOIN documents d ON d.bucket = n.bucket AND d.domain_key = n.domain_key AND d.url_hash = n.url_hash
      ORDER BY n.rank DESC, d.crawled_at DESC`,
    values,
  );
  return { hits: result.rows, ranked: result.rows[0]?.ranked ?? 0 };
}

/** The newest documents. Index: document_search_recent or documents_recent. */
export async function listRecentDocuments(
  db: Queryable,
  limit: number,
  filter: DocumentFilter = {},
): Promise<DocumentHit[]> {
  const values: unknown[] = [limit];
  const conditions = conditionsOf(filter, values);
  // What is narrowed down is read from the index, which is a moment behind; everything is read as it is.
  const from =
    conditions === ''
      ? 'documents d'
      : `document_search s JOIN documents d ON d.bucket = s.bucket AND d.domain_key = s.domain_key AND d.url_hash = s.url_hash
          WHERE true${conditions}`;
  const result = await db.query<DocumentHit>(
    `SELECT ${hitColumns}, left(d.text, 160) AS snippet FROM ${from}
      ORDER BY ${conditions === '' ? 'd' : 's'}.crawled_at DESC LIMIT $1`,
    values,
  );
  return result.rows;
}
