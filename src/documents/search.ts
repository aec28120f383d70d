import type { Queryable } from '../db/index.ts';
import { requireSource } from '../sources/index.ts';
import { canonicalDomain, domainIdentity } from '../url/index.ts';
import { mostCounted } from './clusters.ts';
import { codesOf, stemmers } from './languages.ts';
import { beginningsOf, excludedOf, snippetJoin } from './snippets.ts';
import type { ClassificationStatus } from './stored.ts';
import { pairedQuery, runsOf } from './unspaced.ts';

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
  /** The slug and the name of the source. */
  source: string | null;
  sourceName: string | null;
  classificationStatus: ClassificationStatus;
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

/** A place in the list of newest documents: behind this one. */
export type DocumentPlace = Pick<DocumentHit, 'domainKey' | 'hash'> & { crawledUs: bigint };

/** A filter as people give it: a source by its slug, a domain by its name. */
export type NamedFilter = Pick<DocumentFilter, 'language' | 'since' | 'until'> & {
  source?: string;
  domain?: string;
};

/** Finds what a filter names; a source that there is not is an error. */
export async function resolveFilter(db: Queryable, named: NamedFilter): Promise<DocumentFilter> {
  const { source, domain, ...rest } = named;
  return {
    ...rest,
    ...(source === undefined ? {} : { sourceId: (await requireSource(db, source)).id }),
    ...(domain === undefined
      ? {}
      : { domainKey: domainIdentity(canonicalDomain(domain) ?? domain).domainKey }),
  };
}

// Of a document d: two probes, and one row of the cluster's key per copy.
const copiesOfDocument = `(SELECT greatest(count(*) - 1, 0)::integer FROM (
              SELECT FROM document_signatures g
                JOIN document_copies c ON c.bucket = (g.cluster_domain_key & 255)::smallint
                 AND c.cluster_domain_key = g.cluster_domain_key AND c.cluster_url_hash = g.cluster_url_hash
               WHERE g.bucket = d.bucket AND g.domain_key = d.domain_key AND g.url_hash = d.url_hash LIMIT ${mostCounted}) m) AS copies`;

const hitColumns = `d.domain_key AS "domainKey", d.url_hash AS hash, d.url, d.title, d.language, d.published_at AS "publishedAt",
            d.crawled_at AS "crawledAt", d.word_count AS "wordCount", d.source_id AS "sourceId", o.slug AS source, o.name AS "sourceName",
            d.classification_status AS "classificationStatus", ${copiesOfDocument}`;
const sourceJoin = 'LEFT JOIN sources o ON o.id = d.source_id';

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
  // A pattern, as the planner moves an equality behind the words.
  if (filter.language !== undefined)
    add((at) => `s.language ~ ${at}`, `^(?:${codesOf(filter.language).join('|')})$`);
  if (filter.since !== undefined) add((at) => `s.dated_at >= ${at}::timestamptz`, filter.since);
  if (filter.until !== undefined) add((at) => `s.dated_at < ${at}::timestamptz`, filter.until);
  // Before the words: conditions are tried as they are written, and each list of words must be fetched first.
  return conditions.map((condition) => `${condition} AND `).join('');
}

const ranked = 500;
// A phrase is looked up in each document, so where its words are common only so many of the newest are asked.
const phraseCandidates = 800;

/** Full-text search, best first among the newest 500 matches, without the first `skip`; `ranked` says how many that were. */
export async function searchDocuments(
  db: Queryable,
  wanted: string,
  options: DocumentFilter & { limit?: number; skip?: number } = {},
): Promise<{ hits: DocumentHit[]; ranked: number }> {
  const query = pairedQuery(wanted);
  // Documents are indexed as written and, where the language is known, by word stems; the query is tried both ways.
  const stemmer = stemmers[options.language ?? 'en'] ?? 'english';
  // Written out where it is used: from a subquery the planner could not tell a rare word from a common one.
  const written = `websearch_to_tsquery('simple', $1)`;
  const stemmed = `websearch_to_tsquery('${stemmer}', $1)`;
  const either = (one: string, other: string) =>
    `(CASE WHEN ${one} = ${other} THEN ${one} ELSE ${one} || ${other} END)`;
  const excluded = excludedOf(query);
  const given: unknown[] = excluded === null ? [query] : [query, excluded];
  // Tried both ways a word that is excluded would only have to be missing in one of them.
  const asked =
    excluded === null
      ? either(written, stemmed)
      : `(${either(written, stemmed)} && !!${either(`websearch_to_tsquery('simple', $2)`, `websearch_to_tsquery('${stemmer}', $2)`)})`;
  const isPhrase = `(${asked}::text ~ '<')`;
  // The index knows which documents have the words of a phrase, not whether they stand side by side. A phrase that is
  // excluded cannot be loosened: too much would be.
  const loosened = `(CASE WHEN ${asked}::text ~ '!' THEN ${asked} ELSE regexp_replace(${asked}::text, '<(-|\\d+)>', '&', 'g')::tsquery END)`;
  const values = [...given, options.limit ?? 20, beginningsOf(query), options.skip ?? 0, runsOf(wanted)];
  const [limitAt, beginningsAt, skipAt, runsAt] = [1, 2, 3, 4].map((n) => `$${given.length + n}`);
  const matches = `SELECT s.bucket, s.domain_key, s.url_hash, s.words, s.crawled_at FROM document_search s
        WHERE ${conditionsOf(options, values)}s.words @@ ${loosened}`;
  const fenced = (await isRare(db, given, loosened)) ? `SELECT * FROM (${matches} OFFSET 0) m` : matches;
  const result = await db.query<DocumentHit & { ranked: number }>(
    `WITH candidates AS MATERIALIZED (
       ${fenced} ORDER BY crawled_at DESC LIMIT CASE WHEN ${isPhrase} THEN ${phraseCandidates} ELSE ${ranked} END
     ), newest AS MATERIALIZED (
       SELECT c.* FROM candidates c WHERE NOT ${isPhrase} OR c.words @@ ${asked} ORDER BY c.crawled_at DESC LIMIT ${ranked}
     ), best AS MATERIALIZED (
       SELECT n.bucket, n.domain_key, n.url_hash, ts_rank(n.words, ${asked}) AS rank FROM newest n
        ORDER BY rank DESC, n.crawled_at DESC, n.url_hash LIMIT ${limitAt} OFFSET ${skipAt}
     )
     SELECT ${hitColumns},
            h.snippet, (SELECT count(*)::integer FROM newest) AS ranked
       FROM best n
       JOIN documents d ON d.bucket = n.bucket AND d.domain_key = n.domain_key AND d.url_hash = n.url_hash
       ${sourceJoin}
       ${snippetJoin(asked, beginningsAt!, runsAt!)}
      ORDER BY n.rank DESC, d.crawled_at DESC, d.url_hash`,
    values,
  );
  return {
    hits: result.rows.map(({ ranked: _ranked, ...hit }) => hit),
    ranked: result.rows[0]?.ranked ?? 0,
  };
}

type Plan = { 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] };

/**
 * Whether a search should gather all its matches and take the newest, rather than look through the newest until enough
 * match. Left to itself the planner looks through too many: it does not know that each look fetches a list of words from
 * beside the table, some 12 µs against 1.5 for a match of the index (measured at 100,000 documents of 400 words).
 */
async function isRare(db: Queryable, given: unknown[], loosened: string): Promise<boolean> {
  const rowsOf = async (condition: string, values: unknown[]): Promise<number> => {
    const plan = await db.query<Plan>(
      `EXPLAIN (FORMAT JSON) SELECT FROM document_search s ${condition}`,
      values,
    );
    return plan.rows[0]!['QUERY PLAN'][0].Plan['Plan Rows'];
  };
  const [matching, all] = [await rowsOf(`WHERE s.words @@ ${loosened}`, given), await rowsOf('', [])];
  // Rather once too often: the wrong way costs more there than here.
  return matching < 1.2 * Math.sqrt((12 / 1.5) * ranked * all);
}

/** The newest documents, from a place on. Index: document_search_recent or documents_recent. */
export async function listRecentDocuments(
  db: Queryable,
  limit: number,
  filter: DocumentFilter & { after?: DocumentPlace } = {},
): Promise<(DocumentHit & DocumentPlace)[]> {
  const values: unknown[] = [limit];
  const conditions = conditionsOf(filter, values);
  // What is narrowed down is read from the index, which is a moment behind; everything is read as it is.
  const t = conditions === '' ? 'd' : 's';
  const from =
    t === 'd'
      ? 'documents d'
      : 'document_search s JOIN documents d ON d.bucket = s.bucket AND d.domain_key = s.domain_key AND d.url_hash = s.url_hash';
  const result = await db.query<DocumentHit & DocumentPlace>(
    `SELECT ${hitColumns}, left(d.text, 160) AS snippet, (extract(epoch FROM ${t}.crawled_at) * 1000000)::bigint AS "crawledUs"
       FROM ${from} ${sourceJoin}
      WHERE ${conditions}${placeCondition(t, filter.after, values)}
      ORDER BY ${t}.crawled_at DESC, ${t}.domain_key, ${t}.url_hash LIMIT $1`,
    values,
  );
  return result.rows;
}

/** What lies behind a place. The time stands alone too: that is what the index is asked for. */
function placeCondition(t: 'd' | 's', after: DocumentPlace | undefined, values: unknown[]): string {
  if (after === undefined) return 'true';
  const place = (value: unknown): string => `$${values.push(value)}`;
  const at = `'epoch'::timestamptz + ${place(after.crawledUs.toString())}::bigint * interval '1 microsecond'`;
  return `${t}.crawled_at <= ${at} AND (${t}.crawled_at < ${at}
          OR (${t}.domain_key, ${t}.url_hash) > (${place(after.domainKey.toString())}::bigint, ${place(after.hash)}::bytea))`;
}
