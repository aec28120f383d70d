import type { Queryable } from '../../src/db/index.ts';
import { countRows, loadTotals } from '../../src/frontier/index.ts';
import { identifyUrl } from '../../src/url/index.ts';
import type { ArticleTruth, PublisherTruth } from '../web/index.ts';

/** What the frontier and the documents say about one address. */
export type Known = {
  status: string;
  reason: string | null;
  redirectedTo: string | null;
  tries: number;
  title: string | null;
  text: string | null;
  publishedAt: Date | null;
  language: string | null;
};

/** "true", or what is still to be done. Everything that is due has been done when it says true. */
export async function isQuiet(db: Queryable): Promise<true | string> {
  const result = await db.query<Record<'searching' | 'ready' | 'due' | 'leased' | 'unindexed', number>>(
    `SELECT (SELECT count(*)::integer FROM discoveries WHERE finished_at IS NULL) AS searching,
            (SELECT count(*)::integer FROM url_frontier WHERE ready) AS ready,
            (SELECT count(*)::integer FROM url_frontier WHERE NOT ready AND due_at <= now()) AS due,
            (SELECT count(*)::integer FROM domain_slots WHERE lease_owner IS NOT NULL) AS leased,
            (SELECT count(*)::integer FROM outbox) AS unindexed`,
  );
  const left = result.rows[0]!;
  return Object.values(left).every((count) => count === 0) || JSON.stringify(left);
}

/** Rows that are waiting: polls for their next time, failed ones for their next try. */
export type Waiting = 'polls' | 'retries';

/**
 * Makes waiting rows due now: the tests' way of moving time. Whoever wants both names both: one after the other, a
 * fetcher may have worked through the first by the time the second is said.
 */
export async function makeDue(db: Queryable, ...which: Waiting[]): Promise<void> {
  await unlessDeadlocked(() =>
    db.query(
      `UPDATE url_frontier SET due_at = now() WHERE NOT ready AND due_at IS NOT NULL
          AND ($1 AND kind = 'channel' OR $2 AND status = 'failed')`,
      [which.includes('polls'), which.includes('retries')],
    ),
  );
  await unlessDeadlocked(() => db.query('UPDATE domain_slots SET wake_at = now()'));
}

/** Whether a failed row waits for another try. */
export async function hasRetries(db: Queryable): Promise<boolean> {
  const found = await db.query(
    `SELECT FROM url_frontier WHERE NOT ready AND due_at IS NOT NULL AND status = 'failed' LIMIT 1`,
  );
  return found.rowCount === 1;
}

/** Says it again: a statement over all rows takes them in another order than the engine does meanwhile. */
async function unlessDeadlocked<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if ((error as { code?: string }).code !== '40P01') throw error;
    }
  }
}

/** Rows and documents by the hex of their hash. */
export async function loadKnown(db: Queryable): Promise<Map<string, Known>> {
  const result = await db.query<Known & { hash: string }>(
    `SELECT encode(f.url_hash, 'hex') AS hash, f.status, f.error_code AS reason, f.redirected_to AS "redirectedTo", f.tries,
            d.title, d.text, d.published_at AS "publishedAt", d.language
       FROM url_frontier f LEFT JOIN documents d USING (bucket, domain_key, url_hash)
      WHERE f.kind IN ('article', 'listing')`,
  );
  return new Map(result.rows.map(({ hash, ...known }) => [hash, known]));
}

/** Hex of the hash an address is known by. */
export function hashOf(url: string): string {
  const identified = identifyUrl(url);
  if (identified.outcome === 'rejected') throw new Error(`${url} is refused: ${identified.reason}`);
  return identified.identity.hash.toString('hex');
}

/** Articles that a channel we poll lists. */
export function listedIn(truth: readonly PublisherTruth[], channels: ReadonlySet<string>): ArticleTruth[] {
  return truth.flatMap(({ articles }) =>
    articles.filter((article) => article.channels.some((channel) => channels.has(channel))),
  );
}

/** Sums that must agree whatever happened: each is [what, one way, the other way]. */
export async function loadBalances(db: Queryable): Promise<[string, number, number][]> {
  const rows = await countRows(db);
  const totals = await loadTotals(db);
  const { pending, failed, needs_render, fetched, redirected, duplicate, dead } = rows;
  const counted = await db.query<{
    documents: number;
    stored: number;
    deepest: number;
    queued: number;
    ready: number;
    documentsAstray: number;
    requestsAstray: number;
  }>(
    `WITH days AS (
       SELECT source_id, sum(documents) AS documents, sum(requests) AS requests FROM (
         SELECT source_id, documents, requests FROM source_days
         UNION ALL SELECT coalesce(source_id, 0), documents, requests FROM counter_deltas) d GROUP BY 1),
     made AS (SELECT coalesce(source_id, 0) AS source_id, count(*) AS n FROM documents GROUP BY 1),
     asked AS (SELECT coalesce(source_id, 0) AS source_id, count(*) AS n FROM crawl_log WHERE NOT stale GROUP BY 1)
     SELECT (SELECT count(*)::integer FROM documents) AS documents,
            (SELECT count(*)::integer FROM days FULL JOIN made USING (source_id)
              WHERE coalesce(days.documents, 0) <> coalesce(made.n, 0)) AS "documentsAstray",
            (SELECT count(*)::integer FROM days FULL JOIN asked USING (source_id)
              WHERE coalesce(days.requests, 0) <> coalesce(asked.n, 0)) AS "requestsAstray",
            (SELECT coalesce(sum(documents), 0)::integer FROM domains) AS stored,
            (SELECT coalesce(max(version), 0) FROM documents) AS deepest,
            (SELECT coalesce(sum(queued), 0)::integer FROM domain_slots) AS queued,
            (SELECT count(*)::integer FROM url_frontier WHERE ready) AS ready`,
  );
  const { documents, stored, queued, ready, documentsAstray, requestsAstray } = counted.rows[0]!;
  return [
    [
      'rows by status',
      pending + failed + needs_render + fetched + redirected + duplicate + dead,
      rows.submitted,
    ],
    ['rows inserted', totals.inserted, rows.submitted + rows.channels],
    ['documents counted', totals.documents, documents],
    ['documents of domains', stored, documents],
    ['rows queued in slots', queued, ready],
    ['sources whose days have other documents', documentsAstray, 0],
    ['sources whose days have other requests', requestsAstray, 0],
  ];
}
