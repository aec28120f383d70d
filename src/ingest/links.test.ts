import { expect, it } from 'vitest';
import { makeLeasedUrl, makeResponse } from '../../test/setup/page-response.ts';
import type { LeasedUrl } from '../frontier/index.ts';
import type { Source } from '../sources/index.ts';
import { ingestArticle } from './article.ts';
import { ingestListing } from './links.ts';
import type { IngestSettings, PageResponse } from './response.ts';

const html = `<html><body>
  <a href="/2024/06/05/a-story-with-a-long-name">a story</a>
  <a href="/section/">section</a>
  <a href="https://other.test/2024/06/05/another-story-elsewhere">elsewhere</a>
</body></html>`;

function listing(change: Partial<LeasedUrl>): PageResponse {
  const row = makeLeasedUrl({
    url: 'https://seeded.test/',
    kind: 'listing',
    origin: 'spider',
    sourceId: null,
    ...change,
  });
  return makeResponse(html, { row, finalUrl: row.url, finalHash: row.hash });
}
const settings = (source: Partial<Source> | null): IngestSettings => ({
  source: source as Source | null,
  channel: null,
  minWords: 50,
  minBodyBytes: 500,
  keepHtml: 'none',
  sitemapMaxAgeMs: 0,
  nowMs: 0,
});

function linksOf(change: Partial<LeasedUrl>, source: Partial<Source> | null = null) {
  const ingested = ingestListing(listing(change), settings(source));
  return ingested.outcome === 'links' ? (ingested.page?.links ?? []) : [];
}

it('a seeded domain without a source is spidered inside itself', () => {
  expect(linksOf({}).map((one) => [one.url, one.kind, one.external])).toEqual([
    ['https://seeded.test/2024/06/05/a-story-with-a-long-name', 'article', false],
    ['https://seeded.test/section/', 'listing', false],
  ]);
});

it('www and apex are one site, and what is refused is counted', () => {
  const row = makeLeasedUrl({
    url: 'https://www.seeded.test/',
    kind: 'listing',
    origin: 'spider',
    sourceId: null,
  });
  const page = `<a href="https://seeded.test/2024/06/05/a-story-with-a-name">a</a><a href="//other.test/news/x">b</a>
    <a href="/film.mp4">c</a><a href="/a/b/a/b/a/b">d</a>`;
  const read = ingestListing(
    makeResponse(page, { row, finalUrl: row.url, finalHash: row.hash }),
    settings(null),
  );
  expect(read).toMatchObject({
    outcome: 'links',
    page: {
      links: [{ url: 'https://seeded.test/2024/06/05/a-story-with-a-name', external: false }],
      refused: { off_domain: 1, binary_extension: 1, repeated_segment: 1 },
    },
  });
});

it.each([
  ['a page somebody submitted is not spidered', { origin: 'manual' }, 0],
  ['nor one whose source is gone', { sourceId: 7 }, 0],
  ['a page of an archive is', { origin: 'archive' }, 2],
] as const)('%s', (_name, change, count) => {
  expect(linksOf(change)).toHaveLength(count);
});

it.each([
  ['spider', 2],
  ['both', 2],
  ['feed', 0],
] as const)('the listing of a source in mode %s', (ingestionMode, count) => {
  expect(linksOf({ sourceId: 7 }, { ingestionMode, priority: 5, settings: {} })).toHaveLength(count);
});

const words = (count: number): string =>
  `<p>${'Some words of an article that goes on. '.repeat(count / 8)}</p>`;
const article = `<html><head><title>A story</title><meta property="og:type" content="article"></head><body><article>
  <h1>A story of some length</h1>${words(160)}${words(160)}</article></body></html>`;
const teasers = Array.from(
  { length: 20 },
  (_, i) => `<li><a href="/2024/06/05/story-number-${i}-of-the-day">Story number ${i} of a long day</a></li>`,
).join('');
const list = `<html><head><title>All</title></head><body><ul>${teasers}</ul></body></html>`;

// Says nowhere that it is one, as many older and smaller sites.
const undeclared = `<html><head><title>A story</title></head><body><ul>${teasers}</ul>
  <h1>A story of some length</h1><div>${words(80)}${words(80)}</div><ul>${teasers}</ul></body></html>`;

it.each([
  ['an article taken for a listing becomes a document', 'listing', 'spider', article, 'document'],
  ['a listing taken for an article gives links', 'article', 'spider', list, 'links'],
  ['what a feed names stays an article', 'article', 'feed', list, 'document'],
  ['the listing of an archive is never a document', 'listing', 'archive', article, 'links'],
  ['a listing is one', 'listing', 'spider', list, 'links'],
  ['an article is one', 'article', 'spider', article, 'document'],
  ['so is one that does not say so, among headlines', 'article', 'spider', undeclared, 'document'],
] as const)('%s', (_name, kind, origin, body, outcome) => {
  const row = makeLeasedUrl({ url: 'https://seeded.test/some/page', kind, origin, sourceId: 7 });
  const response = makeResponse(body, { row, finalUrl: row.url, finalHash: row.hash });
  const source = settings({ ingestionMode: 'both', priority: 5, settings: {} });
  const ingested = kind === 'article' ? ingestArticle(response, source) : ingestListing(response, source);
  expect(ingested.outcome).toBe(outcome);
});
