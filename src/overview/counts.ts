import { type Counted, countedUpTo, mostCounted, type Queryable } from '../db/index.ts';

/** What stands beside the words of the navigation. */
export type OverviewCounts = {
  sources: Counted;
  /** Channels that are enabled and whose last polls failed; files of sitemap indexes count with their index. */
  failingChannels: Counted;
  blockedDomains: Counted;
  unreachableDomains: Counted;
  /** Jobs that gave up. */
  failedJobs: Counted;
  deadUrls: number;
  pendingUrls: number;
  /** Domains that a worker holds, and URLs it is fetching there. */
  fetchingDomains: number;
  fetchingUrls: number;
  documents: Counted;
  deadLetters: Counted;
};

// Each is looked up in the channels, and a screen that tells more than so many says the same as one that tells all.
const mostFailing = 1000;

const upTo = (most: number, rows: string): string =>
  `(SELECT count(*)::float8 FROM (${rows} LIMIT ${most + 1}) x)`;

type Row = Record<keyof OverviewCounts, number>;

/**
 * The counts of the navigation: kept ones for URLs, bounded ones for the rest. Only slots are read from end to end,
 * narrow rows of which there is one per domain; no index names their owner (see loadLeases). Indexes:
 * channel_state_trouble, domains_status, jobs_status, documents_recent.
 */
export async function loadOverviewCounts(db: Queryable): Promise<OverviewCounts> {
  const result = await db.query<Row>(
    `SELECT ${upTo(mostCounted, 'SELECT FROM sources')} AS sources,
            ${upTo(
              mostFailing,
              `SELECT FROM channel_state s JOIN channels c ON c.id = s.channel_id
                WHERE s.errors_in_row > 0 AND c.enabled AND c.parent_id IS NULL`,
            )} AS "failingChannels",
            ${upTo(mostCounted, `SELECT FROM domains WHERE status = 'blocked'`)} AS "blockedDomains",
            ${upTo(mostCounted, `SELECT FROM domains WHERE status = 'unreachable'`)} AS "unreachableDomains",
            ${upTo(mostCounted, `SELECT FROM jobs WHERE status = 'failed'`)} AS "failedJobs",
            k.dead AS "deadUrls", k.pending AS "pendingUrls", l.domains AS "fetchingDomains", l.urls AS "fetchingUrls",
            ${upTo(mostCounted, 'SELECT FROM documents ORDER BY crawled_at')} AS documents,
            ${upTo(mostCounted, 'SELECT FROM dead_letters')} AS "deadLetters"
       FROM (SELECT greatest(sum(x.dead), 0)::float8 AS dead, greatest(sum(x.pending), 0)::float8 AS pending
               FROM (SELECT sum(rows_dead) AS dead, sum(rows_pending) AS pending FROM source_totals
                     UNION ALL SELECT sum(rows_dead), sum(rows_pending) FROM counter_deltas) x) k,
            (SELECT count(*)::float8 AS domains, coalesce(sum(cardinality(in_flight)), 0)::float8 AS urls
               FROM domain_slots WHERE lease_owner IS NOT NULL) l`,
  );
  const row = result.rows[0]!;
  return {
    sources: countedUpTo(row.sources),
    failingChannels: countedUpTo(row.failingChannels, mostFailing),
    blockedDomains: countedUpTo(row.blockedDomains),
    unreachableDomains: countedUpTo(row.unreachableDomains),
    failedJobs: countedUpTo(row.failedJobs),
    deadUrls: row.deadUrls,
    pendingUrls: row.pendingUrls,
    fetchingDomains: row.fetchingDomains,
    fetchingUrls: row.fetchingUrls,
    documents: countedUpTo(row.documents),
    deadLetters: countedUpTo(row.deadLetters),
  };
}
