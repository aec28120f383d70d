import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { item } from '../../test/frontier/fixtures.ts';
import { createTestDatabase, type TestDatabase } from '../../test/setup/database.ts';
import { createChannel } from '../channels/index.ts';
import { submit } from '../frontier/index.ts';
import { createSource, setSourceEnabled } from '../sources/index.ts';
import { identifyUrl, urlId } from '../url/index.ts';
import { find } from './find.ts';

let database: TestDatabase;
let channelId: number;
const page = 'https://herald.test/news/a-story';
const identified = identifyUrl(page);
if (identified.outcome !== 'ok') throw new Error('the page of this test has no identity');
const { bucket, domainKey, hash } = identified.identity;
const id = urlId(domainKey, hash);

beforeAll(async () => {
  database = await createTestDatabase();
  const { pool } = database;
  const { source } = await createSource(pool, { url: 'https://herald.test/', name: 'The Morning Herald' });
  await createSource(pool, { url: 'https://herald-tribune.test/', name: 'Morning Tribune' });
  await createSource(pool, { url: 'https://ausgabe.test/', name: 'Überall 100%' });
  const { channel } = await createChannel(pool, {
    sourceId: source.id,
    kind: 'feed',
    url: 'https://herald.test/feed.xml',
    intervalSeconds: 900,
    foundBy: 'link',
  });
  channelId = channel.id;
  await submit(pool, [
    item('herald.test', 'news/a-story', { sourceId: source.id }),
    item('herald-tribune.test', 'other'),
    ...Array.from({ length: 12 }, (_, n) => item(`many${n}.test`, 'x')),
  ]);
  await pool.query(
    `INSERT INTO documents (bucket, domain_key, url_hash, version, word_count, confidence, first_seen_at, last_seen_at,
       crawled_at, content_hash, page_type, url, title, text)
     VALUES ($1, $2, $3, 2, 1, 1, now(), now(), '2031-05-01T00:00:00Z', $3, 'article', $4, 'A story', 'words')`,
    [bucket, domainKey.toString(), hash, page],
  );
  await setSourceEnabled(pool, 'morning_tribune', false, { actor: 'test', reason: 'a test' });
});
afterAll(() => database.drop());

const told = async (text: string): Promise<string[]> =>
  (await find(database.pool, text)).map(({ kind, label, target }) => `${kind} ${target.id ?? label}`);
const search = (text: string): string => `search Search documents for “${text}”`;

test.each<[string, string[]]>([
  [page, [`document ${id}`, `url ${id}`, 'domain herald.test']],
  ['herald.test/news/a-story', [`document ${id}`, `url ${id}`, 'domain herald.test']],
  [`  ${page}#part  `, [`document ${id}`, `url ${id}`, 'domain herald.test']],
  [id, [`document ${id}`, `url ${id}`]],
  [id.toUpperCase(), [`document ${id}`, `url ${id}`]],
  ['https://herald.test/', ['source the_morning_herald', 'domain herald.test']],
  ['https://www.herald.test/unknown', ['domain herald.test']],
  ['https://nobody.test/x', []],
  ['herald.test', ['domain herald.test']],
  ['HERALD', ['domain herald-tribune.test', 'domain herald.test']],
  ['many', ['domain many0.test', 'domain many1.test', 'domain many10.test', 'domain many11.test']],
  ['the_morning_herald', ['source the_morning_herald']],
  ['The morn', ['source the_morning_herald']],
  ['morning', ['source morning_tribune']],
  ['überall 100%', ['source berall_100']],
  ['100%', []],
  ['%', []],
  ['_', []],
  ['2147483648', []],
  ['999999', []],
])('%s', async (text, expected) => {
  const found = await told(text);
  expect(found).toEqual([...expected, search(text.trim())]);
});

test('a channel is found by its number and its address', async () => {
  expect(await told(String(channelId))).toEqual([`channel ${channelId}`, search(String(channelId))]);
  expect(await told(`#${channelId}`)).toContain(`channel ${channelId}`);
  const byAddress = await told('https://herald.test/feed.xml');
  expect(byAddress.slice(0, 2)).toEqual([`channel ${channelId}`, 'domain herald.test']);
});

test('what is found says how it stands', async () => {
  const details = (await find(database.pool, page)).map((one) => one.detail);
  expect(details).toEqual([
    'version 2, 2031-05-01',
    'article, pending',
    'domain, pending',
    'in titles and texts',
  ]);
  const [source] = await find(database.pool, 'morning tribune');
  expect(source).toMatchObject({
    label: 'Morning Tribune',
    detail: 'https://herald-tribune.test/, disabled',
  });
});

test('words lead to a search, nothing to nothing', async () => {
  const [only] = await find(database.pool, 'floods in spring');
  expect(only).toEqual({
    kind: 'search',
    label: 'Search documents for “floods in spring”',
    detail: 'in titles and texts',
    target: { screen: 'documents', id: null, query: 'floods in spring' },
  });
  expect(await find(database.pool, ' \t ')).toEqual([]);
});

test('whatever is pasted, ten are found at most and nothing breaks', async () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 300 }),
    fc.webUrl({ withFragments: true, withQueryParameters: true }),
    fc.constantFrom(
      'https://',
      '//',
      'http:///x',
      '\\',
      "'; DROP TABLE sources",
      '[::1]/x',
      'a'.repeat(2048),
    ),
  );
  await fc.assert(
    fc.asyncProperty(hostile, async (text) => {
      // The API refuses both before anybody is asked.
      const storable = text.replaceAll('\0', '').toWellFormed();
      expect((await find(database.pool, storable)).length).toBeLessThanOrEqual(10);
    }),
    { numRuns: 150 },
  );
});
