import type { Queryable } from '../db/index.ts';

/** One request for a row, as the crawl log has it. */
export type Attempt = {
  at: Date;
  /** HTTP status; null: there was no answer. */
  status: number | null;
  outcome: string;
  url: string;
  waitMs: number | null;
  headersMs: number | null;
  totalMs: number | null;
  bytes: number | null;
  worker: string;
};

// The log is kept by domain: of one with many pages a day, requests of the last weeks may lie behind more rows than these.
const mostLooked = 20_000;

/**
 * The newest requests for a row from before a time (microseconds since 1970), and where to go on; null: there are no
 * more. Index: crawl_log_domain.
 */
export async function loadAttempts(
  db: Queryable,
  key: { bucket: number; domainKey: bigint; hash: Buffer },
  options: { limit: number; beforeUs?: bigint },
): Promise<{ attempts: Attempt[]; nextUs: bigint | null }> {
  const result = await db.query<Attempt & { us: bigint | null; lastUs: bigint | null; looked: number }>(
    `WITH looked AS MATERIALIZED (
       SELECT l.* FROM crawl_log l WHERE l.bucket = $1 AND l.domain_key = $2
          AND ($5::bigint IS NULL OR l.at < to_timestamp($5 / 1000000.0)) ORDER BY l.at DESC LIMIT ${mostLooked}),
     found AS (SELECT * FROM looked WHERE url_hash = $3 ORDER BY at DESC LIMIT $4)
     SELECT f.at, f.status, f.outcome, f.url, f.wait_ms AS "waitMs", f.headers_ms AS "headersMs", f.total_ms AS "totalMs",
            f.bytes::float8 AS bytes, f.worker, (extract(epoch FROM f.at) * 1000000)::bigint AS us,
            (extract(epoch FROM l.last) * 1000000)::bigint AS "lastUs", l.looked
       FROM (SELECT min(at) AS last, count(*)::integer AS looked FROM looked) l LEFT JOIN found f ON true ORDER BY f.at DESC`,
    [key.bucket, key.domainKey.toString(), key.hash, options.limit, options.beforeUs?.toString() ?? null],
  );
  const [first] = result.rows;
  const found = result.rows.filter((row) => row.us !== null);
  const isCut = first !== undefined && first.looked === mostLooked;
  return {
    attempts: found.map(({ us: _us, lastUs: _lastUs, looked: _looked, ...attempt }) => attempt),
    nextUs: found.length === options.limit ? found.at(-1)!.us : isCut ? first.lastUs : null,
  };
}
