import { randomBytes } from 'node:crypto';
import type { Queryable } from '../db/index.ts';

/** Where a subscription stands. */
export type SubscriptionState = 'requested' | 'active' | 'denied' | 'ending';

/** A hub that is to be asked, and for what. */
export type DueSubscription = {
  id: number;
  state: SubscriptionState;
  token: string;
  secret: string;
  hub: string;
  topic: string;
  callback: string;
  tries: number;
};

// How long somebody who asks a hub may take before somebody else does it again.
const claimSeconds = 120;
const minute = 60;
const day = 86_400;
const deniedDays = 3;
/** Unsubscribing is a courtesy: the lease ends by itself. */
const mostGoodbyes = 4;
// A hub that offers leases of seconds would have us ask all the time.
const leastLeaseSeconds = 60;
const mostLeaseSeconds = 90 * day;

/** The channels that a hub can serve: polled feeds that name one. */
const servable = `channels c
  JOIN sources s ON s.id = c.source_id AND s.enabled AND s.ingestion_mode <> 'spider'
  JOIN channel_state st ON st.bucket = c.bucket AND st.channel_id = c.id AND st.hub IS NOT NULL
 WHERE c.enabled AND c.kind = 'feed'`;

/**
 * Ends subscriptions that nobody wants any more: their channel or source is gone or disabled, it has moved to another
 * hub, or our own address has changed. Answers how many.
 */
export async function endUnwantedSubscriptions(db: Queryable, callback: string): Promise<number> {
  const result = await db.query(
    `WITH ended AS (
       UPDATE websub_subscriptions w SET state = 'ending', tries = 0, next_at = now(), error = NULL
        WHERE w.state <> 'ending' AND (w.callback <> $1 OR NOT EXISTS (
          SELECT FROM ${servable} AND c.id = w.channel_id AND st.hub = w.hub AND coalesce(st.topic, c.url) = w.topic))
       RETURNING w.channel_id)
     UPDATE channel_state st SET pushed_until = NULL
       FROM ended JOIN channels c ON c.id = ended.channel_id WHERE st.bucket = c.bucket AND st.channel_id = c.id`,
    [callback],
  );
  return result.rowCount ?? 0;
}

/** Makes subscriptions for channels whose hub was not asked yet; answers how many. */
export async function createSubscriptions(db: Queryable, callback: string, limit: number): Promise<number> {
  const wanted = await db.query<{ id: number; hub: string; topic: string }>(
    `SELECT c.id, st.hub, coalesce(st.topic, c.url) AS topic FROM ${servable}
        AND NOT EXISTS (SELECT FROM websub_subscriptions w WHERE w.channel_id = c.id AND w.state <> 'ending')
      ORDER BY c.id LIMIT $1`,
    [limit],
  );
  if (wanted.rows.length === 0) return 0;
  const made = await db.query(
    `INSERT INTO websub_subscriptions (channel_id, hub, topic, callback, token, secret)
     SELECT * FROM unnest($1::integer[], $2::text[], $3::text[], array_fill($4::text, ARRAY[cardinality($1)]), $5::text[], $6::text[])
     ON CONFLICT DO NOTHING`,
    [
      wanted.rows.map((row) => row.id),
      wanted.rows.map((row) => row.hub),
      wanted.rows.map((row) => row.topic),
      callback,
      wanted.rows.map(() => randomBytes(16).toString('hex')),
      wanted.rows.map(() => randomBytes(32).toString('hex')),
    ],
  );
  return made.rowCount ?? 0;
}

/** Takes subscriptions whose hub is to be asked now; whoever takes one and dies has it taken again in two minutes. */
export async function takeDueSubscriptions(db: Queryable, limit: number): Promise<DueSubscription[]> {
  const result = await db.query<DueSubscription>(
    `UPDATE websub_subscriptions w
        SET next_at = now() + $2 * interval '1 second', asked_at = now(), tries = least(w.tries + 1, 30),
            state = CASE WHEN w.state = 'denied' OR w.state = 'active' AND w.lease_until <= now() THEN 'requested' ELSE w.state END
       FROM (SELECT id FROM websub_subscriptions WHERE next_at <= now() ORDER BY next_at LIMIT $1 FOR UPDATE SKIP LOCKED) due
      WHERE w.id = due.id
     RETURNING w.id, w.state, w.token, w.secret, w.hub, w.topic, w.callback, w.tries`,
    [limit, claimSeconds],
  );
  return result.rows;
}

// A hub says what it likes, also what PostgreSQL takes in no text.
const storable = (words: string): string => words.replaceAll('\u0000', '').slice(0, 500);

/** What a hub made of our wish. */
export type HubAnswer =
  | { outcome: 'accepted' }
  /** It does not want to. */
  | { outcome: 'refused'; reason: string }
  /** Nobody answered, or "not now". */
  | { outcome: 'failed'; reason: string; retryAfterMs: number | null };

/** Stores what a hub answered. A verification that came meanwhile has the last word. */
export async function saveHubAnswer(db: Queryable, due: DueSubscription, answer: HubAnswer): Promise<void> {
  const backoff = Math.min(day, minute * 2 ** (due.tries - 1));
  if (due.state === 'ending' && (answer.outcome === 'refused' || due.tries >= mostGoodbyes)) {
    await db.query(`DELETE FROM websub_subscriptions WHERE id = $1 AND state = 'ending'`, [due.id]);
    return;
  }
  if (answer.outcome === 'refused') {
    await saveDenied(db, due.id, answer.reason);
    return;
  }
  // Accepted: it verifies when it likes. Hubs that do so within ten minutes are the slow ones.
  const seconds =
    answer.outcome === 'accepted'
      ? 10 * backoff
      : Math.max(backoff, Math.min(7 * day, (answer.retryAfterMs ?? 0) / 1000));
  await db.query(
    `UPDATE websub_subscriptions SET next_at = now() + $2 * interval '1 second', error = $3
      WHERE id = $1 AND tries > 0 AND state <> 'denied'`,
    [due.id, Math.min(7 * day, seconds), answer.outcome === 'failed' ? storable(answer.reason) : null],
  );
  // Thousands of channels may share a hub: when it is down, the others wait as well.
  if (answer.outcome === 'failed')
    await db.query(
      `UPDATE websub_subscriptions SET next_at = now() + $2 * interval '1 second' * (0.5 + random())
        WHERE hub = $1 AND next_at < now() + $2 * interval '0.5 second'`,
      [due.hub, Math.min(3600, seconds)],
    );
}

async function saveDenied(db: Queryable, id: number, reason: string): Promise<void> {
  await db.query(
    `WITH denied AS (
       UPDATE websub_subscriptions SET state = 'denied', error = $2, next_at = now() + $3 * interval '1 day'
        WHERE id = $1 AND state <> 'ending' RETURNING channel_id)
     UPDATE channel_state st SET pushed_until = NULL
       FROM denied JOIN channels c ON c.id = denied.channel_id WHERE st.bucket = c.bucket AND st.channel_id = c.id`,
    [id, storable(reason), deniedDays],
  );
}

/** What a hub asks at a callback. */
export type Verification = {
  token: string;
  mode: 'subscribe' | 'unsubscribe' | 'denied';
  topic: string;
  /** What the hub grants; null: it does not say. */
  leaseSeconds: number | null;
  reason: string | null;
};

/** Confirms what a hub asks, if we asked for it; false: we did not. */
export async function verifySubscription(
  db: Queryable,
  asked: Verification,
  usualLeaseSeconds: number,
): Promise<boolean> {
  if (asked.mode === 'unsubscribe') {
    const gone = await db.query(
      `DELETE FROM websub_subscriptions WHERE token = $1 AND topic = $2 AND state = 'ending'`,
      [asked.token, asked.topic],
    );
    return gone.rowCount === 1;
  }
  if (asked.mode === 'denied') {
    const found = await db.query<{ id: number }>(
      `SELECT id FROM websub_subscriptions WHERE token = $1 AND topic = $2 AND state <> 'ending'`,
      [asked.token, asked.topic],
    );
    if (found.rows[0] !== undefined)
      await saveDenied(db, found.rows[0].id, asked.reason ?? 'the hub gave no reason');
    return found.rows[0] !== undefined;
  }
  const lease = Math.min(
    mostLeaseSeconds,
    Math.max(leastLeaseSeconds, asked.leaseSeconds ?? usualLeaseSeconds),
  );
  // Renewed when a fifth is left, not all in the same second. A hub that is believed already stays so.
  const result = await db.query(
    `WITH active AS (
       UPDATE websub_subscriptions
          SET state = 'active', tries = 0, error = NULL, lease_until = now() + $3 * interval '1 second',
              next_at = now() + $3 * interval '1 second' * (0.75 + 0.05 * random())
        WHERE token = $1 AND topic = $2 AND state IN ('requested', 'active') RETURNING channel_id, lease_until
     ), longer AS (
       UPDATE channel_state st SET pushed_until = active.lease_until
         FROM active JOIN channels c ON c.id = active.channel_id
        WHERE st.bucket = c.bucket AND st.channel_id = c.id AND st.pushed_until IS NOT NULL)
     SELECT FROM active`,
    [asked.token, asked.topic, lease],
  );
  return result.rowCount === 1;
}

/** A subscription as a push meets it. */
export type PushTarget = {
  id: number;
  secret: string;
  state: SubscriptionState;
  channelId: number;
  hash: Buffer | null;
};

/** The subscription behind a callback; its channel's hash is null when the channel is gone or disabled. */
export async function findPushTarget(db: Queryable, token: string): Promise<PushTarget | null> {
  const result = await db.query<PushTarget>(
    `SELECT w.id, w.secret, w.state, w.channel_id AS "channelId",
            (SELECT c.url_hash FROM channels c JOIN sources s ON s.id = c.source_id AND s.enabled
              WHERE c.id = w.channel_id AND c.enabled) AS hash
       FROM websub_subscriptions w WHERE w.token = $1`,
    [token],
  );
  return result.rows[0] ?? null;
}

/** Stores that news came, after they were submitted. A hub that has pushed is relied on until its lease ends. */
export async function savePush(
  db: Queryable,
  id: number,
  push: { items: number; lastItemAt: Date | null; delays: { items: number; seconds: number } },
): Promise<void> {
  await db.query(
    `WITH pushed AS (
       UPDATE websub_subscriptions SET pushes = pushes + 1, items = items + $2, last_push_at = now()
        WHERE id = $1 RETURNING channel_id, state, lease_until)
     UPDATE channel_state st
        SET last_item_at = greatest(st.last_item_at, $3), delays = st.delays + $4, delay_seconds = st.delay_seconds + $5,
            pushed_until = CASE WHEN pushed.state = 'active' THEN pushed.lease_until END
       FROM pushed JOIN channels c ON c.id = pushed.channel_id
      WHERE st.bucket = c.bucket AND st.channel_id = c.id`,
    [id, push.items, push.lastItemAt, push.delays.items, push.delays.seconds],
  );
}

/** Counts a push that was dropped: not signed by the hub, or no feed. */
export async function countDropped(db: Queryable, id: number, why: 'unsigned' | 'unreadable'): Promise<void> {
  await db.query(
    `UPDATE websub_subscriptions SET unsigned = unsigned + $2, unreadable = unreadable + $3 WHERE id = $1`,
    [id, why === 'unsigned' ? 1 : 0, why === 'unreadable' ? 1 : 0],
  );
}

/** How pushes go for a channel. */
export type PushState = {
  channelId: number;
  hub: string;
  state: SubscriptionState;
  leaseUntil: Date | null;
  pushes: number;
  items: number;
  unsigned: number;
  unreadable: number;
  lastPushAt: Date | null;
  nextAt: Date;
  error: string | null;
};

/** The subscriptions of these channels, by channel. */
export async function loadPushStates(
  db: Queryable,
  channelIds: readonly number[],
): Promise<Map<number, PushState>> {
  const result = await db.query<PushState>(
    `SELECT channel_id AS "channelId", hub, state, lease_until AS "leaseUntil", pushes::float8 AS pushes,
            items::float8 AS items, unsigned::float8 AS unsigned, unreadable::float8 AS unreadable,
            last_push_at AS "lastPushAt", next_at AS "nextAt", error
       FROM websub_subscriptions WHERE channel_id = ANY ($1) AND state <> 'ending'`,
    [channelIds],
  );
  return new Map(result.rows.map((row) => [row.channelId, row]));
}
