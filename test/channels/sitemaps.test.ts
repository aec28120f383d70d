import { afterAll, beforeAll, expect, test } from 'vitest';
import { findSlotProblems } from '../../src/frontier/index.ts';
import { checkCrawl, checkEnd } from '../fetch/end.ts';
import { Lab, plain } from '../fetch/lab.ts';
import type { Outrider } from '../process/outrider.ts';
import type { FaultSpec, PublisherChange } from '../web/index.ts';
import { pollAgain } from './channel-lab.ts';

const delayMs = 50;
const now = Date.now();
const day = (ago: number): string => new Date(now - ago * 86_400_000).toISOString();
const sitemap = (
  name: string,
  kind: 'index' | 'gzip' | 'urlset',
  path: string,
  faults: readonly FaultSpec[] = [],
  lastmod = true,
): PublisherChange =>
  plain(name, faults, { ratePerDay: 3, sitemaps: [{ kind, path, inRobots: true, lastmod }] });
const says = (text: string, pathPrefix: string): FaultSpec => ({
  name: 'fixed',
  on: ['sitemap', 'other'],
  pathPrefix,
  options: { status: 200, type: 'application/xml', text },
});
const file = (url: string, lastmod: string): string =>
  `<sitemap><loc>${url}</loc><lastmod>${lastmod}</lastmod></sitemap>`;

// Fifty megabytes are a sitemap's right: this one is twice what a page may have, and two of its entries are news.
const huge = `<urlset>${Array.from({ length: 60_000 }, (_, n) => {
  const fresh = n === 7 || n === 59_990;
  return `<url><loc>http://huge.test/2020/01/02/a-story-of-long-ago-with-many-words-in-its-address-and-more-${n}</loc><lastmod>${fresh ? day(0.1) : '2020-01-02T03:04:05Z'}</lastmod><changefreq>never</changefreq><priority>0.1</priority></url>`;
}).join('\n')}</urlset>`;
const maze = (depth: number): FaultSpec =>
  says(
    `<sitemapindex>${file(`http://maze.test/maze-${depth + 1}.xml`, day(0.1))}</sitemapindex>`,
    depth === 0 ? '/sitemap.xml' : `/maze-${depth}.xml`,
  );

let lab: Lab;
let fetcher: Outrider;

beforeAll(async () => {
  lab = await Lab.open({
    publishers: [
      sitemap('indexed', 'index', '/sitemap_index.xml'),
      sitemap('hiccup', 'index', '/sitemap_index.xml', [
        {
          name: 'status',
          on: ['sitemap'],
          pathPrefix: '/sitemap-',
          options: { status: 503 },
          untilRequest: 1,
        },
      ]),
      sitemap('looped', 'urlset', '/sitemap.xml', [{ name: 'sitemap-loop' }]),
      sitemap('maze', 'urlset', '/sitemap.xml', [0, 1, 2, 3, 4].map(maze)),
      sitemap('packed', 'gzip', '/sitemap.xml.gz'),
      sitemap('undated', 'urlset', '/sitemap.xml', [], false),
      sitemap('huge', 'urlset', '/sitemap.xml', [says(huge, '/sitemap.xml')]),
    ],
    env: { OUTRIDER_POLLING_SITEMAP_MAX_AGE_HOURS: '720' },
    startMs: now,
  });
  for (const { host, sitemaps } of lab.web.publishers)
    await lab.follow(host.replace(/\.test$/, ''), 'sitemap', `http://${host}${sitemaps[0]!.path}`);
  fetcher = lab.start();
  await lab.idle();
});
afterAll(() => lab?.close());

type File = { url: string; depth: number; polls: number; parent: string | null };

async function files(name: string): Promise<File[]> {
  const result = await lab.database.pool.query<File>(
    `SELECT c.url, c.depth, coalesce(s.polls, 0)::integer AS polls, p.url AS parent FROM channels c
       LEFT JOIN channels p ON p.id = c.parent_id LEFT JOIN channel_state s ON s.bucket = c.bucket AND s.channel_id = c.id
      WHERE c.url LIKE $1 ORDER BY c.depth, c.url`,
    [`http://${name}.test/%`],
  );
  return result.rows;
}

test('files of an index are rows of their own, with validators of their own', async () => {
  const [index, ...children] = await files('indexed');
  expect(index).toMatchObject({ url: 'http://indexed.test/sitemap_index.xml', depth: 0, polls: 1 });
  expect(children.length).toBeGreaterThan(0);
  for (const child of children) {
    expect(child).toMatchObject({ depth: 1, polls: 1, parent: index!.url });
    expect(await lab.row(child.url, 'sitemap')).toMatchObject({ status: 'pending', http: 200 });
  }
  for (const { url } of lab.web.groundTruth('indexed.test')[0]!.articles)
    expect((await lab.row(url))?.status).toBe('fetched');
});

test('a file that its index calls changed is read before its time, others are left alone', async () => {
  lab.web.clock.advance(600_000);
  const [fresh] = lab.web.publish('indexed.test', 1);
  const polled = async () => (await files('indexed')).map(({ url, polls }) => [url, polls]);
  const before = await polled();
  await lab.database.pool.query(
    `UPDATE url_frontier SET due_at = now() WHERE url = 'http://indexed.test/sitemap_index.xml' AND kind = 'channel'`,
  );
  await lab.database.pool.query('UPDATE domain_slots SET wake_at = now()');
  await lab.idle();
  expect((await lab.row(fresh!))?.status).toBe('fetched');
  const more = (await polled()).filter(([url, polls]) => before.find((one) => one[0] === url)?.[1] !== polls);
  expect(more.length).toBe(2);
});

test('a file that fails is tried again by itself: nothing of it is lost', async () => {
  await pollAgain(lab, ['hiccup']);
  for (const { url } of lab.web.groundTruth('hiccup.test')[0]!.articles)
    expect((await lab.row(url))?.status).toBe('fetched');
});

test('loops and mazes end', async () => {
  await pollAgain(lab, ['looped', 'maze']);
  expect((await files('looped')).map(({ url }) => url)).toEqual([
    'http://looped.test/sitemap.xml',
    'http://looped.test/sitemap-back.xml',
  ]);
  expect((await files('maze')).map(({ depth }) => depth)).toEqual([0, 1, 2]);
  expect(lab.requests('maze').some(({ path }) => path === '/maze-3.xml')).toBe(false);
});

test('a packed file is unpacked on the way', async () => {
  // The clock went on: by the hour of the day something new may have been published since the first poll.
  await pollAgain(lab, ['packed']);
  for (const { url } of lab.web.groundTruth('packed.test')[0]!.articles)
    expect((await lab.row(url))?.status).toBe('fetched');
});

test('without dates only what was not there at the last poll is new', async () => {
  const seen = async () =>
    (
      await lab.database.pool.query<{ seen: number }>(
        `SELECT s.items_seen::integer AS seen FROM channels c JOIN channel_state s ON s.bucket = c.bucket AND s.channel_id = c.id
          WHERE c.url = 'http://undated.test/sitemap.xml'`,
      )
    ).rows[0]!.seen;
  expect(await seen()).toBe(6);
  const [fresh] = lab.web.publish('undated.test', 1);
  await pollAgain(lab, ['undated']);
  expect(await seen()).toBe(lab.web.groundTruth('undated.test')[0]!.articles.length);
  expect((await lab.row(fresh!))?.status).toBe('fetched');
});

test('a sitemap larger than any page is read, and its two news are found', async () => {
  expect(huge.length).toBeGreaterThan(12_000_000);
  const rows = await lab.database.pool.query(
    `SELECT FROM url_frontier WHERE url LIKE 'http://huge.test/2020/%'`,
  );
  expect(rows.rowCount).toBe(2);
});

test('a file that its index names no more is polled no more', async () => {
  const children = (await files('indexed')).filter(({ depth }) => depth === 1);
  lab.web.setFault('indexed.test', says('<sitemapindex></sitemapindex>', '/sitemap_index.xml'));
  // Those that were being polled at that moment end at their next turn.
  await pollAgain(lab, ['indexed'], 2);
  expect((await files('indexed')).map(({ depth }) => depth)).toEqual([0]);
  for (const { url } of children)
    expect(await lab.row(url, 'sitemap')).toMatchObject({ status: 'dead', code: 'channel_removed' });
});

test('in the end slots agree with their rows and nobody was hurried', async () => {
  expect(await findSlotProblems(lab.database.pool)).toEqual([]);
  await checkCrawl(lab, delayMs);
  await checkEnd(lab, fetcher);
});
