import { afterAll, beforeAll, expect, test } from 'vitest';
import { indexDocuments, searchDocuments } from '../../src/documents/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { storeDocuments } from '../sinks/store.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await storeDocuments(database.pool, [
    { url: 'https://a.example/politics', text: 'Wahl und politics heute im Landtag.', language: 'de' },
    { url: 'https://a.example/plain', text: 'Die Wahl war gestern im Rathaus.', language: 'de' },
    { url: 'https://a.example/english', text: 'The political Wahl, and other politics.', language: 'en' },
    {
      url: 'https://a.example/zh',
      text: '港特首梁振英就住宅违建事件道歉。他说iPhone发布了。',
      language: 'zh',
    },
    { url: 'https://a.example/ja', text: '東京都は港の灯台を守る人を募集している。', language: 'ja' },
    { url: 'https://a.example/th', text: 'ผู้ดูแลประภาคารของท่าเรือลงคะแนนเสียง', language: 'th' },
  ]);
  await database.db.withTransaction((tx) => indexDocuments(tx, 200));
});
afterAll(() => database.drop());

const found = async (query: string, language?: string): Promise<string[]> => {
  const { hits } = await searchDocuments(database.pool, query, language === undefined ? {} : { language });
  return hits.map(({ url }) => new URL(url).pathname.slice(1)).sort();
};

test.each([
  ['wahl', ['english', 'plain', 'politics']],
  // Its English stem is in no German document, and was no reason to find what has the word itself.
  ['wahl -politics', ['plain']],
  ['-politics', ['ja', 'plain', 'th', 'zh']],
  ['wahl -"im landtag"', ['english', 'plain']],
  ['wahl -landtag -rathaus', ['english']],
  ['rathaus or -wahl', ['ja', 'plain', 'th', 'zh']],
  ['wahl -', ['english', 'plain', 'politics']],
  ['wahl -"', ['english', 'plain', 'politics']],
])('%s', async (query, urls) => {
  expect(await found(query)).toEqual(urls);
});

test('in a language of its own', async () => {
  expect(await found('wahl -politics', 'de')).toEqual(['plain']);
});

test.each([
  ['梁振英', ['zh']],
  ['住宅', ['zh']],
  ['住宅违建事件', ['zh']],
  ['东京', []],
  ['東京都', ['ja']],
  ['"東京都" 灯台', ['ja']],
  // The pairs of it are there, not side by side.
  ['灯台 -東京都港', ['ja']],
  ['灯台 -東京', []],
  ['灯台 -東京都', []],
  ['梁振英 or 灯台', ['ja', 'zh']],
  ['ประภาคาร', ['th']],
  // Glued to what stands before it, as it is written.
  ['iphone 发布', ['zh']],
  ['wahl 東京', []],
])('words without spaces between them: %s', async (query, urls) => {
  expect(await found(query)).toEqual(urls);
});

test('words without spaces between them count for more in a title', async () => {
  await storeDocuments(database.pool, [
    { url: 'https://a.example/body', title: '別の話', text: '夜の巡視船は巡視船である。', language: 'ja' },
    { url: 'https://a.example/title', title: '新しい巡視船', text: '昨日の夜に着いた。', language: 'ja' },
  ]);
  await database.db.withTransaction((tx) => indexDocuments(tx, 200));
  const { hits } = await searchDocuments(database.pool, '巡視船');
  expect(hits.map(({ url }) => new URL(url).pathname)).toEqual(['/title', '/body']);
});

test('words without spaces between them are marked', async () => {
  const { hits } = await searchDocuments(database.pool, '梁振英');
  expect(hits[0]!.snippet).toBe('港特首«梁振英»就住宅违建事件道歉。他说iPhone发布了。');
  expect((await searchDocuments(database.pool, 'wahl gestern')).hits[0]!.snippet).toContain('«Wahl»');
});
