import type { Queryable } from '../db/index.ts';
import { urlId } from '../url/index.ts';

/** A document as it leaves for files and programs. */
export type DocumentRecord = {
  id: string;
  version: number;
  url: string;
  canonical_url: string | null;
  title: string | null;
  text: string;
  authors: string[];
  published_at: Date | null;
  modified_at: Date | null;
  crawled_at: Date;
  language: string | null;
  section: string | null;
  description: string | null;
  keywords: string[];
  lead_image: string | null;
  word_count: number;
  page_type: string;
};

type Row = Omit<DocumentRecord, 'id'> & { domain_key: bigint; url_hash: Buffer };

/**
 * Takes a sink's next documents out of the outbox, in the caller's transaction: committed means delivered. With an
 * execution only the documents of its own URLs are taken; what others gather meanwhile stays.
 */
export async function takeDeliveries(
  tx: Queryable,
  sink: string,
  limit: number,
  executionId: bigint | null = null,
): Promise<DocumentRecord[]> {
  const result = await tx.query<Row>(
    `WITH claimed AS (
       SELECT o.bucket, o.sink, o.domain_key, o.url_hash, o.version FROM outbox o
        WHERE o.sink = $1 AND ($3::bigint IS NULL OR EXISTS (
          SELECT FROM url_frontier f WHERE f.bucket = o.bucket AND f.domain_key = o.domain_key AND f.url_hash = o.url_hash
             AND f.execution_id = $3))
        ORDER BY o.bucket LIMIT $2 FOR UPDATE SKIP LOCKED),
     taken AS (
       DELETE FROM outbox o USING claimed c
        WHERE o.bucket = c.bucket AND o.sink = c.sink AND o.domain_key = c.domain_key AND o.url_hash = c.url_hash AND o.version = c.version
       RETURNING o.bucket, o.domain_key, o.url_hash)
     SELECT d.domain_key, d.url_hash, d.version, d.url, d.canonical_url, d.title, d.text, d.authors, d.published_at, d.modified_at,
            d.crawled_at, d.language, d.section, d.description, d.keywords, d.lead_image, d.word_count, d.page_type
       FROM (SELECT DISTINCT bucket, domain_key, url_hash FROM taken) t
       JOIN documents d ON d.bucket = t.bucket AND d.domain_key = t.domain_key AND d.url_hash = t.url_hash
      ORDER BY d.crawled_at`,
    [sink, limit, executionId?.toString() ?? null],
  );
  return result.rows.map(({ domain_key, url_hash, ...rest }) => ({
    id: urlId(domain_key, url_hash),
    ...rest,
  }));
}

/** Registers a sink by name, so that settle writes outbox rows for it from now on. */
export async function saveSink(
  db: Queryable,
  sink: { name: string; kind: string; enabled: boolean },
): Promise<void> {
  await db.query(
    `INSERT INTO sinks (name, kind, enabled) VALUES ($1, $2, $3)
     ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, enabled = excluded.enabled`,
    [sink.name, sink.kind, sink.enabled],
  );
}

/** Forgets a sink and what was still meant for it. */
export async function removeSink(db: Queryable, name: string): Promise<void> {
  await db.query('DELETE FROM sinks WHERE name = $1', [name]);
  await db.query('DELETE FROM outbox WHERE sink = $1', [name]);
}

/** Whether more deliveries wait than may; reads no further than the bound. */
export async function hasBacklog(db: Queryable, most: number): Promise<boolean> {
  const result = await db.query<{ behind: boolean }>(
    'SELECT count(*) > $1::bigint AS behind FROM (SELECT FROM outbox LIMIT $1::bigint + 1) x',
    [most],
  );
  return result.rows[0]!.behind;
}
