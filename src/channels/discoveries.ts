import type { Queryable } from '../db/index.ts';

/** An address that might be a channel of a source. */
export type Candidate = {
  url: string;
  by: 'page' | 'link' | 'path' | 'robots' | 'known';
  /** Public id of the probe row that was submitted for it. */
  probe: string | null;
  /** What the probe said; null while it is waited for. */
  outcome: string | null;
};

/** Looking for a source's channels; moved on by the schedule role until something or nothing was found. */
export type Discovery = {
  id: number;
  sourceId: number;
  state: 'pending' | 'page' | 'candidates' | 'found' | 'nothing';
  candidates: Candidate[];
  /** An hour has passed since it asked for something. */
  overdue: boolean;
  /** What it asked for a week ago is not waited for any longer. */
  isStale: boolean;
  /** The failing channel it looks for; null: for all channels of the source. */
  channelId: number | null;
  /** The channel's error, or `page` when a page came instead; `fell_back`: the source is followed by its links since. */
  reason: string | null;
};

const columns = `id, source_id AS "sourceId", state, candidates, deadline_at < now() AS overdue, deadline_at < now() - interval '7 days' AS "isStale",
  channel_id AS "channelId", reason`;

// Nobody's answer is waited for longer, unless it is still to be asked.
const patience = `interval '1 hour'`;

// Nothing of the site was seen, as a regular expression of PostgreSQL and of JavaScript alike.
const outOfReach =
  '^(dns|connect|tls|timeout|reset|refused_address|refused_port|robots_unavailable|site_error|no answer in time|http_5[0-9]*)$';
const outOfReachPattern = new RegExp(outOfReach);

/** Whether an outcome says that nobody answered: what is there is as unknown as before. */
export const isOutOfReach = (outcome: string): boolean => outOfReachPattern.test(outcome);

/** A search `d` that ended without having seen anything of its site. */
const sawNothing = `d.state = 'nothing' AND EXISTS (
  SELECT FROM jsonb_array_elements(d.candidates) one WHERE one ->> 'by' = 'page' AND one ->> 'outcome' ~ '${outOfReach}')`;

/** Starts looking; a search that is under way is left alone. */
export async function startDiscovery(db: Queryable, sourceId: number): Promise<void> {
  await db.query(
    `INSERT INTO discoveries (source_id) SELECT $1
      WHERE NOT EXISTS (SELECT FROM discoveries WHERE source_id = $1 AND finished_at IS NULL)`,
    [sourceId],
  );
}

/**
 * Looks for what became of a channel that fails. At most one search of a source at a time, and one for a channel in 20
 * hours, so that a sleeping channel brings one with each failure. One that saw nothing of the site counts for an hour.
 */
export async function startRediscovery(
  db: Queryable,
  channel: { id: number; sourceId: number },
  reason: string,
): Promise<void> {
  await db.query(
    `INSERT INTO discoveries (source_id, channel_id, reason) SELECT $1, $2, $3
      WHERE EXISTS (SELECT FROM channels WHERE id = $2 AND parent_id IS NULL)
        AND NOT EXISTS (SELECT FROM discoveries WHERE source_id = $1 AND finished_at IS NULL)
        AND NOT EXISTS (SELECT FROM discoveries d WHERE d.channel_id = $2 AND d.created_at > now() - interval '20 hours'
                           AND (d.reason <> 'page' OR $3 = 'page')
                           AND NOT (d.finished_at < now() - interval '1 hour' AND ${sawNothing}))`,
    [channel.sourceId, channel.id, reason],
  );
}

/**
 * Looks once more at sites of which nothing was seen, while their sources have nothing else: an hour after the first
 * time, then after four times as long each time, up to a week. Reads the sources without a channel; for a loop that
 * comes by now and then. Indexes: channels_source, discoveries_source.
 */
export async function startAgain(db: Queryable, limit: number): Promise<number> {
  const result = await db.query(
    `INSERT INTO discoveries (source_id)
     SELECT s.id FROM sources s
       CROSS JOIN LATERAL (SELECT * FROM discoveries d WHERE d.source_id = s.id ORDER BY d.id DESC LIMIT 1) d
       CROSS JOIN LATERAL (SELECT count(*) AS times FROM discoveries t WHERE t.source_id = s.id) t
      WHERE s.enabled AND s.ingestion_mode = 'feed' AND NOT EXISTS (SELECT FROM channels c WHERE c.source_id = s.id)
        AND d.finished_at < now() - least(interval '7 days', interval '1 hour' * 4 ^ least(t.times - 1, 5)) AND ${sawNothing}
      ORDER BY d.finished_at LIMIT $1`,
    [limit],
  );
  return result.rowCount ?? 0;
}

// An import starts ten thousand searches at once: only so many ask sites at a time, and none is out of time before its
// turn has come. Those whose sites have not answered for an hour no longer count, and are looked at seldom.
const mostUnderWay = 1000;

/**
 * Locks open searches for this transaction, so that two schedulers never move the same one. Those that were looked at
 * longest ago come first: with a fixed order, a few that wait for slow sites would keep all others waiting.
 */
export async function lockOpenDiscoveries(tx: Queryable, limit: number): Promise<Discovery[]> {
  const result = await tx.query<Discovery>(
    `WITH under_way AS (SELECT count(*) AS n FROM discoveries WHERE finished_at IS NULL AND state <> 'pending'
                       AND deadline_at > now()),
     going AS (
       SELECT id FROM discoveries WHERE finished_at IS NULL AND state <> 'pending'
          AND (deadline_at > now() OR looked_at < now() - interval '20 seconds')
        ORDER BY looked_at LIMIT $1 FOR UPDATE SKIP LOCKED),
     starting AS (
       SELECT id FROM discoveries WHERE finished_at IS NULL AND state = 'pending'
        ORDER BY id LIMIT least($1, greatest(0, $2 - (SELECT n FROM under_way))) FOR UPDATE SKIP LOCKED)
     UPDATE discoveries d
        SET looked_at = clock_timestamp(),
            deadline_at = CASE WHEN d.state = 'pending' THEN now() + ${patience} ELSE d.deadline_at END
       FROM (SELECT id AS turn_id FROM going UNION ALL SELECT id FROM starting) turn WHERE d.id = turn_id
     RETURNING ${columns}`,
    [limit, mostUnderWay],
  );
  return result.rows.sort((a, b) => a.id - b.id);
}

/** Stores where a search stands; what it asks for now has its own time. */
export async function saveDiscovery(
  tx: Queryable,
  id: number,
  state: Discovery['state'],
  candidates: readonly Candidate[],
  reason?: 'fell_back',
): Promise<void> {
  await tx.query(
    `UPDATE discoveries SET state = $2, candidates = $3, reason = coalesce($4, reason), deadline_at = now() + ${patience},
            finished_at = CASE WHEN $2 IN ('found', 'nothing') THEN now() END WHERE id = $1`,
    [id, state, JSON.stringify(candidates), reason ?? null],
  );
}

/** The newest search of a source, for people who wait for it. */
export async function findDiscovery(db: Queryable, sourceId: number): Promise<Discovery | null> {
  const result = await db.query<Discovery>(
    `SELECT ${columns} FROM discoveries WHERE source_id = $1 ORDER BY id DESC LIMIT 1`,
    [sourceId],
  );
  return result.rows[0] ?? null;
}

/**
 * Whether a source is followed by its links only because a search found nothing, and nobody has decided about that since.
 * Index: discoveries_source; the audit is read for the one source that asks.
 */
export async function hasFallenBack(db: Queryable, source: { id: number; slug: string }): Promise<boolean> {
  const result = await db.query(
    `SELECT FROM (SELECT max(finished_at) AS at FROM discoveries WHERE source_id = $1 AND reason = 'fell_back') back
      WHERE back.at IS NOT NULL AND NOT EXISTS (
        SELECT FROM audit a WHERE a.action = 'source' AND a.subject = $2 AND a.at > back.at
           AND (a.detail ? 'mode' OR a.detail ? 'imported'))`,
    [source.id, source.slug],
  );
  return result.rowCount === 1;
}
