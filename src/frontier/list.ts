import type { Queryable } from '../db/index.ts';
import { AppError } from '../errors/index.ts';
import { parseUrlCursor, type UrlPlace, writeUrlCursor } from './list-cursor.ts';
import type { UrlKind, UrlOrigin, UrlStatus } from './rows.ts';

/** What a list asks for; everything left out does not filter. */
export type UrlFilter = {
  domain?: { bucket: number; domainKey: bigint };
  sourceId?: number;
  statuses?: readonly UrlStatus[];
  kinds?: readonly UrlKind[];
  origins?: readonly UrlOrigin[];
  priorityMin?: number;
  errorCode?: string;
  /** Discovered before. */
  before?: Date;
  /** The address begins so; only within a domain. */
  prefix?: string;
  /** These rows of the domain. */
  hashes?: readonly Buffer[];
};

/** In what order: by key, or by the time of discovery within a source. */
export const urlSorts = ['key', 'newest', 'oldest'] as const;
export type UrlSort = (typeof urlSorts)[number];

/** A row as lists show it. */
export type UrlRow = {
  bucket: number;
  domainKey: bigint;
  hash: Buffer;
  url: string;
  kind: UrlKind;
  origin: UrlOrigin;
  status: UrlStatus;
  priority: number;
  level: number;
  ready: boolean;
  sourceId: number | null;
  sourceSlug: string | null;
  dueAt: Date | null;
  discoveredAt: Date;
  lastFetchedAt: Date | null;
  tries: number;
  httpStatus: number | null;
  errorCode: string | null;
};

export type UrlPage = { rows: UrlRow[]; cursor: string | null };

// A filter that no index serves may find nothing for millions of rows: a call reads at most so many, in portions that
// grow, and beyond the first two thousand none after a while: rows in key order lie anywhere on the disk.
const mostRead = 20_000;
const leastRead = 2000;
const mostPortion = 2500;
const mostMs = 20;

/** Rows, a page at a time. `cursor` is null at the end; a page may be short or empty and still have one. */
export async function listUrls(
  db: Queryable,
  filter: UrlFilter,
  options: { limit: number; sort?: UrlSort; cursor?: string | null },
): Promise<UrlPage> {
  const order = orderOf(filter, options.sort);
  let place =
    options.cursor == null ? null : parseUrlCursor(options.cursor, order === 'key' ? 'key' : 'time');
  const until = performance.now() + mostMs;
  const found: Read[] = [];
  let portion = options.limit + 1;
  for (let left = mostRead; ; ) {
    portion = Math.min(portion, left);
    const rows = await readPortion(db, filter, order, place, portion);
    found.push(...rows.filter((row) => row.wanted));
    if (found.length > options.limit) {
      const page = found.slice(0, options.limit);
      return { rows: page.map(rowOf), cursor: writeUrlCursor(placeOf(page.at(-1)!, order)) };
    }
    const last = rows.at(-1);
    if (last === undefined || Number(last.nth) < portion) return { rows: found.map(rowOf), cursor: null };
    place = placeOf(last, order);
    left -= portion;
    if (left <= 0 || (left <= mostRead - leastRead && performance.now() > until))
      return { rows: found.map(rowOf), cursor: writeUrlCursor(place) };
    portion = Math.min(mostPortion, portion * 4);
  }
}

/** Which index serves: a domain's rows are neighbours in the key, a source's stand by time in an index of their own. */
function orderOf(filter: UrlFilter, sort: UrlSort | undefined): UrlSort {
  const order = sort ?? (filter.sourceId !== undefined && filter.domain === undefined ? 'newest' : 'key');
  if (order !== 'key' && filter.sourceId === undefined)
    throw new AppError('sort_unindexed', `"${order}" is an order of one source's URLs`, {
      httpStatus: 400,
      advice: 'Name a source, or leave the order out.',
    });
  if (order === 'key' && filter.sourceId !== undefined && filter.domain === undefined)
    throw new AppError('sort_unindexed', "a source's URLs are listed by the time they were discovered", {
      httpStatus: 400,
      advice: 'Sort by newest or oldest, or name a domain too.',
    });
  return order;
}

type Read = UrlRow & { at: string; nth: bigint | number; wanted: boolean };

const placeOf = (row: Read, order: UrlSort): UrlPlace => ({
  at: order === 'key' ? null : row.at,
  bucket: row.bucket,
  domainKey: row.domainKey,
  hash: row.hash,
});
const rowOf = ({ at: _at, nth: _nth, wanted: _wanted, ...row }: Read): UrlRow => row;

async function readPortion(
  db: Queryable,
  filter: UrlFilter,
  order: UrlSort,
  place: UrlPlace | null,
  portion: number,
): Promise<Read[]> {
  const values: unknown[] = [];
  const value = (one: unknown, type: string): string => `$${values.push(one)}::${type}`;
  const scope = order === 'key' ? keyScope(filter, place, value) : timeScope(filter, order, place, value);
  const wanted = wishesOf(filter, order, value);
  const key = ['bucket', 'domain_key', 'url_hash'].map((name) => `f.${name}`);
  const by =
    order === 'key'
      ? key.join(', ')
      : ['f.discovered_at', ...key]
          .map((name) => `${name} ${order === 'newest' ? 'DESC' : 'ASC'}`)
          .join(', ');
  const result = await db.query<Read>(
    `WITH part AS MATERIALIZED (
       SELECT row_number() OVER () AS nth, x.* FROM (
         SELECT f.bucket, f.domain_key AS "domainKey", f.url_hash AS hash, f.url, f.kind, f.origin, f.status, f.priority, f.level,
                f.ready, f.source_id AS "sourceId", f.due_at AS "dueAt", f.discovered_at AS "discoveredAt",
                f.last_fetched_at AS "lastFetchedAt", f.tries, f.http_status AS "httpStatus", f.error_code AS "errorCode",
                (extract(epoch FROM f.discovered_at) * 1000000)::bigint::text AS at, ${wanted} AS wanted
           FROM url_frontier f WHERE ${scope} ORDER BY ${by} LIMIT ${value(portion, 'integer')}) x)
     SELECT p.*, c.slug AS "sourceSlug" FROM part p LEFT JOIN sources c ON c.id = p."sourceId"
      WHERE p.wanted OR p.nth = (SELECT count(*) FROM part) ORDER BY p.nth`,
    values,
  );
  return result.rows;
}

type Value = (one: unknown, type: string) => string;

function keyScope(filter: UrlFilter, place: UrlPlace | null, value: Value): string {
  const parts: string[] = [];
  if (filter.domain !== undefined)
    parts.push(
      `f.bucket = ${value(filter.domain.bucket, 'smallint')} AND f.domain_key = ${value(filter.domain.domainKey.toString(), 'bigint')}`,
    );
  if (filter.hashes !== undefined) parts.push(`f.url_hash = ANY (${value(filter.hashes, 'bytea[]')})`);
  if (place !== null) parts.push(`(f.bucket, f.domain_key, f.url_hash) > (${keyOf(place, value)})`);
  return parts.length === 0 ? 'true' : parts.join(' AND ');
}

function timeScope(filter: UrlFilter, order: UrlSort, place: UrlPlace | null, value: Value): string {
  const parts = [`f.source_id = ${value(filter.sourceId, 'integer')}`];
  if (filter.before !== undefined) parts.push(`f.discovered_at < ${value(filter.before, 'timestamptz')}`);
  if (place !== null)
    parts.push(
      `(f.discovered_at, f.bucket, f.domain_key, f.url_hash) ${order === 'newest' ? '<' : '>'}
         (timestamptz 'epoch' + ${value(place.at, 'bigint')} * interval '1 microsecond', ${keyOf(place, value)})`,
    );
  return parts.join(' AND ');
}

const keyOf = (place: UrlPlace, value: Value): string =>
  `${value(place.bucket, 'smallint')}, ${value(place.domainKey.toString(), 'bigint')}, ${value(place.hash, 'bytea')}`;

/** What no index serves: asked of each row that was read. */
function wishesOf(filter: UrlFilter, order: UrlSort, value: Value): string {
  const wishes: string[] = [];
  if (filter.statuses !== undefined)
    wishes.push(`f.status = ANY (${value(filter.statuses, 'url_status[]')})`);
  if (filter.kinds !== undefined) wishes.push(`f.kind = ANY (${value(filter.kinds, 'url_kind[]')})`);
  if (filter.origins !== undefined) wishes.push(`f.origin = ANY (${value(filter.origins, 'url_origin[]')})`);
  if (filter.priorityMin !== undefined) wishes.push(`f.priority >= ${value(filter.priorityMin, 'smallint')}`);
  if (filter.errorCode !== undefined)
    wishes.push(`coalesce(f.error_code = ${value(filter.errorCode, 'text')}, false)`);
  if (filter.prefix !== undefined) wishes.push(`starts_with(f.url, ${value(filter.prefix, 'text')})`);
  if (order === 'key' && filter.before !== undefined)
    wishes.push(`f.discovered_at < ${value(filter.before, 'timestamptz')}`);
  if (order === 'key' && filter.sourceId !== undefined)
    wishes.push(`coalesce(f.source_id = ${value(filter.sourceId, 'integer')}, false)`);
  if (order !== 'key' && filter.domain !== undefined)
    wishes.push(
      `f.bucket = ${value(filter.domain.bucket, 'smallint')} AND f.domain_key = ${value(filter.domain.domainKey.toString(), 'bigint')}`,
    );
  if (order !== 'key' && filter.hashes !== undefined)
    wishes.push(`f.url_hash = ANY (${value(filter.hashes, 'bytea[]')})`);
  return wishes.length === 0 ? 'true' : wishes.join(' AND ');
}
