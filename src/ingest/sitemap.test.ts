import { describe, expect, test } from 'vitest';
import { makeLeasedUrl, makeSettings } from '../../test/setup/page-response.ts';
import type { SubmitItem } from '../frontier/index.ts';
import type { IngestSettings } from './response.ts';
import { SeenAddresses } from './seen.ts';
import { readSitemapChannel } from './sitemap.ts';

const nowMs = Date.parse('2026-03-04T12:00:00Z');
const own = 'http://h.test/sitemap.xml';

async function* chunksOf(texts: Iterable<string>): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text);
}

/** Reads a file; `stored` is what the poll before left. */
async function read(
  texts: Iterable<string>,
  {
    stored = null,
    change = {},
    url = own,
  }: { stored?: Buffer | null; change?: Partial<IngestSettings>; url?: string } = {},
) {
  const batches: SubmitItem[][] = [];
  const seen = new SeenAddresses(stored);
  const settings = { ...makeSettings({ url: 'http://h.test/' }), nowMs, ...change };
  const ingested = await readSitemapChannel(
    chunksOf(texts),
    {
      row: makeLeasedUrl({ kind: 'channel', url }),
      finalUrl: url,
      headers: { 'content-type': 'application/xml' },
    },
    settings,
    { submit: async (items) => batches.push(items), seen },
  );
  if (ingested.outcome !== 'channel') throw new Error(ingested.outcome);
  return {
    reading: ingested.reading,
    urls: batches.flat().map((one) => one.url),
    batches,
    stored: seen.pack(ingested.reading.isWhole),
  };
}

const entry = (loc: string, lastmod = '2026-03-04'): string =>
  `<url><loc>${loc}</loc>${lastmod === '' ? '' : `<lastmod>${lastmod}</lastmod>`}</url>`;
const urlset = (...entries: string[]): string[] => ['<urlset>', ...entries, '</urlset>'];
const file = (loc: string, lastmod = ''): string =>
  `<sitemap><loc>${loc}</loc>${lastmod === '' ? '' : `<lastmod>${lastmod}</lastmod>`}</sitemap>`;
const index = (...files: string[]): string[] => ['<sitemapindex>', ...files, '</sitemapindex>'];

describe('entries with dates', () => {
  test('fresh ones of the site are submitted, others are not', async () => {
    const { reading, urls } = await read(
      urlset(
        entry('http://h.test/a'),
        entry('http://h.test/old', '2026-03-02T11:59:00Z'),
        entry('http://other.test/b'),
        entry('http://www.h.test/c', '2026-03-02T12:01:00Z'),
      ),
    );
    expect(reading).toMatchObject({ error: null, skipped: 1, format: 'sitemap urlset', files: null });
    expect(urls).toEqual(['http://h.test/a', 'http://www.h.test/c']);
  });

  test.each([
    ['http://192.0.2.1/sitemap.xml', 'http://192.0.2.1/a', 'http://192.0.2.2/b'],
    ['http://intranet/sitemap.xml', 'http://intranet/a', 'http://router/b'],
  ])('%s lists its own host only', async (url, own, other) => {
    const { urls, reading } = await read(urlset(entry(own), entry(other)), { url });
    expect([urls, reading.skipped]).toEqual([[own], 1]);
  });

  test('another host counts when its robots.txt names the file', async () => {
    const change = { namedBy: ['http://other.test/'] };
    const { reading, urls } = await read(urlset(entry('http://other.test/b'), entry('http://third.test/c')), {
      change,
    });
    expect(urls).toEqual(['http://other.test/b']);
    expect(reading.skipped).toBe(1);
  });

  test('files, and what its source leaves out, are counted by reason and not submitted', async () => {
    const source = makeSettings({
      url: 'http://h.test/',
      settings: { include: ['/news/'], exclude: ['/sport/'] },
    });
    const { reading, urls } = await read(
      urlset(
        ...['news/a', 'news/report.pdf', 'news/sport/b', 'other/c', 'news/about-node.js', 'news/login'].map(
          (path) => entry(`http://h.test/${path}`),
        ),
      ),
      { change: { source: source.source } },
    );
    expect(urls.map((url) => new URL(url).pathname)).toEqual([
      '/news/a',
      '/news/about-node.js',
      '/news/login',
    ]);
    expect(reading.refused).toEqual({ binary_extension: 1, excluded: 1, not_included: 1 });
    expect(reading.skipped).toBe(0);
    // A rhythm is learnt from what is taken.
    expect(reading.dates).toHaveLength(3);
  });

  test('a file that dates all it lists by the moment it is asked has no dates', async () => {
    const many = (count: number, from: number, stepMs: number) =>
      Array.from({ length: count }, (_, n) =>
        entry(`http://h.test/p${n}`, new Date(nowMs - from - n * stepMs).toISOString()),
      );
    const first = await read(urlset(...many(700, 2000, 1)));
    // The baseline of a file without dates.
    expect(first.urls).toHaveLength(100);
    expect(first.batches.flat().every(({ modifiedAt }) => modifiedAt === null)).toBe(true);
    const again = await read(
      urlset(entry('http://h.test/fresh', new Date(nowMs).toISOString()), ...many(700, 0, 1)),
      {
        stored: first.stored,
      },
    );
    expect(again.urls).toEqual(['http://h.test/fresh']);
    // Few entries, different hours, or a moment that is past: they may well be true.
    for (const [count, from, stepMs] of [
      [5, 0, 1],
      [200, 0, 600_000],
      [200, 3_600_000, 1],
    ] as const)
      expect((await read(urlset(...many(count, from, stepMs)))).urls).toHaveLength(count);
  });

  test('a date of news counts as one of change', async () => {
    const news = `<url><loc>http://h.test/n</loc><news:news><news:publication_date>2026-03-04T11:00:00Z</news:publication_date></news:news></url>`;
    const { batches, reading } = await read(urlset(news));
    expect(batches[0]![0]).toMatchObject({ publishedAt: new Date('2026-03-04T11:00:00Z') });
    expect(reading.dates).toEqual([Date.parse('2026-03-04T11:00:00Z')]);
  });

  test('a file of any size goes out in batches, and no more of it than a file may name', async () => {
    function* texts(): Generator<string> {
      yield '<urlset>';
      for (let n = 0; n < 120_000; n += 1) yield entry(`http://h.test/${n}`);
      yield '</urlset>';
    }
    const { urls, batches } = await read(texts());
    expect(urls.length).toBe(50_000);
    expect(Math.max(...batches.map((one) => one.length))).toBeLessThanOrEqual(500);
  });
});

describe('entries of a month or a year', () => {
  const vague = (from: number, until: number, lastmod: string): string[] =>
    Array.from({ length: until - from }, (_, n) => entry(`http://h.test/story-${from + n}`, lastmod));

  test.each(['2026-03', '2026', ' 2026-03\n'])('%j is no date to tell news by', async (lastmod) => {
    const first = await read(urlset(...vague(0, 300, lastmod)));
    expect(first.urls.length).toBe(100);
    const later = await read(urlset(...vague(0, 301, lastmod)), { stored: first.stored });
    expect(later.urls).toEqual(['http://h.test/story-300']);
    expect(later.batches[0]![0]).toMatchObject({ modifiedAt: null });
  });

  test('a file of an index is followed, whatever the day of the month', async () => {
    const files = index(
      file('http://h.test/2026-03.xml', '2026-03'),
      file('http://h.test/a.xml', '2026-03-01'),
    );
    const { reading } = await read(files, { change: { nowMs: Date.parse('2026-03-24T12:00:00Z') } });
    expect(reading.files?.map((one) => one.url)).toEqual(['http://h.test/2026-03.xml']);
  });

  test('the date of its news holds', async () => {
    const news = `<url><loc>http://h.test/n</loc><lastmod>2026</lastmod><news:news><news:publication_date>2026-03-04T11:00:00Z</news:publication_date></news:news></url>`;
    expect((await read(urlset(news))).urls).toEqual(['http://h.test/n']);
  });
});

describe('entries without dates', () => {
  const many = (from: number, until: number): string[] =>
    Array.from({ length: until - from }, (_, n) => entry(`http://h.test/story-${from + n}`, ''));

  test('the first poll takes a hundred, later ones only what is new, wherever it stands', async () => {
    const first = await read(urlset(...many(0, 5000)));
    expect(first.urls).toEqual(Array.from({ length: 100 }, (_, n) => `http://h.test/story-${n}`));
    const again = await read(urlset(...many(0, 5000)), { stored: first.stored });
    expect(again.urls).toEqual([]);
    expect(again.stored).toBeNull();
    const more = urlset(entry('http://h.test/front', ''), ...many(0, 5000), entry('http://h.test/back', ''));
    const later = await read(more, { stored: first.stored });
    expect(later.urls).toEqual(['http://h.test/front', 'http://h.test/back']);
    expect((await read(more, { stored: later.stored })).urls).toEqual([]);
  });

  test('a file that is empty or half written for one poll does not make all of it news', async () => {
    const first = await read(urlset(...many(0, 500)));
    for (const broken of [many(0, 0), many(0, 200)]) {
      const between = await read(urlset(...broken), { stored: first.stored });
      expect(between.urls).toEqual([]);
      const stored = between.stored ?? first.stored;
      expect((await read(urlset(...many(0, 501)), { stored })).urls).toEqual(['http://h.test/story-500']);
    }
  });

  test('a small file is taken whole', async () => {
    expect((await read(urlset(...many(0, 7)))).urls.length).toBe(7);
  });

  test('the newest stand last where the addresses say so', async () => {
    const dated = Array.from({ length: 300 }, (_, n) => {
      const day = new Date(Date.UTC(2025, 0, 1 + n)).toISOString().slice(0, 10).replaceAll('-', '/');
      return entry(`http://h.test/${day}/story`, '');
    });
    expect((await read(urlset(...dated))).urls.at(-1)).toBe('http://h.test/2025/10/27/story');
    expect((await read(urlset(...dated.toReversed()))).urls[0]).toBe('http://h.test/2025/10/27/story');
  });

  test('a page that says no is a refusal', async () => {
    const html = `<!doctype html><html><title>Access Denied</title><body><h1>Access Denied</h1>${'<p></p>'.repeat(90)}`;
    const { reading } = await read(html);
    expect(reading).toMatchObject({ error: 'parse', isPage: true, refusal: { reason: 'access_denied' } });
  });

  test('a file that breaks off forgets nothing', async () => {
    const first = await read(urlset(...many(0, 50)));
    const cut = new SeenAddresses(first.stored);
    for (let n = 0; n < 30; n += 1) expect(cut.note(`http://h.test/story-${n}`)).toBe('known');
    expect(cut.note('http://h.test/new')).toBe('new');
    const kept = new SeenAddresses(cut.pack(false));
    expect(kept.note('http://h.test/story-49')).toBe('known');
    expect(new SeenAddresses(cut.pack(true)).note('http://h.test/story-49')).toBe('new');
  });

  test('what is remembered is bounded', () => {
    const seen = new SeenAddresses(null);
    const answers = Array.from({ length: 100_001 }, (_, n) => seen.note(`http://h.test/${n}`));
    expect(answers.at(-1)).toBe('too_many');
    expect(seen.pack(true)!.length).toBeLessThanOrEqual(500_000);
  });
});

describe('an index', () => {
  test('leads to fresh files of its site, newest first, and never to itself', async () => {
    const { reading, urls } = await read(
      index(
        file('http://h.test/undated.xml'),
        file('http://h.test/b.xml', '2026-03-03'),
        file('http://h.test/a.xml', '2026-03-04'),
        file('http://h.test/old.xml', '2025-01-01'),
        file('http://news.h.test/c.xml'),
        file('http://other.test/d.xml'),
        file(own),
      ),
    );
    expect(urls).toEqual([]);
    expect(reading.files!.map((one) => one.url)).toEqual([
      'http://h.test/a.xml',
      'http://h.test/b.xml',
      'http://h.test/undated.xml',
      'http://news.h.test/c.xml',
    ]);
  });

  test('of any length leads to a hundred', async () => {
    const files = Array.from({ length: 3000 }, (_, n) => file(`http://h.test/${n}.xml`, '2026-03-04'));
    expect((await read(index(...files))).reading.files!.length).toBe(100);
  });
});

test.each([
  ['<!doctype html><html><body>gone</body></html>', true],
  ['nothing at all', false],
  ['', false],
])('%j is no sitemap', async (text, isPage) => {
  const { reading } = await read([text]);
  expect(reading).toMatchObject({ error: 'parse', isPage });
});
