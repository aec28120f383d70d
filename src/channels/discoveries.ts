import type { Queryable } from '../db/index.ts';

/** An address that might be a channel of a source. */
export type Candidate = {
  url: string;
  by: 'page' | 'link' | 'path' | 'robots';
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
};

/** Starts looking; a search that is under way is left alone. */
export async function startDiscovery(db: Queryable, sourceId: number): Promise<void> {
  await db.query(
    `INSERT INTO discoveries (source_id) SELECT $1
      WHERE NOT EXISTS (SELECT FROM discoveries WHERE source_id = $1 AND finished_at IS NULL)`,
    [sourceId],
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
       FROM (SELECT id FROM going UNION ALL SELECT id FROM starting) turn WHERE d.id = turn.id
     RETURNING d.id, d.source_id AS "sourceId", d.state, d.candidates, d.deadline_at < now() AS overdue`,
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
    `SELECT id, source_id AS "sourceId", state, candidates, deadline_at < now() AS overdue
       FROM discoveries WHERE source_id = $1 ORDER BY id DESC LIMIT 1`,
    [sourceId],
  );
  return result.rows[0] ?? null;
}
