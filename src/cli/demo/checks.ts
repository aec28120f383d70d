import type { Queryable } from '../../db/index.ts';
import { countRows, loadTotals } from '../../frontier/index.ts';
import { identifyUrl, type UrlIdentity } from '../../url/index.ts';
import type { WebProcess } from './web-process.ts';

/** The demo's last line: what happened, checked against the web's access log and the database. */
export type DemoResult = {
  sources: number;
  channels: number;
  submitted: number;
  duplicates: number;
  pending: number;
  fetched: number;
  redirected: number;
  duplicateText: number;
  failed: number;
  dead: number;
  needsRender: number;
  documents: number;
  robotsBlocked: number;
  politenessViolations: number;
  lost: number;
};

type AccessRecord = { host: string; path: string; status: number };
type Truth = { articles: { url: string }[] };

/** Gathers the result after the engine has stopped. */
export async function checkDemo(db: Queryable, web: WebProcess, delayMs: number): Promise<DemoResult> {
  const rows = await countRows(db);
  const totals = await loadTotals(db);
  const counted = await db.query<{ sources: number; channels: number; documents: number; robots: number }>(
    `SELECT (SELECT count(*)::integer FROM sources) AS sources, (SELECT count(*)::integer FROM channels) AS channels,
            (SELECT count(*)::integer FROM documents) AS documents,
            (SELECT count(*)::integer FROM url_frontier WHERE error_code = 'robots_blocked') AS robots`,
  );
  const { sources, channels, documents, robots } = counted.rows[0]!;
  const violations = await web.ask<{ politeness: unknown[]; forbidden: unknown[] }>(
    `/violations?delayMs=${delayMs}`,
  );
  return {
    sources,
    channels,
    submitted: rows.submitted,
    duplicates: totals.items_duplicate,
    pending: rows.pending,
    fetched: rows.fetched,
    redirected: rows.redirected,
    duplicateText: rows.duplicate,
    failed: rows.failed,
    dead: rows.dead,
    needsRender: rows.needs_render,
    documents,
    robotsBlocked: robots,
    politenessViolations: violations.politeness.length + violations.forbidden.length,
    lost: await countLost(db, web, { inserted: totals.inserted, rows: rows.submitted + rows.channels }),
  };
}

/**
 * Two ways to lose a URL: a row that was inserted and is gone, and an article the web says we requested that no row
 * knows of. Inserted is counted in append-only deltas, so it cannot shrink with the rows.
 */
async function countLost(
  db: Queryable,
  web: WebProcess,
  counts: { inserted: number; rows: number },
): Promise<number> {
  const truth = await web.ask<Truth[]>('/truth');
  const articles = new Set(truth.flatMap((publisher) => publisher.articles.map((article) => article.url)));
  const requested = new Map<string, UrlIdentity>();
  for (let since = 0; ; ) {
    const page = await web.ask<{ records: AccessRecord[]; next: number }>(`/log?since=${since}`);
    if (page.records.length === 0) break;
    for (const { host, path } of page.records) {
      const url = `http://${host}${path}`;
      if (!articles.has(url)) continue;
      const identified = identifyUrl(url);
      if (identified.outcome === 'ok') requested.set(identified.identity.key, identified.identity);
    }
    since = page.next;
  }
  const identities = [...requested.values()];
  const missing = await db.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM unnest($1::smallint[], $2::bigint[], $3::bytea[]) AS r(bucket, domain_key, url_hash)
      WHERE NOT EXISTS (SELECT FROM url_frontier f WHERE f.bucket = r.bucket AND f.domain_key = r.domain_key AND f.url_hash = r.url_hash)`,
    [
      identities.map((one) => one.bucket),
      identities.map((one) => one.domainKey.toString()),
      identities.map((one) => one.hash),
    ],
  );
  return Math.max(0, counts.inserted - counts.rows) + missing.rows[0]!.count;
}
