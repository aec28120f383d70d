import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listDeadLetters, listSinks, retryDeadLetters, saveSink } from '../../src/outbox/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { findOpenSearch, type OpenSearch, startOpenSearch } from '../opensearch/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { testSink } from './conformance.ts';
import { deliverAll } from './deliver.ts';
import { openSearchWorld } from './opensearch-world.ts';
import { idOf, storeDocuments, textOf } from './store.ts';
import type { SinkWorld } from './world.ts';

const found = await findOpenSearch();
if ('missing' in found) console.warn(`SKIPPED: ${found.missing}`);
let server: OpenSearch;

describe.skipIf('missing' in found)('a real OpenSearch', () => {
  beforeAll(async () => {
    if ('classPath' in found) server = await startOpenSearch(found.classPath);
  }, 300_000);
  afterAll(() => server?.close());

  describe('as every sink', () => testSink('elasticsearch', async () => openSearchWorld(server)));

  describe('as itself', () => {
    let database: TestDatabase;
    let world: SinkWorld;
    let sourceId: number;
    const run = (): Promise<void> => deliverAll(database, world.sink);
    const recordOf = async (index: string, url: string) =>
      (await server.ask<{ _source: Record<string, unknown> }>('GET', `/${index}/_doc/${idOf(url)}`))._source;

    beforeAll(async () => {
      database = await createTestDatabase();
      world = openSearchWorld(server);
      await saveSink(database.pool, world.sink);
      const { source } = await createSource(database.pool, {
        url: 'https://herald.example/',
        name: 'The Herald',
      });
      sourceId = source.id;
    });
    afterAll(async () => {
      await world?.close();
      await database?.drop();
    });

    test('a record has every field in its place, under the strict mapping', async () => {
      const url = 'https://herald.example/2026/11/01/full';
      await storeDocuments(database.pool, [
        {
          url,
          sourceId,
          section: 'Politics',
          meta: {
            openGraph: {
              'og:type': 'article',
              'og:title': 'OG',
              'og:image:width': '1200',
              'og:image:height': 'tall',
            },
            twitter: { 'twitter:card': 'summary' },
            meta: { description: 'what it is about', 'article:opinion': 'false' },
            jsonLd: {
              jsonld_headline: 'LD',
              jsonld_date_published: '1 Nov 2026 10:00 GMT',
              jsonld_date_modified: 'the day before yesterday or so',
              jsonld_word_count: '12 words',
              jsonld_keywords: ['a', 'b'],
              // Publishers put anything anywhere; none of it may make the server refuse the document.
              jsonld_raw: { '@type': 'NewsArticle', author: [{ name: 'A' }, 'B'], publisher: 7 },
            },
          },
        },
      ]);
      await run();
      expect(await recordOf('the_herald_raw_content', url)).toMatchObject({
        id: idOf(url),
        url,
        source_name: 'The Herald',
        raw_text: textOf(url),
        raw_html: `<html><p>${textOf(url)}`,
        author: 'Ada Writer',
        published_date: '2026-11-01T10:00:00.000Z',
        classification_status: 'pending',
        article_section: 'Politics',
        og_type: 'article',
        meta_description: 'what it is about',
        meta_keywords: ['one', 'two'],
        json_ld_data: {
          jsonld_headline: 'LD',
          jsonld_date_published: '2026-11-01T10:00:00.000Z',
          jsonld_raw: { author: [{ name: 'A' }, 'B'] },
        },
        meta: {
          twitter_card: 'summary',
          og_image_width: 1200,
          article_opinion: 'false',
          page_type: 'article',
        },
      });
      const mapping = await server.ask<Record<string, { mappings: { dynamic: string } }>>(
        'GET',
        '/the_herald_raw_content/_mapping',
      );
      expect(mapping.the_herald_raw_content!.mappings.dynamic).toBe('strict');
    });

    test("a classifier's verdict outlives a redelivery and a server's own versions, and ends with the text", async () => {
      const url = 'https://herald.example/2026/11/02/judged';
      await storeDocuments(database.pool, [{ url, sourceId }]);
      await run();
      const verdict = { classification_status: 'classified', classified_at: '2026-11-02T12:00:00Z' };
      for (let n = 0; n < 3; n += 1)
        await server.ask('POST', `/the_herald_raw_content/_update/${idOf(url)}`, {
          doc: { ...verdict, title: `by ${n}` },
        });
      await database.pool.query(
        `INSERT INTO outbox (bucket, sink, domain_key, url_hash, version, enqueued_at)
         SELECT bucket, 'elasticsearch', domain_key, url_hash, version, now() FROM documents WHERE url = $1`,
        [url],
      );
      await run();
      expect(await recordOf('the_herald_raw_content', url)).toMatchObject({
        ...verdict,
        title: `What ${url} says`,
      });
      await storeDocuments(database.pool, [{ url, sourceId, text: textOf(url, 2) }]);
      await run();
      const changed = await recordOf('the_herald_raw_content', url);
      expect(changed).toMatchObject({ raw_text: textOf(url, 2), classification_status: 'pending' });
      expect(changed.classified_at).toBeUndefined();
    });

    test('an index with another mapping: dead letters say what to do, and take their way afterwards', async () => {
      const { source } = await createSource(database.pool, {
        url: 'https://gazette.example/',
        name: 'Gazette',
      });
      await server.ask('PUT', '/gazette_raw_content', {
        mappings: {
          dynamic: 'strict',
          properties: { id: { type: 'keyword' }, word_count: { type: 'boolean' } },
        },
        settings: { number_of_replicas: 0 },
      });
      // An index takes its template's mapping and its own; the field that differs is the one that is refused.
      const url = 'https://gazette.example/2026/11/01/refused';
      const other = 'https://herald.example/2026/11/03/taken';
      await storeDocuments(database.pool, [
        { url, sourceId: source.id },
        { url: other, sourceId },
      ]);
      await run();
      expect((await recordOf('the_herald_raw_content', other)).url).toBe(other);
      const letters = await listDeadLetters(database.pool, { sink: 'elasticsearch', limit: 10 });
      expect(letters.map((letter) => letter.url)).toEqual([url]);
      expect(letters[0]!.error).toMatch(/word_count/);
      expect(letters[0]!.error).toMatch(/PUT gazette_raw_content\/_mapping.*outrider sinks replay/);
      await server.ask('DELETE', '/gazette_raw_content');
      expect(await retryDeadLetters(database.pool, 'elasticsearch')).toBe(1);
      await run();
      expect((await recordOf('gazette_raw_content', url)).url).toBe(url);
      expect((await listSinks(database.pool)).find((one) => one.kind === 'elasticsearch')).toMatchObject({
        waiting: 0,
        deadLetters: 0,
      });
    });
  });
});
