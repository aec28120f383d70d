import { afterAll, beforeAll, expect, test } from 'vitest';
import { indexDocuments, searchDocuments } from '../../src/documents/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { storeDocuments } from '../sinks/store.ts';

// A list of words that is longer than PostgreSQL takes would fail the index consumer again and again, and nothing that
// comes after it would be found, told or let go.
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const alphabets = { hi: 0x915, ru: 0x430, en: 0x61, zh: 0x4e00 } as const;
const sizes = { hi: 26, ru: 26, en: 26, zh: 20_000 } as const;

/** A text of words that are all different; the letters follow from their number. */
function textOf(
  language: keyof typeof alphabets,
  word: (letters: (count: number) => string) => string,
): string {
  let seed = 1;
  const letters = (count: number): string => {
    let out = '';
    for (let n = 0; n < count; n += 1) {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      out += String.fromCodePoint(alphabets[language] + ((seed >>> 16) % sizes[language]));
    }
    return out;
  };
  const words: string[] = ['beginning'];
  for (let chars = 0; chars < 210_000; chars += words.at(-1)!.length + 1) words.push(word(letters));
  return words.join(' ');
}

test.each([
  ['long words of three bytes a letter, with endings', 'hi', (letters) => `${letters(40)}ियों`],
  ['compounds of them', 'hi', (letters) => `${letters(4)}ियों-${letters(4)}ियों`],
  ['compounds of two bytes a letter', 'ru', (letters) => `${letters(6)}ами-${letters(6)}ами`],
  ['short compounds', 'en', (letters) => `${letters(4)}s-${letters(4)}s`],
  ['clauses without spaces', 'zh', (letters) => letters(400)],
  ['addresses', 'en', (letters) => `${letters(4)}.com/${letters(4)}s/${letters(3)}`],
] as const satisfies readonly [
  string,
  keyof typeof alphabets,
  (letters: (count: number) => string) => string,
][])('%s are indexed', async (what, language, word) => {
  const url = `https://${what.replaceAll(/\W+/g, '-')}.example/page`;
  await storeDocuments(database.pool, [{ url, text: textOf(language, word), language }]);
  expect(await database.db.withTransaction((tx) => indexDocuments(tx, 200))).toBe(1);
  const { hits } = await searchDocuments(database.pool, 'beginning', { language });
  expect(hits.map((hit) => hit.url)).toContain(url);
});

test('clauses without spaces before short compounds are indexed', async () => {
  const url = 'https://both.example/page';
  const text = `${textOf('zh', (letters) => letters(400)).slice(0, 12_000)} ${textOf('en', (letters) => `${letters(4)}s-${letters(4)}s`)}`;
  await storeDocuments(database.pool, [{ url, text, language: 'en' }]);
  expect(await database.db.withTransaction((tx) => indexDocuments(tx, 200))).toBe(1);
});
