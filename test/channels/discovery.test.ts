import { afterAll, beforeAll, expect, test } from 'vitest';
import { createChannel, startAgain, startDiscovery, startRediscovery } from '../../src/channels/index.ts';
import { discoverChannels } from '../../src/discover/index.ts';
import { createSource, deleteSource, findSourceByUrl, updateSource } from '../../src/sources/index.ts';
import { createLog } from '../../src/telemetry/index.ts';
import { waitUntil } from '../e2e/wait.ts';
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
      plain('patient'),
      plain('again'),
      plain('asleep', [{ name: 'status', on: ['listing'], options: { status: 503 } }]),
      // Its feeds are there when it is searched a second time.
      ...['late', 'meant'].map((name) =>
        plain(name, [
          { name: 'status', on: ['feed', 'sitemap', 'other'], options: { status: 404 }, untilRequest: 10 },
        ]),
      ),
      plain('wanted', [], bare),
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

/** One look at all open searches, as if their hour had passed. */
async function lookLater(): Promise<void> {
  const { pool, db } = lab.database;
  await pool.query(
    `UPDATE discoveries SET deadline_at = now() - interval '1 minute', looked_at = now() - interval '1 minute' WHERE finished_at IS NULL`,
  );
  const log = createLog({ level: 'silent', format: 'json' });
  await discoverChannels({ database: db, log, sitemapIntervalSeconds: 21_600 });
}
/** Nothing of a domain is asked, or it is asked again. */
const hold = (name: string, isHeld: boolean) =>
  lab.database.pool.query(
    `UPDATE domain_slots s SET next_at = now() + CASE WHEN $2 THEN interval '1 day' ELSE interval '0' END
       FROM domains d WHERE (d.bucket, d.domain_key) = (s.bucket, s.domain_key) AND d.name = $1`,
    [`${name}.test`, isHeld],
  );
/** Ends the searches of a domain that rests between its tries. */
async function searchOf(name: string): Promise<void> {
  for (let time = 0; time < 12; time += 1) {
    await hold(name, false);
    await lab.hurry([`${name}.test`]);
    await lab.idle();
    await lookLater();
    if (/found|nothing/.test((await stateOf(name)).state)) return;
  }
  throw new Error(`a search of ${name}.test does not end: ${JSON.stringify(await stateOf(name))}`);
}
const modeOf = async (name: string) =>
  (await findSourceByUrl(lab.database.pool, `http://${name}.test/`))?.ingestionMode;
const stateOf = async (name: string) =>
  (
    await lab.database.pool.query(
      `SELECT d.state, d.reason, d.candidates -> 0 ->> 'outcome' AS outcome
         FROM discoveries d JOIN sources s ON s.id = d.source_id WHERE s.url = $1 ORDER BY d.id DESC LIMIT 1`,
      [`http://${name}.test/`],
    )
  ).rows[0];

test('a search waits for what could not be asked yet, and is no verdict on the site', async () => {
  const { pool } = lab.database;
  await lab.ask('http://patient.test/', { kind: 'listing' });
  await lab.idle();
  const { source } = await createSource(pool, { url: 'http://patient.test/' });
  await hold('patient', true);
  await startDiscovery(pool, source.id);
  for (let time = 0; time < 3; time += 1) await lookLater();
  expect(await stateOf('patient')).toMatchObject({ state: 'page', outcome: null });
  // The page comes late; what it names still has all its time.
  await hold('patient', false);
  await lab.idle();
  await hold('patient', true);
  for (let time = 0; time < 3; time += 1) await lookLater();
  expect(await stateOf('patient')).toMatchObject({ state: 'candidates', outcome: 'page' });
  await searchOf('patient');
  expect((await channelsOf(lab, 'patient')).map(({ url }) => url)).toEqual(['http://patient.test/feed']);
  expect(await modeOf('patient')).toBe('feed');
});

test('a site that did not answer is looked at again by itself, less and less often', async () => {
  const { pool } = lab.database;
  const { source } = await createSource(pool, { url: 'http://asleep.test/' });
  await startDiscovery(pool, source.id);
  await searchOf('asleep');
  expect([await modeOf('asleep'), (await stateOf('asleep')).outcome]).toEqual(['feed', 'http_503']);
  const later = (hours: number) =>
    pool.query(
      `UPDATE discoveries SET finished_at = now() - make_interval(hours => $1) WHERE finished_at IS NOT NULL`,
      [hours],
    );
  expect(await startAgain(pool, 10)).toBe(0);
  await later(2);
  expect(await startAgain(pool, 10)).toBe(1);
  expect(await startAgain(pool, 10)).toBe(0);
  await searchOf('asleep');
  expect(await stateOf('asleep')).toMatchObject({ state: 'nothing', outcome: 'http_503' });
  await later(2);
  expect(await startAgain(pool, 10)).toBe(0);
  await later(5);
  expect(await startAgain(pool, 10)).toBe(1);
  // A third time its circuit would be open. It has a channel now, which is enough.
  await pool.query('DELETE FROM discoveries WHERE finished_at IS NULL');
  await lab.follow('asleep', 'feed');
  await later(1000);
  expect(await startAgain(pool, 10)).toBe(0);
});

test('a search for a failing channel that saw nothing of its site counts for an hour, any other for twenty', async () => {
  const { pool } = lab.database;
  const { source } = await createSource(pool, { url: 'http://lost.test/' });
  const { channel } = await createChannel(pool, {
    sourceId: source.id,
    kind: 'feed',
    url: 'http://lost.test/feed',
    intervalSeconds: 900,
    foundBy: 'manual',
  });
  const startedAfter = async (outcome: string, hours: number): Promise<boolean> => {
    await pool.query('DELETE FROM discoveries WHERE source_id = $1', [source.id]);
    await pool.query(
      `INSERT INTO discoveries (source_id, channel_id, reason, state, candidates, created_at, finished_at)
       SELECT $1, $2, 'page', 'nothing', $3, at, at FROM (SELECT now() - make_interval(mins => $4 * 60 + 5) AS at) x`,
      [source.id, channel.id, JSON.stringify([{ url: source.url, by: 'page', probe: null, outcome }]), hours],
    );
    await startRediscovery(pool, channel, 'page');
    const open = await pool.query('SELECT FROM discoveries WHERE source_id = $1 AND finished_at IS NULL', [
      source.id,
    ]);
    return open.rowCount === 1;
  };
  expect(await startedAfter('connect', 0)).toBe(false);
  for (const outcome of ['connect', 'http_502', 'site_error', 'no answer in time'])
    expect(await startedAfter(outcome, 1)).toBe(true);
  for (const outcome of ['page', 'http_404']) expect(await startedAfter(outcome, 19)).toBe(false);
  expect(await startedAfter('page', 20)).toBe(true);
  await pool.query('DELETE FROM sources WHERE id = $1', [source.id]);
});

test('a source that fell back to links is polled once a feed turns up; one that was meant to be read by links is not', async () => {
  const { pool } = lab.database;
  for (const name of ['late', 'meant']) {
    expect(await found(`http://${name}.test/`)).toEqual([]);
    expect([await modeOf(name), (await stateOf(name)).reason]).toEqual(['spider', 'fell_back']);
  }
  await updateSource(pool, 'meant_test', { mode: 'spider' }, 'somebody');
  for (const name of ['late', 'meant']) {
    expect(await found(`http://${name}.test/`)).toEqual([`http://${name}.test/feed`]);
    await lab.idle();
  }
  expect([await modeOf('late'), await modeOf('meant')]).toEqual(['both', 'spider']);
  // A fetcher may know the source by its old mode for some seconds.
  await waitUntil('the feed is polled', async () => {
    await pollAgain(lab, ['late', 'meant']);
    return (await channelsOf(lab, 'late'))[0]!.polls > 0;
  });
  expect(await channelsOf(lab, 'late')).toMatchObject([{ errors: 0 }]);
  expect(await channelsOf(lab, 'meant')).toMatchObject([{ polls: 0 }]);
  // What somebody chose is kept where nothing is found, too.
  const both = await createSource(pool, { url: 'http://wanted.test/', mode: 'both' });
  await startDiscovery(pool, both.source.id);
  await searchAll(lab);
  expect([await modeOf('wanted'), (await stateOf('wanted')).state]).toEqual(['both', 'nothing']);
});

test('the front page of a source that is followed by links is read when it is added, also after it was deleted', async () => {
  const { pool } = lab.database;
  const readings = async () =>
    (await lab.logged('again')).filter(({ kind, url }) => kind === 'listing' && url === 'http://again.test/');
  for (const times of [1, 2]) {
    // Its feed is found, so that nobody but its mode asks for the page.
    const { source } = await createSource(pool, { url: 'http://again.test/', mode: 'both' });
    await startDiscovery(pool, source.id);
    await searchAll(lab);
    await lab.idle();
    expect(await channelsOf(lab, 'again')).toHaveLength(1);
    expect(await readings()).toHaveLength(times);
    await deleteSource(pool, source.slug, { actor: 'somebody' });
  }
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
