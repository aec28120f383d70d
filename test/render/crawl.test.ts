import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeUrl, loadUrlFacts } from '../../src/explain/index.ts';
import { findSlotProblems } from '../../src/frontier/index.ts';
import { type RenderMode, updateSource } from '../../src/sources/index.ts';
import { identifyUrl } from '../../src/url/index.ts';
import { waitUntil } from '../e2e/wait.ts';
import { Lab, plain } from '../fetch/lab.ts';
import type { Outrider } from '../process/outrider.ts';
import { browserPath, type Site, startSite } from './site.ts';

const delayMs = 300;
const shell = (script: string): string =>
  `<!doctype html><title>An app</title><div id="app"></div><noscript>You need to enable JavaScript to run this app.</noscript><script>${script}</script>`;

let lab: Lab;
let site: Site;
let dir: string;
let hosts: string;
const started: Outrider[] = [];

/** A fetcher with a browser, or without one. */
function fetcher(hasBrowser: boolean, env: Record<string, string> = {}): Outrider {
  const one = lab.start({
    OUTRIDER_FETCH_HOSTS_FILE: hosts,
    OUTRIDER_FETCH_ALLOW_NETWORKS: [
      ...[1, 2, 3, 4, 5].map((part) => `127.${part}.0.0/16:${lab.web.port}`),
      `127.6.0.1/32:${site.port}`,
    ].join(','),
    OUTRIDER_FETCH_DEFAULT_DELAY_MS: String(delayMs),
    OUTRIDER_RENDER_TIMEOUT_MS: '5000',
    ...(hasBrowser
      ? { OUTRIDER_RENDER_ENABLED: 'on', OUTRIDER_RENDER_BROWSER_PATH: browserPath() }
      : { OUTRIDER_RENDER_ENABLED: 'off' }),
    ...env,
  });
  started.push(one);
  return one;
}

async function stopAll(): Promise<void> {
  for (const one of started.splice(0)) await one.stop('SIGTERM');
}

/** Follows a publisher's feed as a source with this setting. */
async function follow(name: string, mode: RenderMode): Promise<void> {
  await lab.follow(name, 'feed');
  const { rows } = await lab.database.pool.query<{ slug: string }>(
    'SELECT slug FROM sources WHERE url LIKE $1',
    [`http://${name}.test/%`],
  );
  await updateSource(lab.database.pool, rows[0]!.slug, { render: mode }, 'test');
}

const rendererIsThere = (): Promise<void> =>
  waitUntil('a fetcher has a browser', async () => {
    const { rows } = await lab.database.pool.query('SELECT FROM workers WHERE renders');
    return rows.length === 1 || `${rows.length} have one; ${started.map(({ stderr }) => stderr).join('')}`;
  });

const statuses = (name: string) => lab.statuses(name);
const codes = async (name: string): Promise<(string | null)[]> => {
  const { rows } = await lab.database.pool.query<{ code: string | null }>(
    `SELECT DISTINCT f.error_code AS code FROM url_frontier f JOIN domains d USING (bucket, domain_key)
      WHERE d.name = $1 AND f.kind <> 'channel'`,
    [`${name}.test`],
  );
  return rows.map(({ code }) => code);
};
const articles = (name: string) =>
  lab.requests(name).filter(({ path }) => path !== '/robots.txt' && path !== '/feed');

async function explained(url: string): Promise<string> {
  const identified = identifyUrl(url);
  if (identified.outcome === 'rejected') throw new Error(identified.reason);
  const facts = await loadUrlFacts(lab.database.pool, identified.identity, {
    defaultDelayMs: delayMs,
    productToken: 'Outrider',
  });
  return describeUrl(facts).sentences.join(' ');
}

/** No two requests for pages, feeds or robots.txt of a host closer together than the gap. */
function gaps(name: string): number[] {
  const seen = lab.requests(name).toSorted((a, b) => a.startedAtMs - b.startedAtMs);
  return seen.slice(1).map((one, n) => one.startedAtMs - Math.max(0, seen[n]!.headersSentAtMs));
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'outrider-render-'));
  site = await startSite(
    {
      '/robots.txt': (_request, response) => void response.writeHead(404).end(),
      '/empty': (_request, response) =>
        void response.writeHead(200, { 'content-type': 'text/html' }).end(shell('/* nothing comes */')),
      '/away': (_request, response) =>
        void response
          .writeHead(200, { 'content-type': 'text/html' })
          .end(shell(`location.href = 'http://elsewhere.test/x'`)),
      '/crash': (_request, response) =>
        void response.writeHead(200, { 'content-type': 'text/html' }).end(shell('for (;;) {}')),
    },
    '127.6.0.1',
  );
  lab = await Lab.open({
    publishers: [
      plain('shell', [{ name: 'js-only' }]),
      plain('never', [{ name: 'js-only' }]),
      plain('always'),
      plain('missing', [{ name: 'status', on: ['article'], options: { status: 404 } }]),
      plain('polite', [{ name: 'js-only', share: 0.5 }]),
    ],
  });
  hosts = join(dir, 'hosts');
  writeFileSync(
    hosts,
    [
      ...lab.web.hosts.map(({ address, names }) => `${address}:${lab.web.port} ${names.join(' ')}`),
      `127.6.0.1:${site.port} app.test`,
    ].join('\n'),
  );
});
afterAll(async () => {
  await stopAll();
  expect(await findSlotProblems(lab.database.pool)).toEqual([]);
  await lab.close();
  await site.close();
  rmSync(dir, { recursive: true, force: true });
});

describe('without a browser', () => {
  beforeAll(async () => {
    await follow('shell', 'auto');
    await follow('never', 'never');
    await follow('always', 'always');
    await follow('missing', 'always');
    fetcher(false);
    await waitUntil('everything waits or ended', async () => {
      const all = await Promise.all(['shell', 'never', 'always', 'missing'].map(statuses));
      const isDone = all.every((one) => (one.pending ?? 0) === 0 && Object.keys(one).length > 0);
      return isDone || JSON.stringify(all);
    });
    await lab.idle();
  });

  test('pages that need one wait and say so; pages of sources that are never rendered are given up', async () => {
    expect(Object.keys(await statuses('shell'))).toEqual(['needs_render']);
    expect(await codes('shell')).toEqual(['needs_javascript']);
    expect(Object.keys(await statuses('never'))).toEqual(['dead']);
    expect(await codes('never')).toEqual(['needs_javascript']);
    const words = await explained(lab.article('shell'));
    expect(words).toMatch(/waits for a rendering fetcher, and no fetcher has a browser/);
    expect(words).toMatch(/render\.browser_path/);
    expect(await explained(lab.article('never'))).toMatch(/are never rendered/);
  });

  test('pages of a source that is always rendered are not requested without one', async () => {
    expect(Object.keys(await statuses('always'))).toEqual(['needs_render']);
    expect(await codes('always')).toEqual(['render_always']);
    expect(articles('always')).toEqual([]);
    expect(articles('missing')).toEqual([]);
  });
});

describe('with a browser', () => {
  beforeAll(async () => {
    await stopAll();
    lab.web.log.clear();
    fetcher(true);
    await rendererIsThere();
    for (const path of ['empty', 'away', 'crash'])
      await lab.ask(`http://app.test/${path}`, { kind: 'article' });
    await waitUntil(
      'nothing waits for a browser',
      async () => {
        const all = await Promise.all(['shell', 'always', 'missing', 'app'].map(statuses));
        const isDone = all.every((one) => (one.needs_render ?? 0) === 0 && (one.pending ?? 0) === 0);
        return isDone || JSON.stringify(all);
      },
      120_000,
    );
  });

  test('they become documents with the text that scripts put there', async () => {
    for (const name of ['shell', 'always']) {
      expect(Object.keys(await statuses(name))).toEqual(['fetched']);
      for (const { url, title } of lab.web.groundTruth(`${name}.test`)[0]!.articles.slice(0, 3)) {
        const { rows } = await lab.database.pool.query<{ title: string; words: number }>(
          'SELECT title, word_count AS words FROM documents WHERE url = $1',
          [url],
        );
        expect(rows).toEqual([{ title, words: expect.any(Number) }]);
        expect(rows[0]!.words).toBeGreaterThan(50);
      }
    }
  });

  test('each page is asked for once, with the same name as ever', () => {
    for (const name of ['shell', 'always']) {
      const paths = articles(name).map(({ path }) => path);
      expect(new Set(paths).size).toBe(paths.length);
    }
    const agents = new Set(lab.web.log.read().map(({ userAgent }) => userAgent));
    expect([...agents]).toEqual([expect.stringMatching(/^Outrider\//)]);
  });

  test('statuses are what they are without one', async () => {
    expect(Object.keys(await statuses('missing'))).toEqual(['dead']);
    expect(await codes('missing')).toEqual(['not_found']);
  });

  test('what stays empty ends for good, a script that leads away is a redirect, a hang is named', async () => {
    expect(await lab.row('http://app.test/empty')).toMatchObject({ status: 'dead', code: 'render_empty' });
    expect(await explained('http://app.test/empty')).toMatch(/a browser showed no text either/);
    expect(await lab.row('http://app.test/away')).toMatchObject({
      status: 'redirected',
      redirectedTo: 'http://elsewhere.test/x',
    });
    expect(await lab.row('http://app.test/crash')).toMatchObject({
      status: 'failed',
      code: 'render_timeout',
    });
  });
});

test('plain and rendering fetchers keep one gap between them', async () => {
  fetcher(false);
  lab.web.log.clear();
  await follow('polite', 'auto');
  await waitUntil('its articles are fetched', async () => {
    const all = await statuses('polite');
    return (all.fetched ?? 0) >= 6 || JSON.stringify(all);
  });
  const both = await lab.database.pool.query(
    `SELECT DISTINCT l.worker FROM crawl_log l JOIN domains d USING (bucket, domain_key) WHERE d.name = 'polite.test'`,
  );
  // Two plain leases may have been the rendering process's own; what counts is the gap.
  expect(both.rows.length).toBeGreaterThanOrEqual(1);
  expect(Math.min(...gaps('polite'))).toBeGreaterThanOrEqual(delayMs - 5);
});

test('a rendering fetcher that is killed leaves nothing stuck', async () => {
  await stopAll();
  const dying = fetcher(true);
  await rendererIsThere();
  await dying.stop('SIGKILL');
  started.splice(0);
  fetcher(false);
  await lab.ask('http://app.test/empty?again', { kind: 'article' });
  // Its heartbeat grows old; the test only makes that happen sooner.
  await lab.database.pool.query(
    `UPDATE workers SET heartbeat_at = now() - interval '1 minute' WHERE renders`,
  );
  await waitUntil('the page waits and the slot is its own again', async () => {
    const { rows } = await lab.database.pool.query<{ pool: string; status: string }>(
      `SELECT s.pool, f.status FROM url_frontier f JOIN domain_slots s USING (bucket, domain_key)
        WHERE f.url = 'http://app.test/empty?again'`,
    );
    return (rows[0]?.pool === 'default' && rows[0].status === 'needs_render') || JSON.stringify(rows);
  });
});
