import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { seedDomains } from '../../src/domains/index.ts';
import { type Engine, startEngine } from '../../src/engine.ts';
import { actOnUrls } from '../../src/frontier/index.ts';
import { loadSiteView } from '../../src/sites/index.ts';
import { createLog } from '../../src/telemetry/index.ts';
import { domainIdentity } from '../../src/url/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import {
  type AccessRecord,
  type FaultSpec,
  type Publisher,
  type PublisherChange,
  startWeb,
  type Web,
} from '../web/index.ts';
import { isQuiet } from './crawl-state.ts';
import { waitUntil } from './wait.ts';

// Publishers without feeds or sitemaps, found by their links alone. DISCOVERY_ARTICLES=440 gives each listings of more
// than forty pages; every number is taken from the access log and the ground truth.
const articles = Number(process.env.DISCOVERY_ARTICLES ?? 36);
const deadlineMs = articles * 6000;
const seed = Number(process.env.DISCOVERY_SEED ?? 11);
const perPage = articles >= 400 ? 10 : 6;
const sites = Number(process.env.DISCOVERY_SITES ?? 10);
const budget = 1000;

const trap = (...names: string[]): FaultSpec[] => names.map((name) => ({ name }));
const repeating: FaultSpec = { name: 'trap-pages', pathPrefix: '/politics' };
const allSetups: PublisherChange[] = [
  { urlStyle: 'dated', pagination: 'query', faults: trap('trap-calendar') },
  { urlStyle: 'section', pagination: 'path', faults: [repeating] },
  { urlStyle: 'flat', pagination: 'p', faults: trap('trap-session') },
  { urlStyle: 'html', pagination: 'offset', faults: trap('trap-facet') },
  { urlStyle: 'html', pagination: 'file' },
  { urlStyle: 'query', pagination: 'sorted' },
  { urlStyle: 'slash', pagination: 'query', pager: 'none', faults: trap('trap-path') },
  { urlStyle: 'query', pagination: 'path', pager: 'none', faults: trap('trap-calendar') },
  { urlStyle: 'query', pagination: 'offset', pager: 'none', archives: true },
  { urlStyle: 'flat', pagination: 'p', pager: 'none', archives: true, faults: trap('trap-facet') },
];
const setups = allSetups.slice(0, sites);

let dir: string;
let database: TestDatabase;
let web: Web;
let engine: Engine;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'outrider-discovery-'));
  database = await createTestDatabase();
  web = await startWeb({
    seed,
    publishers: setups.length,
    changes: setups.map((one) => ({
      language: 'en',
      feeds: [],
      sitemaps: [],
      archives: false,
      robots: { disallow: ['/search', '/login', '/private/'], allow: [], crawlDelayS: 0 },
      backlog: articles,
      perPage,
      ratePerDay: 20,
      duplicates: false,
      syndicates: false,
      faults: [],
      ...one,
    })),
    startMs: Date.parse('2024-06-05T12:00:00Z'),
    speed: 0,
  });
  const hostsFile = join(dir, 'hosts');
  await web.writeHostsFile(hostsFile);
  const { config } = loadConfig({
    env: {},
    overrides: {
      'database.url': database.url,
      'fetch.hosts_file': hostsFile,
      'fetch.allow_networks': [`127.0.0.0/8:${web.port}`],
      'fetch.default_delay_ms': 0,
      'fetch.network_gap_ms': 0,
      'domains.max_pages_per_run': budget,
    },
  });
  engine = await startEngine({
    config,
    roles: ['fetch', 'schedule'],
    version: '0.0.0',
    log: createLog({ level: 'error', format: 'json' }),
  });
});
afterAll(async () => {
  await engine?.stop();
  await web?.close();
  await database?.drop();
  rmSync(dir, { recursive: true, force: true });
});

/** Requests of a publisher, robots.txt left out. */
const requestsOf = (publisher: Publisher, since = 0): AccessRecord[] =>
  web.log.read(since).filter((one) => publisher.hosts.includes(one.host) && one.path !== '/robots.txt');

const trapPath = /^\/(?:calendar|browse|catalogue|topics)(?:[/?]|$)/;
const pageParts = /^(.*?)(?:\/page\/(\d+)|\/list_7_(\d+)\.html|[?&](?:page|p|offset)=(\d+))$/;

/** The listing and the page that a path asks for; null: no further page of anything. */
function pageOf(publisher: Publisher, path: string): { base: string; page: number; form: string } | null {
  const match = pageParts.exec(path);
  if (match === null) return null;
  const form = path.slice(match[1]!.length).replace(/\d+/, '');
  const number = Number(match[2] ?? match[3] ?? match[4]);
  const page = form.includes('offset') ? number / publisher.perPage + 1 : number;
  return { base: match[1]!.replace(/\/$/, '') || '/', page, form };
}

const isTrapped = (publisher: Publisher, { path }: AccessRecord): boolean =>
  trapPath.test(path) ||
  (publisher.faults.includes(repeating) && pageOf(publisher, path)?.base.startsWith('/politics') === true);

test(
  'links alone find nearly every article within the budget, and traps cost next to nothing',
  async () => {
    const list = web.publishers.map((one, at) => `${at + 1},http://${one.host}/\n`);
    await seedDomains(database.pool, list, { dataset: 'discovery' });
    await waitUntil('everything due is done', () => isQuiet(database.pool), deadlineMs);
    const stored = await database.pool.query<{ url: string }>('SELECT url FROM documents');
    const known = new Set(stored.rows.map((row) => row.url));
    const figures = web.publishers.map((publisher) => {
      const wanted = web
        .groundTruth(publisher.domain)[0]!
        .articles.filter((one) => one.expected.outcome === 'document');
      const requests = requestsOf(publisher);
      return {
        style: `${publisher.urlStyle} ${publisher.pagination} ${publisher.pager ?? 'links'}`,
        articles: wanted.length,
        found: wanted.filter((one) => known.has(one.url)).length,
        requests: requests.length,
        trapped: requests.filter((one) => isTrapped(publisher, one)).length,
        missing: requests.filter((one) => one.status === 404).length,
      };
    });
    console.table(figures);
    const real = new Set(web.groundTruth().flatMap((truth) => truth.articles.map((one) => one.url)));
    const strangers = [...known].filter((url) => !real.has(url));
    expect(strangers).toEqual([]);
    for (const one of figures) {
      expect([one.style, one.found / one.articles >= 0.98]).toEqual([one.style, true]);
      expect(one.requests).toBeLessThanOrEqual(budget);
    }
    const sum = (of: (one: (typeof figures)[number]) => number) =>
      figures.reduce((total, one) => total + of(one), 0);
    // With few articles on each site the same few requests are a larger share.
    expect(sum((one) => one.trapped)).toBeLessThan(
      sum((one) => one.requests) * (articles >= 400 ? 0.02 : 0.06),
    );
  },
  deadlineMs,
);

test('no page was asked for that lies more than one beyond the last there is', () => {
  for (const publisher of web.publishers) {
    const requests = requestsOf(publisher);
    const there = new Map<string, number>();
    for (const { path, status } of requests) {
      const at = pageOf(publisher, path);
      if (at !== null && status === 200)
        there.set(`${at.base} ${at.form}`, Math.max(there.get(`${at.base} ${at.form}`) ?? 1, at.page));
    }
    for (const { path } of requests) {
      const at = pageOf(publisher, path);
      if (at === null) continue;
      const last = there.get(`${at.base} ${at.form}`) ?? 1;
      expect([publisher.host, path, at.page <= last + 1]).toEqual([publisher.host, path, true]);
    }
    expect([publisher.urlStyle, requests.length]).toEqual([
      publisher.urlStyle,
      new Set(requests.map((one) => one.path)).size,
    ]);
  }
});

test('what ended is remembered, and traps are named', async () => {
  for (const publisher of web.publishers) {
    const view = await loadSiteView(database.pool, domainIdentity(publisher.domain));
    expect(view.pagination.some((rule) => rule.pages > 0)).toBe(true);
    expect(view.refusedLinks.map((one) => one.reason)).toContain('static_page');
    if (publisher.faults.includes(repeating)) {
      const rule = view.pagination.find((one) => one.base === '/politics');
      expect(rule).toMatchObject({ endReason: 'repeat', pages: 0 });
    } else if (publisher.faults.some((one) => one.name !== 'trap-session'))
      // The session trap's pages have too little on them to lead anywhere.
      expect(view.traps).toHaveLength(1);
    if (publisher.pager === 'none')
      expect(view.pagination.some((rule) => rule.endReason !== null)).toBe(true);
  }
});

test(
  'a second crawl asks neither for what ended nor for pages behind one without news',
  async () => {
    const failed = new Set(
      web.log.read().flatMap((one) => (one.status === 404 ? [`${one.host}${one.path}`] : [])),
    );
    const since = web.log.nextSeq;
    const fresh = web.publishers.map((one) => [one, web.publish(one.domain, 2)] as const);
    const rows = await database.pool.query<{ bucket: number; domainKey: bigint; hash: Buffer }>(
      `SELECT bucket, domain_key AS "domainKey", url_hash AS hash FROM url_frontier WHERE kind = 'listing' AND status = 'fetched'`,
    );
    await actOnUrls(database.pool, rows.rows, { action: 'retry', actor: 'test' });
    await waitUntil('everything due is done', () => isQuiet(database.pool), deadlineMs);
    const stored = await database.pool.query<{ url: string }>('SELECT url FROM documents');
    const known = new Set(stored.rows.map((row) => row.url));
    for (const [publisher, urls] of fresh) {
      expect(urls.filter((url) => !known.has(url))).toEqual([]);
      const again = requestsOf(publisher, since);
      expect(again.filter((one) => failed.has(`${one.host}${one.path}`)).map((one) => one.path)).toEqual([]);
      expect(again.filter((one) => isTrapped(publisher, one)).map((one) => one.path)).toEqual([]);
      // Page two may have what the news pushed out of page one; nothing lies behind it.
      expect(
        again.filter((one) => (pageOf(publisher, one.path)?.page ?? 1) > 2).map((one) => one.path),
      ).toEqual([]);
    }
  },
  deadlineMs,
);
