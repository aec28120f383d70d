import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadSelectorRates } from '../../src/documents/index.ts';
import { contentHash } from '../../src/extract/index.ts';
import { channelHash, domainIdentity } from '../../src/url/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const start = Date.parse('2026-11-01T00:00:00Z');
const at = (minute: number) => new Date(start + minute * 60_000);

async function write(minute: number, sourceId: number, evidence: Record<string, string>): Promise<void> {
  const { bucket, domainKey } = domainIdentity('post.example');
  const url = `https://post.example/${sourceId}/${minute}`;
  await test.pool.query(
    `INSERT INTO documents (bucket, domain_key, url_hash, source_id, word_count, confidence, first_seen_at, last_seen_at,
       crawled_at, content_hash, page_type, url, text, meta)
     VALUES ($1, $2, $3, $4, 100, 1, $5, $5, $5, $6, 'article', $7, 'Text.', $8)`,
    [
      bucket,
      domainKey.toString(),
      channelHash(url),
      sourceId,
      at(minute),
      contentHash(url),
      url,
      { evidence },
    ],
  );
}

it('counts what each selector did, and what it did last', async () => {
  await write(1, 7, { 'selector.title': 'matched', 'selector.author': 'matched', title: 'selector' });
  await write(2, 7, { 'selector.title': 'matched', 'selector.author': 'no_match' });
  await write(3, 7, { 'selector.title': 'no_value', 'selector.author': 'no_match' });
  await write(4, 8, { 'selector.title': 'matched' });
  await write(5, 7, {});
  const source = { id: 7, url: 'https://www.post.example/' };
  expect(await loadSelectorRates(test.pool, source)).toEqual([
    { field: 'author', documents: 3, matched: 1, lastMatchAt: at(1), latest: 'no_match' },
    { field: 'title', documents: 3, matched: 2, lastMatchAt: at(2), latest: 'no_value' },
  ]);
  // Only the newest count: the documents before a redesign would hide it.
  expect(await loadSelectorRates(test.pool, source, 2)).toMatchObject([
    { field: 'author', documents: 1, matched: 0, lastMatchAt: null },
    { field: 'title', documents: 1, matched: 0 },
  ]);
  expect(await loadSelectorRates(test.pool, { id: 9, url: 'https://other.example/' })).toEqual([]);
});
