import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createListWriter, type ListEntry, type ListedSource, type ListFormat, readList } from './index.ts';

/** Cut into small chunks, so that every seam is met. */
function* chunksOf(text: string | Uint8Array, size = 7): Generator<Uint8Array> {
  const bytes = Buffer.from(text as string);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(text: string | Uint8Array, format?: ListFormat, size?: number): Promise<ListEntry[]> {
  const entries: ListEntry[] = [];
  for await (const entry of readList(chunksOf(text, size), format === undefined ? {} : { format }))
    entries.push(entry);
  return entries;
}

const sourcesOf = (entries: readonly ListEntry[]): ListedSource[] =>
  entries.map((entry) => {
    if (entry.outcome === 'bad') throw new Error(`line ${entry.line}: ${entry.reason}`);
    return entry.source;
  });

const badOf = (entries: readonly ListEntry[]): [number, string][] =>
  entries.flatMap((entry) => (entry.outcome === 'bad' ? [[entry.line, entry.reason]] : []));

function write(sources: readonly ListedSource[], format: ListFormat): string {
  const writer = createListWriter(format);
  return writer.head() + sources.map((one) => writer.source(one)).join('') + writer.foot();
}

/** Rows of one source come one by one from tables and outlines. */
function merged(sources: readonly ListedSource[]): ListedSource[] {
  const byUrl = new Map<string, ListedSource>();
  for (const one of sources) {
    const known = byUrl.get(one.url);
    if (known === undefined) byUrl.set(one.url, one);
    else known.channels.push(...one.channels);
  }
  return [...byUrl.values()];
}

const line = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
  .map((text) => text.replace(/[\u0000-\u001f\u007f\ufffe\uffff]+/g, ' ').trim())
  .filter((text) => text !== '' && Buffer.from(text).toString() === text);
const tricky = fc.constantFrom('=1+1', "'=x", '"', 'a,b;c', '<&>', '-', '@a').map((one) => `${one}!`);
const channel = fc.record(
  {
    kind: fc.constantFrom('feed', 'sitemap', 'page' as const),
    url: fc.nat().map((n) => `https://c${n}.example/feed?a=1&b="${n}"`.replaceAll('"', '%22')),
    title: fc.oneof(line, tricky),
    enabled: fc.boolean(),
    intervalSeconds: fc.integer({ min: 30, max: 2_592_000 }),
    foundBy: fc.constantFrom('manual', 'link', 'path', 'robots', 'archive' as const),
  },
  { requiredKeys: ['kind', 'url'] },
);
const source = fc.record(
  {
    url: fc.nat().map((n) => `https://s${n}.example/`),
    name: fc.oneof(line, tricky),
    slug: fc.nat().map((n) => `slug_${n}`),
    enabled: fc.boolean(),
    disableReason: line,
    ingestionMode: fc.constantFrom('feed', 'spider', 'both' as const),
    feedPollIntervalMinutes: fc.integer({ min: 1, max: 43_200 }),
    priority: fc.integer({ min: 1, max: 10 }),
    rateLimitMs: fc.integer({ min: 0, max: 86_400_000 }),
    settings: fc.record({
      include: fc.array(fc.constantFrom('/news/', '^https://', 'a|b,"c"'), { maxLength: 3 }),
      proxies: fc.constantFrom(['http://user:pa,ss@host:3128'], []),
      selectors: fc.constant({ title: 'h1 > "x"' }),
      respectRobots: fc.boolean(),
      render: fc.constantFrom('auto', 'always', 'never' as const),
      maxDepth: fc.integer({ min: 0, max: 9 }),
    }),
    channels: fc.uniqueArray(channel, { maxLength: 3, selector: (one) => one.url }),
  },
  { requiredKeys: ['url', 'name', 'channels'] },
);

describe('what is written is read back', () => {
  it.each(['json', 'ndjson', 'csv', 'opml'] as const)('%s keeps every setting', async (format) => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(source, { maxLength: 4, selector: (one) => one.url }),
        fc.integer({ min: 1, max: 300 }),
        async (sources, size) => {
          const text = write(sources as ListedSource[], format);
          expect(merged(sourcesOf(await read(text, format, size)))).toEqual(sources);
          if (sources.length > 0) expect(merged(sourcesOf(await read(text)))).toEqual(sources);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('plain addresses keep the addresses', async () => {
    expect(write([{ url: 'https://a.example/', channels: [] }], 'lines')).toBe('https://a.example/\n');
  });

  it('a spreadsheet is given no formula', () => {
    const csv = write([{ url: 'https://a.example/', name: '=HYPERLINK("x")', channels: [] }], 'csv');
    expect(csv).toContain(`"'=HYPERLINK(""x"")"`);
  });
});

describe('files of others', () => {
  it('reads addresses one per line, with or without a scheme', async () => {
    const entries = await read(
      '\ufeff# mine\nexample.com\r\n\nhttp://b.example:8080/x\nc.example:81\nfeed://d.example/rss\n',
    );
    expect(sourcesOf(entries).map((one) => one.url)).toEqual([
      'https://example.com/',
      'http://b.example:8080/x',
      'https://c.example:81/',
      'http://d.example/rss',
    ]);
  });

  it.each(['\r', '\r\n', '\n'])('takes %j for the end of a line', async (end) => {
    const text = ['name,url', '"One, ""1""",one.example', '', 'Two,two.example', ',nonsense', ''].join(end);
    for (const size of [1, 7, 1000]) {
      const entries = await read(text, undefined, size);
      expect(sourcesOf(entries.slice(0, 2)).map(({ name, url }) => [name, url])).toEqual([
        ['One, "1"', 'https://one.example/'],
        ['Two', 'https://two.example/'],
      ]);
      expect(badOf(entries)).toEqual([[5, '"nonsense" is not a web address']]);
    }
    expect((await read(`a.example${end}b.example`, 'lines')).length).toBe(2);
  });

  it('reads OPML with folders, several feeds of a site and a bad one', async () => {
    const entries = await read(`<?xml version="1.0"?>
<opml version="1.0"><body>
  <outline text="News"><outline
     type="rss" text="One" xmlUrl="https://one.example/a.xml" htmlUrl="https://one.example/"/>
    <outline text="Two" xmlUrl="https://one.example/b.xml" htmlUrl="https://one.example/"/></outline>
  <outline text="bad" xmlUrl="ftp://x"/>
  <outline text="Alone" xmlUrl="https://feeds.example/alone"/>
</body></opml>`);
    expect(badOf(entries)).toEqual([[6, '"ftp://x" is not a web address']]);
    expect(sourcesOf(entries.filter((one) => one.outcome === 'source'))).toEqual([
      {
        url: 'https://one.example/',
        name: 'One',
        channels: [{ kind: 'feed', url: 'https://one.example/a.xml', title: 'One' }],
      },
      {
        url: 'https://one.example/',
        name: 'Two',
        channels: [{ kind: 'feed', url: 'https://one.example/b.xml', title: 'Two' }],
      },
      {
        url: 'https://feeds.example/alone',
        name: 'Alone',
        channels: [{ kind: 'feed', url: 'https://feeds.example/alone', title: 'Alone' }],
      },
    ]);
  });

  it.each([
    ['commas', 'Title,Website,RSS\r\n"A, B",a.example,https://a.example/rss\r\n'],
    [
      'semicolons and old bytes',
      Buffer.from(
        'Title;Website;RSS\r\n"A, B";a.example;https://a.example/rss\r\nCaf\xe9;c.example;\r\n',
        'latin1',
      ),
    ],
    ['tabs', 'name\turl\tfeed url\n"A, B"\ta.example\thttps://a.example/rss\n'],
  ])('reads a table with %s', async (_name, text) => {
    const [first, second] = sourcesOf(await read(text, undefined, 200));
    expect(first).toEqual({
      url: 'https://a.example/',
      name: 'A, B',
      channels: [{ kind: 'feed', url: 'https://a.example/rss' }],
    });
    if (second !== undefined) expect(second.name).toBe('Café');
  });

  it.each([
    ['["a.example", {"url": "b.example"}]'],
    ['{"sources": [ "a.example",\n {"url": "b.example"} ], "more": [1]}'],
    ['{"url": "a.example"}\n\n{"url": "b.example"}\n'],
  ])('reads %s', async (text) => {
    expect(sourcesOf(await read(text)).map((one) => one.url)).toEqual([
      'https://a.example/',
      'https://b.example/',
    ]);
  });

  it('reads one object over several lines when it is told that it is JSON', async () => {
    expect(sourcesOf(await read('{\n "url": "a.example",\n "channels": []\n}', 'json'))).toHaveLength(1);
  });
});

describe('hostile files', () => {
  it('names each bad line and goes on', async () => {
    expect(badOf(await read('a.example\nhttp://[\nword\nmailto:x@y.example\nb.example\n', 'lines'))).toEqual([
      [2, '"http://[" is not a web address'],
      [3, '"word" is not a web address'],
      [4, '"mailto:x@y.example" is not a web address'],
    ]);
    expect(
      badOf(
        await read('{"url":"a.example"}\n{"url":\n[1]\n{"url":"b.example","priority":11}\n7\n', 'ndjson'),
      ),
    ).toEqual([
      [2, 'the file ends inside this entry'],
      [3, 'neither an address nor an object'],
      [4, 'priority is no whole number from 1 to 10'],
      [5, 'neither an address nor an object'],
    ]);
  });

  it('a quotation mark that nobody closes costs its own line', async () => {
    const entries = await read('url,name\na.example,"open\nb.example,B\nc.example,C\n', 'csv');
    expect(badOf(entries)).toEqual([[2, 'a quotation mark is never closed']]);
    expect(entries.flatMap((one) => (one.outcome === 'source' ? [one.source.name] : []))).toEqual(['B', 'C']);
  });

  it('settings nobody could use are refused with the reason', async () => {
    const refuse = async (settings: unknown) =>
      badOf(await read(JSON.stringify([{ url: 'a.example', settings }])))[0]?.[1];
    expect(await refuse({ include: '(' })).toMatch(/settings.include is no list/);
    expect(await refuse({ include: ['('] })).toMatch(/settings.include has a pattern nobody can match/);
    expect(await refuse({ proxies: ['gopher://x'] })).toBe('settings.proxies is no list of proxy addresses');
    expect(await refuse({ selectors: { nonsense: 'a' } })).toMatch(/settings.selectors cannot be used/);
    expect(await refuse({ respectRobots: 'no' })).toMatch(/settings.respectRobots/);
    expect(await refuse({ render: 'yes' })).toBe('settings.render is none of auto, always and never');
    expect(await refuse({ images: 'keep' })).toBe('settings.images is none of off, reference and store');
    expect(await refuse([])).toBe('settings is no object');
    expect(await refuse({ constructor: 1, later: true })).toBeUndefined();
  });

  it('reads an OPML file that is one line, however long', async () => {
    const outlines = Array.from(
      { length: 12_000 },
      (_, n) =>
        `<outline text="Feed ${n}" xmlUrl="https://site-${n}.example/feed" htmlUrl="https://site-${n}.example/"/>`,
    );
    const entries = await read(
      `<opml><body>${outlines.join('')}</body></opml>\n<!-- end -->`,
      'opml',
      65_536,
    );
    expect(badOf(entries)).toEqual([]);
    expect(entries).toHaveLength(12_000);
    expect(entries.at(-1)).toMatchObject({ line: 1, source: { url: 'https://site-11999.example/' } });
  });

  it('bounds length, depth and number', async () => {
    expect(badOf(await read(`${'x'.repeat(3000)}\na.example`, 'lines', 1000))).toEqual([
      [1, 'too long for an address'],
    ]);
    const deep = `[${'['.repeat(100)}${']'.repeat(100)}, "a.example"]`;
    const entries = await read(deep);
    expect(badOf(entries)).toEqual([[1, 'nested deeper than 32 levels']]);
    expect(entries).toHaveLength(2);
    const long = await read(`["${'x'.repeat(1_000_001)}", "a.example"]`, 'json', 100_000);
    expect(badOf(long)).toEqual([[1, 'longer than 1000000 characters']]);
    expect(long).toHaveLength(2);
    const wide = `<opml><outline xmlUrl="https://a.example/${' '.repeat(200_000)}\n"/><outline xmlUrl="https://b.example/"/>`;
    expect((await read(wide, 'opml', 100_000)).at(-1)).toMatchObject({
      source: { url: 'https://b.example/' },
    });
  });

  it('never throws, whatever the bytes and the format', async () => {
    const json = fc.string({
      unit: fc.constantFrom('[', ']', '{', '}', '"', ',', '\\', 'a', '\n', '<', '>'),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.uint8Array({ maxLength: 300 }),
          json.map((text) => Buffer.from(text)),
        ),
        fc.constantFrom(undefined, 'opml', 'csv', 'json', 'ndjson', 'lines' as const),
        async (bytes, format) => void (await read(bytes, format as ListFormat | undefined, 50)),
      ),
      { numRuns: 500 },
    );
  });
});
