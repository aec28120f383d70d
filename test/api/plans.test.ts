import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadFrontier, planDomains } from '../../bench/frontier/load.ts';
import { buildApi } from '../../src/api/app.ts';
import { loadConfig } from '../../src/config/index.ts';
import type { Database } from '../../src/db/index.ts';
import { foldCounters, mendCounts } from '../../src/frontier/index.ts';
import { createLog, createMetrics, systemClock } from '../../src/telemetry/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

// The plans of the statements that the routes really send, on tables that are too large to be read whole.
type Sent = { text: string; values: unknown[] };
type Node = { 'Node Type': string; 'Relation Name'?: string; Plans?: Node[] };

let database: TestDatabase;
let app: Awaited<ReturnType<typeof buildApi>>;
let sent: Sent[] = [];
const domains = planDomains(50_000);
const name = domains[0]!.name;

beforeAll(async () => {
  database = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await loadFrontier(client, domains);
  await client.end();
  const { pool } = database;
  await pool.query(`INSERT INTO sources (slug, name, url)
    SELECT 'source_' || n, 'Source ' || n, 'https://source-' || n || '.example/' FROM generate_series(1, 1000) n`);
  await pool.query(`INSERT INTO domains (bucket, domain_key, name, status)
    SELECT n % 256, -n::bigint * 1000003, 'more' || n || '.example', (enum_range(NULL::domain_status))[1 + n % 5]
      FROM generate_series(1, 20000) n`);
  await pool.query(`INSERT INTO domain_slots (bucket, domain_key, next_at)
    SELECT n % 256, -n::bigint * 1000003, now() FROM generate_series(1, 20000) n`);
  await pool.query(`UPDATE domain_slots SET circuit_good = 0, circuit_opens = ARRAY[now()], circuit_reasons = ARRAY['rate_limited']
    WHERE domain_key < 0 AND domain_key % 97 = 0`);
  await pool.query(`INSERT INTO documents (bucket, domain_key, url_hash, version, word_count, confidence, first_seen_at,
      last_seen_at, crawled_at, content_hash, page_type, url, title, text)
    SELECT bucket, domain_key, url_hash, 1, 10, 1, now(), now(), now() - row_number() OVER () * interval '1 millisecond', url_hash, 'article', url, 'a title', repeat('words ', 50)
      FROM url_frontier WHERE status = 'fetched'`);
  // A week of roll-ups, and trouble of every kind.
  await pool.query(`INSERT INTO counter_deltas (bucket, minute, source_id, fetched, requests, dead, latencies, delays)
    SELECT n % 256, date_trunc('minute', now()) - make_interval(mins => n), 1, 5, 7, 1, '{3,4,9}', '{6}'
      FROM generate_series(0, 10080) n`);
  await pool.query(`INSERT INTO channels (source_id, kind, url, bucket, domain_key, url_hash)
    SELECT 1 + n % 1000, 'feed', 'https://channel-' || n || '.example/', n % 256, n, sha256(n::text::bytea) FROM generate_series(1, 5000) n`);
  await pool.query(`INSERT INTO channel_state (bucket, channel_id, errors_in_row, error_kind)
    SELECT bucket, id, id % 50, 'http_5xx' FROM channels`);
  await pool.query(
    `UPDATE domain_slots SET circuit_good = 0, queued = 200 WHERE next_at <= now() AND bucket < 8`,
  );
  await pool.query(`INSERT INTO jobs (kind, status, source_id, interval_seconds, next_run_at, phase_at, pause_reason, created_by)
    SELECT CASE WHEN n % 50 = 0 THEN 'refresh' ELSE 'crawl' END::job_kind, s.status, 1 + n % 1000, 21600,
           CASE WHEN s.status = 'scheduled' THEN now() + n * interval '2 seconds' END, now(),
           CASE WHEN s.status = 'paused' THEN 'operator' END, 'test'
      FROM generate_series(1, 10000) n,
           LATERAL (SELECT CASE WHEN n % 100 = 0 THEN 'paused' WHEN n % 30 = 0 THEN 'failed' ELSE 'scheduled' END::job_status AS status) s`);
  await pool.query(`INSERT INTO job_executions (job_id, number, trigger, worker, started_at, completed_at, status, log_lines)
    SELECT 1 + n % 10000, 1 + n / 10000, 'schedule', 'test', now() - (100000 - n) * interval '1 minute', now(), 'completed', 1
      FROM generate_series(0, 99999) n`);
  await pool.query(`INSERT INTO execution_logs (execution_id, id, at, category, level, message)
    SELECT id, 1, now(), 'fetch', 'info', 'a page' FROM job_executions`);
  await pool.query(`INSERT INTO job_events (job_id, from_status, to_status, action, actor)
    SELECT job_id, 'running', 'scheduled', 'complete', 'test' FROM job_executions`);
  await mendCounts(pool);
  await foldCounters(pool);
  for (const table of [
    'domains',
    'domain_slots',
    'documents',
    'sources',
    'url_frontier',
    'source_totals',
    'rollups',
    'channels',
    'channel_state',
    'jobs',
    'job_executions',
    'execution_logs',
    'job_events',
  ])
    await pool.query(`VACUUM (ANALYZE) ${table}`);
  app = await buildApi({
    database: recording(database.db),
    config: loadConfig({ env: {} }).config,
    clock: systemClock,
    log: createLog({ level: 'silent', format: 'json' }),
    metrics: createMetrics(),
    version: '0.0.0-test',
    loops: () => [],
    operator: { name: 'test', role: 'admin' },
  });
}, 120_000);
afterAll(async () => {
  await app.close();
  await database.drop();
});

/** The same database, whose pool keeps what was sent. */
function recording(db: Database): Database {
  const pool = new Proxy(db.pool, {
    get: (target, key) => {
      if (key !== 'query') return Reflect.get(target, key) as unknown;
      return (text: string, values: unknown[] = []) => {
        sent.push({ text, values });
        return target.query(text, values);
      };
    },
  });
  return { ...db, pool };
}

/** Asks for a path and answers the body, with the large tables that its statements read from end to end. */
async function ask(
  path: string,
  tables: ReadonlySet<string> = large,
): Promise<{ body: { cursor?: string | null }; read: string[]; statements: number }> {
  sent = [];
  const response = await app.inject({ method: 'GET', url: `/api/v1${path}`, headers: { host: 'localhost' } });
  expect(response.statusCode, `${path}: ${response.body.slice(0, 300)}`).toBe(200);
  const read: string[] = [];
  const statements = sent;
  for (const { text, values } of statements) {
    const plan = await database.pool.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
      `EXPLAIN (FORMAT JSON) ${text}`,
      values,
    );
    for (const table of scanned(plan.rows[0]!['QUERY PLAN'][0].Plan, tables))
      read.push(`${table}: ${text.slice(0, 200)}`);
  }
  return { body: response.json(), read, statements: statements.length };
}

const large = new Set(['url_frontier', 'documents', 'domains', 'crawl_log', 'counters', 'rollups']);

function scanned(root: Node, tables: ReadonlySet<string> = large): string[] {
  const found: string[] = [];
  for (const nodes = [root]; nodes.length > 0; ) {
    const node = nodes.pop()!;
    const table = node['Relation Name'];
    if (node['Node Type'] === 'Seq Scan' && table !== undefined && tables.has(table)) found.push(table);
    nodes.push(...(node.Plans ?? []));
  }
  return found;
}

const address = encodeURIComponent(
  `https://${name}/news/2031/05/a-headline-of-the-usual-length-for-a-page-3`,
);

test.each([
  '/frontier?limit=50',
  '/frontier?limit=50&status=pending',
  '/frontier?limit=50&status=failed,dead&origin=feed&priority_min=5',
  '/frontier?limit=50&reason=http_5xx&older_than=3d',
  `/frontier?limit=5&domain=${name}`,
  `/frontier?limit=5&domain=${name}&status=fetched&source=source_1`,
  '/frontier?limit=5&source=source_7',
  '/frontier?limit=5&source=source_7&sort=oldest&status=pending&older_than=1d',
  `/frontier?url=${address}`,
  `/frontier?prefix=${encodeURIComponent(`https://${name}/news/`)}&limit=5`,
  '/frontier/stats',
  '/frontier/stats?source=source_7',
  '/domains',
  '/domains?status=blocked&limit=50',
  '/domains?circuit=open&limit=50',
  '/domains?circuit=open&status=active&q=more&sort=recent&limit=20',
  '/domains?q=more12&limit=50',
  '/domains?q=more12&status=active&limit=50',
  '/documents?limit=50',
  '/sources/activity?slugs=source_1,source_7,nobody',
  `/domains/${name}`,
  `/domains/${name}/events`,
  `/domains/${name}/robots`,
  `/explain?url=${address}`,
  `/explain?domain=${name}`,
  '/overview',
  '/overview/series?span=1h',
  '/overview/series?span=24h',
  '/overview/series?span=7d',
  `/overview/find?q=${address}`,
  `/overview/find?q=${name}`,
  '/overview/find?q=more12',
  '/overview/find?q=Source%207',
  '/overview/find?q=source_99',
])('%s reads no large table from end to end, nor do its further pages', async (path) => {
  const first = await ask(path);
  expect(first.statements).toBeGreaterThan(0);
  expect(first.read).toEqual([]);
  if (first.body.cursor == null) return;
  const next = await ask(`${path}${path.includes('?') ? '&' : '?'}cursor=${first.body.cursor}`);
  expect(next.read).toEqual([]);
});

// Ten thousand jobs are counted as exactly as that; their executions and logs are never read from end to end.
const jobTables = new Set(['jobs', 'job_executions', 'execution_logs', 'job_events']);
const runTables = new Set(['job_executions', 'execution_logs', 'job_events']);

test.each([
  '/jobs',
  '/jobs?sort=next_run',
  '/jobs?status=failed&sort=next_run',
  '/jobs?status=paused',
  '/jobs?kind=refresh',
  '/jobs?source=source_7',
  '/jobs?source=source_7&sort=next_run',
  '/jobs/7',
  '/jobs/7/executions?limit=3',
  '/jobs/7/events?limit=3',
  '/jobs/stats',
  '/scheduler/metrics',
  '/executions/500',
  '/executions/500/logs?q=page&order=newest',
])('%s reads runs by their indexes, and a list its page of jobs', async (path) => {
  const first = await ask(path, runTables);
  expect(first.statements).toBeGreaterThan(0);
  expect(first.read).toEqual([]);
  // The page itself; what counts how many there are may read them all.
  const [page] = (await ask(path, jobTables)).read.filter((one) => !one.includes('count(*)'));
  expect(page).toBeUndefined();
  if (first.body.cursor == null) return;
  const next = await ask(`${path}${path.includes('?') ? '&' : '?'}cursor=${first.body.cursor}`, runTables);
  expect(next.read).toEqual([]);
});

test('a page of jobs takes the same few statements however many it has', async () => {
  const few = (await ask('/jobs?limit=1')).statements;
  expect((await ask('/jobs?limit=500')).statements).toBe(few);
  expect(few).toBe(2);
});

test('open circuits are found by their index', async () => {
  await ask('/domains?circuit=open&limit=50');
  const listing = sent.filter(
    ({ text }) => text.includes('circuit_good IS NOT NULL') && text.includes('domain_slots o'),
  );
  expect(listing).toHaveLength(1);
  const plan = await database.pool.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
    `EXPLAIN (FORMAT JSON) ${listing[0]!.text}`,
    listing[0]!.values,
  );
  expect(scanned(plan.rows[0]!['QUERY PLAN'][0].Plan, new Set(['domains', 'domain_slots']))).toEqual([]);
  expect(JSON.stringify(plan.rows)).toContain('domain_slots_circuit');
});

test('it would be noticed if one did', async () => {
  const plan = await database.pool.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
    `EXPLAIN (FORMAT JSON) SELECT status, count(*) FROM url_frontier GROUP BY status`,
  );
  expect(scanned(plan.rows[0]!['QUERY PLAN'][0].Plan)).toEqual(['url_frontier']);
});
