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
  /** The same in microseconds, as the database has it: for places in the list. */
  deadMicros: string;
  attempts: number;
  error: string;
};

/** A place among dead letters. */
export type DeadLetterPlace = Pick<DeadLetter, 'deadMicros' | 'domainKey' | 'hash' | 'version'>;

const micros = '(extract(epoch FROM dead_at) * 1000000)::bigint';

/**
 * Dead letters of a sink or of all, the newest first, from after a place. Sorts all of them: they are few, and an index by
 * time would have to be written with each.
 */
export async function listDeadLetters(
  db: Queryable,
  options: { sink?: string; limit: number; after?: DeadLetterPlace },
): Promise<DeadLetter[]> {
  const { after } = options;
  const order = '"deadMicros" DESC, domain_key DESC, url_hash DESC, version DESC';
  const result = await db.query<DeadLetter>(
    `SELECT l.sink, l.domain_key AS "domainKey", l.url_hash AS hash, l.version, d.url, d.title, l.dead_at AS "deadAt",
            l.attempts, l.error, l."deadMicros"::text AS "deadMicros"
       FROM (SELECT *, ${micros} AS "deadMicros" FROM dead_letters
              WHERE ($1::text IS NULL OR sink = $1)
                AND ($3::bigint IS NULL OR (${micros}, domain_key, url_hash, version) < ($3, $4::bigint, $5::bytea, $6::integer))
              ORDER BY ${order} LIMIT $2) l
       LEFT JOIN documents d ON d.bucket = l.bucket AND d.domain_key = l.domain_key AND d.url_hash = l.url_hash
      ORDER BY l."deadMicros" DESC, l.domain_key DESC, l.url_hash DESC, l.version DESC`,
    [
      options.sink ?? null,
      options.limit,
      after?.deadMicros ?? null,
      after?.domainKey.toString() ?? null,
      after?.hash ?? null,
      after?.version ?? null,
    ],
  );
  return result.rows;
}

/** Puts dead letters back into the outbox, as if they had just come; answers how many. */
export async function retryDeadLetters(db: Queryable, sink: string): Promise<number> {
  const result = await db.query(
    `WITH taken AS (DELETE FROM dead_letters WHERE sink = $1 RETURNING *)
     INSERT INTO outbox (bucket, sink, domain_key, url_hash, version, enqueued_at)
     SELECT t.bucket, t.sink, t.domain_key, t.url_hash, t.version, now() FROM taken t
      -- A document that was deleted since, or is a stub by now, is nobody's to deliver.
      WHERE EXISTS (SELECT FROM documents d WHERE d.bucket = t.bucket AND d.domain_key = t.domain_key AND d.url_hash = t.url_hash
                       AND d.page_type <> 'stub')
     ON CONFLICT DO NOTHING`,
    [sink],
  );
  return result.rowCount ?? 0;
}
