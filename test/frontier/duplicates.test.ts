import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeUrl, loadUrlFacts } from '../../src/explain/index.ts';
import { findSlotProblems, type LeasedUrl, promote, type SettleDocument } from '../../src/frontier/index.ts';
import { identifyUrl } from '../../src/url/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { answers, done, finish, item, rowOf, take } from './fixtures.ts';

// Pages that show the text of another page of their domain: for good, or while the site shows one notice everywhere.
const dayMs = 86_400_000;
let test: TestDatabase;
let skewMs = 0;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterEach(async () => {
  expect(await findSlotProblems(test.pool)).toEqual([]);
  const counted = await test.pool.query(
    `SELECT sum(rows_pending)::int AS pending, sum(rows_fetched)::int AS fetched, sum(rows_duplicate)::int AS duplicate FROM counter_deltas`,
  );
  const rows = await test.pool.query(
    `SELECT count(*) FILTER (WHERE status = 'pending')::int AS pending, count(*) FILTER (WHERE status = 'fetched')::int AS fetched,
            count(*) FILTER (WHERE status = 'duplicate')::int AS duplicate FROM url_frontier`,
  );
  expect(counted.rows[0]).toEqual(rows.rows[0]);
  await test.pool.query(
    'TRUNCATE url_frontier, domain_slots, domains, documents, document_versions, outbox, crawl_log, counter_deltas',
  );
});
afterAll(() => test.drop());

const hashOf = (text: string): Buffer => Buffer.alloc(32, text);

function documentOf({ hash, url }: LeasedUrl, text: string): SettleDocument {
  return {
    hash,
    url,
    sourceId: 1,
    wordCount: 100,
    confidence: 1,
    publishedAt: null,
    modifiedAt: null,
    contentHash: hashOf(text),
    pageType: 'article',
    language: 'en',
    canonicalUrl: null,
    title: text,
    section: null,
    description: null,
    leadImage: null,
    authors: [],
    keywords: [],
    meta: {},
    text,
    raw: null,
  };
}

/** Fetches what is due, after so many days; each page shows its own path, or the notice while there is one. */
async function look(days: number, notice: string | null): Promise<string[]> {
  skewMs = days * dayMs;
  await promote(test.pool, { slots: 10, skewMs });
  const seen: string[] = [];
  for (const held of await take(test.db, { skewMs })) {
    const urls = held.urls.toSorted((a, b) => (a.url < b.url ? -1 : 1));
    seen.push(...urls.map(({ url }) => new URL(url).pathname));
    const texts = urls.map((url) => ({ url, text: notice ?? new URL(url.url).pathname }));
    await finish(test.db, held, {
      skewMs,
      items: texts.map(({ url, text }) =>
        done(url.hash, { dueInMs: 14 * dayMs, etag: '"1"', contentHash: hashOf(text) }),
      ),
      documents: texts.map(({ url, text }) => documentOf(url, text)),
    });
  }
  return seen;
}

const texts = async (): Promise<string[]> =>
  (await test.pool.query<{ text: string }>('SELECT text FROM documents ORDER BY url')).rows.map(
    ({ text }) => text,
  );

async function explain(url: string): Promise<string> {
  const identified = identifyUrl(url);
  if (identified.outcome === 'rejected') throw new Error(identified.reason);
  const facts = await loadUrlFacts(test.pool, identified.identity, {
    defaultDelayMs: 1000,
    productToken: 'Outrider',
  });
  return describeUrl(facts).sentences.join(' ');
}

it('articles that were first seen as one notice have their documents after the second look', async () => {
  await answers(test.db, [item(1, 'a'), item(1, 'b'), item(1, 'c')]);
  expect(await look(0, 'back soon')).toEqual(['/a', '/b', '/c']);
  expect(await texts()).toEqual(['back soon']);
  // Validators of the notice, and its hash, would make it pass for unchanged.
  expect(await rowOf(test.db, 'b')).toMatchObject({ status: 'duplicate', etag: null, content_hash: null });
  expect(await explain('https://d1.test/b')).toMatch(
    /Its text is the same as that of https:\/\/d1\.test\/a, so no second document was made\. It is looked at once more in 14 d/,
  );
  expect(await look(13, null)).toEqual([]);
  expect(await look(15, null)).toEqual(['/a', '/b', '/c']);
  expect(await texts()).toEqual(['/a', '/b', '/c']);
  expect(await rowOf(test.db, 'b')).toMatchObject({ status: 'fetched', duplicate_of: null });
});

it('a page that shows the same text at the second look is left alone', async () => {
  await answers(test.db, [item(1, 'a'), item(1, 'b')]);
  await look(0, 'one text');
  expect(await look(15, 'one text')).toEqual(['/a', '/b']);
  expect(await rowOf(test.db, 'b')).toMatchObject({ status: 'duplicate', due_at: null, ready: false });
  expect(await look(40, 'one text')).toEqual(['/a']);
  expect(await texts()).toEqual(['one text']);
});

it('the second look is a refresh: behind news, and paid by the budget', async () => {
  await answers(test.db, [item(1, 'a', { priority: 7 }), item(1, 'b', { priority: 7 })]);
  await look(0, 'one text');
  await promote(test.pool, { slots: 10, skewMs: 15 * dayMs });
  expect(await rowOf(test.db, 'b')).toMatchObject({ ready: true, budgeted: true, level: 5 });
});

it('a known article that shows a notice for a while keeps its document and comes back', async () => {
  await answers(test.db, [item(1, 'a'), item(1, 'b')]);
  await look(0, null);
  await look(15, 'back soon');
  expect(await texts()).toEqual(['back soon', '/b']);
  expect(await explain('https://d1.test/b')).toMatch(
    /it showed the text of https:\/\/d1\.test\/a, so its own document stayed as it was\./,
  );
  await look(30, null);
  expect(await texts()).toEqual(['/a', '/b']);
  expect(await rowOf(test.db, 'b')).toMatchObject({ status: 'fetched', duplicate_of: null });
});

it('a duplicate that its feed says was changed is looked at again', async () => {
  await answers(test.db, [item(1, 'a'), item(1, 'b')]);
  await look(0, 'one text');
  expect(await answers(test.db, [item(1, 'b')], dayMs)).toEqual(['duplicate']);
  const modifiedAt = new Date(Date.now() + dayMs);
  expect(await answers(test.db, [item(1, 'b', { modifiedAt })], dayMs)).toEqual(['refreshed']);
  expect(await look(1, null)).toEqual(['/b']);
  expect(await texts()).toEqual(['one text', '/b']);
});

it('an article that has moved is looked at under its new address, though its document has the old one', async () => {
  await answers(test.db, [item(1, 'old')]);
  await look(0, 'one text');
  skewMs = 15 * dayMs;
  await promote(test.pool, { slots: 10, skewMs });
  const [held] = await take(test.db, { skewMs });
  const [row] = held!.urls;
  const url = 'https://d1.test/new';
  const identified = identifyUrl(url);
  if (identified.outcome === 'rejected') throw new Error(identified.reason);
  const { hash } = identified.identity;
  const target = { ...item(1, 'new'), url, level: 5, depth: 0, hops: 1, parentUrl: null, executionId: null };
  await finish(test.db, held!, {
    skewMs,
    items: [
      done(row!.hash, { status: 'redirected', redirectedTo: url }),
      done(hash, { dueInMs: 14 * dayMs, contentHash: hashOf('one text'), target }),
    ],
    documents: [documentOf({ ...row!, hash, url }, 'one text')],
  });
  expect(await look(30, 'one text')).toEqual(['/new']);
  expect(await look(45, 'one text')).toEqual(['/new']);
  expect(await look(60, 'another text')).toEqual(['/new']);
  expect(await texts()).toEqual(['another text', 'one text']);
});
