import type { Queryable } from '../db/index.ts';
import { AppError } from '../errors/index.ts';
import { type SubmitItem, submit } from '../frontier/index.ts';
import { channelHash, identifyUrl } from '../url/index.ts';

/** What a channel is read as. */
export type ChannelKind = 'feed' | 'sitemap' | 'page';

/** One polled resource of a source. */
export type Channel = {
  id: number;
  sourceId: number;
  kind: ChannelKind;
  url: string;
  hash: Buffer;
  enabled: boolean;
  intervalSeconds: number;
  foundBy: 'manual' | 'link' | 'path' | 'robots';
  title: string | null;
  /** How long its polls have failed; null: they do not. */
  failingForMs: number | null;
};

const columns = `channels.id, source_id AS "sourceId", kind, url, url_hash AS hash, enabled,
  interval_seconds AS "intervalSeconds", found_by AS "foundBy", title,
  (SELECT extract(epoch FROM now() - s.failing_since)::float8 * 1000 FROM channel_state s
    WHERE s.bucket = channels.bucket AND s.channel_id = channels.id) AS "failingForMs"`;

export type NewChannel = Pick<Channel, 'sourceId' | 'kind' | 'url' | 'intervalSeconds' | 'foundBy'> & {
  title?: string | null;
};

/** Adds a channel and its frontier row, due at once. An address that is followed already is answered with its channel. */
export async function createChannel(
  db: Queryable,
  input: NewChannel,
): Promise<{ channel: Channel; created: boolean }> {
  const identified = identifyUrl(input.url);
  if (identified.outcome === 'rejected') {
    throw new AppError('channel_url_invalid', `"${input.url}" cannot be polled (${identified.reason})`, {
      httpStatus: 422,
      exitCode: 2,
    });
  }
  const { fetchUrl, bucket, domainKey } = identified.identity;
  const hash = channelHash(fetchUrl);
  const inserted = await db.query<Channel>(
    `INSERT INTO channels (source_id, kind, url, bucket, domain_key, url_hash, interval_seconds, found_by, title)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (url_hash) DO NOTHING RETURNING ${columns}`,
    [
      input.sourceId,
      input.kind,
      fetchUrl,
      bucket,
      domainKey.toString(),
      hash,
      input.intervalSeconds,
      input.foundBy,
      input.title ?? null,
    ],
  );
  const channel = inserted.rows[0] ?? (await loadChannels(db, [hash]))[0];
  if (channel === undefined)
    throw new AppError('channel_vanished', `the channel ${fetchUrl} was removed while it was added`, {
      retry: true,
    });
  // Idempotent: when the row exists, a crash came between the two statements or somebody else added it.
  await submit(db, [pollRow(channel)]);
  return { channel, created: inserted.rows[0] !== undefined };
}

function pollRow(channel: Channel): SubmitItem {
  return {
    url: channel.url,
    kind: 'channel',
    origin: 'manual',
    sourceId: channel.sourceId,
    priority: 10,
    own: true,
  };
}

/** Channels by the hashes of their frontier rows. */
export async function loadChannels(db: Queryable, hashes: readonly Buffer[]): Promise<Channel[]> {
  const result = await db.query<Channel>(`SELECT ${columns} FROM channels WHERE url_hash = ANY ($1)`, [
    hashes,
  ]);
  return result.rows;
}

/** A channel with how its polls went. */
export type ChannelStatus = Channel & {
  polls: bigint;
  notModified: bigint;
  itemsSeen: bigint;
  itemsNew: bigint;
  errorsInRow: number;
  errorKind: string | null;
  lastSuccessAt: Date | null;
  dueAt: Date | null;
};

/** Channels with their state, trouble first. */
export async function listChannels(
  db: Queryable,
  options: { sourceId?: number; ids?: readonly number[]; limit?: number } = {},
): Promise<ChannelStatus[]> {
  const result = await db.query<ChannelStatus>(
    `SELECT c.id, c.source_id AS "sourceId", c.kind, c.url, c.url_hash AS hash, c.enabled, c.interval_seconds AS "intervalSeconds",
            c.found_by AS "foundBy", c.title, coalesce(s.polls, 0) AS polls, coalesce(s.not_modified, 0) AS "notModified",
            coalesce(s.items_seen, 0) AS "itemsSeen", coalesce(s.items_new, 0) AS "itemsNew",
            coalesce(s.errors_in_row, 0) AS "errorsInRow", s.error_kind AS "errorKind",
            s.last_success_at AS "lastSuccessAt", f.due_at AS "dueAt",
            extract(epoch FROM now() - s.failing_since)::float8 * 1000 AS "failingForMs"
       FROM channels c
       LEFT JOIN channel_state s ON s.bucket = c.bucket AND s.channel_id = c.id
       LEFT JOIN url_frontier f ON f.bucket = c.bucket AND f.domain_key = c.domain_key AND f.url_hash = c.url_hash
      WHERE ($1::integer IS NULL OR c.source_id = $1) AND ($3::integer[] IS NULL OR c.id = ANY ($3))
      ORDER BY coalesce(s.errors_in_row, 0) DESC, c.id LIMIT $2`,
    [options.sourceId ?? null, options.limit ?? 1000, options.ids ?? null],
  );
  return result.rows;
}
