import type { Queryable } from '../db/index.ts';

/** What is kept of each source and day. */
export const dayNames = ['inserted', 'requests', 'pages', 'errors', 'documents', 'recovered'] as const;

/** How a source did on each day, the last one today; days are those of UTC. 0 is no source. */
export type SourceDays = { sourceId: number } & Record<(typeof dayNames)[number], number[]>;

type DayRow = { sourceId: number; ago: number } & Record<(typeof dayNames)[number], number>;

/**
 * The last days of some sources, in their order, with what was not folded yet. Index: source_days_pkey, a row per source
 * and day; of the deltas there are those of the last seconds.
 */
export async function loadSourceDays(
  db: Queryable,
  sourceIds: readonly number[],
  days: number,
): Promise<{ until: string; sources: SourceDays[] }> {
  const names = dayNames.join(', ');
  const sums = dayNames.map((name) => `sum(${name})::float8 AS ${name}`).join(', ');
  const result = await db.query<Partial<DayRow> & { until: string }>(
    `WITH today AS MATERIALIZED (SELECT (now() AT TIME ZONE 'UTC')::date AS day),
     kept AS (
       SELECT source_id, day, ${names} FROM source_days
        WHERE source_id = ANY ($1::integer[]) AND day > (SELECT day FROM today) - $2::integer
       UNION ALL
       SELECT coalesce(source_id, 0), (minute AT TIME ZONE 'UTC')::date, ${names} FROM counter_deltas
        WHERE coalesce(source_id, 0) = ANY ($1::integer[]))
     SELECT t.day::text AS until, k."sourceId", t.day - k.day AS ago, ${dayNames.map((name) => `k.${name}`).join(', ')}
       FROM today t LEFT JOIN (SELECT source_id AS "sourceId", day, ${sums} FROM kept GROUP BY 1, 2) k ON true`,
    [sourceIds, days],
  );
  const bySource = new Map(sourceIds.map((id) => [id, emptyDays(id, days)]));
  for (const row of result.rows) {
    const source = bySource.get(row.sourceId ?? -1);
    const place = days - 1 - (row.ago ?? 0);
    // A delta may be older than what is asked for, or of a clock that is ahead.
    if (source === undefined || place < 0 || place >= days) continue;
    for (const name of dayNames) source[name][place] = row[name] ?? 0;
  }
  return { until: result.rows[0]!.until, sources: sourceIds.map((id) => bySource.get(id)!) };
}

const emptyDays = (sourceId: number, days: number): SourceDays => {
  const none = () => new Array<number>(days).fill(0);
  return {
    sourceId,
    inserted: none(),
    requests: none(),
    pages: none(),
    errors: none(),
    documents: none(),
    recovered: none(),
  };
};

/**
 * Leases that nobody ended on each of the last days, and that were taken back: their workers died, or were cut off for
 * longer than a lease holds.
 */
export async function loadRecoveredLeases(db: Queryable, days: number): Promise<number[]> {
  const { sources } = await loadSourceDays(db, [0], days);
  return sources[0]!.recovered;
}

const portion = 5000;

/** Deletes days past their retention, a portion at a time; answers how many rows. Index: source_days_day. */
export async function pruneSourceDays(db: Queryable, keepDays: number): Promise<number> {
  for (let all = 0; ; ) {
    const result = await db.query(
      `DELETE FROM source_days s USING (
         SELECT source_id, day FROM source_days WHERE day < (now() AT TIME ZONE 'UTC')::date - $1::integer
          ORDER BY day LIMIT ${portion}) old
        WHERE s.source_id = old.source_id AND s.day = old.day`,
      [keepDays],
    );
    const deleted = result.rowCount ?? 0;
    all += deleted;
    if (deleted < portion) return all;
  }
}
