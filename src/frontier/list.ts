import type { Queryable } from '../db/index.ts';
import type { UrlKind, UrlOrigin, UrlStatus } from './rows.ts';

/** What a list asks for; everything left out does not filter. */
export type UrlFilter = {
  domain?: { bucket: number; domainKey: bigint };
  sourceId?: number;
  statuses?: readonly UrlStatus[];
  kinds?: readonly UrlKind[];
  errorCode?: string;
};

/** A row as lists show it. */
export type UrlRow = {
  bucket: number;
  domainKey: bigint;
  hash: Buffer;
  url: string;
  kind: UrlKind;
  origin: UrlOrigin;
  status: UrlStatus;
  level: number;
  ready: boolean;
  dueAt: Date | null;
  discoveredAt: Date;
  lastFetchedAt: Date | null;
  tries: number;
  errorCode: string | null;
};

/** Where the next page begins. */
export type UrlCursor = { bucket: number; domainKey: bigint; hash: Buffer };

// A filter that no index serves may find nothing for millions of rows: each call reads at most so many.
const mostRead = 20_000;

/** Rows in key order, a page at a time. `cursor` is null at the end; a page may be empty and still have one. */
export async function listUrls(
  db: Queryable,
  filter: UrlFilter,
  options: { limit: number; after?: UrlCursor | null },
): Promise<{ rows: UrlRow[]; cursor: UrlCursor | null }> {
  const after = options.after ?? null;
  // Two forms, because each needs its own index: a domain's rows are neighbours in the key, a source's in its index.
  const scope = filter.domain === undefined ? '' : 'AND f.bucket = $7 AND f.domain_key = $8';
  const values: unknown[] = [
    after?.bucket ?? -1,
    (after?.domainKey ?? 0n).toString(),
    after?.hash ?? Buffer.alloc(0),
    filter.statuses ?? null,
    filter.kinds ?? null,
    filter.errorCode ?? null,
    ...(filter.domain === undefined ? [] : [filter.domain.bucket, filter.domain.domainKey.toString()]),
  ];
  const bySource = filter.sourceId === undefined ? '' : `AND f.source_id = ${Number(filter.sourceId)}`;
  const result = await db.query<UrlRow & { wanted: boolean }>(
    `SELECT * FROM (
       SELECT f.bucket, f.domain_key AS "domainKey", f.url_hash AS hash, f.url, f.kind, f.origin, f.status, f.level, f.ready,
              f.due_at AS "dueAt", f.discovered_at AS "discoveredAt", f.last_fetched_at AS "lastFetchedAt", f.tries, f.error_code AS "errorCode",
              ($4::url_status[] IS NULL OR f.status = ANY ($4)) AND ($5::url_kind[] IS NULL OR f.kind = ANY ($5))
                AND ($6::text IS NULL OR f.error_code = $6) AS wanted
         FROM url_frontier f
        WHERE (f.bucket, f.domain_key, f.url_hash) > ($1::smallint, $2::bigint, $3::bytea) ${scope} ${bySource}
        ORDER BY f.bucket, f.domain_key, f.url_hash LIMIT ${mostRead}) x`,
    values,
  );
  const rows = result.rows.filter((row) => row.wanted).slice(0, options.limit);
  const full = rows.length === options.limit;
  const last = full ? rows.at(-1) : result.rows.length === mostRead ? result.rows.at(-1) : undefined;
  return {
    rows: rows.map(({ wanted: _wanted, ...row }) => row),
    cursor: last === undefined ? null : { bucket: last.bucket, domainKey: last.domainKey, hash: last.hash },
  };
}
