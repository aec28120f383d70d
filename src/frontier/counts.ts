import type { Queryable } from '../db/index.ts';
import { type UrlStatus, urlStatuses } from './rows.ts';
import type { FrontierStats } from './stats.ts';

/** How many rows of each status there are; polls are counted apart, probes not at all. */
export type RowCounts = Record<UrlStatus, number> & { submitted: number; channels: number };

/** The rows of one source; null: of no source. */
export type SourceCounts = RowCounts & {
  sourceId: number | null;
  slug: string | null;
  name: string | null;
};

type KeptRow = Record<UrlStatus, number> & {
  channel: number;
  sourceId: number | null;
  slug: string | null;
  name: string | null;
  isTotal: boolean;
  inFlight: number;
};

/**
 * Counts as they are kept: exact, by status and by source, the sources with most rows first. Reads a row per source and
 * the deltas of the last seconds, never the frontier.
 */
export async function loadCounts(
  db: Queryable,
  options: { sources: number; sourceId?: number },
): Promise<{ all: FrontierStats; sources: SourceCounts[] }> {
  const columns = [...urlStatuses, 'channel'];
  const sums = columns.map((name) => `coalesce(sum(k.${name}), 0)::float8 AS ${name}`).join(', ');
  const result = await db.query<KeptRow>(
    `WITH kept AS MATERIALIZED (SELECT * FROM counts_kept() k WHERE $2::integer IS NULL OR k.source_id = $2),
     listed AS (
       SELECT k.* FROM kept k ORDER BY ${columns.map((name) => `k.${name}`).join(' + ')} DESC, k.source_id LIMIT $1)
     SELECT true AS "isTotal", NULL::integer AS "sourceId", NULL AS slug, NULL AS name, ${sums},
            (SELECT coalesce(sum(cardinality(s.in_flight)), 0)::float8 FROM domain_slots s WHERE s.lease_owner IS NOT NULL) AS "inFlight"
       FROM kept k
     UNION ALL
     SELECT false, nullif(k.source_id, 0), s.slug, s.name, ${columns.map((name) => `k.${name}::float8`).join(', ')}, 0
       FROM listed k LEFT JOIN sources s ON s.id = k.source_id`,
    [options.sources, options.sourceId ?? null],
  );
  const total = result.rows.find((row) => row.isTotal)!;
  return {
    all: { ...countsOf(total), inFlight: total.inFlight },
    sources: result.rows
      .filter((row) => !row.isTotal)
      .map((row) => ({ sourceId: row.sourceId, slug: row.slug, name: row.name, ...countsOf(row) })),
  };
}

/** How many rows there are of some statuses, all unless said, and of a source; exact, from what is kept. */
export async function countKept(
  db: Queryable,
  filter: { statuses?: readonly UrlStatus[]; sourceId?: number },
): Promise<number> {
  const names = [...new Set(filter.statuses ?? urlStatuses)].map((status) => `rows_${status}`).join(' + ');
  const [folded, fresh] =
    filter.sourceId === undefined ? ['', ''] : ['WHERE source_id = $1', 'WHERE coalesce(source_id, 0) = $1'];
  const result = await db.query<{ count: number }>(
    `SELECT ((SELECT coalesce(sum(${names}), 0) FROM source_totals ${folded})
           + (SELECT coalesce(sum(${names}), 0) FROM counter_deltas ${fresh}))::float8 AS count`,
    filter.sourceId === undefined ? [] : [filter.sourceId],
  );
  return result.rows[0]!.count;
}

function countsOf(row: KeptRow): RowCounts {
  const counts = Object.fromEntries(urlStatuses.map((status) => [status, row[status]])) as Record<
    UrlStatus,
    number
  >;
  return {
    ...counts,
    submitted: urlStatuses.reduce((sum, status) => sum + row[status], 0),
    channels: row.channel,
  };
}

/** By how much kept counts differ from the rows; 0 stands for "no source". */
export type CountProblem = { sourceId: number } & Record<UrlStatus | 'channel', number>;

/** Compares kept counts with the rows, in one snapshot. Reads the whole frontier: for tests, torture runs, `doctor`. */
export async function findCountProblems(db: Queryable): Promise<CountProblem[]> {
  const columns = [...urlStatuses, 'channel'].map((name) => `${name}::float8`).join(', ');
  const result = await db.query<CountProblem>(
    `SELECT source_id AS "sourceId", ${columns} FROM counts_wrong() ORDER BY 1`,
  );
  return result.rows;
}

/** Puts kept counts right, while everything runs; answers how many sources were wrong. Reads the whole frontier. */
export async function mendCounts(db: Queryable): Promise<number> {
  const result = await db.query<{ mended: number }>('SELECT counts_mend() AS mended');
  return result.rows[0]!.mended;
}
