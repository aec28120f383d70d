import { afterAll, beforeAll, expect, test } from 'vitest';
import { createChannel, startDiscovery } from '../../src/channels/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { Lab, plain } from '../fetch/lab.ts';
import type { FaultSpec, PublisherChange } from '../web/index.ts';
import { channelsOf, feedTrouble, pollAgain, searchAll } from './channel-lab.ts';

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
const away = (to: string): FaultSpec => ({
  name: 'redirect-away',
  on: ['feed'],
  options: { to, status: 302 },
  untilRequest: 1,
});
/** Two feeds that list not quite the same, and are two channels for it. */
function twoFeeds(name: string, faults: readonly FaultSpec[]): PublisherChange {
  const publisher = feedTrouble(name, faults, ['/second']);
  return { ...publisher, feeds: publisher.feeds!.map((feed, nth) => ({ ...feed, items: 6 - 2 * nth })) };
}
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
      // No word of its feed in the page: it stands in a header, beside what is no feed and the feed of comments.
      plain(
        'headed',
        [
          {
            name: 'fixed',
            on: ['listing'],
            options: {
              status: 200,
              text: '<!doctype html><title>Headed</title><p>Welcome to our new site.</p>',
              link: [
                '</wp-json/wp/v2/pages/2>; rel="alternate"; title="JSON"; type="application/json"',
                '</style.css>; rel=preload; as=style',
                '</comments/feed>; rel="alternate"; type="application/rss+xml"',
                '</news/all>; rel="alternate"; type="application/rss+xml"; title="All news"',
              ].join(', '),
            },
          },
          says(
            '/news/all',
            '<rss version="2.0"><channel><title>All</title><item><link>http://headed.test/2024/06/05/named-by-a-header</link></item></channel></rss>',
          ),
        ],
        bare,
      ),
      // Lists of feeds name nothing but the feed, and years later it is gone.
      plain('renamed', [missing('/old.xml', 410)]),
      plain('rebuilt', [
        says('/old.xml', '<!doctype html><title>Our new site</title><p>Welcome.</p>', 'text/html'),
      ]),
      // For one request whoever asks for the feed is led away: to log in, and to a notice.
      plain('asked', [away('http://portal.test/login')]),
      plain('told', [away('http://portal.test/notice')]),
      twoFeeds('twice', [{ ...away('http://portal.test/closed'), untilRequest: 2 }]),
      plain('portal', [
        says(
          '/login',
          '<!doctype html><title>Log in</title><form><input type=password name=p></form>',
          'text/html',
        ),
        says('/notice', '<!doctype html><title>Back soon</title><p>We are working on it.</p>', 'text/html'),
      ]),
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

test('a feed that only a header names is found', async () => {
  expect(await found('http://headed.test/')).toEqual(['http://headed.test/news/all']);
  expect(lab.requests('headed').map(({ path }) => path)).not.toContain('/comments/feed');
});

test('a feed that an address leads to for now is followed by that address', async () => {
  expect(await found('http://daily.test/latest')).toEqual(['http://daily.test/latest']);
  expect(await found('http://settled.test/latest')).toEqual(['http://settled.test/feed']);
  expect(await found('http://slashed.test/feed/')).toEqual(['http://slashed.test/feed']);
});

test('a channel that was led to a login or a notice goes back when its address works again', async () => {
  for (const name of ['asked', 'told']) await lab.follow(name, 'feed');
  await lab.idle();
  // The login says 403 and the notice is no feed.
  for (const name of ['asked', 'told'])
    expect((await channelsOf(lab, name))[0]).toMatchObject({ left: [`http://${name}.test/feed`], errors: 1 });
  await searchAll(lab);
  await lab.idle();
  for (const name of ['asked', 'told']) {
    const channels = await channelsOf(lab, name);
    expect(channels).toMatchObject([{ url: `http://${name}.test/feed`, errors: 0, kind: null }]);
    expect(channels[0]!.left).toHaveLength(1);
    expect(await lab.row(lab.article(name))).toMatchObject({ status: 'fetched', documents: 1 });
  }
  expect(await lab.row('http://portal.test/login', 'feed')).toMatchObject({ status: 'dead', code: 'moved' });
});

test('channels that became one on the way are as many again', async () => {
  await lab.follow('twice', 'feed');
  await lab.follow('twice', 'feed', 'http://twice.test/second');
  await lab.idle();
  expect((await channelsOf(lab, 'twice')).map(({ url }) => url)).toEqual(['http://portal.test/closed']);
  await searchAll(lab);
  await lab.idle();
  const urls = (await channelsOf(lab, 'twice')).map(({ url, errors }) => `${url} ${errors}`);
  expect(urls.sort()).toEqual(['http://twice.test/feed 0', 'http://twice.test/second 0']);
});

test('of a site known by a lost feed alone the front page is looked at', async () => {
  expect(await found('http://renamed.test/old.xml')).toEqual(['http://renamed.test/feed']);
  const { source } = await createSource(lab.database.pool, {
    url: 'http://rebuilt.test/old.xml',
    mode: 'feed',
  });
  const old = { kind: 'feed', url: source.url, intervalSeconds: 900, foundBy: 'manual' } as const;
  await createChannel(lab.database.pool, { sourceId: source.id, ...old });
  await lab.idle();
  await searchAll(lab);
  const channels = await lab.database.pool.query(
    'SELECT url, replaces_id IS NOT NULL AS stands FROM channels WHERE source_id = $1 ORDER BY id',
    [source.id],
  );
  expect(channels.rows).toEqual([
    { url: 'http://rebuilt.test/old.xml', stands: false },
    { url: 'http://rebuilt.test/feed', stands: true },
  ]);
});
