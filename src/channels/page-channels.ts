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

/** The key of the row by which a channel is polled; null: the channel was removed. */
export async function loadPollKey(
  db: Queryable,
  channel: Pick<Channel, 'id'>,
): Promise<{ bucket: number; domainKey: bigint; hash: Buffer } | null> {
  const result = await db.query<{ bucket: number; domainKey: bigint; hash: Buffer }>(
    'SELECT bucket, domain_key AS "domainKey", url_hash AS hash FROM channels WHERE id = $1',
    [channel.id],
  );
  return result.rows[0] ?? null;
}
