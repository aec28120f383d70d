import type { Queryable } from '../db/index.ts';
import { type Channel, type ChannelStatus, listChannels } from './channels.ts';
import type { ChannelFilter } from './list-sources.ts';

/** Where a list of channels goes on: behind this one, which had so many errors in a row. */
export type ChannelPlace = { errorsInRow: number; id: number };

const conditions = `($2::integer IS NULL OR c.source_id = $2) AND ($3::text IS NULL OR c.kind = $3)
        AND ($4::boolean IS TRUE OR c.parent_id IS NULL)
        AND ($5::boolean IS NOT TRUE OR EXISTS (
          SELECT FROM websub_subscriptions w WHERE w.channel_id = c.id AND w.state = 'active'))`;

/**
 * A page of channels, trouble first, and where the next one begins; null at the end. Two walks along indexes instead of
 * one sort of everything: first those with errors (channel_state_trouble), then the others by their number.
 */
export async function pageChannels(
  db: Queryable,
  filter: ChannelFilter & {
    sourceId?: number;
    after?: ChannelPlace;
    limit: number;
  },
): Promise<{ rows: ChannelStatus[]; next: ChannelPlace | null }> {
  const { limit, after } = filter;
  const values = [
    filter.sourceId ?? null,
    filter.kind ?? null,
    filter.files ?? false,
    filter.pushed ?? false,
  ];
  const places: ChannelPlace[] = [];
  if (after === undefined || after.errorsInRow > 0) {
    const troubled = await db.query<ChannelPlace>(
      `SELECT s.errors_in_row AS "errorsInRow", c.id FROM channel_state s JOIN channels c ON c.id = s.channel_id AND c.bucket = s.bucket
        WHERE s.errors_in_row > 0 AND ($6::integer IS NULL OR s.errors_in_row < $6 OR (s.errors_in_row = $6 AND s.channel_id > $7))
          AND ${conditions}
        ORDER BY s.errors_in_row DESC, s.channel_id LIMIT $1`,
      [limit, ...values, after?.errorsInRow ?? null, after?.id ?? 0],
    );
    places.push(...troubled.rows);
  }
  if (places.length < limit && filter.failing !== true) {
    const calm = await db.query<ChannelPlace>(
      `SELECT 0 AS "errorsInRow", c.id FROM channels c
        WHERE c.id > $6 AND ${conditions}
          AND NOT EXISTS (SELECT FROM channel_state s WHERE s.bucket = c.bucket AND s.channel_id = c.id AND s.errors_in_row > 0)
        ORDER BY c.id LIMIT $1`,
      [limit - places.length, ...values, after?.errorsInRow === 0 ? after.id : 0],
    );
    places.push(...calm.rows);
  }
  const listed = await listChannels(db, { ids: places.map((one) => one.id), limit, files: true });
  const byId = new Map(listed.map((one) => [one.id, one]));
  return {
    rows: places.flatMap(({ id }) => byId.get(id) ?? []),
    next: places.length === limit ? places.at(-1)! : null,
  };
}

/** One poll of a channel, as the crawl log has it. */
export type Poll = {
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

// The log is kept by domain: of one with many pages a day, polls of the last weeks may lie behind more rows than these.
const mostLooked = 20_000;

/**
 * The newest polls of a channel from before a time (microseconds since 1970), and where to go on; null: there are no
 * more. Index: crawl_log_domain.
 */
export async function loadPolls(
  db: Queryable,
  channel: Pick<Channel, 'id'>,
  options: { limit: number; beforeUs?: bigint },
): Promise<{ polls: Poll[]; nextUs: bigint | null }> {
  const result = await db.query<Poll & { us: bigint | null; lastUs: bigint | null; looked: number }>(
    `WITH looked AS MATERIALIZED (
       SELECT l.*, c.url_hash = l.url_hash AS own FROM channels c
         JOIN crawl_log l ON l.bucket = c.bucket AND l.domain_key = c.domain_key
        WHERE c.id = $1 AND ($2::bigint IS NULL OR l.at < to_timestamp($2 / 1000000.0)) ORDER BY l.at DESC LIMIT ${mostLooked}),
     found AS (SELECT * FROM looked WHERE own ORDER BY at DESC LIMIT $3)
     SELECT f.at, f.status, f.outcome, f.url, f.wait_ms AS "waitMs", f.headers_ms AS "headersMs", f.total_ms AS "totalMs",
            f.bytes::float8 AS bytes, f.worker, (extract(epoch FROM f.at) * 1000000)::bigint AS us,
            (extract(epoch FROM l.last) * 1000000)::bigint AS "lastUs", l.looked
       FROM (SELECT min(at) AS last, count(*)::integer AS looked FROM looked) l LEFT JOIN found f ON true ORDER BY f.at DESC`,
    [channel.id, options.beforeUs?.toString() ?? null, options.limit],
  );
  const [first] = result.rows;
  const found = result.rows.filter((row) => row.us !== null);
  const isCut = first !== undefined && first.looked === mostLooked;
  return {
    polls: found.map(({ us: _us, lastUs: _lastUs, looked: _looked, ...poll }) => poll),
    nextUs: found.length === options.limit ? found.at(-1)!.us : isCut ? first.lastUs : null,
  };
}
