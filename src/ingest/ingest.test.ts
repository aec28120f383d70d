import { describe, expect, test } from 'vitest';
import type { Channel } from '../channels/index.ts';
import type { LeasedUrl } from '../frontier/index.ts';
import type { Source } from '../sources/index.ts';
import { type Ingested, type IngestSettings, ingest } from './index.ts';

const nowMs = Date.parse('2026-03-04T12:00:00Z');
const hash = Buffer.alloc(32);
const source = { id: 1, url: 'http://h.test/', ingestionMode: 'spider', priority: 5, settings: {} } as Source;
const settings: IngestSettings = {
  source,
  channel: { kind: 'sitemap' } as Channel,
  minWords: 50,
  keepHtml: 'none',
  sitemapMaxAgeMs: 48 * 3_600_000,
  nowMs,
};

function read(
  kind: 'channel' | 'listing',
  text: string,
  finalUrl = 'http://h.test/sitemap.xml',
): Promise<Ingested> {
  const body = Buffer.from(text);
  const response = {
    row: { kind, url: finalUrl, sourceId: 1, depth: 0, hash } as LeasedUrl,
    finalUrl,
    finalHash: hash,
    status: 200,
    headers: { 'content-type': kind === 'channel' ? 'application/xml' : 'text/html; charset=utf-8' },
    body,
    wireBody: body,
    contentEncoding: null,
  };
  return ingest(response, settings);
}

const url = (loc: string, lastmod = '2026-03-04'): string =>
  `<url><loc>${loc}</loc><lastmod>${lastmod}</lastmod></url>`;
const file = (loc: string, lastmod = ''): string =>
  `<sitemap><loc>${loc}</loc>${lastmod === '' ? '' : `<lastmod>${lastmod}</lastmod>`}</sitemap>`;

describe('sitemaps', () => {
  test('fresh entries of the site are submitted, others are not', async () => {
    const result = await read(
      'channel',
      `<urlset>${url('http://h.test/a')}${url('http://h.test/old', '2025-01-01')}${url('http://other.test/b')}${url('http://www.h.test/c', '2026-03-03')}</urlset>`,
    );
    expect(result).toMatchObject({ outcome: 'channel', reading: { error: null, skipped: 1 } });
    expect(result.outcome === 'channel' && result.found.map((one) => one.url)).toEqual([
      'http://h.test/a',
      'http://www.h.test/c',
    ]);
  });

  test('a file that dates everything today gives no more than a file may name, the newest first', async () => {
    const entries = Array.from({ length: 120_000 }, (_, i) =>
      url(`http://h.test/${i}`, i === 119_999 ? '2026-03-04T11:00:00Z' : '2026-03-03'),
    );
    const result = await read('channel', `<urlset>${entries.join('')}</urlset>`);
    expect(result.outcome === 'channel' && result.found.length).toBe(50_000);
    expect(result.outcome === 'channel' && result.found[0]?.url).toBe('http://h.test/119999');
  });

  test('an index leads to files of its own domain only, newest first, and never to itself', async () => {
    const own = 'http://www.h.test/sitemap.xml';
    const result = await read(
      'channel',
      `<sitemapindex>${file('http://h.test/undated.xml')}${file('http://h.test/b.xml', '2026-03-03')}${file('http://h.test/a.xml', '2026-03-04')}${file('http://news.h.test/c.xml')}${file('http://other.test/d.xml')}${file(own)}</sitemapindex>`,
      own,
    );
    expect(result.outcome === 'channel' && result.reading.children).toEqual([
      'http://h.test/a.xml',
      'http://h.test/b.xml',
      'http://h.test/undated.xml',
    ]);
  });
});

describe('listings', () => {
  const links = Array.from(
    { length: 6 },
    (_, i) => `<a href="/2026/03/04/some-news-of-the-day-${i}">news ${i}</a>`,
  );
  const padding = `<!-- ${'x'.repeat(600)} -->`;

  test('a page of links is a listing, however little it says', async () => {
    const result = await read(
      'listing',
      `<title>404 jobs</title>${links.join('')}<input type="password">${padding}`,
      'http://h.test/',
    );
    expect(result.outcome).toBe('links');
    expect(result.outcome === 'links' && result.found.length).toBe(6);
  });

  test.each([
    ['challenge', '<title>Just a moment...</title><div id="challenge-stage">Checking your browser</div>'],
    ['soft_404', '<title>Page not found</title><h1>Page not found</h1>'],
    ['login_wall', '<h1>Sign in</h1><form><input type="password"></form>'],
  ])('a page that is none: %s', async (reason, html) => {
    expect(await read('listing', html + padding, 'http://h.test/')).toMatchObject({
      outcome: 'rejected',
      reason,
    });
  });
});
