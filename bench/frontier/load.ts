import type pg from 'pg';
import { domainIdentity } from '../../src/url/index.ts';

/** A domain of the loaded frontier. Path numbers 0 … urls-1 are known. */
export type BenchDomain = { name: string; level: number; urls: number; sourceId: number };

// Domain sizes follow a bounded Pareto law (exponent 1): most are small, a few hold thousands. The law is the same for
// every number of rows, so that batches are alike and sizes compare.
const smallest = 12;
const largest = 5000;
// Of 100 domains 70 are at the better level: those are the ones that get throttled.
const betterLevel = 7;
const otherLevel = 5;

/** Plans domains of together `rows` URLs. */
export function planDomains(rows: number): BenchDomain[] {
  const domains: BenchDomain[] = [];
  let planned = 0;
  // A fixed generator: two runs load the same rows.
  let state = 42;
  const random = (): number => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
  while (planned < rows) {
    const urls = Math.min(largest, Math.floor(smallest / (1 - random())), rows - planned);
    const name = `site${String(domains.length).padStart(7, '0')}.example`;
    domains.push({
      name,
      level: random() < 0.7 ? betterLevel : otherLevel,
      urls,
      sourceId: 1 + (domains.length % 1000),
    });
    planned += urls;
  }
  return domains;
}

/** The address of a domain's n-th URL; the same text is made in SQL below. */
export function urlOf(domain: string, number: number): string {
  return `https://${domain}/news/2031/05/a-headline-of-the-usual-length-for-a-page-${number}`;
}
const urlSql = `'https://' || d.name || '/news/2031/05/a-headline-of-the-usual-length-for-a-page-' || n`;

/**
 * Fills the real tables: 60 % of a domain's URLs wait (most of them at its level, some two below), 35 % are fetched, 5 % wait
 * for a retry. Indexes are dropped and made again from their own definitions, which changes nothing but the time it takes.
 */
export async function loadFrontier(db: pg.Client, domains: readonly BenchDomain[]): Promise<void> {
  await stageDomains(db, domains);
  const indexes = await db.query<{ name: string; definition: string }>(
    `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition
       FROM pg_index WHERE indrelid = 'url_frontier'::regclass AND NOT indisprimary`,
  );
  await db.query('BEGIN');
  for (const { name } of indexes.rows) await db.query(`DROP INDEX ${name}`);
  await db.query(`
    INSERT INTO domains (bucket, domain_key, name, parent_domain, status, pages_known)
    SELECT bucket, domain_key, name, name, 'active', urls FROM bench_domains ORDER BY bucket, domain_key`);
  // As it would have grown: producers bring about ten URLs of a domain at a time, which were found and became due together and
  // lie together on disk; which domain comes next is chance.
  await db.query(`
    INSERT INTO url_frontier (bucket, domain_key, url_hash, url, parent_url, kind, origin, source_id, priority, level, status,
                              ready, due_at, discovered_at, last_fetched_at, fetch_count, tries, http_status, error_code)
    SELECT d.bucket, d.domain_key, sha256(convert_to(${urlSql}, 'UTF8')), ${urlSql}, 'https://' || d.name || '/feed.xml', 'article',
           'feed', 1 + d.id % 1000, d.level - x.lower, d.level - x.lower, x.status::url_status, x.status = 'pending',
           CASE x.status WHEN 'pending' THEN g.found_at WHEN 'failed' THEN now() + interval '1 day' END, g.found_at,
           CASE x.status WHEN 'fetched' THEN g.found_at END,
           CASE x.status WHEN 'fetched' THEN 1 ELSE 0 END, CASE x.status WHEN 'failed' THEN 1 ELSE 0 END,
           CASE x.status WHEN 'fetched' THEN 200 WHEN 'failed' THEN 503 END, CASE x.status WHEN 'failed' THEN 'http_5xx' END
      FROM (SELECT d.*, g, now() - random() * interval '30 days' AS found_at
              FROM bench_domains d CROSS JOIN LATERAL generate_series(0, d.urls - 1, 10) g OFFSET 0) g
      JOIN bench_domains d USING (id)
     CROSS JOIN LATERAL generate_series(g.g, least(g.g + 9, d.urls - 1)) n
     CROSS JOIN LATERAL (SELECT CASE WHEN n % 20 < 12 THEN 'pending' WHEN n % 20 < 19 THEN 'fetched' ELSE 'failed' END AS status,
                                CASE WHEN n % 20 IN (10, 11) THEN 2 ELSE 0 END AS lower) x
     ORDER BY g.found_at, n`);
  for (const { definition } of indexes.rows) await db.query(definition);
  await db.query(`
    INSERT INTO domain_slots (bucket, domain_key, top, queued, next_at, wake_at, lease_epoch)
    SELECT d.bucket, d.domain_key, s.top, s.queued, now() - random() * interval '1 hour', s.wake_at, 1
      FROM bench_domains d JOIN (
        SELECT bucket, domain_key, max(level) FILTER (WHERE ready) AS top, count(*) FILTER (WHERE ready) AS queued,
               min(due_at) FILTER (WHERE NOT ready) AS wake_at FROM url_frontier GROUP BY 1, 2) s USING (bucket, domain_key)
     ORDER BY random()`);
  // Kept counts are written by those who write rows; a load by hand puts them right afterwards.
  await db.query('SELECT counts_mend()');
  await db.query('COMMIT');
  await db.query('VACUUM (ANALYZE) url_frontier');
  await db.query('VACUUM (ANALYZE) domain_slots');
  await db.query('VACUUM (ANALYZE) domains');
}

async function stageDomains(db: pg.Client, domains: readonly BenchDomain[]): Promise<void> {
  await db.query(
    'CREATE TABLE bench_domains (id integer, bucket smallint, domain_key bigint, name text, level smallint, urls integer)',
  );
  const identities = domains.map((domain) => domainIdentity(domain.name));
  await db.query(
    `INSERT INTO bench_domains SELECT * FROM unnest($1::integer[], $2::smallint[], $3::bigint[], $4::text[], $5::smallint[], $6::integer[])`,
    [
      domains.map((_, id) => id),
      identities.map((one) => one.bucket),
      identities.map((one) => one.domainKey.toString()),
      domains.map((one) => one.name),
      domains.map((one) => one.level),
      domains.map((one) => one.urls),
    ],
  );
  await db.query('ANALYZE bench_domains');
}

/** All the domains of the better level rest for an hour; what is due is behind them. */
export async function throttleBest(db: pg.Client): Promise<number> {
  const result = await db.query(
    `UPDATE domain_slots s SET next_at = now() + interval '1 hour' FROM bench_domains d
      WHERE s.bucket = d.bucket AND s.domain_key = d.domain_key AND d.level = ${betterLevel} AND s.lease_owner IS NULL`,
  );
  await db.query('VACUUM (ANALYZE) domain_slots');
  return result.rowCount ?? 0;
}

/** Lets them go again. */
export async function unthrottle(db: pg.Client): Promise<void> {
  await db.query(
    `UPDATE domain_slots SET next_at = now() - random() * interval '1 hour' WHERE lease_owner IS NULL AND top IS NOT NULL`,
  );
  await db.query('VACUUM (ANALYZE) domain_slots');
}

/** One more domain with very many waiting URLs at the better level. */
export async function loadHugeDomain(db: pg.Client, urls: number): Promise<void> {
  const name = 'huge.example';
  const { bucket, domainKey } = domainIdentity(name);
  await db.query(
    `WITH d AS (INSERT INTO domains (bucket, domain_key, name, status) VALUES ($1, $2, $3, 'active') RETURNING *),
     s AS (INSERT INTO domain_slots (bucket, domain_key, top, queued, next_at, lease_epoch) VALUES ($1, $2, ${betterLevel}, $4, now(), 1))
     INSERT INTO url_frontier (bucket, domain_key, url_hash, url, kind, origin, source_id, priority, level, ready, due_at, discovered_at)
     SELECT d.bucket, d.domain_key, sha256(convert_to(${urlSql}, 'UTF8')), ${urlSql}, 'article', 'sitemap', 7, ${betterLevel}, ${betterLevel},
            true, now() - random() * interval '1 day', now()
       FROM d, generate_series(0, $4::integer - 1) n`,
    [bucket, domainKey.toString(), name, urls],
  );
  await db.query('VACUUM (ANALYZE) url_frontier');
}

/** Makes it the one that has waited longest. */
export async function releaseHugeDomain(db: pg.Client): Promise<void> {
  const { bucket, domainKey } = domainIdentity('huge.example');
  await db.query(
    `UPDATE domain_slots SET next_at = now() - interval '1 day' WHERE bucket = $1 AND domain_key = $2`,
    [bucket, domainKey.toString()],
  );
}
