import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createChannel } from '../../src/channels/index.ts';
import { saveRobots } from '../../src/domains/index.ts';
import { type SubmitItem, submit } from '../../src/frontier/index.ts';
import { createSource, type IngestionMode } from '../../src/sources/index.ts';
import { channelHash, identifyUrl } from '../../src/url/index.ts';
import { waitUntil } from '../e2e/wait.ts';
import { Outrider } from '../process/outrider.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { askWeb } from '../web/client.ts';
import { type AccessRecord, type FaultSpec, type PublisherChange, startWeb, type Web } from '../web/index.ts';

/** What a row is; a feed and a sitemap are channels. */
export type LabKind = 'article' | 'listing' | 'feed' | 'sitemap';

/** A row with everything that was stored on its account. */
export type RowState = {
  status: string;
  code: string | null;
  text: string | null;
  tries: number;
  http: number | null;
  url: string;
  redirectedTo: string | null;
  validation: string | null;
  rejection: string | null;
  etag: string | null;
  lastModified: string | null;
  hops: number;
  /** Seconds from the domain's last request to the row's due time; null when it is not due again. */
  dueS: number | null;
  documents: number;
  version: number | null;
};

/** One row of the crawl log. */
export type Logged = { kind: string; status: number | null; outcome: string; url: string };

/** A domain's counters and its slot. */
export type DomainState = {
  crawled: number;
  documents: number;
  errors: number;
  inRow: number;
  hold: string | null;
  penaltyMs: number;
};

/** A publisher named after its case, like all others but for its faults: English, UTF-8, one feed, one sitemap. */
export function plain(
  name: string,
  faults: readonly FaultSpec[] = [],
  change: PublisherChange = {},
): PublisherChange {
  const domain = `${name}.test`;
  return {
    domain,
    host: domain,
    language: 'en',
    charset: 'utf-8',
    charsetDeclaration: 'header',
    urlStyle: 'dated',
    compression: 'none',
    metadata: 'jsonld',
    layout: 0,
    duplicates: false,
    syndicates: false,
    archives: false,
    backlog: 6,
    ratePerDay: 1,
    feeds: [
      {
        kind: 'rss',
        path: '/feed',
        advertised: true,
        full: false,
        tracking: false,
        origLink: false,
        relative: false,
        items: 6,
      },
    ],
    sitemaps: [{ kind: 'urlset', path: '/sitemap.xml', inRobots: false, lastmod: true }],
    faults,
    ...change,
  };
}

/** A simulated web, a database of its own and real fetcher processes. */
export class Lab {
  readonly web: Web;
  readonly database: TestDatabase;
  readonly #dir: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #running = new Set<Outrider>();

  private constructor(web: Web, database: TestDatabase, dir: string, env: Readonly<Record<string, string>>) {
    this.web = web;
    this.database = database;
    this.#dir = dir;
    this.#env = env;
  }

  /** Starts web and database; `env` is for the fetchers. */
  static async open(options: {
    publishers: readonly PublisherChange[];
    env?: Readonly<Record<string, string>>;
    /** Which of the publishers' hosts the hosts file leaves to DNS. */
    unlisted?: readonly string[];
    /** The web's time, which stands still; a day in the past unless said. */
    startMs?: number;
  }): Promise<Lab> {
    const dir = mkdtempSync(join(tmpdir(), 'outrider-lab-'));
    const database = await createTestDatabase();
    const web = await startWeb({
      seed: 61,
      publishers: options.publishers.length,
      changes: options.publishers,
      startMs: options.startMs ?? Date.parse('2024-06-05T12:00:00Z'),
      speed: 0,
      tls: true,
    });
    const listed = web.hosts.filter(({ names }) => !names.some((name) => options.unlisted?.includes(name)));
    writeFileSync(
      join(dir, 'hosts'),
      listed.map(({ address, names }) => `${address}:${web.port} ${names.join(' ')}\n`).join(''),
    );
    writeFileSync(join(dir, 'authority.pem'), web.authority ?? '');
    return new Lab(web, database, dir, {
      DATABASE_URL: database.url,
      NODE_EXTRA_CA_CERTS: join(dir, 'authority.pem'),
      OUTRIDER_FETCH_HOSTS_FILE: join(dir, 'hosts'),
      // Never 127.0.0.1 itself: that is the address nobody may be led to.
      OUTRIDER_FETCH_ALLOW_NETWORKS: [1, 2, 3, 4, 5].map((one) => `127.${one}.0.0/16:${web.port}`).join(','),
      OUTRIDER_FETCH_DEFAULT_DELAY_MS: '50',
      OUTRIDER_FETCH_DOMAINS_AT_ONCE: '400',
      OUTRIDER_FETCH_NETWORK_CONCURRENCY: '0',
      OUTRIDER_FETCH_NETWORK_GAP_MS: '0',
      OUTRIDER_FETCH_MAX_TRIES: '3',
      // The web's time stands still in the past, so that a run is the same on every day.
      OUTRIDER_POLLING_SITEMAP_MAX_AGE_HOURS: '87600',
      LOG_LEVEL: 'warn',
      LOG_FORMAT: 'json',
      ...options.env,
    });
  }

  /** Lets the bombs be made beforehand: packing a hundred megabytes is no part of anybody's deadline. */
  async makeBombs(): Promise<void> {
    for (const { domain, faults } of this.web.publishers)
      for (const { name } of faults)
        if (name.endsWith('-bomb') && domain === `${name}.test`)
          await askWeb(this.web, this.article(domain.replace(/\.test$/, '')));
    this.web.log.clear();
  }

  /** A real `outrider fetch`, or another role. */
  start(env: Readonly<Record<string, string>> = {}, role: 'fetch' | 'schedule' = 'fetch'): Outrider {
    const one = new Outrider([role], { home: this.#dir, env: { ...this.#env, ...env } });
    this.#running.add(one);
    return one;
  }

  async close(): Promise<void> {
    for (const one of this.#running) await one.stop('SIGKILL');
    await this.web.close();
    await this.database.drop();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** The address of an article of a publisher, counted from the oldest. */
  article(name: string, nth = 0): string {
    const url = this.web.groundTruth(`${name}.test`)[0]?.articles[nth]?.url;
    if (url === undefined) throw new Error(`${name}.test has no article ${nth}`);
    return url;
  }

  /** Where the rows of a kind lie at a publisher. */
  address(name: string, kind: LabKind): string {
    if (kind === 'article') return this.article(name);
    const path = { listing: '/', feed: '/feed', sitemap: '/sitemap.xml' }[kind];
    return `http://${name}.test${path}`;
  }

  /** Lets robots.txt of an address be known and silent, so that what follows is about the page. */
  async knowRobots(url: string): Promise<void> {
    const identified = identifyUrl(url);
    if (identified.outcome === 'rejected') throw new Error(`${url} is refused: ${identified.reason}`);
    const silent = { outcome: 'allow_all', httpStatus: 404, errorCode: null, rules: null } as const;
    await saveRobots(
      this.database.pool,
      { ...identified.identity, origin: new URL(url).origin },
      { ...silent, ttlMs: 3_600_000 },
    );
  }

  /** Asks for a page; an operator's wish, so that a known one is fetched again. */
  async ask(url: string, change: Partial<SubmitItem> = {}): Promise<string> {
    const wish: SubmitItem = {
      url,
      kind: 'article',
      origin: 'manual',
      sourceId: null,
      priority: 5,
      own: true,
      modifiedAt: new Date(),
      ...change,
    };
    const [result] = await submit(this.database.pool, [wish], { refetchAgeHours: 0 });
    return result!.answer;
  }

  /** Follows a publisher's feed or sitemap, or makes the publisher a source whose pages are spidered. */
  async follow(name: string, kind: LabKind, url = this.address(name, kind)): Promise<void> {
    const mode: IngestionMode = kind === 'listing' ? 'spider' : 'feed';
    const { source } = await createSource(this.database.pool, { url: `http://${name}.test/`, mode });
    if (kind === 'feed' || kind === 'sitemap')
      await createChannel(this.database.pool, {
        sourceId: source.id,
        kind,
        url,
        intervalSeconds: 900,
        foundBy: 'manual',
      });
    else await this.ask(url, { kind, sourceId: source.id });
  }

  /** Waits until nothing is leased, and nothing due that its domain will let go within seconds. */
  async idle(deadlineMs = 90_000): Promise<void> {
    await waitUntil(
      'nothing is due',
      async () => {
        const result = await this.database.pool.query<{ left: number; urls: string[] | null }>(
          `SELECT count(*)::integer AS left, (array_agg(f.url))[1:5] AS urls
             FROM url_frontier f JOIN domain_slots s USING (bucket, domain_key)
            WHERE s.lease_owner IS NOT NULL
               OR ((f.ready OR f.due_at <= now()) AND s.next_at < now() + interval '15 seconds')`,
        );
        const { left, urls } = result.rows[0]!;
        return left === 0 || `${left} rows: ${String(urls)}`;
      },
      deadlineMs,
    );
  }

  /** Makes the parked rows of these hosts due now: the tests' way of moving time. */
  async hurry(hosts: readonly string[]): Promise<void> {
    await this.database.pool.query(
      `UPDATE url_frontier f SET due_at = now() FROM domains d
        WHERE d.bucket = f.bucket AND d.domain_key = f.domain_key AND d.name = ANY ($1)
          AND NOT f.ready AND f.due_at IS NOT NULL`,
      [hosts],
    );
    await this.database.pool.query(
      `UPDATE domain_slots s SET wake_at = now() FROM domains d
        WHERE d.bucket = s.bucket AND d.domain_key = s.domain_key AND d.name = ANY ($1)`,
      [hosts],
    );
  }

  /** What is stored of an address; undefined when it has no row. */
  async row(url: string, kind: LabKind = 'article'): Promise<RowState | undefined> {
    const identified = identifyUrl(url);
    if (identified.outcome === 'rejected') return undefined;
    const { hash, fetchUrl } = identified.identity;
    const result = await this.database.pool.query<RowState>(
      `SELECT f.status, f.error_code AS code, f.error_text AS text, f.tries, f.http_status AS http, f.url,
              f.redirected_to AS "redirectedTo", f.validation_status AS validation, f.rejection_reason AS rejection,
              f.etag, f.last_modified AS "lastModified", f.hops,
              extract(epoch FROM f.due_at - (SELECT max(l.at) FROM crawl_log l
                WHERE l.bucket = f.bucket AND l.domain_key = f.domain_key))::float8 AS "dueS",
              (SELECT count(*)::integer FROM documents d WHERE d.bucket = f.bucket AND d.domain_key = f.domain_key
                  AND d.url_hash = f.url_hash) AS documents,
              (SELECT max(d.version) FROM documents d WHERE d.bucket = f.bucket AND d.domain_key = f.domain_key
                  AND d.url_hash = f.url_hash) AS version
         FROM url_frontier f WHERE f.url_hash = $1`,
      [kind === 'feed' || kind === 'sitemap' ? channelHash(fetchUrl) : hash],
    );
    return result.rows[0];
  }

  /** How often a domain has rows of each status, channels left out. */
  async statuses(name: string): Promise<Record<string, number>> {
    const result = await this.database.pool.query<{ status: string; rows: number }>(
      `SELECT f.status, count(*)::integer AS rows FROM url_frontier f JOIN domains d USING (bucket, domain_key)
        WHERE d.name = $1 AND f.kind <> 'channel' GROUP BY 1`,
      [`${name}.test`],
    );
    return Object.fromEntries(result.rows.map(({ status, rows }) => [status, rows]));
  }

  /** The crawl log of a domain, oldest first. */
  async logged(name: string): Promise<Logged[]> {
    const result = await this.database.pool.query<Logged>(
      `SELECT l.kind, l.status, l.outcome, l.url FROM crawl_log l JOIN domains d USING (bucket, domain_key)
        WHERE d.name = $1 ORDER BY l.at`,
      [`${name}.test`],
    );
    return result.rows;
  }

  async domain(name: string): Promise<DomainState> {
    const result = await this.database.pool.query<DomainState>(
      `SELECT d.pages_crawled::integer AS crawled, d.documents::integer AS documents, d.errors_total::integer AS errors,
              d.errors_consecutive AS "inRow", s.hold_reason AS hold, s.penalty_ms AS "penaltyMs"
         FROM domains d JOIN domain_slots s USING (bucket, domain_key) WHERE d.name = $1`,
      [`${name}.test`],
    );
    if (result.rows[0] === undefined) throw new Error(`${name}.test is no domain`);
    return result.rows[0];
  }

  /** What a publisher's server saw. */
  requests(name: string): AccessRecord[] {
    const hosts = [`${name}.test`, `www.${name}.test`];
    return this.web.log.read().filter(({ host }) => hosts.includes(host));
  }
}
