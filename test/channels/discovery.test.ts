import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDiscovery } from '../../src/channels/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { Lab, plain } from '../fetch/lab.ts';
import type { FaultSpec, PublisherChange } from '../web/index.ts';
import { pollAgain, searchAll } from './channel-lab.ts';

// What publishers really write where the search for channels looks: sloppy, moved, or lying elsewhere.
const says = (pathPrefix: string, text: string, type = 'application/xml'): FaultSpec => ({
  name: 'fixed',
  on: ['sitemap', 'feed', 'listing', 'other', 'robots'],
  pathPrefix,
  options: { status: 200, type, text },
});
const leads = (pathPrefix: string, location: string, status: number): FaultSpec => ({
  name: 'fixed',
  on: ['sitemap', 'feed', 'listing', 'other'],
  pathPrefix,
  options: { status, type: '', text: '', location },
});
const missing = (pathPrefix: string, status: number, untilRequest?: number): FaultSpec => ({
  name: 'status',
  on: ['feed', 'other'],
  pathPrefix,
  options: { status },
  ...(untilRequest === undefined ? {} : { untilRequest }),
});
const bare: PublisherChange = { feeds: [], sitemaps: [] };
const urlset = (...urls: string[]): string =>
  `<urlset>${urls.map((url) => `<url><loc>${url}</loc><lastmod>2024-06-05</lastmod></url>`).join('')}</urlset>`;
const robots = (text: string): FaultSpec => says('/robots.txt', text, 'text/plain');

let lab: Lab;

beforeAll(async () => {
  lab = await Lab.open({
    publishers: [
      plain(
        'sloppy',
        [
          robots('User-agent: *\nSitemap: /maps/news.xml\n'),
          says('/maps/news.xml', urlset('http://sloppy.test/2024/06/05/found-by-a-sloppy-line')),
        ],
        bare,
      ),
      // Its sitemaps are made by a service under another name: an index with files.
      plain('hosted', [robots('User-agent: *\nSitemap: http://MAPS.test/hosted/index.xml\n')], bare),
      plain(
        'maps',
        [
          says(
            '/hosted/index.xml',
            '<sitemapindex><sitemap><loc>http://maps.test/hosted/part.xml</loc></sitemap></sitemapindex>',
          ),
          says(
            '/hosted/part.xml',
            urlset(
              'http://hosted.test/2024/06/05/listed-far-away',
              'http://sloppy.test/2024/06/05/of-others',
            ),
          ),
        ],
        bare,
      ),
      plain('daily', [leads('/latest', '/feed?day=5', 302)]),
      plain('settled', [leads('/latest', '/feed', 301)]),
      plain('slashed', [leads('/feed/', '/feed', 302)]),
      // Lists of feeds name nothing but the feed, and years later it is gone.
      plain('renamed', [missing('/old.xml', 410)]),
    ],
  });
  lab.start();
});
afterAll(() => lab?.close());

/** Looks for the channels of an address as `outrider add` does, and lists them. */
async function found(url: string): Promise<string[]> {
  const { source } = await createSource(lab.database.pool, { url, mode: 'feed' });
  await startDiscovery(lab.database.pool, source.id);
  await searchAll(lab);
  const result = await lab.database.pool.query<{ url: string }>(
    'SELECT url FROM channels WHERE source_id = $1 AND parent_id IS NULL ORDER BY url',
    [source.id],
  );
  return result.rows.map((row) => row.url);
}

test('a sitemap that robots.txt names by its path alone is found', async () => {
  expect(await found('http://sloppy.test/')).toEqual(['http://sloppy.test/maps/news.xml']);
  await lab.idle();
  expect(await lab.row('http://sloppy.test/2024/06/05/found-by-a-sloppy-line')).toBeDefined();
});

test('the files of an index elsewhere may list the site whose robots.txt names the index, and no other', async () => {
  expect(await found('http://hosted.test/')).toEqual(['http://maps.test/hosted/index.xml']);
  await lab.idle();
  await pollAgain(lab, ['maps']);
  expect(await lab.row('http://hosted.test/2024/06/05/listed-far-away')).toBeDefined();
  expect(await lab.row('http://sloppy.test/2024/06/05/of-others')).toBeUndefined();
});

test('a feed that an address leads to for now is followed by that address', async () => {
  expect(await found('http://daily.test/latest')).toEqual(['http://daily.test/latest']);
  expect(await found('http://settled.test/latest')).toEqual(['http://settled.test/feed']);
  expect(await found('http://slashed.test/feed/')).toEqual(['http://slashed.test/feed']);
});

test('of a site known by a lost feed alone the front page is looked at', async () => {
  expect(await found('http://renamed.test/old.xml')).toEqual(['http://renamed.test/feed']);
});
