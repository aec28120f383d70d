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
  overdue: boolean;
  /** The failing channel it looks for; null: for all channels of the source. */
  channelId: number | null;
  /** The channel's error, or `page` when a page came instead. */
  reason: string | null;
};

const columns = `id, source_id AS "sourceId", state, candidates, deadline_at < now() AS overdue,
  channel_id AS "channelId", reason`;

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
 * hours, so that a sleeping channel brings one with each failure.
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
        AND NOT EXISTS (SELECT FROM discoveries WHERE channel_id = $2 AND created_at > now() - interval '20 hours'
                           AND (reason <> 'page' OR $3 = 'page'))`,
    [channel.sourceId, channel.id, reason],
  );
}

// An import starts ten thousand searches at once: only so many ask sites at a time, and none is out of time before its
// turn has come.
const mostUnderWay = 1000;

/**
 * Locks open searches for this transaction, so that two schedulers never move the same one. Those that were looked at
 * longest ago come first: with a fixed order, a few that wait for slow sites would keep all others waiting.
 */
export async function lockOpenDiscoveries(tx: Queryable, limit: number): Promise<Discovery[]> {
  const result = await tx.query<Discovery>(
    `WITH under_way AS (SELECT count(*) AS n FROM discoveries WHERE finished_at IS NULL AND state <> 'pending'),
     going AS (
       SELECT id FROM discoveries WHERE finished_at IS NULL AND state <> 'pending'
        ORDER BY looked_at LIMIT $1 FOR UPDATE SKIP LOCKED),
     starting AS (
       SELECT id FROM discoveries WHERE finished_at IS NULL AND state = 'pending'
        ORDER BY id LIMIT least($1, greatest(0, $2 - (SELECT n FROM under_way))) FOR UPDATE SKIP LOCKED)
     UPDATE discoveries d
        SET looked_at = clock_timestamp(),
            deadline_at = CASE WHEN d.state = 'pending' THEN now() + interval '1 hour' ELSE d.deadline_at END
       FROM (SELECT id AS turn_id FROM going UNION ALL SELECT id FROM starting) turn WHERE d.id = turn_id
     RETURNING ${columns}`,
    [limit, mostUnderWay],
  );
  return result.rows.sort((a, b) => a.id - b.id);
}

/** Stores where a search stands. */
export async function saveDiscovery(
  tx: Queryable,
  id: number,
  state: Discovery['state'],
  candidates: readonly Candidate[],
): Promise<void> {
  await tx.query(
    `UPDATE discoveries SET state = $2, candidates = $3,
            finished_at = CASE WHEN $2 IN ('found', 'nothing') THEN now() END WHERE id = $1`,
    [id, state, JSON.stringify(candidates)],
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
