import type { Queryable } from '../db/index.ts';
import { submit } from '../frontier/index.ts';
import { channelHash, identifyUrl } from '../url/index.ts';
import { type Channel, loadChannels } from './channels.ts';

/** The channel a person means, by its number or address; null: there is none. */
export async function findChannel(db: Queryable, name: string): Promise<Channel | null> {
  if (/^\d{1,9}$/.test(name)) {
    const byId = await db.query<{ hash: Buffer }>('SELECT url_hash AS hash FROM channels WHERE id = $1', [
      Number(name),
    ]);
    return byId.rows[0] === undefined ? null : ((await loadChannels(db, [byId.rows[0].hash]))[0] ?? null);
  }
  const identified = identifyUrl(name);
  if (identified.outcome === 'rejected') return null;
  return (await loadChannels(db, [channelHash(identified.identity.fetchUrl)]))[0] ?? null;
}

/** What an operator decides of a channel; what is left out stays. */
export type ChannelChange = { intervalSeconds?: number; enabled?: boolean; title?: string | null };

/** Changes a channel and writes down who did it; fetchers follow within seconds. */
export async function updateChannel(
  db: Queryable,
  channel: Channel,
  change: ChannelChange,
  actor: string,
): Promise<Channel> {
  await db.query(
    `WITH changed AS (
       UPDATE channels SET interval_seconds = coalesce($2, interval_seconds), enabled = coalesce($3, enabled),
              title = CASE WHEN $4::boolean THEN $5 ELSE title END WHERE id = $1)
     INSERT INTO audit (actor, action, subject, detail) VALUES ($6, 'channel', $7, $8)`,
    [
      channel.id,
      change.intervalSeconds ?? null,
      change.enabled ?? null,
      change.title !== undefined,
      change.title ?? null,
      actor,
      channel.url,
      JSON.stringify(change),
    ],
  );
  if (change.enabled === true) await resume(db, channel);
  return (await loadChannels(db, [channel.hash]))[0] ?? channel;
}

/** Makes an enabled channel's row due: it was put off, or there never was one. */
async function resume(db: Queryable, channel: Channel): Promise<void> {
  const identified = identifyUrl(channel.url);
  if (identified.outcome === 'rejected') return;
  const { bucket, domainKey } = identified.identity;
  await db.query('SELECT source_resume($1, $2, $3, $4)', [
    bucket,
    domainKey.toString(),
    channel.sourceId,
    channel.hash,
  ]);
  await submit(db, [
    {
      url: channel.url,
      kind: 'channel',
      origin: 'manual',
      sourceId: channel.sourceId,
      priority: 10,
      own: true,
    },
  ]);
}

/** Stops polling an address for good; what it brought stays. */
export async function removeChannel(db: Queryable, channel: Channel, actor: string): Promise<void> {
  const identified = identifyUrl(channel.url);
  await db.query(
    `WITH gone AS (DELETE FROM channels WHERE id = $1 RETURNING bucket, id),
     state AS (DELETE FROM channel_state st USING gone WHERE st.bucket = gone.bucket AND st.channel_id = gone.id)
     INSERT INTO audit (actor, action, subject, detail) VALUES ($2, 'channel_removed', $3, '{}')`,
    [channel.id, actor, channel.url],
  );
  if (identified.outcome === 'rejected') return;
  // After the channel: whoever polls it in between finds nobody who asks for it, and gives the row up as well.
  const { bucket, domainKey } = identified.identity;
  await db.query(`SELECT source_drop($1, $2, $3, 1, 'channel_removed', $4)`, [
    bucket,
    domainKey.toString(),
    channel.sourceId,
    channel.hash,
  ]);
}
