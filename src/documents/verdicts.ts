import type { Database } from '../db/index.ts';
import { parseUrlId } from '../url/index.ts';
import type { ClassificationStatus } from './stored.ts';

/** What a classifier says of a document. */
export type Verdict = {
  id: string;
  /** The version it read; a verdict on an older text is refused. */
  version: number;
  /** `pending` takes a verdict back. */
  status: ClassificationStatus;
  labels: Record<string, unknown>;
};

// PostgreSQL text cannot hold NUL.
const withoutNul = (_key: string, value: unknown): unknown =>
  typeof value === 'string' ? value.replaceAll('\u0000', '') : value;

/** What became of a verdict. */
export type VerdictOutcome = 'saved' | 'unknown_document' | 'changed_since';

const mostTries = 5;

// A settle that changes the same documents takes them in its own order: one of the two is told of the deadlock.
const isDeadlock = (error: unknown): boolean => (error as { code?: unknown }).code === '40P01';

/**
 * Writes verdicts back, each by itself, and tells those who follow the change feed. A second verdict on the same
 * version replaces the first.
 */
export async function saveVerdicts(
  database: Database,
  verdicts: readonly Verdict[],
): Promise<VerdictOutcome[]> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await saveOnce(database, verdicts);
    } catch (error) {
      if (!isDeadlock(error) || tries === mostTries) throw error;
    }
  }
}

function saveOnce(database: Database, verdicts: readonly Verdict[]): Promise<VerdictOutcome[]> {
  const keys = verdicts.map((verdict) => parseUrlId(verdict.id));
  return database.withTransaction(async (tx) => {
    const result = await tx.query<{ n: number; version: number; saved: boolean }>(
      `WITH given AS (
         SELECT k.*, (k.domain_key & 255)::smallint AS bucket
           FROM unnest($1::bigint[], $2::bytea[], $3::integer[], $4::text[], $5::jsonb[]) WITH ORDINALITY
                AS k(domain_key, url_hash, version, status, labels, n)
          WHERE k.domain_key IS NOT NULL
       ), last AS (
         SELECT DISTINCT ON (domain_key, url_hash, version) * FROM given ORDER BY domain_key, url_hash, version, n DESC
       ), locked AS MATERIALIZED (
         -- In the order of the key: of two classifiers with the same documents one waits, and neither is in the other's way.
         SELECT d.bucket, d.domain_key, d.url_hash, l.status, l.labels
           FROM last l JOIN documents d
             ON d.bucket = l.bucket AND d.domain_key = l.domain_key AND d.url_hash = l.url_hash AND d.version = l.version
          ORDER BY d.bucket, d.domain_key, d.url_hash FOR NO KEY UPDATE OF d
       ), saved AS (
         UPDATE documents d SET classification_status = l.status, classified_at = CASE WHEN l.status <> 'pending' THEN now() END, labels = l.labels
           FROM locked l
          WHERE d.bucket = l.bucket AND d.domain_key = l.domain_key AND d.url_hash = l.url_hash
         RETURNING d.bucket, d.domain_key, d.url_hash, d.version
       ), told AS (
         -- By way of the index consumer, which numbers changes in the order of their commits.
         INSERT INTO outbox (bucket, sink, domain_key, url_hash, version, enqueued_at)
         SELECT v.bucket, s.name, v.domain_key, v.url_hash, v.version, now()
           FROM saved v JOIN sinks s ON s.name = 'index' AND s.enabled
         ON CONFLICT DO NOTHING)
       SELECT g.n::integer AS n, d.version,
              EXISTS (SELECT FROM saved v WHERE v.domain_key = g.domain_key AND v.url_hash = g.url_hash AND v.version = g.version) AS saved
         FROM given g
         JOIN documents d ON d.bucket = g.bucket AND d.domain_key = g.domain_key AND d.url_hash = g.url_hash`,
      [
        keys.map((key) => key?.domainKey.toString() ?? null),
        keys.map((key) => key?.hash ?? null),
        verdicts.map((verdict) => verdict.version),
        verdicts.map((verdict) => verdict.status),
        verdicts.map((verdict) => JSON.stringify(verdict.labels, withoutNul)),
      ],
    );
    const found = new Map(result.rows.map((row) => [row.n, row]));
    return verdicts.map((_, index) => {
      const row = found.get(index + 1);
      if (row === undefined) return 'unknown_document';
      return row.saved ? 'saved' : 'changed_since';
    });
  });
}
