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
  ['-politics', ['plain']],
  ['wahl -"im landtag"', ['english', 'plain']],
  ['wahl -landtag -rathaus', ['english']],
  ['rathaus or -wahl', ['plain']],
  ['wahl -', ['english', 'plain', 'politics']],
  ['wahl -"', ['english', 'plain', 'politics']],
])('%s', async (query, urls) => {
  expect(await found(query)).toEqual(urls);
});

test('in a language of its own', async () => {
  expect(await found('wahl -politics', 'de')).toEqual(['plain']);
});
