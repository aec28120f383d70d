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

/** Sources with their channels summed up, in the order they were added. */
export async function listSourceStatus(db: Queryable, filter: SourceFilter = {}): Promise<SourceStatus[]> {
  const pattern = filter.search === undefined ? null : `%${filter.search.replace(/[\\%_]/g, '\\$&')}%`;
  const result = await db.query<SourceStatus>(
    `SELECT s.id, s.slug, s.name, s.url, s.enabled, s.disabled_at AS "disabledAt", s.disable_reason AS "disableReason",
            s.ingestion_mode AS "ingestionMode", s.feed_poll_interval_minutes AS "feedPollIntervalMinutes", s.priority,
            s.rate_limit_ms AS "rateLimitMs", s.settings, s.created_at AS "createdAt", c.channels, c.failing,
            c.last_item_at AS "lastItemAt",
            EXISTS (SELECT FROM discoveries d WHERE d.source_id = s.id AND d.finished_at IS NULL) AS searching
       FROM sources s
       JOIN LATERAL (SELECT count(*)::integer AS channels,
                            count(*) FILTER (WHERE c.enabled AND st.errors_in_row > 0)::integer AS failing,
                            max(st.last_item_at) AS last_item_at
                       FROM channels c LEFT JOIN channel_state st ON st.bucket = c.bucket AND st.channel_id = c.id
                      WHERE c.source_id = s.id AND c.parent_id IS NULL) c ON true
      WHERE ($1::text IS NULL OR s.ingestion_mode = $1) AND ($2::boolean IS NULL OR s.enabled = $2)
        AND ($3::boolean IS NOT TRUE OR c.failing > 0)
        AND ($4::text IS NULL OR s.name ILIKE $4 OR s.slug ILIKE $4 OR s.url ILIKE $4)
      ORDER BY s.id LIMIT $5`,
    [filter.mode ?? null, filter.enabled ?? null, filter.failing ?? null, pattern, filter.limit ?? 1000],
  );
  return result.rows;
}

/** Which channels; all unless said. */
export type ChannelFilter = {
  source?: string;
  kind?: 'feed' | 'sitemap' | 'page';
  failing?: boolean;
  pushed?: boolean;
  /** Also the files that sitemap indexes name. */
  files?: boolean;
  limit?: number;
};

/** The channels that match, trouble first. */
export async function findChannelIds(db: Queryable, filter: ChannelFilter): Promise<number[]> {
  const result = await db.query<{ id: number }>(
    `SELECT c.id FROM channels c JOIN sources s ON s.id = c.source_id
       LEFT JOIN channel_state st ON st.bucket = c.bucket AND st.channel_id = c.id
      WHERE ($1::text IS NULL OR s.slug = $1) AND ($2::text IS NULL OR c.kind = $2)
        AND ($3::boolean IS NOT TRUE OR st.errors_in_row > 0) AND ($6::boolean IS TRUE OR c.parent_id IS NULL)
        AND ($4::boolean IS NOT TRUE OR EXISTS (
          SELECT FROM websub_subscriptions w WHERE w.channel_id = c.id AND w.state = 'active'))
      ORDER BY coalesce(st.errors_in_row, 0) DESC, c.id LIMIT $5`,
    [
      filter.source ?? null,
      filter.kind ?? null,
      filter.failing ?? null,
      filter.pushed ?? null,
      filter.limit ?? 1000,
      filter.files ?? false,
    ],
  );
  return result.rows.map((row) => row.id);
}
