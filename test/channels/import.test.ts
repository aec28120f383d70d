import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createChannel,
  exportSources,
  findNamedChannel,
  type ImportOptions,
  importSources,
  lockOpenDiscoveries,
  moveChannel,
  saveDiscovery,
} from '../../src/channels/index.ts';
import { findSlotProblems } from '../../src/frontier/index.ts';
import {
  createListWriter,
  type ListedSource,
  type ListFormat,
  readList,
} from '../../src/source-lists/index.ts';
import { createSource, saveRespectRobots, updateSource } from '../../src/sources/index.ts';
import { identifyUrl } from '../../src/url/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const usual: ImportOptions = { actor: 'test', sitemapIntervalSeconds: 21_600 };
const importText = (text: string, options: Partial<ImportOptions> = {}, database = test.db) =>
  importSources(database, readList([Buffer.from(text)]), { ...usual, ...options });
const countOf = async (table: string, where = 'true'): Promise<number> =>
  (await test.pool.query(`SELECT count(*)::integer AS n FROM ${table} WHERE ${where}`)).rows[0]!.n;

async function exported(database = test.db): Promise<ListedSource[]> {
  const all: ListedSource[] = [];
  for await (const one of exportSources(database.pool)) all.push(one);
  return all;
}

it('addresses become sources that are searched, feeds become channels that are polled', async () => {
  const report = await importText(
    `url,name,feed_url
one.test,One,
two.test,,https://two.test/feed.xml
two.test,,https://two.test/more.xml
,Three,https://feeds.test/three
nonsense,,
`,
  );
  expect(report).toEqual({
    lines: 6,
    added: 3,
    known: 0,
    updated: 0,
    channelsAdded: 3,
    channelsKnown: 0,
    searches: 1,
    deep: 0,
    bad: 1,
    badLines: [{ line: 6, reason: '"nonsense" is not a web address', text: 'nonsense,,' }],
  });
  expect(await countOf('url_frontier', `kind = 'channel' AND ready AND level = 11`)).toBe(3);
  expect((await exported()).map((one) => [one.name, one.url, one.channels.length])).toEqual([
    ['One', 'https://one.test/', 0],
    ['two.test', 'https://two.test/', 2],
    ['Three', 'https://feeds.test/three', 1],
  ]);
  expect(await findSlotProblems(test.pool)).toEqual([]);
});

it('a second run adds nothing, and mends what a crash left half done', async () => {
  const list = '[{"url":"half.test","feed_url":"half.test/feed"},"bare.test"]';
  await importText(list);
  // As if the process had died between the commit of the sources and what follows it.
  await test.pool.query(`DELETE FROM url_frontier WHERE url = 'https://half.test/feed'`);
  await test.pool.query(
    `DELETE FROM discoveries WHERE source_id = (SELECT id FROM sources WHERE url = 'https://bare.test/')`,
  );
  const again = await importText(list);
  expect(again).toMatchObject({ added: 0, known: 2, channelsAdded: 0, channelsKnown: 1, searches: 1 });
  expect(await countOf('url_frontier', `url = 'https://half.test/feed'`)).toBe(1);
  const third = await importText(list);
  expect(third).toMatchObject({ added: 0, known: 2, searches: 0 });
});

it('an address that a channel has left leads to that channel', async () => {
  await importText('url,feed_url\nleft.test,https://left.test/old.xml\n');
  const find = async () =>
    (
      await test.pool.query(
        'SELECT id, url, url_hash AS hash, source_id AS "sourceId" FROM channels WHERE url LIKE $1',
        ['https://left.test/%'],
      )
    ).rows;
  const [channel] = await find();
  const target = identifyUrl('https://left.test/new.xml');
  if (target.outcome === 'rejected') throw new Error(target.reason);
  expect(await moveChannel(test.pool, channel, target.identity)).toBe('moved');
  expect(await importText('url,feed_url\nleft.test,https://left.test/old.xml\n')).toMatchObject({
    channelsAdded: 0,
    channelsKnown: 1,
  });
  expect((await find()).map((one) => one.url)).toEqual(['https://left.test/new.xml']);
});

it('a feed that is followed already makes no second source', async () => {
  const { source } = await createSource(test.pool, { url: 'https://owner.test/' });
  const { channel } = await createChannel(test.pool, {
    sourceId: source.id,
    kind: 'feed',
    url: 'https://owner.test/feed',
    intervalSeconds: 900,
    foundBy: 'link',
  });
  const before = await countOf('sources');
  const opml =
    '<opml><body><outline type="rss" text="Theirs" xmlUrl="https://owner.test/feed"/></body></opml>';
  for (const text of [opml, 'https://owner.test/feed\n', 'url,feed_url\n,https://owner.test/feed\n'])
    for (const dryRun of [true, false])
      expect(await importText(text, { dryRun })).toMatchObject({ added: 0, known: 1, searches: 0, bad: 0 });
  expect(await countOf('sources')).toBe(before);
  // Where it was before it moved, too.
  const target = identifyUrl('https://feeds.owner.test/new');
  if (target.outcome === 'rejected') throw new Error(target.reason);
  await moveChannel(test.pool, channel, target.identity);
  expect(await importText(opml)).toMatchObject({ added: 0, known: 1, channelsAdded: 0, channelsKnown: 1 });
  // One that an export names with its short name is a source, whatever else polls its address.
  const exported = '[{"url":"https://owner.test/feed","slug":"a_source_of_its_own"}]';
  expect(await importText(exported)).toMatchObject({ added: 1, known: 0 });
});

it('a feed is polled once, whether a list says http or https', async () => {
  const both = 'url,feed_url\nspelt.test,http://spelt.test/feed\nspelt.test,https://spelt.test/feed\n';
  for (const [dryRun, channelsAdded] of [
    [true, 1],
    [false, 1],
    [true, 0],
    [false, 0],
  ] as const)
    expect(await importText(both, { dryRun })).toMatchObject({
      channelsAdded,
      channelsKnown: 2 - channelsAdded,
    });
  const feedsAlone = ',https://alone.test/feed\n,http://alone.test/feed\n,https://spelt.test/feed\n';
  expect(await importText(`url,feed_url\n${feedsAlone}`)).toMatchObject({
    added: 1,
    known: 1,
    channelsAdded: 1,
  });
  const [spelt] = (await exported()).filter((one) => one.name === 'spelt.test');
  expect(spelt!.channels.map((one) => one.url)).toEqual(['http://spelt.test/feed']);
  const { source } = await createSource(test.pool, { url: 'https://second.test/' });
  const add = (url: string) =>
    createChannel(test.pool, {
      sourceId: source.id,
      kind: 'feed',
      url,
      intervalSeconds: 900,
      foundBy: 'link',
    });
  const { channel, created } = await add('https://spelt.test/feed');
  expect([channel.url, created]).toEqual(['http://spelt.test/feed', false]);
  expect((await findNamedChannel(test.pool, 'https://spelt.test/feed'))?.id).toBe(channel.id);
  // Another port is another server, and what fails may work in the other spelling.
  expect((await add('https://spelt.test:8443/feed')).created).toBe(true);
  expect((await add('http://spelt.test:8443/feed')).created).toBe(true);
  await test.pool.query(
    'INSERT INTO channel_state (bucket, channel_id, errors_in_row) SELECT bucket, id, 1 FROM channels WHERE id = $1',
    [channel.id],
  );
  expect((await add('https://spelt.test/feed')).created).toBe(true);
  expect((await findNamedChannel(test.pool, 'http://spelt.test/feed'))?.id).toBe(channel.id);
});

it('the same names get numbers, whoever has them already', async () => {
  await createSource(test.pool, { url: 'https://blog-0.test/', name: 'Blog' });
  await createSource(test.pool, { url: 'https://blog-00.test/', name: 'Blog' });
  const lines = Array.from({ length: 700 }, (_, n) => `{"url":"https://blog-${n + 1}.test/","name":"Blog"}`);
  expect(await importText(lines.join('\n'))).toMatchObject({ added: 700, bad: 0 });
  expect(await countOf('sources', `slug ~ '^blog(_[0-9]+)?$'`)).toBe(702);
});

it('known sources keep what they have unless they are to be updated', async () => {
  await createSource(test.pool, { url: 'https://kept.test/', name: 'Mine' });
  const list =
    '{"url":"https://kept.test/","name":"Theirs","priority":9,"channels":[{"url":"https://kept.test/f"}]}';
  expect(await importText(list)).toMatchObject({ known: 1, updated: 0, channelsAdded: 1 });
  const find = async () => (await exported()).find((one) => one.url === 'https://kept.test/');
  expect(await find()).toMatchObject({ name: 'Mine', priority: 5 });
  expect(await importText(list, { update: true })).toMatchObject({ known: 1, updated: 1, channelsKnown: 1 });
  expect(await importText(list, { update: true })).toMatchObject({ known: 1, updated: 0 });
  expect(await find()).toMatchObject({ name: 'Theirs', priority: 9, slug: 'mine' });
});

it('disabled sources and channels are stored and not polled; ignoring robots.txt is written down', async () => {
  await importText(
    JSON.stringify([
      {
        url: 'https://off.test/',
        enabled: false,
        disable_reason: 'asked to',
        settings: { respectRobots: false },
        channels: [{ url: 'https://off.test/feed' }],
      },
      { url: 'https://half-off.test/', channels: [{ url: 'https://half-off.test/feed', enabled: false }] },
      { url: 'https://spider.test/', ingestion_mode: 'spider' },
    ]),
  );
  expect(await countOf('url_frontier', `url ~ 'off.test'`)).toBe(0);
  expect(await countOf('url_frontier', `url = 'https://spider.test/' AND kind = 'listing'`)).toBe(1);
  expect((await exported()).find((one) => one.url === 'https://off.test/')).toMatchObject({
    enabled: false,
    disableReason: 'asked to',
  });
  const audit = await test.pool.query(`SELECT actor, detail FROM audit WHERE subject = 'off_test'`);
  expect(audit.rows).toEqual([{ actor: 'test', detail: { on: false, reason: 'imported so' } }]);
});

it.each(['json', 'ndjson', 'csv', 'opml'] as const)(
  '%s brings every setting to an empty database',
  async (format) => {
    const { source } = await createSource(test.pool, {
      url: `https://full-${format}.test/`,
      name: `=Full, "${format}"`,
      mode: 'both',
      intervalMinutes: 7,
      priority: 8,
    });
    await updateSource(
      test.pool,
      source.slug,
      { rateLimitMs: 2500, proxies: ['http://user:secret@proxy.test:3128'] },
      'test',
    );
    await saveRespectRobots(test.pool, source.slug, false, { reason: 'own site', actor: 'test' });
    await test.pool.query(`UPDATE sources SET settings = settings || $2 WHERE id = $1`, [
      source.id,
      JSON.stringify({ include: ['/a,b/', '"q"'], selectors: { title: 'h1 > a' }, maxDepth: 3 }),
    ]);
    for (const [kind, path] of [
      ['feed', 'f'],
      ['sitemap', 's.xml'],
      ['page', 'p'],
    ] as const)
      await createChannel(test.pool, {
        sourceId: source.id,
        kind,
        url: `https://full-${format}.test/${path}?a=1&b=2`,
        intervalSeconds: 4321,
        foundBy: 'path',
        title: `=<${kind}>`,
      });
    const before = await exported();
    const other = await createTestDatabase();
    try {
      const writer = createListWriter(format as ListFormat);
      const text = writer.head() + before.map((one) => writer.source(one)).join('') + writer.foot();
      expect(await importText(text, {}, other.db)).toMatchObject({ added: before.length, bad: 0 });
      expect(await exported(other.db)).toEqual(before);
    } finally {
      await other.drop();
    }
  },
);

it('searches take turns, and only so many are under way at once', async () => {
  const lines = Array.from({ length: 2500 }, (_, n) => `turn-${n}.test`);
  await importText(lines.join('\n'));
  const turn = () =>
    test.db.withTransaction(async (tx) => {
      for (const one of await lockOpenDiscoveries(tx, 50)) {
        expect(one.overdue).toBe(false);
        if (one.state === 'pending') await saveDiscovery(tx, one.id, 'page', []);
      }
    });
  for (let n = 0; n < 30; n += 1) await turn();
  expect(await countOf('discoveries', `state = 'page'`)).toBe(1000);
  // A thousand under way, fifty at a time: twenty turns look at each of them.
  const mark = (await test.pool.query('SELECT clock_timestamp()::text AS at')).rows[0]!.at;
  for (let n = 0; n < 20; n += 1) await turn();
  expect(await countOf('discoveries', `state = 'page' AND looked_at < '${mark}'`)).toBe(0);
});
