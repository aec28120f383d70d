import type { Database, Queryable } from '../db/index.ts';
import { messageOf } from '../errors/index.ts';
import { type IndexedVersion, indexDocuments } from './index-documents.ts';

/** How many rows were indexed, and what the index would not take. */
export type IndexedBatch = { indexed: number; refused: string[] };

const mostErrorChars = 2000;

// Data that cannot be stored (class 22), or is more than the server can hold (54): the same again would fail again.
const isAboutData = (error: unknown): boolean =>
  /^(?:22|54)...$/.test(String((error as { code?: unknown }).code));

/**
 * Indexes the next rows. Where one of them cannot be indexed they are taken one by one, and it becomes a dead letter of
 * the index: everything behind it would wait for ever.
 */
export async function indexBatch(database: Database, limit: number): Promise<IndexedBatch> {
  try {
    return { indexed: await indexNext(database, limit), refused: [] };
  } catch (error) {
    if (!isAboutData(error)) throw error;
  }
  const batch: IndexedBatch = { indexed: 0, refused: [] };
  for (const version of await loadNext(database.pool, limit)) {
    try {
      batch.indexed += await indexNext(database, 1, version);
    } catch (error) {
      if (!isAboutData(error)) throw error;
      const reason = messageOf(error).replaceAll('\u0000', '').slice(0, mostErrorChars);
      await setAside(database.pool, version, reason);
      batch.indexed += 1;
      batch.refused.push(reason);
    }
  }
  return batch;
}

const indexNext = (database: Database, limit: number, only?: IndexedVersion): Promise<number> =>
  database.withTransaction((tx) => indexDocuments(tx, limit, only));

async function loadNext(db: Queryable, limit: number): Promise<IndexedVersion[]> {
  const result = await db.query<IndexedVersion>(
    `SELECT domain_key AS "domainKey", url_hash AS hash, version FROM outbox WHERE sink = 'index' ORDER BY bucket LIMIT $1`,
    [limit],
  );
  return result.rows;
}

/** Makes a row a dead letter. Nobody can say whether its document is a copy, so what was held for that goes out. */
async function setAside(
  db: Queryable,
  { domainKey, hash, version }: IndexedVersion,
  reason: string,
): Promise<void> {
  await db.query(
    `WITH gone AS (
       DELETE FROM outbox o
        WHERE o.bucket = ($1::bigint & 255)::smallint AND o.sink = 'index' AND o.domain_key = $1 AND o.url_hash = $2 AND o.version = $3
       RETURNING o.*
     ), freed AS (
       UPDATE outbox o SET held = false FROM gone g CROSS JOIN sinks s
        WHERE o.bucket = g.bucket AND o.sink = s.name AND o.domain_key = g.domain_key AND o.url_hash = g.url_hash AND o.held)
     INSERT INTO dead_letters (bucket, sink, domain_key, url_hash, version, enqueued_at, dead_at, attempts, error)
     SELECT bucket, sink, domain_key, url_hash, version, enqueued_at, now(), attempts + 1, $4 FROM gone
     ON CONFLICT (bucket, sink, domain_key, url_hash, version) DO UPDATE
       SET dead_at = excluded.dead_at, attempts = dead_letters.attempts + excluded.attempts, error = excluded.error`,
    [domainKey.toString(), hash, version, reason],
  );
}
