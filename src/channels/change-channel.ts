import type { Queryable } from '../db/index.ts';
import { submit } from '../frontier/index.ts';
import { channelHash, identifyUrl } from '../url/index.ts';
import { type Channel, loadChannels } from './channels.ts';

/** The channel a person means, by its number or address; null: there is none. */
export async function findNamedChannel(db: Queryable, name: string): Promise<Channel | null> {
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
  if (change.enabled === true) await pollAgain(db, channel);
  return (await loadChannels(db, [channel.hash]))[0] ?? channel;
}

/** A row that was given up while its channel was disabled waits again, and promotion is woken for it. */
async function pollAgain(db: Queryable, channel: Channel): Promise<void> {
  const identified = identifyUrl(channel.url);
  if (identified.outcome === 'rejected') return;
  const { bucket, domainKey } = identified.identity;
  await db.query(
    `WITH back AS (
       UPDATE url_frontier SET status = 'pending', due_at = now(), tries = 0, error_code = NULL, error_text = NULL
        WHERE bucket = $1 AND domain_key = $2 AND url_hash = $3 AND status = 'dead' AND error_code = 'channel_removed'
       RETURNING bucket, domain_key)
     UPDATE domain_slots s SET wake_at = now() FROM back WHERE s.bucket = back.bucket AND s.domain_key = back.domain_key`,
    [bucket, domainKey.toString(), channel.hash],
  );
  const { url, sourceId } = channel;
  await submit(db, [{ url, kind: 'channel', origin: 'manual', sourceId, priority: 10, own: true }]);
}
