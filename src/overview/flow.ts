import type { Queryable } from '../db/index.ts';

/** What went through the house in the last five minutes, per minute, and what left it on the way. */
export type Flow = {
  /** Over how long it was counted. */
  seconds: number;
  discoveredPerMinute: number;
  fetchedPerMinute: number;
  documentsPerMinute: number;
  /** Deliveries to all sinks together; null: nobody looked five minutes ago, and there were sinks before. */
  deliveredPerMinute: number | null;
  /** Sinks that take documents and are on. */
  sinks: number;
  /** Side exits, as counted in that time. */
  exits: Record<
    | 'known'
    | 'rejected'
    | 'robotsDenied'
    | 'redirected'
    | 'duplicate'
    | 'failed'
    | 'dead'
    | 'needsRender'
    | 'unchanged',
    number
  >;
};

/** What the sentence and the list of troubles need beyond the flow. */
export type FlowTrend = {
  /** By how many rows the backlog grew per minute lately, negative: it shrinks; null: nobody looked. */
  backlogPerMinute: number | null;
  /** URLs that ended as dead and that were fetched in the last day. */
  diedToday: number;
  fetchedToday: number;
};

const exits = {
  known: 'items_duplicate',
  rejected: 'items_rejected',
  robotsDenied: 'robots_blocked',
  redirected: 'redirected',
  duplicate: 'duplicate',
  failed: 'failed',
  dead: 'dead',
  needsRender: 'needs_render',
  unchanged: 'unchanged',
} as const;
const columns = ['inserted', 'fetched', 'documents', ...Object.values(exits)];

type Sums = Record<string, number>;
type Row = {
  seconds: number;
  sums: Sums;
  delivered: number;
  sinks: number;
  deliveredThen: number | null;
  deliveredSeconds: number | null;
  /** Every sink was made within the five minutes: whatever it has delivered, it delivered in them. */
  allNew: boolean;
  backlog: number;
  backlogThen: number | null;
  backlogSeconds: number | null;
  diedToday: number;
  fetchedToday: number;
};

/**
 * The flow of the last five minutes and its trend: some twenty rows of the roll-ups and the deltas that were not folded
 * yet. Index: rollups_pkey.
 */
export async function loadFlow(db: Queryable, skewMs = 0): Promise<{ flow: Flow; trend: FlowTrend }> {
  const sums = columns
    .map((name) => `'${name}', greatest(coalesce(sum(x.${name}), 0), 0)::float8`)
    .join(', ');
  const names = columns.join(', ');
  const result = await db.query<Row>(
    `WITH clock AS MATERIALIZED (
       SELECT n.now, date_trunc('minute', n.now) - interval '5 minutes' AS since
         FROM (SELECT now() + $1 * interval '1 millisecond' AS now) n),
     -- The nearest look from before the five minutes, else the first one within them that is old enough to tell a rate.
     then_looked AS MATERIALIZED (
       SELECT r.looked_at, r.backlog, r.delivered FROM clock c JOIN rollups r ON r.minutes = 1
          AND r.at >= c.since - interval '10 minutes' AND r.at < c.now
        WHERE r.looked_at <= c.now - interval '1 minute'
        ORDER BY r.looked_at > c.since, abs(extract(epoch FROM r.looked_at - c.since)) LIMIT 1)
     SELECT extract(epoch FROM c.now - c.since)::float8 AS seconds,
            (SELECT json_build_object(${sums}) FROM (
               SELECT ${names} FROM rollups WHERE minutes = 1 AND at >= c.since AND at <= c.now
               UNION ALL SELECT ${names} FROM counter_deltas WHERE minute >= c.since) x) AS sums,
            d.delivered, d.sinks, coalesce(d.first >= c.since, true) AS "allNew", t.delivered::float8 AS "deliveredThen",
            extract(epoch FROM c.now - t.looked_at)::float8 AS "deliveredSeconds",
            b.backlog, t.backlog::float8 AS "backlogThen", extract(epoch FROM c.now - t.looked_at)::float8 AS "backlogSeconds",
            y.died AS "diedToday", y.fetched AS "fetchedToday"
       FROM clock c LEFT JOIN then_looked t ON true
      CROSS JOIN (SELECT coalesce(sum(t.delivered), 0)::float8 AS delivered, (count(*) FILTER (WHERE s.enabled))::integer AS sinks, min(s.created_at) AS first
                    FROM sinks s LEFT JOIN sink_states t ON t.sink = s.name WHERE s.takes = 'documents') d
      CROSS JOIN (SELECT ((SELECT coalesce(sum(rows_pending), 0) FROM source_totals)
                        + (SELECT coalesce(sum(rows_pending), 0) FROM counter_deltas))::float8 AS backlog) b
      CROSS JOIN LATERAL (
        SELECT coalesce(sum(r.dead), 0)::float8 AS died, coalesce(sum(r.fetched), 0)::float8 AS fetched
          FROM rollups r WHERE r.minutes = 60 AND r.at > c.now - interval '1 day' AND r.at <= c.now) y`,
    [skewMs],
  );
  const row = result.rows[0]!;
  const perMinute = (count: number): number => (count / row.seconds) * 60;
  const deliveredThen = row.allNew ? 0 : row.deliveredThen;
  // Without a look from before them the five minutes hold all there is: what a busy minute delivered was not that much
  // in each of the five.
  const deliveredSeconds = Math.max(row.deliveredSeconds ?? 0, row.seconds);
  return {
    flow: {
      seconds: row.seconds,
      discoveredPerMinute: perMinute(row.sums.inserted!),
      fetchedPerMinute: perMinute(row.sums.fetched!),
      documentsPerMinute: perMinute(row.sums.documents!),
      // A sink that was removed takes its deliveries along: that is none, and not fewer.
      deliveredPerMinute:
        deliveredThen === null ? null : (Math.max(0, row.delivered - deliveredThen) / deliveredSeconds) * 60,
      sinks: row.sinks,
      exits: Object.fromEntries(
        Object.entries(exits).map(([name, column]) => [name, row.sums[column]!]),
      ) as Flow['exits'],
    },
    trend: {
      backlogPerMinute:
        row.backlogThen === null || row.backlogSeconds === null
          ? null
          : ((row.backlog - row.backlogThen) / row.backlogSeconds) * 60,
      diedToday: row.diedToday,
      fetchedToday: row.fetchedToday,
    },
  };
}
