import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  indexDocuments,
  listRecentDocuments,
  loadCluster,
  searchDocuments,
} from '../../src/documents/index.ts';
import { contentHash } from '../../src/extract/index.ts';
import { channelHash, domainIdentity, urlId } from '../../src/url/index.ts';
import { type CopyPair, makeCopies, makeReports } from '../conformance/copies.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(() =>
  test.pool.query(
    'TRUNCATE documents, outbox, document_search, document_signatures, document_bands, document_copies',
  ),
);

const start = Date.parse('2026-11-01T00:00:00Z');
const idOf = (host: string) => urlId(domainIdentity(host).domainKey, hashOf(host));
const hashOf = (host: string) => channelHash(`https://${host}/article`);

type Written = { host: string; text: string; minute?: number; version?: number; publishedMinute?: number };

/** Writes a document version and its outbox row, as a settle does. */
async function write({ host, text, minute = 0, version = 1, publishedMinute }: Written): Promise<void> {
  const { bucket, domainKey } = domainIdentity(host);
  const seen = new Date(start + minute * 60_000);
  const published = publishedMinute === undefined ? null : new Date(start + publishedMinute * 60_000);
  await test.pool.query(
    `INSERT INTO documents (bucket, domain_key, url_hash, version, word_count, confidence, first_seen_at, last_seen_at,
       crawled_at, published_at, content_hash, page_type, url, title, text)
     VALUES ($1, $2, $3, $4, 100, 1, $5, $5, $5, $6, $7, 'article', $8, $9, $10)
     ON CONFLICT (bucket, domain_key, url_hash) DO UPDATE
       SET version = excluded.version, text = excluded.text, content_hash = excluded.content_hash`,
    [
      bucket,
      domainKey.toString(),
      hashOf(host),
      version,
      seen,
      published,
      contentHash(text),
      `https://${host}/article`,
      `From ${host}`,
      text,
    ],
  );
  await deliver(host, version);
}

async function deliver(host: string, version = 1): Promise<void> {
  const { bucket, domainKey } = domainIdentity(host);
  await test.pool.query(
    `INSERT INTO outbox (bucket, sink, domain_key, url_hash, version, enqueued_at) VALUES ($1, 'index', $2, $3, $4, now())`,
    [bucket, domainKey.toString(), hashOf(host), version],
  );
}

const index = (limit = 200) => test.db.withTransaction((tx) => indexDocuments(tx, limit));
const clusterOf = async (host: string) => (await loadCluster(test.pool, idOf(host)))?.id ?? null;
const rows = async (table: string) =>
  (await test.pool.query(`SELECT * FROM ${table} ORDER BY ${table}::text`)).rows;
const tables = async () => [
  await rows('document_signatures'),
  await rows('document_bands'),
  await rows('document_copies'),
];

const story = (n: number): CopyPair => [...makeCopies(7000 + n, 1)].find((pair) => pair.language === 'en')!;
const other = (n: number): CopyPair => [...makeReports(7000 + n, 1)].find((pair) => pair.language === 'en')!;

describe('copies', () => {
  it('of other publishers share a cluster, named after the eldest; other reports of the story do not', async () => {
    const { a, b } = story(0);
    await write({ host: 'agency.test', text: a, minute: 0 });
    await write({ host: 'paper.test', text: b, minute: 5 });
    await write({ host: 'exact.test', text: a, minute: 9 });
    await write({ host: 'own.test', text: other(0).a, minute: 2 });
    await write({ host: 'rival.test', text: other(0).b, minute: 3 });
    expect(await index()).toBe(5);
    const cluster = await loadCluster(test.pool, idOf('paper.test'));
    expect(cluster).toMatchObject({ id: idOf('agency.test'), size: 3 });
    expect(cluster?.members.map((member) => member.url)).toEqual([
      'https://agency.test/article',
      'https://paper.test/article',
      'https://exact.test/article',
    ]);
    expect([await clusterOf('own.test'), await clusterOf('rival.test')]).toEqual([null, null]);
  });

  it('are found whenever they come, and the name stays', async () => {
    const { a, b } = story(1);
    await write({ host: 'first.test', text: a, minute: 10 });
    await index();
    expect(await clusterOf('first.test')).toBe(null);
    await write({ host: 'second.test', text: b, minute: 20 });
    await index();
    expect(await clusterOf('first.test')).toBe(idOf('first.test'));
    // Seen before both, but indexed after them: it joins, the cluster keeps its name.
    await write({ host: 'late.test', text: a, minute: 1 });
    await index();
    for (const host of ['first.test', 'second.test', 'late.test'])
      expect(await clusterOf(host)).toBe(idOf('first.test'));
  });

  it('mark as first who published first, not whom we saw first; a date in the future counts for nothing', async () => {
    const { a } = story(2);
    await write({ host: 'scraper.test', text: a, minute: 10 });
    await write({ host: 'original.test', text: a, minute: 30, publishedMinute: 2 });
    await write({ host: 'liar.test', text: a, minute: 40, publishedMinute: 9000 });
    await index();
    const cluster = await loadCluster(test.pool, idOf('liar.test'));
    expect(cluster?.members.map((member) => [member.url, member.first])).toEqual([
      ['https://scraper.test/article', false],
      ['https://original.test/article', true],
      ['https://liar.test/article', false],
    ]);
  });

  it.each([1, 7, 200])(
    'by the hundred, all seen at once, end in one cluster in batches of %i',
    async (batch) => {
      const { a, b } = story(3);
      for (let i = 0; i < 100; i += 1) await write({ host: `c${i}.test`, text: i % 2 === 0 ? a : b });
      while ((await index(batch)) > 0);
      const cluster = await loadCluster(test.pool, idOf('c50.test'), { limit: 3 });
      expect(cluster).toMatchObject({ size: 100 });
      expect(cluster?.members).toHaveLength(3);
    },
  );

  it('are counted in lists and searches', async () => {
    const { a, b } = story(4);
    await write({ host: 'one.test', text: a });
    await write({ host: 'two.test', text: b, minute: 1 });
    await write({ host: 'alone.test', text: other(4).a, minute: 2 });
    await index();
    const listed = await listRecentDocuments(test.pool, 10);
    expect(listed.map((hit) => [hit.url.slice(8, -8), hit.copies])).toEqual([
      ['alone.test', 0],
      ['two.test', 1],
      ['one.test', 1],
    ]);
    const { hits } = await searchDocuments(test.pool, '"From one.test"');
    expect(hits.map((hit) => hit.copies)).toEqual([1]);
  });
});

describe('a second delivery', () => {
  it('changes nothing', async () => {
    const { a, b } = story(5);
    await write({ host: 'one.test', text: a });
    await write({ host: 'two.test', text: b });
    await index();
    const before = await tables();
    await deliver('one.test');
    await deliver('two.test');
    expect(await index()).toBe(2);
    expect(await tables()).toEqual(before);
  });

  it('is left to the process that is at it', async () => {
    await write({ host: 'one.test', text: story(5).a });
    await test.db.withTransaction(async (tx) => {
      expect(await indexDocuments(tx, 10)).toBe(1);
      await write({ host: 'two.test', text: story(5).b });
      expect(await index()).toBe(0);
    });
    expect(await index()).toBe(1);
    expect(await clusterOf('two.test')).toBe(idOf('one.test'));
  });
});

describe('a changed version', () => {
  const hosts = ['one.test', 'two.test', 'three.test'];
  const copies = async (n: number) => {
    for (const [minute, host] of hosts.entries())
      await write({ host, text: minute === 1 ? story(n).b : story(n).a, minute });
    await index();
  };

  it('that is still a copy stays', async () => {
    await copies(6);
    await write({ host: 'one.test', text: `${story(6).a}\n\nCorrected on Monday.`, version: 2 });
    await index();
    for (const host of hosts) expect(await clusterOf(host)).toBe(idOf('one.test'));
  });

  it('that is another text leaves; the name goes on to the eldest that stay', async () => {
    await copies(7);
    await write({ host: 'one.test', text: other(7).a, version: 2 });
    await index();
    expect(await Promise.all(hosts.map(clusterOf))).toEqual([null, idOf('two.test'), idOf('two.test')]);
    // Found under its new text, and no more under the old one.
    await write({ host: 'new.test', text: other(7).a, minute: 50 });
    await write({ host: 'old.test', text: story(7).a, minute: 51 });
    await index();
    expect(await Promise.all(['one.test', 'new.test', 'old.test'].map(clusterOf))).toEqual([
      idOf('one.test'),
      idOf('one.test'),
      idOf('two.test'),
    ]);
  });

  it('moves to the cluster of its new text, and one left alone is in none', async () => {
    await copies(8);
    await write({ host: 'three.test', text: other(8).a, version: 2 });
    await index();
    expect(await Promise.all(hosts.map(clusterOf))).toEqual([idOf('one.test'), idOf('one.test'), null]);
    await write({ host: 'two.test', text: other(8).a, version: 2 });
    await index();
    expect(await Promise.all(hosts.map(clusterOf))).toEqual([null, idOf('two.test'), idOf('two.test')]);
  });

  it('all of them in one batch, and one too short to say anything', async () => {
    await copies(9);
    await write({ host: 'one.test', text: 'Withdrawn.', version: 2 });
    await write({ host: 'two.test', text: other(9).a, version: 2 });
    await write({ host: 'three.test', text: other(9).a, version: 2 });
    await index();
    expect(await Promise.all(hosts.map(clusterOf))).toEqual([null, idOf('two.test'), idOf('two.test')]);
    expect(await rows('document_signatures')).toHaveLength(2);
    expect(await rows('document_bands')).toHaveLength(32);
    expect(await rows('document_copies')).toHaveLength(2);
  });
});

it('says nothing about ids that are none or unknown', async () => {
  expect(await loadCluster(test.pool, 'nonsense')).toBe(null);
  expect(await loadCluster(test.pool, idOf('unknown.test'))).toBe(null);
});
