import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { type Engine, startEngine } from '../../src/engine.ts';
import { createLog } from '../../src/telemetry/index.ts';
import { makeDue } from '../e2e/crawl-state.ts';
import { waitUntil } from '../e2e/wait.ts';
import { CliHost, type Ended } from '../process/outrider.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { feed, type PublisherChange, startWeb, type Web } from '../web/index.ts';

// What a newcomer types, command after command, while an engine crawls a simulated web.
const site = (name: string, more: PublisherChange): PublisherChange => ({
  domain: `${name}.test`,
  host: `${name}.test`,
  title: `The ${name}`,
  language: 'en',
  charset: 'utf-8',
  backlog: 8,
  feeds: [],
  sitemaps: [],
  archives: false,
  ...more,
});
const sitemap = { kind: 'urlset', path: '/sitemap.xml', inRobots: false, lastmod: true } as const;
const changes: PublisherChange[] = [
  site('plain', { feeds: [feed('rss', '/feed')] }),
  // Five feeds that differ in what they list, and three ways to write one of them.
  site('five', {
    feeds: [
      feed('rss', '/all.xml', { items: 8 }),
      feed('atom', '/two.xml', { items: 7 }),
      feed('json', '/three.json', { items: 6 }),
      feed('rdf', '/four.rdf', { items: 5 }),
      feed('rss', '/five.xml', { items: 4 }),
    ],
  }),
  site('thrice', {
    feeds: [feed('rss', '/rss'), feed('atom', '/atom', { tracking: true }), feed('json', '/json')],
  }),
  site('map', { sitemaps: [sitemap] }),
  site('none', {}),
  site('gone', { faults: [{ name: 'status', options: { status: 404 } }] }),
  site('closed', { feeds: [feed('rss', '/feed')], robots: { disallow: ['/'], allow: [], crawlDelayS: 0 } }),
  site('guarded', { faults: [{ name: 'challenge', on: ['listing', 'other'] }] }),
  site('bare', { feeds: [feed('atom', '/atom.xml')] }),
];

let dir: string;
let database: TestDatabase;
let web: Web;
let engine: Engine;
let env: Record<string, string>;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'outrider-add-'));
  database = await createTestDatabase();
  web = await startWeb({
    seed: 3,
    publishers: changes.length,
    changes,
    startMs: Date.parse('2024-06-05T12:00:00Z'),
    speed: 0,
  });
  await web.writeHostsFile(join(dir, 'hosts'));
  env = {
    DATABASE_URL: database.url,
    OUTRIDER_RENDER_ENABLED: 'off',
    OUTRIDER_FETCH_HOSTS_FILE: join(dir, 'hosts'),
    OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${web.port}`,
    OUTRIDER_FETCH_DEFAULT_DELAY_MS: '20',
    OUTRIDER_FETCH_NETWORK_GAP_MS: '0',
    LOG_LEVEL: 'error',
    LOG_FORMAT: 'json',
  };
});
afterAll(async () => {
  await host.close();
  await engine?.stop();
  await web.close();
  await database.drop();
  rmSync(dir, { recursive: true, force: true });
});

const host = new CliHost();
const run = (...args: string[]): Promise<Ended> => host.run(args, { home: dir, env });
const add = async (url: string): Promise<string> => {
  const { code, stdout, stderr } = await run('add', url);
  expect(code, stderr).toBe(0);
  return stdout;
};
const countSources = async (): Promise<number> =>
  (await database.pool.query('SELECT count(*)::integer AS n FROM sources')).rows[0]!.n;

test('before anything runs, it says when the feeds will be looked for', async () => {
  expect(await add('http://plain.test')).toBe(
    `Added plain.test (http://plain.test/).
  Nothing is crawling right now: its feeds are looked for as soon as "outrider up" runs.
`,
  );
  const { config } = loadConfig({ env, overrides: {} });
  engine = await startEngine({
    config,
    roles: ['fetch', 'schedule'],
    version: '0.0.0-test',
    log: createLog({ level: 'error', format: 'json' }),
  });
  await waitUntil(
    'it is found',
    async () => (await database.pool.query('SELECT FROM channels')).rowCount === 1,
  );
});

test('a site that is followed already is looked at again', async () => {
  expect(await add('http://plain.test/')).toBe(
    `plain.test is followed already; its channels were looked for again.
  feed  http://plain.test/feed  "The plain", 8 entries
  Polled every 15 min. "outrider docs list" shows what comes in.
`,
  );
});

test('a feed that is polled already makes no second source', async () => {
  const before = await countSources();
  expect(await add('http://plain.test/feed')).toBe(
    'http://plain.test/feed is followed already, by plain.test (plain_test).\n',
  );
  expect(await countSources()).toBe(before);
});

test('a page with five feeds brings five channels', async () => {
  const said = await add('http://five.test/');
  expect(said).toContain('Added five.test (http://five.test/).');
  for (const path of ['all.xml', 'two.xml', 'three.json', 'four.rdf', 'five.xml'])
    expect(said).toContain(`  feed  http://five.test/${path}  "The five"`);
  expect(said).toContain('Polled every 15 min.');
});

test('one feed in three formats is one channel', async () => {
  expect(await add('http://thrice.test/')).toBe(
    `Added thrice.test (http://thrice.test/).
  feed  http://thrice.test/rss  "The thrice", 8 entries
  2 more feeds list the same or would be too many; "outrider channels add thrice_test URL" takes any.
  Polled every 15 min. "outrider docs list" shows what comes in.
`,
  );
});

test('a sitemap is followed as such, and its site afterwards adds nothing', async () => {
  expect(await add('http://map.test/sitemap.xml')).toBe(
    `Added map.test (http://map.test/sitemap.xml).
  sitemap  http://map.test/sitemap.xml  8 entries
  Polled every 6 h. "outrider docs list" shows what comes in.
`,
  );
  const before = await countSources();
  expect(await add('http://map.test/')).toBe(
    `Nothing was added: everything http://map.test/ has is followed already.
  sitemap  http://map.test/sitemap.xml  is followed already, by map.test (map_test)
`,
  );
  expect(await countSources()).toBe(before);
});

test('a site with neither is followed by its links, and says so', async () => {
  expect(await add('http://none.test/')).toMatch(
    /^Added none\.test .*\n {2}No feed or sitemap found \(\d+ addresses tried\); its links are followed instead\.\n$/,
  );
  const mode = await database.pool.query(`SELECT ingestion_mode FROM sources WHERE slug = 'none_test'`);
  expect(mode.rows[0]!.ingestion_mode).toBe('spider');
  // A feed that somebody names for it, then: nobody would poll it.
  const poll = '"outrider sources set none_test --mode both" polls its channels, too.';
  expect((await run('channels', 'add', 'none_test', '/by-hand.xml')).stdout).toBe(
    `http://none.test/by-hand.xml is a channel now, and not polled: none.test is followed by its links only. ${poll}\n`,
  );
  const { rows } = await database.pool.query(
    `SELECT id FROM channels WHERE url = 'http://none.test/by-hand.xml'`,
  );
  const explained = (await run('explain', String(rows[0]!.id))).stdout.replace(/\s+/g, ' ');
  expect(explained).toContain('links only. Channel');
  expect(explained).toContain('Its source is followed by its links only, so it is not polled.');
  expect(explained).toContain('outrider sources set none_test --mode both');
  expect(await add('http://none.test/')).toContain(
    `None of it is polled: none.test is followed by its links only. ${poll}`,
  );
  await run('channels', 'remove', 'http://none.test/by-hand.xml');
});

test('an address that leads nowhere is named with the reason and the way out', async () => {
  expect(await add('http://gone.test/')).toBe(
    `Added gone.test (http://gone.test/).
  http://gone.test/ cannot be read: there is no such page (404). Is the address right?
  Not what you meant? "outrider sources delete gone_test" forgets it.
`,
  );
  expect(await add('http://closed.test/')).toContain(
    'http://closed.test/ cannot be read: its robots.txt does not want us there.\n',
  );
  expect(await add('http://guarded.test/')).toContain(
    'http://guarded.test/ cannot be read: it asks whether we are a person.\n',
  );
});

test('a name without a scheme is tried with both', async () => {
  expect(await add('bare.test')).toBe(
    `https://bare.test/ does not answer; trying http://bare.test/
Added bare.test (http://bare.test/).
  feed  http://bare.test/atom.xml  "The bare", 8 entries
  Polled every 15 min. "outrider docs list" shows what comes in.
`,
  );
  const sources = await database.pool.query(`SELECT url FROM sources WHERE slug LIKE 'bare%'`);
  expect(sources.rows).toEqual([{ url: 'http://bare.test/' }]);
});

test('a word is no address', async () => {
  const { code, stderr } = await run('add', 'nonsense');
  expect(code).toBe(2);
  expect(stderr).toBe(
    'error: "nonsense" is not an address that can be crawled\nGive a web address, as nonsense.com or https://nonsense/\n',
  );
});

test('a path is no address of a publisher, and one of its own site for a channel', async () => {
  const { code, stderr } = await run('add', '/feed.xml');
  expect([code, stderr.split('\n')[0]]).toEqual([
    2,
    'error: "/feed.xml" is not an address that can be crawled (no scheme)',
  ]);
  expect((await run('channels', 'add', 'map_test', '/news.xml')).stdout).toBe(
    'http://map.test/news.xml is polled as a feed from now on.\n',
  );
  await run('channels', 'remove', 'http://map.test/news.xml');
});

test('lists are filtered', async () => {
  const sources = (await run('sources', '--mode', 'feed', '--search', 'FIVE')).stdout;
  expect(sources).toMatch(
    /^SLUG +NAME +URL +MODE +CHANNELS +LAST ITEM +STATE +ROBOTS +ADDED\nfive_test .* 5 .*\n$/,
  );
  expect((await run('sources', '--search', 'nobody')).stdout).toBe('No source matches.\n');
  const channels = JSON.parse((await run('channels', '--source', 'five_test', '--json')).stdout) as {
    url: string;
  }[];
  expect(channels.map((one) => new URL(one.url).hostname)).toEqual(Array(5).fill('five.test'));
  expect((await run('channels', '--kind', 'sitemap')).stdout).toMatch(/http:\/\/map\.test\/sitemap\.xml/);
  expect((await run('channels', '--failing')).stdout).toBe('No channel matches.\n');
  expect((await run('channels', '--source', 'nobody')).stderr).toContain('there is no source "nobody"');
});

test('channels are added and changed by hand', async () => {
  expect(
    (await run('channels', 'add', 'thrice_test', 'http://thrice.test/json', '--every', '30')).stdout,
  ).toBe('http://thrice.test/json is polled as a feed from now on.\n');
  expect(
    (await run('channels', 'set', 'http://thrice.test/json', '--every', '45', '--title', 'JSON')).stdout,
  ).toBe('http://thrice.test/json is changed; every fetcher follows within seconds.\n');
  const changed = await database.pool.query(
    `SELECT interval_seconds, title FROM channels WHERE url = 'http://thrice.test/json'`,
  );
  expect(changed.rows).toEqual([{ interval_seconds: 2700, title: 'JSON' }]);
  await run('channels', 'disable', 'http://thrice.test/json');
  const rowOf = async () =>
    (
      await database.pool.query(
        `SELECT status, error_code FROM url_frontier WHERE url = 'http://thrice.test/json' AND kind = 'channel'`,
      )
    ).rows[0]!;
  await waitUntil('it is held', async () => {
    await makeDue(database.pool, 'polls');
    return (await rowOf()).error_code === 'polling_off';
  });
  await run('channels', 'enable', 'http://thrice.test/json');
  await waitUntil('it is polled again', async () => (await rowOf()).error_code === null);
  const unknown = await run('channels', 'set', '99999', '--every', '1');
  expect([unknown.code, unknown.stderr.split('\n')[0]]).toEqual([2, 'error: there is no channel "99999"']);
  expect((await run('channels', 'set', '1')).stderr).toContain('nothing to set');
});
