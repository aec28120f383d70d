import type { Queryable } from '../db/index.ts';
import { followGroup } from '../domains/index.ts';
import { AppError } from '../errors/index.ts';
import { type SubmitItem, submit } from '../frontier/index.ts';
import { channelHash, channelTwin, identifyUrl } from '../url/index.ts';

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
  foundBy: FoundBy;
  title: string | null;
  /** Its first read takes everything it lists, however old, as archive. */
  takesAll: boolean;
  /** The sitemap index that names it. */
  parentId: number | null;
  /** Indexes above it. */
  depth: number;
  /** How long its polls have failed; null: they do not. */
  failingForMs: number | null;
  /** Errors of the same kind in a row. */
  errorsInRow: number;
  errorKind: string | null;
  /** It sleeps after too many errors, and each further one lets it sleep again. */
  asleep: boolean;
  /** Where permanent redirects have led on the last polls, and on how many in a row. */
  redirectTo: string | null;
  redirects: number;
  /** What was learnt of it, as it is stored. */
  rhythm: unknown;
  /** The publisher asked in its last body not to be polled more often. */
  floorSeconds: number | null;
  /** Its last poll that was answered; null: none was. */
  lastSuccessAt: Date | null;
  /** A hub tells us of its news, so that polls are only a safety net. */
  pushed: boolean;
};

/** How a channel was found. */
export type FoundBy = 'manual' | 'link' | 'path' | 'robots' | 'index' | 'archive';

/** Columns of a channel `c` and its state `s`, which a new channel does not have yet. */
export const channelColumns = `c.id, c.source_id AS "sourceId", c.kind, c.url, c.url_hash AS hash, c.enabled,
  c.interval_seconds AS "intervalSeconds", c.found_by AS "foundBy", c.title, c.takes_all AS "takesAll",
  c.parent_id AS "parentId", c.depth,
  extract(epoch FROM now() - s.failing_since)::float8 * 1000 AS "failingForMs",
  coalesce(s.errors_in_row, 0) AS "errorsInRow", s.error_kind AS "errorKind", s.slept_at IS NOT NULL AS asleep,
  s.redirect_to AS "redirectTo", coalesce(s.redirects, 0) AS redirects, s.rhythm, s.floor_seconds AS "floorSeconds",
  s.last_success_at AS "lastSuccessAt", coalesce(s.pushed_until > now(), false) AS pushed`;
/** Joins the state `s` of a channel `c`. */
export const stateJoin = 'LEFT JOIN channel_state s ON s.bucket = c.bucket AND s.channel_id = c.id';

export type NewChannel = Pick<Channel, 'sourceId' | 'kind' | 'url' | 'intervalSeconds' | 'foundBy'> & {
  title?: string | null;
  /** The failing channel it was found for. */
  replacesId?: number | null;
  takesAll?: boolean;
};

/**
 * Adds a channel and its frontier row, due at once. An address that is followed already, in this spelling or with the
 * other of http and https, or that a channel has left, is answered with its channel.
 */
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
  const moved = (await loadMoved(db, [hash])).get(hash.toString('hex'));
  if (moved !== undefined) return { channel: moved, created: false };
  // What was found in the place of a failing channel may be just its twin.
  const twin = input.replacesId == null ? await findTwin(db, fetchUrl) : null;
  if (twin !== null) return { channel: twin, created: false };
  const inserted = await db.query<{ id: number }>(
    `INSERT INTO channels (source_id, kind, url, bucket, domain_key, url_hash, interval_seconds, found_by, title, replaces_id, takes_all)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (url_hash) DO NOTHING RETURNING id`,
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
      input.replacesId ?? null,
      input.takesAll ?? false,
    ],
  );
  const channel = (await loadChannels(db, [hash]))[0];
  if (channel === undefined)
    throw new AppError('channel_vanished', `the channel ${fetchUrl} was removed while it was added`, {
      retry: true,
    });
  await followGroup(db, channel.sourceId, [identified.identity]);
  // Idempotent: when the row exists, a crash came between the two statements or somebody else added it.
  await submitPoll(db, channel);
  return { channel, created: inserted.rows[0] !== undefined };
}

/** Whether the next read of a channel is the one that takes everything. */
export const isArchiveRead = ({
  takesAll,
  lastSuccessAt,
}: Pick<Channel, 'takesAll' | 'lastSuccessAt'>): boolean => takesAll && lastSuccessAt === null;

/** Makes sure that a channel has its frontier row; a row that was given up is taken up again. */
export async function submitPoll(
  db: Queryable,
  channel: Pick<Channel, 'url' | 'sourceId'>,
  when: { dueAt?: Date; modifiedAt?: Date | null } = {},
): Promise<void> {
  await submit(db, [{ ...pollRow(channel), ...when }]);
}

/** The frontier row of a channel, as it is submitted. */
export function pollRow(channel: Pick<Channel, 'url' | 'sourceId'>): SubmitItem {
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
  const result = await db.query<Channel>(
    `SELECT ${channelColumns} FROM channels c ${stateJoin} WHERE c.url_hash = ANY ($1)`,
    [hashes],
  );
  return result.rows;
}

/**
 * The channel that follows an address with the other of http and https, unless its polls fail: then this spelling may be
 * the one that works. An address that is a channel itself has no twin.
 */
export async function findTwin(db: Queryable, fetchUrl: string): Promise<Channel | null> {
  return (await loadTwins(db, [fetchUrl])).get(fetchUrl) ?? null;
}

/** The same for many addresses; those without one are left out. */
export async function loadTwins(db: Queryable, fetchUrls: readonly string[]): Promise<Map<string, Channel>> {
  const twins = fetchUrls.flatMap((url) => {
    const twin = channelTwin(url);
    return twin === null ? [] : [{ url, own: channelHash(url), twin: channelHash(twin) }];
  });
  if (twins.length === 0) return new Map();
  const channels = await loadChannels(
    db,
    twins.flatMap(({ own, twin }) => [own, twin]),
  );
  const known = new Map(channels.map((one) => [one.hash.toString('hex'), one]));
  return new Map(
    twins.flatMap(({ url, own, twin }): [string, Channel][] => {
      const channel = known.get(twin.toString('hex'));
      return channel === undefined || channel.errorsInRow > 0 || known.has(own.toString('hex'))
        ? []
        : [[url, channel]];
    }),
  );
}

/** Channels that have left these addresses, by the hex of the hash they had there. */
export async function loadMoved(db: Queryable, hashes: readonly Buffer[]): Promise<Map<string, Channel>> {
  const result = await db.query<Channel & { left: Buffer }>(
    `SELECT a.url_hash AS left, ${channelColumns} FROM channel_addresses a JOIN channels c ON c.id = a.channel_id ${stateJoin}
      WHERE a.url_hash = ANY ($1)`,
    [hashes],
  );
  return new Map(result.rows.map(({ left, ...channel }) => [left.toString('hex'), channel]));
}

/** A channel with how its polls went. */
export type ChannelStatus = Channel & {
  polls: bigint;
  notModified: bigint;
  itemsSeen: bigint;
  itemsNew: bigint;
  dueAt: Date | null;
  sleepReason: string | null;
  /** Mean seconds from publication to the frontier, of items that appeared between two polls; null: none did. */
  delaySeconds: number | null;
  delayedItems: number;
  /** Mean seconds from due to fetched. */
  lateSeconds: number | null;
};

/** How fast news is found over all channels. */
export type DiscoveryDelay = { items: number; meanSeconds: number | null; lateSeconds: number | null };

/** Discovery delay and lateness over all channels. */
export async function loadDiscoveryDelay(db: Queryable): Promise<DiscoveryDelay> {
  const result = await db.query<DiscoveryDelay>(
    `SELECT coalesce(sum(delays), 0)::float8 AS items, sum(delay_seconds) / nullif(sum(delays), 0)::float8 AS "meanSeconds",
            sum(late_seconds) / nullif(sum(polls), 0)::float8 AS "lateSeconds" FROM channel_state`,
  );
  return result.rows[0]!;
}

/** Channels with their state, trouble first; files of sitemap indexes only if asked for. */
export async function listChannels(
  db: Queryable,
  options: { sourceId?: number; ids?: readonly number[]; limit?: number; files?: boolean } = {},
): Promise<ChannelStatus[]> {
  const result = await db.query<ChannelStatus>(
    `SELECT ${channelColumns}, coalesce(s.polls, 0) AS polls, coalesce(s.not_modified, 0) AS "notModified",
            coalesce(s.items_seen, 0) AS "itemsSeen", coalesce(s.items_new, 0) AS "itemsNew",
            s.sleep_reason AS "sleepReason", s.delay_seconds / nullif(s.delays, 0) AS "delaySeconds",
            coalesce(s.delays, 0)::float8 AS "delayedItems", s.late_seconds / nullif(s.polls, 0) AS "lateSeconds", f.due_at AS "dueAt"
       FROM channels c ${stateJoin}
       LEFT JOIN url_frontier f ON f.bucket = c.bucket AND f.domain_key = c.domain_key AND f.url_hash = c.url_hash
      WHERE ($1::integer IS NULL OR c.source_id = $1) AND ($3 OR c.parent_id IS NULL)
        AND ($4::integer[] IS NULL OR c.id = ANY ($4))
      ORDER BY coalesce(s.errors_in_row, 0) DESC, c.id LIMIT $2`,
    [options.sourceId ?? null, options.limit ?? 1000, options.files ?? false, options.ids ?? null],
  );
  return result.rows;
}
