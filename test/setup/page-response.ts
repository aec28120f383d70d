import type { LeasedUrl } from '../../src/frontier/index.ts';
import type { IngestSettings, PageResponse } from '../../src/ingest/index.ts';
import type { Source } from '../../src/sources/index.ts';

const url = 'https://paper.example/news/a-story';

/** A leased article that was never fetched. */
export function makeLeasedUrl(change: Partial<LeasedUrl> = {}): LeasedUrl {
  return {
    hash: Buffer.alloc(32, 7),
    url,
    kind: 'article',
    origin: 'feed',
    sourceId: 1,
    level: 5,
    priority: 5,
    depth: 0,
    hops: 0,
    tries: 0,
    fetchCount: 0,
    etag: null,
    lastModified: null,
    contentHash: null,
    dueAt: new Date(0),
    executionId: null,
    refreshSeconds: null,
    ...change,
  };
}

/** A response with a body, as a fetcher would hand it over. */
export function makeResponse(body: string | Buffer, change: Partial<PageResponse> = {}): PageResponse {
  const row = makeLeasedUrl();
  return {
    row,
    finalUrl: row.url,
    finalHash: row.hash,
    status: 200,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body: Buffer.from(body),
    wireBody: null,
    contentEncoding: null,
    ...change,
  };
}

/** Settings of a source, or of none. */
export function makeSettings(source: Partial<Source> | null = null): IngestSettings {
  const whole: Source = {
    id: 1,
    slug: 'paper',
    name: 'Paper',
    url: 'https://paper.example/',
    enabled: true,
    disabledAt: null,
    disableReason: null,
    ingestionMode: 'feed',
    feedPollIntervalMinutes: 15,
    priority: 5,
    rateLimitMs: null,
    settings: {},
    createdAt: new Date(0),
    ...source,
  };
  return {
    source: source === null ? null : whole,
    channel: null,
    minWords: 50,
    minBodyBytes: 500,
    keepHtml: 'compressed',
    sitemapMaxAgeMs: 172_800_000,
    nowMs: 0,
  };
}

/** An article of so many paragraphs, no two alike. */
export function makeArticle(paragraphs: number): string {
  const text = Array.from(
    { length: paragraphs },
    (_, n) => `<p>Paragraph ${n} tells ${'and tells '.repeat(n % 7)}what happened, and to whom, and why.</p>`,
  );
  return `<html><head><title>A story</title></head><body><article><h1>A story</h1>${text.join('')}</article></body></html>`;
}

/** A selector and a page of 30 kB on which it takes minutes: each sibling is compared with all before it, twice. */
export const slowSelector = 'em ~ p ~ p';
export const slowPage = `<html><head><title>A story</title></head><body>${'<p>x y</p>'.repeat(3000)}</body></html>`;
