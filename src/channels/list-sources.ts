import type { Queryable } from '../db/index.ts';
import type { IngestionMode, Source } from '../sources/index.ts';

/** A source with how it goes. */
export type SourceStatus = Source & {
  channels: number;
  failing: number;
  lastItemAt: Date | null;
  /** Its feeds are being looked for. */
  searching: boolean;
};

/** Which sources; all unless said. */
export type SourceFilter = {
  mode?: IngestionMode;
  enabled?: boolean;
  /** With a channel whose polls fail. */
  failing?: boolean;
  /** Words in the name, short name or address. */
  search?: string;
  limit?: number;
};

/** How a source is doing, in a word. */
export const sourceStatuses = ['ok', 'failing', 'empty', 'searching', 'disabled'] as const;
export type SourceStatusWord = (typeof sourceStatuses)[number];

/** The word for a source: what an operator decided comes before what was met. */
export function sourceStatusOf(source: SourceStatus): SourceStatusWord {
  if (!source.enabled) return 'disabled';
  if (source.failing > 0) return 'failing';
  if (source.channels > 0) return 'ok';
  if (source.searching) return 'searching';
  // Nothing of it is polled, and nobody looks for anything that could be.
  return source.ingestionMode === 'feed' ? 'empty' : 'ok';
}

// Of a source s: its channels without the files that sitemap indexes name. Index: channels_source.
const summedUp = `JOIN LATERAL (SELECT count(*)::integer AS channels,
                            count(*) FILTER (WHERE c.enabled AND st.errors_in_row > 0)::integer AS failing,
                            max(st.last_item_at) AS last_item_at
                       FROM channels c LEFT JOIN channel_state st ON st.bucket = c.bucket AND st.channel_id = c.id
                      WHERE c.source_id = s.id AND c.parent_id IS NULL) c ON true
       JOIN LATERAL (SELECT EXISTS (SELECT FROM discoveries d WHERE d.source_id = s.id AND d.finished_at IS NULL) AS searching) d ON true`;
const statusColumns = `s.id, s.slug, s.name, s.url, s.enabled, s.disabled_at AS "disabledAt", s.disable_reason AS "disableReason",
            s.ingestion_mode AS "ingestionMode", s.feed_poll_interval_minutes AS "feedPollIntervalMinutes", s.priority,
            s.rate_limit_ms AS "rateLimitMs", s.settings, s.created_at AS "createdAt", c.channels, c.failing,
            c.last_item_at AS "lastItemAt", d.searching`;
const isNamed = `($1::text IS NULL OR s.ingestion_mode = $1) AND ($2::boolean IS NULL OR s.enabled = $2)
        AND ($4::text IS NULL OR s.name ILIKE $4 OR s.slug ILIKE $4 OR s.url ILIKE $4)`;
const isFailing = '($3::boolean IS NOT TRUE OR c.failing > 0)';

const valuesOf = (filter: SourceFilter): unknown[] => [
  filter.mode ?? null,
  filter.enabled ?? null,
  filter.failing ?? null,
  filter.search === undefined ? null : `%${filter.search.replace(/[\\%_]/g, '\\$&')}%`,
  filter.limit ?? 1000,
];

/** One source with how it goes; null: there is none of that name. */
export async function findSourceStatus(db: Queryable, slug: string): Promise<SourceStatus | null> {
  const result = await db.query<SourceStatus>(
    `SELECT ${statusColumns} FROM sources s ${summedUp} WHERE s.slug = $1`,
    [slug],
  );
  return result.rows[0] ?? null;
}

// A word inside of a name has no index: so many rows are looked at, and the next page goes on behind them.
const mostLooked = 20_000;

// Every order goes up: what is to come the other way round is negated. Only "added" has an index. For another one all
// sources are sorted, 10 ms for ten thousand and 60 ms by their newest item, for which their channels are read.
const newestItem = `(SELECT (extract(epoch FROM max(st.last_item_at)) * 1000000)::bigint
    FROM channels c JOIN channel_state st ON st.bucket = c.bucket AND st.channel_id = c.id
   WHERE c.source_id = s.id AND c.parent_id IS NULL)`;
const orders = {
  added: { value: 's.id', type: 'bigint' },
  newest: { value: '-s.id', type: 'bigint' },
  name: { value: 'lower(s.name) COLLATE "C"', type: 'text' },
  priority: { value: '-s.priority', type: 'bigint' },
  last_item: { value: `-coalesce(${newestItem}, 0)`, type: 'bigint' },
  silent: { value: `coalesce(${newestItem}, 0)`, type: 'bigint' },
} as const;

/** Orders of sources; `silent` has those first that brought nothing for longest. */
export const sourceSorts = ['added', 'newest', 'name', 'priority', 'last_item', 'silent'] as const;
export type SourceSort = (typeof sourceSorts)[number];

/** Whether an order has text to go on behind, or a number. */
export const hasTextPlace = (sort: SourceSort): boolean => orders[sort].type === 'text';

/** Where a page of sources ends: what the order is by, as text, and the source. */
export type SourcePlace = { at: string; id: number };

/** A page of sources, and behind which one the next goes on; null at the end. */
export async function pageSources(
  db: Queryable,
  filter: SourceFilter & {
    status?: SourceStatusWord;
    sort?: SourceSort;
    after: SourcePlace | null;
    limit: number;
  },
): Promise<{ rows: SourceStatus[]; next: SourcePlace | null }> {
  const { limit, after, status, failing, sort = 'added' } = filter;
  const { value, type } = orders[sort];
  const isBehind =
    sort === 'added'
      ? 's.id > coalesce($6::integer, 0) AND $10::text IS NULL'
      : `($6::integer IS NULL OR (${value}, s.id) > ($10::text::${type}, $6::integer))`;
  const needsState = status !== undefined || failing === true;
  const isFiltered =
    needsState || [filter.mode, filter.enabled, filter.search].some((one) => one !== undefined);
  // Channels are summed up for as few sources as can be: for those that are answered, unless the sums decide.
  const result = await db.query<SourceStatus & { place: string; last: SourcePlace | null; looked: number }>(
    `WITH looked AS MATERIALIZED (SELECT s.*, ${value} AS place FROM sources s WHERE ${isBehind} ORDER BY place, s.id LIMIT $8),
     named AS MATERIALIZED (SELECT * FROM looked s WHERE ${isNamed} ORDER BY s.place, s.id LIMIT $9),
     found AS (
       SELECT ${statusColumns}, s.place FROM named s ${summedUp}
        WHERE ${isFailing} AND ($7::text IS NULL OR $7 = CASE WHEN NOT s.enabled THEN 'disabled' WHEN c.failing > 0 THEN 'failing'
                WHEN c.channels > 0 THEN 'ok' WHEN d.searching THEN 'searching'
                WHEN s.ingestion_mode = 'feed' THEN 'empty' ELSE 'ok' END)
        ORDER BY s.place, s.id LIMIT $5)
     SELECT f.*, f.place::text AS place, l.last, l.looked
       FROM (SELECT (SELECT json_build_object('at', place::text, 'id', id) FROM looked ORDER BY looked.place DESC, id DESC LIMIT 1) AS last,
                    count(*)::integer AS looked FROM looked) l LEFT JOIN found f ON true
      ORDER BY f.place, f.id`,
    [
      ...valuesOf(filter),
      after?.id ?? null,
      status ?? null,
      isFiltered ? mostLooked : limit,
      needsState ? mostLooked : limit,
      sort === 'added' ? null : (after?.at ?? null),
    ],
  );
  const [first] = result.rows;
  // Without a match the one row carries only how far the look went.
  const rows = result.rows.filter((row) => row.id !== null);
  const isCut = first !== undefined && first.looked === mostLooked;
  const end = rows.at(-1);
  const next =
    rows.length === limit && end !== undefined ? { at: end.place, id: end.id } : isCut ? first.last : null;
  return { rows: rows.map(({ last: _last, looked: _looked, place: _place, ...row }) => row), next };
}

/** How many sources there are, counted to one more than asked for. */
export async function countSources(db: Queryable, most: number): Promise<number> {
  const result = await db.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM (SELECT FROM sources LIMIT $1) s',
    [most + 1],
  );
  return result.rows[0]!.count;
}

/** Which channels; all unless said. */
export type ChannelFilter = {
  kind?: 'feed' | 'sitemap' | 'page';
  failing?: boolean;
  pushed?: boolean;
  /** Also the files that sitemap indexes name. */
  files?: boolean;
};
