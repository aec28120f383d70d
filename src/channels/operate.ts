import type { Queryable } from '../db/index.ts';
import { AppError } from '../errors/index.ts';
import { channelHash, identifyUrl } from '../url/index.ts';
import { type Channel, channelColumns, findTwin, loadChannels, loadMoved, stateJoin } from './channels.ts';
import { endRow } from './moves.ts';

/** A channel by its number. */
export async function findChannel(db: Queryable, id: number): Promise<Channel | null> {
  const result = await db.query<Channel>(
    `SELECT ${channelColumns} FROM channels c ${stateJoin} WHERE c.id = $1`,
    [id],
  );
  return result.rows[0] ?? null;
}

/** A channel by an address that it has or had, or that differs from it by http and https alone. */
async function findChannelByUrl(db: Queryable, url: string): Promise<Channel | null> {
  const identified = identifyUrl(url);
  if (identified.outcome === 'rejected') return null;
  const hash = channelHash(identified.identity.fetchUrl);
  const [channel] = await loadChannels(db, [hash]);
  const known = channel ?? (await loadMoved(db, [hash])).get(hash.toString('hex'));
  return known ?? findTwin(db, identified.identity.fetchUrl);
}

/** The numbers of the channels that have or had these addresses, by address. */
export async function findChannelIds(db: Queryable, urls: readonly string[]): Promise<Map<string, number>> {
  const hashes = [...new Set(urls)].flatMap((url) => {
    const identified = identifyUrl(url);
    return identified.outcome === 'rejected'
      ? []
      : [{ url, hash: channelHash(identified.identity.fetchUrl) }];
  });
  const keys = hashes.map(({ hash }) => hash);
  const known = new Map((await loadChannels(db, keys)).map((one) => [one.hash.toString('hex'), one.id]));
  const moved = await loadMoved(db, keys);
  const found = hashes.flatMap(({ url, hash }): [string, number][] => {
    const id = known.get(hash.toString('hex')) ?? moved.get(hash.toString('hex'))?.id;
    return id === undefined ? [] : [[url, id]];
  });
  return new Map(found);
}

/** The channel a person means, by its number or by an address that it has or had. */
export async function findNamedChannel(db: Queryable, name: string): Promise<Channel | null> {
  return /^\d{1,9}$/.test(name) ? findChannel(db, Number(name)) : findChannelByUrl(db, name);
}

/** The complaint about a number or an address that no channel has. */
export const unknownChannel = (name: string): AppError =>
  new AppError('channel_unknown', `there is no channel "${name}"`, {
    exitCode: 2,
    httpStatus: 404,
    advice: 'The ID and URL columns of "outrider channels" list them.',
  });

/** The channel that was found while another one failed. */
export async function findReplacement(db: Queryable, id: number): Promise<Channel | null> {
  const result = await db.query<Channel>(
    `SELECT ${channelColumns} FROM channels c ${stateJoin} WHERE c.replaces_id = $1 ORDER BY c.id LIMIT 1`,
    [id],
  );
  return result.rows[0] ?? null;
}

/** Addresses that a channel has left, the last one first. */
export async function listAddresses(db: Queryable, id: number): Promise<{ url: string; leftAt: Date }[]> {
  const result = await db.query<{ url: string; leftAt: Date }>(
    `SELECT url, left_at AS "leftAt" FROM channel_addresses WHERE channel_id = $1 ORDER BY left_at DESC`,
    [id],
  );
  return result.rows;
}

/** Ends a sleep or a backoff: the channel is polled as soon as its domain may be, and its errors are forgotten. */
export async function wakeChannel(db: Queryable, id: number): Promise<boolean> {
  const result = await db.query<{ woken: boolean }>('SELECT channel_wake($1) AS woken', [id]);
  return result.rows[0]?.woken === true;
}

/** Polls a channel as soon as its domain may be; its errors still count. False: it has no row. */
export async function pollChannel(db: Queryable, id: number): Promise<boolean> {
  const result = await db.query<{ woken: boolean }>('SELECT channel_wake($1, p_forget => false) AS woken', [
    id,
  ]);
  return result.rows[0]?.woken === true;
}

/** Stops polling a channel for now, or goes on at once; its validators and what was learnt stay. */
export async function setChannelEnabled(db: Queryable, id: number, enabled: boolean): Promise<void> {
  await db.query('UPDATE channels SET enabled = $2 WHERE id = $1', [id, enabled]);
  if (enabled) await wakeChannel(db, id);
}

/** What an operator decides of a channel; what is left out stays. */
export type ChannelChange = { intervalSeconds?: number; title?: string | null };

/** Changes a channel and writes down who did it; fetchers follow within seconds. */
export async function updateChannel(
  db: Queryable,
  channel: Channel,
  change: ChannelChange,
  actor: string,
): Promise<Channel> {
  await db.query(
    `WITH changed AS (
       UPDATE channels SET interval_seconds = coalesce($2, interval_seconds),
              title = CASE WHEN $3::boolean THEN $4 ELSE title END WHERE id = $1)
     INSERT INTO audit (actor, action, subject, detail) VALUES ($5, 'channel', $6, $7)`,
    [
      channel.id,
      change.intervalSeconds ?? null,
      change.title !== undefined,
      change.title ?? null,
      actor,
      channel.url,
      JSON.stringify(change),
    ],
  );
  return (await findChannel(db, channel.id)) ?? channel;
}

/** Takes a channel away for good; its row ends as `channel_removed`. False: there is no such channel. */
export async function removeChannel(db: Queryable, id: number): Promise<boolean> {
  const removed = await db.query<{ url: string }>(
    `WITH files AS (SELECT url FROM channels WHERE parent_id = $1),
          gone AS (DELETE FROM channels WHERE id = $1 RETURNING url)
     SELECT url FROM gone UNION ALL SELECT url FROM files WHERE EXISTS (SELECT FROM gone)`,
    [id],
  );
  for (const { url } of removed.rows) await endRow(db, url, 'channel_removed', null);
  return removed.rows.length > 0;
}
