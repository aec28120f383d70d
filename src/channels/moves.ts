import type { Queryable } from '../db/index.ts';
import { followGroup } from '../domains/index.ts';
import { channelHash, identifyUrl, type UrlIdentity } from '../url/index.ts';
import { type Channel, submitPoll } from './channels.ts';

/**
 * What became of a wish to move: it moved, its new address was a channel of its source already and goes on alone, that
 * address is another source's, or the way leads back in a circle.
 */
export type MoveOutcome = 'moved' | 'merged' | 'taken' | 'circle';

/**
 * Gives a channel another address under that address's own domain. The old one is remembered; its frontier row is
 * ended by whoever holds it. Each statement may be repeated: a crash in between leaves a channel that is polled, because
 * the old row, leased again, leads here.
 */
export async function moveChannel(
  db: Queryable,
  channel: Pick<Channel, 'id' | 'sourceId' | 'hash'>,
  target: UrlIdentity,
  dueAt?: Date,
): Promise<MoveOutcome> {
  const hash = channelHash(target.fetchUrl);
  await copyState(db, channel.id, target.bucket);
  const result = await db.query<{ outcome: MoveOutcome }>(
    'SELECT channel_move($1, $2, $3, $4, $5, $6) AS outcome',
    [channel.id, channel.hash, target.fetchUrl, target.bucket, target.domainKey.toString(), hash],
  );
  const { outcome } = result.rows[0]!;
  if (outcome === 'moved') {
    await followGroup(db, channel.sourceId, [target]);
    const moved = { url: target.fetchUrl, sourceId: channel.sourceId };
    await submitPoll(db, moved, dueAt === undefined ? {} : { dueAt });
  }
  await dropStrayState(db, channel.id);
  return outcome;
}

/**
 * Gives a channel an address back that it has left, because it was found to work there: no circle, however lately it
 * was. Where it was led meanwhile is not followed again for a day.
 */
export async function returnChannel(
  db: Queryable,
  channel: Pick<Channel, 'id' | 'sourceId' | 'hash'>,
  target: UrlIdentity,
): Promise<MoveOutcome> {
  await forgetAddress(db, channel, target);
  return moveChannel(db, channel, target);
}

/** An address that a channel has left no longer leads to it. */
export async function forgetAddress(
  db: Queryable,
  channel: Pick<Channel, 'id'>,
  address: UrlIdentity,
): Promise<void> {
  await db.query('DELETE FROM channel_addresses WHERE channel_id = $1 AND url_hash = $2', [
    channel.id,
    channelHash(address.fetchUrl),
  ]);
}

/** Whether a channel has not answered since it was led to another address: that may have been a mistake. */
export async function isAstray(
  db: Queryable,
  channel: Pick<Channel, 'id' | 'lastSuccessAt'>,
): Promise<boolean> {
  const result = await db.query(
    `SELECT FROM channel_addresses WHERE channel_id = $1 AND ($2::timestamptz IS NULL OR left_at > $2) LIMIT 1`,
    [channel.id, channel.lastSuccessAt],
  );
  return result.rowCount === 1;
}

/** Ends the frontier row of an address that its channel has left, unless somebody polls it at this moment. */
export async function endRow(
  db: Queryable,
  url: string,
  code: 'moved' | 'channel_removed',
  to: string | null,
): Promise<void> {
  const identified = identifyUrl(url);
  if (identified.outcome === 'rejected') return;
  const { bucket, domainKey, fetchUrl } = identified.identity;
  await db.query('SELECT channel_end($1, $2, $3, $4, $5)', [
    bucket,
    domainKey.toString(),
    channelHash(fetchUrl),
    code,
    to,
  ]);
}

/** Lets one channel of a source go on in another's place; the addresses of the first lead to the second. */
export async function mergeChannel(db: Queryable, from: number, into: number): Promise<void> {
  await db.query('SELECT channel_merge($1, $2)', [from, into]);
}

// What is learnt of a channel stays true at its new address. Its own statement: no transaction spans two buckets.
async function copyState(db: Queryable, id: number, bucket: number): Promise<void> {
  for (const table of ['channel_state', 'sitemap_seen'])
    await db.query(
      `INSERT INTO ${table} SELECT (jsonb_populate_record(s, jsonb_build_object('bucket', $2::smallint))).*
         FROM ${table} s JOIN channels c ON c.id = s.channel_id AND c.bucket = s.bucket
        WHERE s.channel_id = $1 AND s.bucket <> $2 ON CONFLICT DO NOTHING`,
      [id, bucket],
    );
}

async function dropStrayState(db: Queryable, id: number): Promise<void> {
  for (const table of ['channel_state', 'sitemap_seen'])
    await db.query(
      `DELETE FROM ${table} s WHERE s.channel_id = $1
          AND NOT EXISTS (SELECT FROM channels c WHERE c.id = s.channel_id AND c.bucket = s.bucket)`,
      [id],
    );
}
