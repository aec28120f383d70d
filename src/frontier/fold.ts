import type { Queryable } from '../db/index.ts';
import { dayNames } from './source-days.ts';

/** What is counted by minute and source, as the columns of the counters are called. */
export const counterNames = [
  'inserted',
  'items_seen',
  'items_duplicate',
  'items_rejected',
  'requests',
  'bytes',
  'fetched',
  'unchanged',
  'redirected',
  'duplicate',
  'failed',
  'needs_render',
  'dead',
  'robots_blocked',
  'polled',
  'documents',
  'versions',
] as const;

const rowNames = [
  'rows_pending',
  'rows_fetched',
  'rows_redirected',
  'rows_duplicate',
  'rows_failed',
  'rows_needs_render',
  'rows_dead',
  'rows_channel',
] as const;

const sumsOf = (names: readonly string[]): string =>
  names.map((name) => `sum(${name}) AS ${name}`).join(', ');
const addsTo = (alias: string, names: readonly string[]): string =>
  names.map((name) => `${name} = ${alias}.${name} + excluded.${name}`).join(', ');

const counters = counterNames.join(', ');
const all = [...counterNames, ...rowNames].join(', ');
const step = (column: string): string => `date_bin(make_interval(mins => g.minutes), ${column}, 'epoch')`;

/** How often each bucket of a histogram was met, by step of the roll-ups. */
const histogram = (name: string): string => `
       SELECT g.minutes, ${step('t.minute')} AS at, histogram_of(array_agg(b)) AS ${name}
         FROM taken t CROSS JOIN unnest(t.${name}) AS b CROSS JOIN grains g GROUP BY 1, 2`;

/**
 * Folds delta rows into the counters by minute, the days and totals by source and the roll-ups over all sources, in one
 * statement: a crash leaves all of it undone, and of several schedulers one gets each row. Roll-ups also get what waits
 * and what was delivered now; both come from the statement's snapshot, in which the deltas are still there. Answers how
 * many sources had any deltas.
 */
export async function foldCounters(db: Queryable, skewMs = 0): Promise<number> {
  const result = await db.query(
    `WITH taken AS (DELETE FROM counter_deltas RETURNING *),
     grains AS (SELECT unnest(ARRAY[1, 5, 60]) AS minutes),
     minutes AS (
       INSERT INTO counters AS c (minute, source_id, ${counters})
       SELECT minute, coalesce(source_id, 0), ${sumsOf(counterNames)} FROM taken GROUP BY 1, 2 ORDER BY 1, 2
       ON CONFLICT (minute, source_id) DO UPDATE SET ${addsTo('c', counterNames)}),
     days AS (
       INSERT INTO source_days AS d (source_id, day, ${dayNames.join(', ')})
       SELECT coalesce(source_id, 0), (minute AT TIME ZONE 'UTC')::date, ${sumsOf(dayNames)} FROM taken
        GROUP BY 1, 2 HAVING ${dayNames.map((name) => `sum(${name}) <> 0`).join(' OR ')} ORDER BY 1, 2
       ON CONFLICT (source_id, day) DO UPDATE SET ${addsTo('d', dayNames)}),
     looked AS (
       SELECT now() + $1 * interval '1 millisecond' AS at,
              (SELECT coalesce(sum(rows_pending), 0) FROM source_totals)
                + (SELECT coalesce(sum(rows_pending), 0) FROM counter_deltas) AS backlog,
              (SELECT coalesce(sum(t.delivered), 0) FROM sink_states t JOIN sinks s ON s.name = t.sink
                WHERE s.takes = 'documents') AS delivered),
     sums AS (
       SELECT g.minutes, ${step('t.minute')} AS at, ${sumsOf(counterNames)}
         FROM taken t CROSS JOIN grains g GROUP BY 1, 2),
     latency AS (${histogram('latencies')}),
     delay AS (${histogram('delays')}),
     looks AS (SELECT g.minutes, ${step('l.at')} AS at, l.at AS looked_at, l.backlog, l.delivered FROM looked l CROSS JOIN grains g),
     rolled AS (
       INSERT INTO rollups AS r (minutes, at, ${counters}, looked_at, backlog, delivered, latencies, delays)
       SELECT minutes, at, ${counterNames.map((name) => `coalesce(s.${name}, 0)`).join(', ')},
              l.looked_at, l.backlog, l.delivered, h.latencies, d.delays
         FROM sums s FULL JOIN looks l USING (minutes, at)
         LEFT JOIN latency h USING (minutes, at) LEFT JOIN delay d USING (minutes, at) ORDER BY 1, 2
       ON CONFLICT (minutes, at) DO UPDATE SET ${addsTo('r', counterNames)},
         (looked_at, backlog, delivered) = (
           SELECT x.looked_at, x.backlog, x.delivered
             FROM (VALUES (r.looked_at, r.backlog, r.delivered), (excluded.looked_at, excluded.backlog, excluded.delivered))
                  AS x(looked_at, backlog, delivered)
            ORDER BY x.looked_at DESC NULLS LAST LIMIT 1),
         latencies = histogram_add(r.latencies, excluded.latencies), delays = histogram_add(r.delays, excluded.delays))
     INSERT INTO source_totals AS t (source_id, ${all})
     SELECT coalesce(source_id, 0), ${sumsOf([...counterNames, ...rowNames])} FROM taken GROUP BY 1 ORDER BY 1
     ON CONFLICT (source_id) DO UPDATE SET ${addsTo('t', [...counterNames, ...rowNames])}`,
    [skewMs],
  );
  return result.rowCount ?? 0;
}

const keptDays = 8;

/** Deletes roll-ups that no chart reaches any more; answers how many. */
export async function pruneRollups(db: Queryable): Promise<number> {
  const result = await db.query(`DELETE FROM rollups WHERE at < now() - interval '${keptDays} days'`);
  return result.rowCount ?? 0;
}
