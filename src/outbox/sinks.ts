import type { Queryable } from '../db/index.ts';

/** What a sink is given: each document version, or each response as it came. */
export type SinkTakes = 'documents' | 'responses';

/** A sink as settle knows it. */
export type SinkRow = {
  name: string;
  kind: string;
  takes?: SinkTakes;
  /** Left out: a new sink is on, and one that an operator has paused stays paused. */
  enabled?: boolean;
};

/** Registers a sink by name, so that settle writes outbox rows for it from now on. */
export async function saveSink(db: Queryable, sink: SinkRow): Promise<void> {
  await db.query(
    `WITH saved AS (
       INSERT INTO sinks AS s (name, kind, takes, enabled) VALUES ($1, $2, $3, coalesce($4, true))
       ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, takes = excluded.takes, enabled = coalesce($4, s.enabled)
       RETURNING name)
     INSERT INTO sink_states (sink) SELECT name FROM saved ON CONFLICT DO NOTHING`,
    [sink.name, sink.kind, sink.takes ?? 'documents', sink.enabled ?? null],
  );
}

/**
 * Pauses a sink or lets it go on; false where there is none of that name. Nothing is kept for a paused sink. Whoever lets
 * it go on means now: what a failing one waits for, an hour where its server asked for that, is over, and so is what its
 * documents wait for.
 */
export async function enableSink(db: Queryable, name: string, enabled: boolean): Promise<boolean> {
  if (enabled) {
    await db.query('UPDATE sink_states SET retry_at = NULL WHERE sink = $1', [name]);
    await db.query('UPDATE outbox SET retry_at = NULL WHERE sink = $1 AND retry_at IS NOT NULL', [name]);
  }
  const result = await db.query('UPDATE sinks SET enabled = $2 WHERE name = $1', [name, enabled]);
  return result.rowCount === 1;
}

/** Forgets a sink and what was still meant for it; false where there is none of that name. */
export async function removeSink(db: Queryable, name: string): Promise<boolean> {
  const result = await db.query('DELETE FROM sinks WHERE name = $1', [name]);
  // After it: a settle that still saw the sink may have written a row meanwhile, and another comes with the next sink
  // of this name at worst.
  for (const table of ['outbox', 'outbox_responses', 'response_marks', 'dead_letters'])
    await db.query(`DELETE FROM ${table} WHERE sink = $1`, [name]);
  return result.rowCount === 1;
}

/** How a sink is doing. */
export type SinkStatus = {
  name: string;
  kind: string;
  takes: SinkTakes;
  enabled: boolean;
  /** Documents or responses that wait for it, of which some until it is known whether they are copies. */
  waiting: number;
  held: number;
  /** Since when the eldest of them waits. */
  waitingSince: Date | null;
  deadLetters: number;
  delivered: number;
  deliveredAt: Date | null;
  failingSince: Date | null;
  error: string | null;
  retryAt: Date | null;
  /** Who delivers to it; null while nobody does. */
  deliverer: string | null;
};

/** Every sink with its backlog; reads the whole outbox, which is bounded, so callers ask seldom. */
export async function listSinks(db: Queryable): Promise<SinkStatus[]> {
  const result = await db.query<SinkStatus>(
    `SELECT s.name, s.kind, s.takes, s.enabled, coalesce(o.waiting, 0)::integer AS waiting, coalesce(o.held, 0)::integer AS held,
            o.since AS "waitingSince", coalesce(l.letters, 0)::integer AS "deadLetters", t.delivered::float8 AS delivered,
            t.delivered_at AS "deliveredAt", t.failing_since AS "failingSince", t.error, t.retry_at AS "retryAt",
            CASE WHEN t.lease_until > now() THEN t.lease_owner END AS deliverer
       FROM sinks s LEFT JOIN sink_states t ON t.sink = s.name
       LEFT JOIN (SELECT sink, count(*) AS waiting, count(*) FILTER (WHERE held) AS held, min(enqueued_at) AS since
                    FROM (SELECT sink, held, enqueued_at FROM outbox
                          UNION ALL SELECT sink, false, enqueued_at FROM outbox_responses) w GROUP BY sink) o ON o.sink = s.name
       LEFT JOIN (SELECT sink, count(*) AS letters FROM dead_letters GROUP BY sink) l ON l.sink = s.name
      ORDER BY s.created_at, s.name`,
  );
  return result.rows;
}
