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
  channel: null,
  minWords: 50,
  minBodyBytes: 500,
  keepHtml: 'none',
  sitemapMaxAgeMs: 48 * 3_600_000,
  nowMs,
};

function read(
  kind: 'channel' | 'listing' | 'article' | 'probe',
  text: string,
  change: Partial<IngestSettings> = {},
): Promise<Ingested> {
  const finalUrl = 'http://h.test/';
  const body = Buffer.from(text);
  const response = {
    row: { kind, url: finalUrl, sourceId: 1, depth: 0, hash } as LeasedUrl,
    finalUrl,
    finalHash: hash,
    status: 200,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body,
    wireBody: body,
    contentEncoding: null,
  };
  return ingest(response, { ...settings, ...change });
}

test('when a feed has news is learnt from what is taken of it', async () => {
  const item = (link: string, hour: number): string =>
    `<item><title>t</title>${link}<pubDate>2026-03-04T0${hour}:00:00Z</pubDate></item>`;
  const items = [
    item('<link>http://h.test/news/a</link>', 1),
    item('<link>http://h.test/sport/b</link>', 2),
    item('<link>http://h.test/news/c.mp3</link>', 3),
    item('', 4),
  ];
  const picky = { ...source, settings: { exclude: ['/sport/'] } } as Source;
  const feed = await read('channel', `<rss version="2.0"><channel>${items.join('')}</channel></rss>`, {
    source: picky,
    channel: { kind: 'feed' } as Channel,
  });
  if (feed.outcome !== 'channel') throw new Error(feed.outcome);
  expect(feed.found).toHaveLength(1);
  expect(feed.reading.dates).toEqual([Date.parse('2026-03-04T01:00:00Z')]);
});

test('a feed that dates all its items by the moment it is asked has no dates', async () => {
  const datesOf = async (count: number, agoMs: number, stepMs: number) => {
    const items = Array.from({ length: count }, (_, n) => {
      const date = new Date(nowMs - agoMs - n * stepMs).toUTCString();
      return `<item><link>http://h.test/news/${n}</link><pubDate>${date}</pubDate></item>`;
    });
    const feed = await read('channel', `<rss version="2.0"><channel>${items.join('')}</channel></rss>`, {
      channel: { kind: 'feed' } as Channel,
    });
    if (feed.outcome !== 'channel') throw new Error(feed.outcome);
    return new Set(feed.found.map(({ modifiedAt }) => modifiedAt !== null));
  };
  expect(await datesOf(12, 2000, 0)).toEqual(new Set([false]));
  for (const [count, agoMs, stepMs] of [
    [5, 0, 0],
    [12, 0, 60_000],
    [12, 3_600_000, 0],
  ] as const)
    expect(await datesOf(count, agoMs, stepMs)).toEqual(new Set([true]));
});

test('a feed may ask for any pause: what it says can be stored', async () => {
  for (const [minutes, seconds] of [
    ['60', 3600],
    ['999999999', 2_592_000],
  ]) {
    const feed = await read('channel', `<rss version="2.0"><channel><ttl>${minutes}</ttl></channel></rss>`, {
      channel: { kind: 'feed' } as Channel,
    });
    expect(feed).toMatchObject({ outcome: 'channel', reading: { error: null, floorSeconds: seconds } });
  }
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
    );
    expect(result.outcome).toBe('links');
  });

  test.each([
    ['challenge', '<title>Just a moment...</title><div id="challenge-stage">Checking your browser</div>'],
    ['soft_404', '<title>Page not found</title><h1>Page not found</h1>'],
    ['login_wall', '<h1>Sign in</h1><form><input type="password"></form>'],
  ])('a page that is none: %s', async (reason, html) => {
    expect(await read('listing', html + padding)).toMatchObject({
      outcome: 'rejected',
      reason,
    });
  });
});

describe('a page of few bytes', () => {
  const note =
    '<title>Lamps back on</title><p>The lamps on the old mole are back on since Tuesday night.</p>';

  test.each([
    ['article', 500, { outcome: 'rejected', reason: 'too_short' }],
    ['article', note.length + 1, { outcome: 'rejected', reason: 'too_short' }],
    ['article', note.length, { outcome: 'document', stub: true }],
    ['article', 0, { outcome: 'document', stub: true }],
    ['listing', 500, { outcome: 'links' }],
  ] as const)('is read as %s, where a body needs %i bytes', async (kind, minBodyBytes, expected) => {
    expect(await read(kind, note, { minBodyBytes })).toMatchObject(expected);
  });

  test('that has only scripts is a matter for a browser, unless it is too small for a page', async () => {
    const scripts = '<script>start()</script>';
    expect(await read('listing', scripts, { minBodyBytes: 0 })).toMatchObject({ reason: 'needs_javascript' });
    expect(await read('listing', scripts)).toMatchObject({ outcome: 'links' });
  });
});

describe('a page that leads on by <meta http-equiv="refresh">', () => {
  const lead = '<meta http-equiv="refresh" content="0; url=https://example.com/new">';
  const links = Array.from({ length: 6 }, (_, i) => `<a href="/news-of-the-day-${i}">news ${i}</a>`).join('');
  const text = Array.from(
    { length: 8 },
    (_, i) => `<p>On day ${i} the harbour of town ${i} was closed, and ferry ${i} stayed where it was.</p>`,
  ).join('');

  test.each([
    ['article', `${lead}<p>This page has moved.</p>`, { outcome: 'moved', to: 'https://example.com/new' }],
    ['listing', lead, { outcome: 'moved', to: 'https://example.com/new' }],
    ['probe', lead, { outcome: 'probe', result: { kind: 'redirect', url: 'https://example.com/new' } }],
    // Who has something to say is heard.
    ['article', `${lead}<h1>Storm</h1>${text}`, { outcome: 'document' }],
    ['listing', lead + links, { outcome: 'links' }],
    ['probe', lead + links, { outcome: 'probe', result: { kind: 'page' } }],
    [
      'probe',
      `${lead}<link rel="alternate" type="application/rss+xml" href="/f">`,
      { result: { kind: 'page' } },
    ],
    [
      'article',
      `${lead}<title>Just a moment...</title><div id="challenge-stage"></div>`,
      { reason: 'challenge' },
    ],
    ['article', `${lead}<title>Page not found</title>`, { reason: 'soft_404' }],
  ] as const)('%s: %.80s', async (kind, html, expected) => {
    expect(await read(kind, html)).toMatchObject(expected);
  });
});

describe('a page in the place of a feed', () => {
  const channel = { kind: 'feed' } as Channel;
  const padding = `<!-- ${'x'.repeat(600)} -->`;

  test('that says no is a refusal', async () => {
    const html = `<!doctype html><title>One moment, please...</title><p>Please wait while your request is being verified...</p>${padding}`;
    expect(await read('channel', html, { channel })).toMatchObject({
      outcome: 'channel',
      reading: { error: 'parse', isPage: true, refusal: { reason: 'challenge' } },
    });
  });

  test('that shows something else is none', async () => {
    const links = Array.from({ length: 6 }, (_, i) => `<a href="/${i}">news ${i}</a>`).join('');
    for (const html of [`<!doctype html><h1>Please log in</h1>${links}`, '<!doctype html><h1>We moved</h1>'])
      expect(await read('channel', html + padding, { channel })).toMatchObject({
        reading: { error: 'parse', isPage: true, refusal: null },
      });
  });
});

describe('a page as a channel', () => {
  const channel = { kind: 'page' } as Channel;
  const feedMode = { ...source, ingestionMode: 'feed' } as Source;

  test('gives its articles, whatever the mode of its source', async () => {
    const html = `<main><a href="/2026/03/04/some-news-of-the-day-1">one</a><a href="/2026/03/04/some-news-of-the-day-2">two</a><a href="/about">us</a></main>`;
    const result = await read('channel', html, { channel, source: feedMode });
    expect(result).toMatchObject({ outcome: 'channel', reading: { error: null, format: 'page' } });
    expect(result.outcome === 'channel' && result.found.map((one) => one.kind)).toEqual([
      'article',
      'article',
    ]);
  });

  test('without links is a parse error', async () => {
    expect(await read('channel', '<p>gone</p>', { channel })).toMatchObject({
      outcome: 'channel',
      reading: { error: 'parse' },
    });
  });
});
