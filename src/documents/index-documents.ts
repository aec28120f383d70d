import type { Queryable } from '../db/index.ts';

/** Moves up to `limit` outbox rows of the built-in index into document_search, in the caller's transaction. */
export async function indexDocuments(tx: Queryable, limit: number): Promise<number> {
  // left(): a tsvector may not exceed 1 MB, and nobody searches the end of a 2 MB page.
  const result = await tx.query<{ count: number }>(
    `WITH claimed AS (
       SELECT bucket, sink, domain_key, url_hash, version FROM outbox WHERE sink = 'index'
        ORDER BY bucket LIMIT $1 FOR UPDATE SKIP LOCKED),
     delivered AS (
       DELETE FROM outbox o USING claimed c
        WHERE o.bucket = c.bucket AND o.sink = c.sink AND o.domain_key = c.domain_key AND o.url_hash = c.url_hash AND o.version = c.version
       RETURNING o.bucket, o.domain_key, o.url_hash),
     indexed AS (
       INSERT INTO document_search (bucket, domain_key, url_hash, version, crawled_at, words)
       SELECT d.bucket, d.domain_key, d.url_hash, d.version, d.crawled_at,
              setweight(to_tsvector('simple', coalesce(d.title, '')), 'A') || to_tsvector('simple', left(d.text, 200000)) ||
              CASE WHEN l.config IS NULL THEN ''::tsvector ELSE
                setweight(to_tsvector(l.config, coalesce(d.title, '')), 'A') || to_tsvector(l.config, left(d.text, 200000)) END
         FROM (SELECT DISTINCT bucket, domain_key, url_hash FROM delivered) x
         JOIN documents d ON d.bucket = x.bucket AND d.domain_key = x.domain_key AND d.url_hash = x.url_hash
         LEFT JOIN (VALUES ('en', 'english'::regconfig), ('de', 'german'), ('fr', 'french'), ('es', 'spanish'), ('sv', 'swedish'),
                    ('ru', 'russian'), ('it', 'italian'), ('nl', 'dutch'), ('pt', 'portuguese'), ('da', 'danish'),
                    ('fi', 'finnish'), ('no', 'norwegian')) AS l(code, config) ON l.code = left(d.language, 2)
       ON CONFLICT (bucket, domain_key, url_hash) DO UPDATE
         SET version = excluded.version, crawled_at = excluded.crawled_at, words = excluded.words)
     SELECT count(*)::integer AS count FROM delivered`,
    [limit],
  );
  return result.rows[0]?.count ?? 0;
}
