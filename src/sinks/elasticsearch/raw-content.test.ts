import { describe, expect, it, test } from 'vitest';
import type { StoredDocument } from '../../documents/index.ts';
import { indexName, rawContentMapping, rawContentRecord } from './raw-content.ts';

const at = new Date('2026-11-01T10:00:00Z');
const full: StoredDocument = {
  domainKey: 1n,
  hash: Buffer.alloc(32, 1),
  version: 3,
  url: 'https://a.example/x',
  canonicalUrl: 'https://a.example/x',
  title: 'Title',
  text: 'Text',
  authors: ['Ada', 'Bob'],
  publishedAt: at,
  modifiedAt: at,
  firstSeenAt: at,
  lastSeenAt: at,
  crawledAt: at,
  language: 'en',
  section: 'News',
  description: 'About',
  keywords: ['k'],
  leadImage: 'https://a.example/i.jpg',
  wordCount: 1,
  pageType: 'article',
  confidence: 1,
  contentHash: Buffer.alloc(32),
  classificationStatus: 'pending',
  classifiedAt: null,
  labels: {},
  meta: {
    openGraph: Object.fromEntries(
      ['type', 'title', 'description', 'image', 'url', 'site_name'].map((name) => [`og:${name}`, name]),
    ),
    twitter: { 'twitter:card': 'summary', 'twitter:site': '@a' },
    meta: { description: 'd', 'article:opinion': 'true', 'article:content_tier': 'free' },
    jsonLd: {
      jsonld_headline: 'h',
      jsonld_description: 'd',
      jsonld_article_section: 's',
      jsonld_author: 'a',
      jsonld_publisher_name: 'p',
      jsonld_url: 'u',
      jsonld_image_url: 'i',
      jsonld_date_published: '2026-11-01',
      jsonld_date_created: '2026-11-01',
      jsonld_date_modified: '2026-11-01',
      jsonld_word_count: 7,
      jsonld_keywords: ['k'],
      jsonld_schema_type: 'NewsArticle',
      jsonld_location: 'l',
      jsonld_raw: { '@type': 'NewsArticle' },
    },
  },
  sourceId: 1,
  sourceSlug: 'a',
  sourceName: 'A',
};
full.meta.openGraph!['og:image:width'] = '1200';
full.meta.openGraph!['og:image:height'] = '630';

/** Paths of a record, not looking into what is kept as it came. */
function paths(value: object, before = ''): string[] {
  return Object.entries(value).flatMap(([name, one]) => {
    const path = before + name;
    const isBag = path === 'json_ld_data' || path === 'meta';
    return isBag ? paths(one as object, `${path}.`) : [path];
  });
}
function mappedPaths(mapping: { properties?: object }, before = ''): string[] {
  return Object.entries(mapping.properties ?? {}).flatMap(([name, one]) =>
    'properties' in (one as object) ? mappedPaths(one as object, `${before}${name}.`) : [before + name],
  );
}

test('every field that is produced is mapped, and every field that is mapped is produced', () => {
  const produced = paths(rawContentRecord({ document: full, html: '<p>' })).sort();
  // Written by classifiers only.
  const mapped = mappedPaths(rawContentMapping())
    .filter((path) => path !== 'classified_at')
    .sort();
  expect(produced).toEqual(mapped);
});

test('the fields that downstream programs read are all there, with their types', () => {
  const { properties, dynamic } = rawContentMapping() as {
    dynamic: string;
    properties: Record<string, { type: string }>;
  };
  expect(dynamic).toBe('strict');
  const typesOf = (type: string) =>
    Object.entries(properties)
      .filter(([, one]) => one.type === type)
      .map(([name]) => name)
      .sort();
  expect(typesOf('keyword')).toEqual(
    'article_section canonical_url classification_status id meta_keywords og_image og_type og_url source_name url'.split(
      ' ',
    ),
  );
  expect(typesOf('text')).toEqual(
    'author meta_description og_description og_title raw_html raw_text title'.split(' '),
  );
  expect(typesOf('date')).toEqual(['classified_at', 'crawled_at', 'published_date']);
  expect(typesOf('integer')).toEqual(['word_count']);
});

describe('what the wild has', () => {
  const withLd = (jsonLd: Record<string, unknown>) =>
    (
      rawContentRecord({ document: { ...full, meta: { jsonLd } }, html: null }) as {
        json_ld_data: Record<string, unknown>;
      }
    ).json_ld_data;
  it.each([
    [{ jsonld_date_published: 'soon' }],
    [{ jsonld_word_count: 'many' }],
    [{ jsonld_word_count: 1e12 }],
    [{ jsonld_keywords: 'a, b' }],
    [{ jsonld_keywords: [{ name: 'a' }] }],
    [{ jsonld_headline: { '@value': 'x' } }],
    [{ jsonld_author: null }],
  ])('%j is left out, so that the server takes the rest', (jsonLd) => {
    expect(withLd(jsonLd)).toEqual({});
  });
  it('a year that ISO 8601 writes with a sign is no date', () => {
    const document = { ...full, publishedAt: new Date(Date.UTC(12_026, 0, 1)) };
    expect(rawContentRecord({ document, html: null })).not.toHaveProperty('published_date');
  });
});

test.each([
  ['the_herald', 'the_herald_raw_content'],
  ['The-Herald.com', 'the_herald_com_raw_content'],
  ['__x', 'x_raw_content'],
  [null, 'unknown_raw_content'],
  ['___', 'unknown_raw_content'],
])('the index of source %s is %s', (slug, name) => {
  expect(indexName(slug)).toBe(name);
});
