import type { Queryable } from '../db/index.ts';
import { identifyUrl, type UrlIdentity } from '../url/index.ts';
import type { BlockReason } from './lifecycle.ts';

/** What old rows and logs say of one domain. */
export type DomainSums = {
  rows: number;
  pagesKnown: number;
  pagesFetched: number;
  documents: number;
  requests: number;
  pagesLogged: number;
  errors: number;
  login_required: number;
  forbidden: number;
  rate_limited: number;
  server_error: number;
  firstSeen: Date | null;
  lastCrawled: Date | null;
};

/** The sums of one canonical domain among the rows that are stored under one key. */
export type KeyedSums = {
  storedKey: bigint;
  /** null: the stored address cannot be read. */
  identity: UrlIdentity | null;
  sums: DomainSums;
};

const counted = [
  'rows',
  'pagesKnown',
  'pagesFetched',
  'documents',
  'requests',
  'pagesLogged',
  'errors',
  'login_required',
  'forbidden',
  'rate_limited',
  'server_error',
] as const;

/** Sums of two spellings of one domain; the earliest sight is kept. */
export function addSums(a: DomainSums, b: DomainSums): DomainSums {
  const sum = { ...a };
  for (const name of counted) sum[name] = a[name] + b[name];
  sum.firstSeen = pick(a.firstSeen, b.firstSeen, (x, y) => x <= y);
  sum.lastCrawled = pick(a.lastCrawled, b.lastCrawled, (x, y) => x >= y);
  return sum;
}

const pick = (a: Date | null, b: Date | null, first: (x: Date, y: Date) => boolean): Date | null =>
  a === null ? b : b === null || first(a, b) ? a : b;

/** Why a domain counts as blocked, or null: more than half of its requests failed, network errors included. */
export function decideBackfillBlock(sums: DomainSums): BlockReason | null {
  if (sums.requests === 0 || sums.errors * 2 <= sums.requests) return null;
  const reasons = ['login_required', 'forbidden', 'rate_limited', 'server_error'] as const;
  // Nothing but network errors: like a server that fails, it gets the shortest rest.
  return reasons.reduce<BlockReason>((best, reason) => {
    const most = best in sums ? sums[best as (typeof reasons)[number]] : 0;
    return sums[reason] > most ? reason : best;
  }, 'server_error');
}

/** The stored keys of a bucket, in order, with whether domain and slot exist. Steps through the indexes key by key. */
export async function loadStoredKeys(
  db: Queryable,
  bucket: number,
  after: bigint,
  limit: number,
): Promise<{ key: bigint; isWhole: boolean }[]> {
  const result = await db.query<{ key: bigint; isWhole: boolean }>(
    `WITH RECURSIVE k(key, n) AS (
       SELECT $2::bigint, 0
       UNION ALL
       SELECT least(
                (SELECT f.domain_key FROM url_frontier f WHERE f.bucket = $1 AND f.domain_key > k.key ORDER BY f.domain_key LIMIT 1),
                (SELECT l.domain_key FROM crawl_log l WHERE l.bucket = $1 AND l.domain_key > k.key ORDER BY l.domain_key LIMIT 1)),
              k.n + 1
         FROM k WHERE k.n < $3 AND k.key IS NOT NULL)
     SELECT k.key, EXISTS (SELECT FROM domains d WHERE d.bucket = $1 AND d.domain_key = k.key)
               AND EXISTS (SELECT FROM domain_slots s WHERE s.bucket = $1 AND s.domain_key = k.key) AS "isWhole"
       FROM k WHERE k.n > 0 AND k.key IS NOT NULL ORDER BY k.n`,
    [bucket, after.toString(), limit],
  );
  return result.rows;
}

type SumRow = Partial<DomainSums> & { storedKey: bigint; url: string };

// A domain is a matter of the origin, so the server groups by it and only one address of each comes over.
const origin = (table: string): string => `substring(${table}.url from '^[A-Za-z]+://[^/?#]+')`;

const sumQueries = [
  `SELECT k.key AS "storedKey", x.* FROM unnest($2::bigint[]) AS k(key) CROSS JOIN LATERAL (
     SELECT min(f.url) AS url, count(*)::float8 AS rows, count(*) FILTER (WHERE f.kind IN ('article', 'listing'))::float8 AS "pagesKnown",
            count(*) FILTER (WHERE f.kind IN ('article', 'listing') AND f.fetch_count > 0)::float8 AS "pagesFetched",
            min(f.discovered_at) AS "firstSeen", max(f.last_fetched_at) AS "lastCrawled"
       FROM url_frontier f WHERE f.bucket = $1 AND f.domain_key = k.key GROUP BY ${origin('f')}) x`,
  `SELECT k.key AS "storedKey", x.* FROM unnest($2::bigint[]) AS k(key) CROSS JOIN LATERAL (
     SELECT min(l.url) AS url, count(*) FILTER (WHERE l.kind <> 'robots')::float8 AS requests,
            count(*) FILTER (WHERE log_is_page(l.kind, l.outcome, l.status))::float8 AS "pagesLogged",
            count(*) FILTER (WHERE log_is_error(l.kind, l.outcome, l.status))::float8 AS errors,
            count(*) FILTER (WHERE l.kind <> 'robots' AND l.status = 401)::float8 AS login_required,
            count(*) FILTER (WHERE l.kind <> 'robots' AND l.status = 403)::float8 AS forbidden,
            count(*) FILTER (WHERE l.kind <> 'robots' AND l.status = 429)::float8 AS rate_limited,
            count(*) FILTER (WHERE l.kind <> 'robots' AND l.status >= 500)::float8 AS server_error,
            min(l.at) AS "firstSeen", max(l.at) AS "lastCrawled"
       FROM crawl_log l WHERE l.bucket = $1 AND l.domain_key = k.key AND NOT l.stale GROUP BY ${origin('l')}) x`,
  `SELECT k.key AS "storedKey", x.* FROM unnest($2::bigint[]) AS k(key) CROSS JOIN LATERAL (
     SELECT min(o.url) AS url, count(*)::float8 AS documents FROM documents o
      WHERE o.bucket = $1 AND o.domain_key = k.key GROUP BY ${origin('o')}) x`,
];

/** What rows, logs and documents say of these stored keys, by the canonical domain of their addresses. */
export async function loadSums(
  db: Queryable,
  bucket: number,
  keys: readonly bigint[],
): Promise<Iterable<KeyedSums>> {
  const found = new Map<string, KeyedSums>();
  for (const query of sumQueries) {
    const result = await db.query<SumRow>(query, [bucket, keys.map(String)]);
    for (const { storedKey, url, ...part } of result.rows) {
      const identified = identifyUrl(url);
      const identity = identified.outcome === 'ok' ? identified.identity : null;
      const name = `${storedKey} ${identity?.domain ?? ''}`;
      const known = found.get(name);
      const sums = { ...emptySums, ...part };
      found.set(name, {
        storedKey,
        identity,
        sums: known === undefined ? sums : addSums(known.sums, sums),
      });
    }
  }
  return found.values();
}

const emptySums: DomainSums = {
  rows: 0,
  pagesKnown: 0,
  pagesFetched: 0,
  documents: 0,
  requests: 0,
  pagesLogged: 0,
  errors: 0,
  login_required: 0,
  forbidden: 0,
  rate_limited: 0,
  server_error: 0,
  firstSeen: null,
  lastCrawled: null,
};
