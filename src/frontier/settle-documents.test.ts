import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/setup/database.ts';
import { identifyUrl } from '../url/index.ts';
import { type Lease, lease, type SettleDocument, type SettleItem, settle, submit } from './index.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const urlOf = (path: string): string => `https://a.example/${path}`;
const hashOf = (path: string): Buffer => {
  const identified = identifyUrl(urlOf(path));
  if (identified.outcome === 'rejected') throw new Error(identified.reason);
  return identified.identity.hash;
};

type Given = { path: string; text: string; stub: boolean };

const documentOf = ({ path, text, stub }: Given, more: Partial<SettleDocument> = {}): SettleDocument => ({
  hash: hashOf(path),
  url: urlOf(path),
  sourceId: 1,
  wordCount: 2,
  confidence: 1,
  publishedAt: null,
  modifiedAt: null,
  contentHash: createHash('sha256').update(text).digest(),
  pageType: stub ? 'stub' : 'article',
  language: null,
  canonicalUrl: null,
  title: null,
  section: null,
  description: null,
  leadImage: null,
  authors: [],
  keywords: [],
  meta: { images: ['one', 'two'] },
  text,
  raw: { body: Buffer.from(`<p>${text}`), encoding: 'identity', contentType: null },
  ...more,
});

// Every document comes as the end of a redirect, which may be settled as often as one likes while a lease is held.
const itemOf = ({ path }: Given): SettleItem => ({
  hash: hashOf(path),
  status: 'fetched',
  kind: 'article',
  dueInMs: null,
  fetched: true,
  target: {
    url: urlOf(path),
    origin: 'redirect',
    sourceId: 1,
    priority: 5,
    level: 5,
    depth: 0,
    hops: 1,
    parentUrl: null,
    executionId: null,
  },
});

let held: Lease;
beforeEach(() => begin());
async function begin(): Promise<void> {
  await test.pool.query(
    `TRUNCATE url_frontier, domain_slots, domains, documents, document_versions, raw_pages, outbox, counter_deltas, crawl_log`,
  );
  const item = { kind: 'article', origin: 'feed', sourceId: 1, priority: 5, own: true } as const;
  await submit(test.pool, [{ ...item, url: urlOf('held') }]);
  const options = { owner: 'w', pool: 'default', slots: 1, leaseMs: 60_000, defaultDelayMs: 0, batch: 1 };
  held = (await lease(test.pool, options))[0]!;
}

const store = (documents: readonly SettleDocument[], items: readonly SettleItem[]) =>
  settle(test.pool, held, {
    owner: 'w',
    final: false,
    items,
    documents,
    requests: [],
    monotonicMs: 0,
    lastAnswerAt: 0,
    defaultDelayMs: 0,
  });

/** The rules, one document after another. */
class Shelf {
  readonly documents = new Map<string, { text: string; stub: boolean; version: number }>();
  readonly versions: string[] = [];
  readonly outbox: string[] = [];
  readonly twins = new Map<string, string>();

  settle(batch: readonly Given[]): { documents: number; versions: number; duplicates: number } {
    const counts = { documents: 0, versions: 0, duplicates: 0 };
    this.twins.clear();
    for (const { path, text, stub } of batch) {
      const twin = [...this.documents].find(
        ([other, one]) => other !== path && !stub && !one.stub && one.text === text,
      );
      if (twin !== undefined) {
        if (!this.twins.has(path)) this.twins.set(path, twin[0]);
        counts.duplicates += 1;
        continue;
      }
      const old = this.documents.get(path);
      if (old?.text === text) continue;
      const version = (old?.version ?? 0) + 1;
      if (old === undefined) counts.documents += 1;
      else {
        counts.versions += 1;
        this.versions.push(`${path} ${old.version} ${old.text}`);
      }
      this.documents.set(path, { text, stub, version });
      // The index hears of articles, and of those that are stubs by now.
      if (!stub || old !== undefined) this.outbox.push(`${path} ${version}`);
    }
    return counts;
  }
}

async function readShelf(): Promise<object> {
  const lines = async (sql: string): Promise<string[]> =>
    (
      await test.pool.query<{ line: string }>(`SELECT line FROM (${sql}) x ORDER BY line COLLATE "C"`)
    ).rows.map(({ line }) => line);
  const path = `substring(f.url FROM 19)`;
  const joined = 'JOIN url_frontier f USING (bucket, domain_key, url_hash)';
  return {
    documents: await lines(
      `SELECT ${path} || ' ' || d.text || ' ' || (d.page_type = 'stub') || ' ' || d.version AS line FROM documents d ${joined}`,
    ),
    versions: await lines(
      `SELECT ${path} || ' ' || v.version || ' ' || v.text AS line FROM document_versions v ${joined}`,
    ),
    outbox: await lines(`SELECT ${path} || ' ' || o.version AS line FROM outbox o ${joined}`),
  };
}

const shelfLines = (shelf: Shelf): object => ({
  documents: [...shelf.documents]
    .map(([path, { text, stub, version }]) => `${path} ${text} ${stub} ${version}`)
    .sort(),
  versions: shelf.versions.toSorted(),
  outbox: shelf.outbox.toSorted(),
});

describe('documents settled together', () => {
  const given: fc.Arbitrary<Given> = fc.record({
    path: fc.constantFrom('a', 'b', 'c', 'd'),
    text: fc.constantFrom('x', 'y', 'z'),
    stub: fc.constantFrom(false, false, false, false, true),
  });
  const batches = fc.array(fc.array(given, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 4 });

  it('become what they would be one after another', async () => {
    await fc.assert(
      fc
        .asyncProperty(batches, async (all) => {
          const shelf = new Shelf();
          for (const batch of all) {
            const result = await store(
              batch.map((one) => documentOf(one)),
              [...new Map(batch.map((one) => [one.path, itemOf(one)])).values()],
            );
            expect(result).toMatchObject({ outcome: 'settled', ...shelf.settle(batch) });
            for (const [path, twin] of shelf.twins) {
              const { rows } = await test.pool.query(
                'SELECT status::text, duplicate_of FROM url_frontier WHERE url_hash = $1',
                [hashOf(path)],
              );
              expect(rows).toEqual([{ status: 'duplicate', duplicate_of: hashOf(twin) }]);
            }
            expect(await readShelf()).toEqual(shelfLines(shelf));
          }
        })
        .beforeEach(begin),
      { numRuns: 60 },
    );
  });

  it.each<[string, Given[], Given[], number]>([
    ['two with one text', [], [one('a', 'x'), one('b', 'x')], 1],
    ['a text passed on by its page', [one('a', 'x')], [one('a', 'y'), one('b', 'x')], 2],
    ['a text asked for before its page gives it up', [one('a', 'x')], [one('b', 'x'), one('a', 'y')], 1],
    ['two pages that change places', [one('a', 'x'), one('b', 'y')], [one('a', 'y'), one('b', 'x')], 2],
    ['an address that comes twice', [], [one('a', 'x'), one('a', 'y')], 1],
  ])('%s', async (_what, before, batch, count) => {
    const shelf = new Shelf();
    for (const part of [before, batch]) {
      if (part.length === 0) continue;
      await store(
        part.map((each) => documentOf(each)),
        part.map(itemOf),
      );
      shelf.settle(part);
    }
    expect(await readShelf()).toEqual(shelfLines(shelf));
    expect(shelf.documents.size).toBe(count);
  });

  it('keep their own text and bytes, whatever characters there are', async () => {
    const texts = ['plain', 'ünïcode 漢字 🎈', 'a\u0000b\ud800c "quoted" \\u0000', ''];
    const documents = texts.map((text, at) =>
      documentOf({ path: `p${at}`, text, stub: text === '' }, at === 1 ? { raw: null } : {}),
    );
    await store(
      documents,
      texts.map((text, at) => itemOf({ path: `p${at}`, text, stub: false })),
    );
    const { rows } = await test.pool.query(
      `SELECT d.text, r.body FROM documents d
         LEFT JOIN raw_pages r USING (bucket, domain_key, url_hash) ORDER BY d.url`,
    );
    expect(rows.map(({ text }) => text)).toEqual([
      'plain',
      'ünïcode 漢字 🎈',
      'ab\ufffdc "quoted" \\u0000',
      '',
    ]);
    expect(rows.map(({ body }) => body)).toEqual(documents.map(({ raw }) => raw?.body ?? null));
  });

  it('of URLs that the lease does not hold are left out', async () => {
    const result = await store([documentOf(one('held', 'x')), documentOf(one('a', 'x'))], []);
    expect(result).toMatchObject({ settled: 0, documents: 0 });
    const item: SettleItem = { ...itemOf(one('held', 'x')) };
    delete item.target;
    expect(await store([documentOf(one('a', 'x')), documentOf(one('held', 'x'))], [item])).toMatchObject({
      settled: 1,
      documents: 1,
      duplicates: 0,
    });
  });

  it('count their images once', async () => {
    await store(
      [documentOf(one('a', 'x')), documentOf(one('b', 'x'))],
      [one('a', 'x'), one('b', 'x')].map(itemOf),
    );
    await store([documentOf(one('a', 'y'))], [itemOf(one('a', 'y'))]);
    const options = {
      endedAt: 0,
      status: 200,
      kind: 'article',
      outcome: 'response',
      hash: null,
      url: urlOf('a'),
    };
    await settle(test.pool, held, {
      owner: 'w',
      final: false,
      items: [itemOf(one('c', 'z'))],
      documents: [documentOf(one('c', 'z'))],
      requests: [
        { ...options, sourceId: 1, executionId: null, waitMs: 0, headersMs: 1, totalMs: 1, bytes: 1 },
      ],
      monotonicMs: 0,
      lastAnswerAt: 0,
      defaultDelayMs: 0,
    });
    const { rows } = await test.pool.query('SELECT images_found, documents FROM domains');
    expect(rows).toEqual([{ images_found: 2n, documents: 1n }]);
  });
});

function one(path: string, text: string): Given {
  return { path, text, stub: false };
}
