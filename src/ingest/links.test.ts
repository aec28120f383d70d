import { expect, it } from 'vitest';
import { makeLeasedUrl, makeResponse } from '../../test/setup/page-response.ts';
import type { LeasedUrl } from '../frontier/index.ts';
import type { Source } from '../sources/index.ts';
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
  keepHtml: 'none',
  sitemapMaxAgeMs: 0,
  nowMs: 0,
});

function found(change: Partial<LeasedUrl>, source: Partial<Source> | null = null) {
  const ingested = ingestListing(listing(change), settings(source));
  return ingested.outcome === 'links' ? ingested.found : [];
}

it('a seeded domain without a source is spidered inside itself, with the defaults', () => {
  const items = found({});
  expect(items.map((one) => [one.url, one.kind])).toEqual([
    ['https://seeded.test/2024/06/05/a-story-with-a-long-name', 'article'],
    ['https://seeded.test/section/', 'listing'],
  ]);
  for (const one of items)
    expect(one).toMatchObject({ origin: 'spider', sourceId: null, depth: 1, own: true });
});

it.each([
  ['at the third level its links are taken', { depth: 2 }, 2],
  ['beyond it they are not', { depth: 3 }, 0],
  ['a page somebody submitted is not spidered', { origin: 'manual' }, 0],
  ['nor one whose source is gone', { sourceId: 7 }, 0],
] as const)('%s', (_name, change, count) => {
  expect(found(change)).toHaveLength(count);
});

it.each([
  ['spider', 2],
  ['both', 2],
  ['feed', 0],
] as const)('the listing of a source in mode %s', (ingestionMode, count) => {
  expect(found({ sourceId: 7 }, { ingestionMode, priority: 5, settings: {} })).toHaveLength(count);
});
