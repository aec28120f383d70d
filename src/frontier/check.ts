import type { Queryable } from '../db/index.ts';

/** A slot that does not say what its rows say; of kept counts, the key is 0 and the problem names the source. */
export type SlotProblem = { domainKey: bigint; problem: string; said: string | null; true: string | null };

/**
 * Compares every slot with its rows: `top`, `queued` and `wake_at` of unleased slots, in-flight URLs of leased ones; and
 * the kept counts of every source with its rows, of which the difference is told.
 * Reads the whole frontier; for tests, torture runs and `doctor`.
 */
export async function findSlotProblems(db: Queryable): Promise<SlotProblem[]> {
  const result = await db.query<SlotProblem>(
    `WITH truth AS (
       SELECT s.bucket, s.domain_key, s.lease_owner, s.top, s.queued, s.wake_at, s.in_flight,
              s.budgeted, s.asleep,
              s.awaits_render, bool_or(f.status = 'needs_render') IS TRUE AS true_awaits,
              -- In a browser's turn a slot offers the rows that need one, and nothing else.
              CASE WHEN s.pool <> s.own_pool THEN max(f.level) FILTER (WHERE f.status = 'needs_render') ELSE
                greatest(max(f.level) FILTER (WHERE f.ready AND NOT f.budgeted),
                         CASE WHEN slot_budget_open(s, now()) THEN shifted_level(max(f.level) FILTER (WHERE f.ready AND f.budgeted), s.shift) END) END AS true_top,
              count(f.url_hash) FILTER (WHERE f.ready)::integer AS true_queued,
              count(f.url_hash) FILTER (WHERE f.ready AND f.budgeted)::integer AS true_budgeted,
              min(f.due_at) FILTER (WHERE NOT f.ready AND f.status NOT IN ('fetched', 'duplicate')) AS true_wake,
              count(f.url_hash) FILTER (WHERE (f.ready OR f.status = 'needs_render') AND f.url_hash = ANY (s.in_flight))::integer AS flying
         FROM domain_slots s LEFT JOIN url_frontier f ON f.bucket = s.bucket AND f.domain_key = s.domain_key
        GROUP BY s.bucket, s.domain_key)
     SELECT domain_key AS "domainKey", 'top' AS problem, top::text AS said, true_top::text AS true FROM truth
      WHERE lease_owner IS NULL AND top IS DISTINCT FROM true_top
     UNION ALL
     SELECT domain_key, 'queued', queued::text, true_queued::text FROM truth WHERE queued <> true_queued
     UNION ALL
     SELECT domain_key, 'budgeted', budgeted::text, true_budgeted::text FROM truth WHERE budgeted <> true_budgeted
     UNION ALL
     -- Woken too early costs one look, woken too late a row.
     SELECT domain_key, 'wake_at', wake_at::text, true_wake::text FROM truth
      WHERE lease_owner IS NULL AND coalesce(wake_at, 'infinity') > true_wake
     UNION ALL
     -- Said of a domain that has none it costs one look.
     SELECT domain_key, 'awaits_render', 'false', 'true' FROM truth WHERE true_awaits AND NOT awaits_render
     UNION ALL
     SELECT t.domain_key, 'asleep', t.asleep::text, d.status::text FROM truth t
       JOIN domains d ON d.bucket = t.bucket AND d.domain_key = t.domain_key WHERE t.asleep <> (d.status <> 'active')
     UNION ALL
     SELECT domain_key, 'in_flight', cardinality(in_flight)::text, flying::text FROM truth
      WHERE lease_owner IS NOT NULL AND cardinality(in_flight) <> flying
     UNION ALL
     SELECT f.domain_key, 'row without slot', NULL, NULL FROM url_frontier f
      WHERE NOT EXISTS (SELECT FROM domain_slots s WHERE s.bucket = f.bucket AND s.domain_key = f.domain_key)
     UNION ALL
     SELECT 0, 'counts of source ' || w.source_id, NULL, row_to_json(w)::text FROM counts_wrong() w
     LIMIT 1000`,
  );
  return result.rows;
}
