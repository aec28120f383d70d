import type { Queryable } from '../db/index.ts';

/** A delivery that its sink would not take. */
export type DeadLetter = {
  sink: string;
  domainKey: bigint;
  hash: Buffer;
  version: number;
  url: string | null;
  title: string | null;
  deadAt: Date;
  attempts: number;
  error: string;
};

/** The newest dead letters of a sink or of all. */
export async function listDeadLetters(
  db: Queryable,
  options: { sink?: string; limit: number },
): Promise<DeadLetter[]> {
  const result = await db.query<DeadLetter>(
    `SELECT l.sink, l.domain_key AS "domainKey", l.url_hash AS hash, l.version, d.url, d.title, l.dead_at AS "deadAt",
            l.attempts, l.error
       FROM (SELECT * FROM dead_letters WHERE $1::text IS NULL OR sink = $1 ORDER BY dead_at DESC LIMIT $2) l
       LEFT JOIN documents d ON d.bucket = l.bucket AND d.domain_key = l.domain_key AND d.url_hash = l.url_hash
      ORDER BY l.dead_at DESC`,
    [options.sink ?? null, options.limit],
  );
  return result.rows;
}

/** Puts dead letters back into the outbox, as if they had just come; answers how many. */
export async function retryDeadLetters(db: Queryable, sink: string): Promise<number> {
  const result = await db.query(
    `WITH taken AS (DELETE FROM dead_letters WHERE sink = $1 RETURNING *)
     INSERT INTO outbox (bucket, sink, domain_key, url_hash, version, enqueued_at)
     SELECT t.bucket, t.sink, t.domain_key, t.url_hash, t.version, now() FROM taken t
      -- A document that was deleted since is nobody's to deliver.
      WHERE EXISTS (SELECT FROM documents d WHERE d.bucket = t.bucket AND d.domain_key = t.domain_key AND d.url_hash = t.url_hash)
     ON CONFLICT DO NOTHING`,
    [sink],
  );
  return result.rowCount ?? 0;
}
