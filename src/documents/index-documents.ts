import type { Queryable } from '../db/index.ts';
import { SIGNATURE_CHARS } from '../extract/index.ts';
import { saveChanges } from './changes.ts';
import { clusterDocuments } from './cluster-documents.ts';
import { releaseHeld } from './held.ts';
import { codeIn, stemmerTable } from './languages.ts';
import { pairsOf } from './unspaced.ts';

/** A row of the built-in index in the outbox. */
export type IndexedVersion = { domainKey: bigint; hash: Buffer; version: number };

type IndexedRow = {
  domainKey: bigint;
  hash: Buffer;
  text: string | null;
  isStub: boolean | null;
  delivered: number;
};

// A list of words may not exceed 1 MB, and nobody searches the end of a 2 MB page. A word may stand in it four times, whole
// and in its parts between hyphens, each as written and as a stem, and has a few bytes of places: up to 5.8 bytes
// for each of the text.
const mostTextBytes = 180_000;
const lengthsTried = [180_000, 135_000, 90_000, 60_000];
const searchedText = `left(d.text, CASE
                WHEN octet_length(d.text) <= ${mostTextBytes} THEN ${lengthsTried[0]}
                ${lengthsTried.map((chars) => `WHEN octet_length(left(d.text, ${chars})) <= ${mostTextBytes} THEN ${chars}`).join('\n                ')}
                ELSE ${mostTextBytes / 4} END)`;

/**
 * Moves up to `limit` outbox rows of the built-in index, or the one that is named, into document_search, finds the copies among them, lets go what
 * other sinks waited for, and numbers the changes for those who follow along; in the caller's transaction. What was an
 * article and is a stub by now is forgotten. One process at a time: whoever finds another at it has nothing to do.
 */
export async function indexDocuments(tx: Queryable, limit: number, only?: IndexedVersion): Promise<number> {
  // A row lock and no advisory one: it ends with the transaction and passes any connection pooler.
  const turn = await tx.query(`SELECT FROM sinks WHERE name = 'index' FOR UPDATE SKIP LOCKED`);
  if (turn.rowCount === 0) return 0;
  const result = await tx.query<IndexedRow>(
    `WITH claimed AS (
       SELECT bucket, sink, domain_key, url_hash, version FROM outbox WHERE sink = 'index'
          AND ($3::bigint IS NULL OR bucket = ($3::bigint & 255)::smallint AND domain_key = $3::bigint AND url_hash = $4::bytea AND version = $5::integer)
        ORDER BY bucket LIMIT $1 FOR UPDATE SKIP LOCKED),
     delivered AS (
       DELETE FROM outbox o USING claimed c
        WHERE o.bucket = c.bucket AND o.sink = c.sink AND o.domain_key = c.domain_key AND o.url_hash = c.url_hash AND o.version = c.version
       RETURNING o.bucket, o.domain_key, o.url_hash),
     settled AS (
       DELETE FROM dead_letters l USING claimed c
        WHERE l.bucket = c.bucket AND l.sink = 'index' AND l.domain_key = c.domain_key AND l.url_hash = c.url_hash AND l.version <= c.version),
     indexed AS (
       INSERT INTO document_search (bucket, domain_key, url_hash, version, crawled_at, dated_at, source_id, language, words)
       SELECT d.bucket, d.domain_key, d.url_hash, d.version, d.crawled_at, coalesce(d.published_at, d.crawled_at), d.source_id,
              ${codeIn('d.language')},
              setweight(to_tsvector('simple', coalesce(d.title, '')), 'A') || to_tsvector('simple', t.text) ||
              CASE WHEN l.config IS NULL THEN ''::tsvector ELSE
                setweight(to_tsvector(l.config, coalesce(d.title, '')), 'A') || to_tsvector(l.config, t.text) END ||
              setweight(${pairsOf("coalesce(d.title, '')")}, 'A') || ${pairsOf('t.text')}
         FROM (SELECT DISTINCT bucket, domain_key, url_hash FROM delivered) x
         JOIN documents d ON d.bucket = x.bucket AND d.domain_key = x.domain_key AND d.url_hash = x.url_hash
         LEFT JOIN ${stemmerTable} ON l.code = ${codeIn('d.language')}
         CROSS JOIN LATERAL (SELECT ${searchedText} AS text OFFSET 0) t
        WHERE d.page_type <> 'stub'
       ON CONFLICT (bucket, domain_key, url_hash) DO UPDATE
         SET version = excluded.version, crawled_at = excluded.crawled_at, dated_at = excluded.dated_at,
             source_id = excluded.source_id, language = excluded.language, words = excluded.words),
     forgotten AS (
       DELETE FROM document_search s USING delivered x, documents d
        WHERE d.bucket = x.bucket AND d.domain_key = x.domain_key AND d.url_hash = x.url_hash AND d.page_type = 'stub'
          AND s.bucket = x.bucket AND s.domain_key = x.domain_key AND s.url_hash = x.url_hash)
     SELECT x.domain_key AS "domainKey", x.url_hash AS hash, left(d.text, $2) AS text, d.page_type = 'stub' AS "isStub",
            (SELECT count(*)::integer FROM delivered) AS delivered
       FROM (SELECT DISTINCT bucket, domain_key, url_hash FROM delivered) x
       LEFT JOIN documents d ON d.bucket = x.bucket AND d.domain_key = x.domain_key AND d.url_hash = x.url_hash`,
    [limit, SIGNATURE_CHARS, only?.domainKey.toString() ?? null, only?.hash ?? null, only?.version ?? null],
  );
  const found = result.rows.flatMap(({ domainKey, hash, text, isStub }) =>
    text === null ? [] : [{ domainKey, hash, text: isStub ? '' : text, isStub }],
  );
  const articles = found.filter(({ isStub }) => !isStub);
  if (found.length > 0) await clusterDocuments(tx, found);
  if (articles.length > 0) {
    await releaseHeld(tx, articles);
    await saveChanges(tx, articles);
  }
  const delivered = result.rows[0]?.delivered ?? 0;
  if (delivered > 0)
    await tx.query(
      `UPDATE sink_states SET delivered = delivered + $1, delivered_at = now() WHERE sink = 'index'`,
      [delivered],
    );
  return delivered;
}
