import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSitemap, readSitemap, type SitemapEntry, type SitemapOptions } from './index.ts';

const urlset = (...entries: string[]) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries.join('')}</urlset>`;
const url = (path: string, more = '') => `<url><loc>https://example.com${path}</loc>${more}</url>`;
const parse = (text: string | Uint8Array, options: SitemapOptions = {}) =>
  parseSitemap(Buffer.from(text), options);
const paths = (entries: readonly SitemapEntry[]) =>
  entries.map((entry) => entry.loc.replace('https://example.com', ''));

describe('forms', () => {
  it('reads a urlset with all its fields', async () => {
    const fields = '<lastmod>2024-05</lastmod><changefreq>Daily</changefreq><priority>0.8</priority>';
    const result = await parse(urlset(url('/a?x=1&amp;y=2', fields), url('/b')));
    expect(result).toMatchObject({ kind: 'urlset', count: 2, invalid: 0, stopped: null, error: null });
    expect(result.entries[0]).toEqual({
      loc: 'https://example.com/a?x=1&y=2',
      lastModified: new Date('2024-05-01T00:00:00Z'),
      isVague: true,
      changeFrequency: 'daily',
      priority: 0.8,
      news: null,
      images: [],
    });
    expect(result.entries[1]).toMatchObject({ lastModified: null, changeFrequency: null, priority: null });
  });

  it('reads an index, several addresses in one entry included', async () => {
    const text =
      '<sitemapindex><sitemap><loc>https://example.com/1.xml</loc><loc>https://example.com/2.xml</loc></sitemap></sitemapindex>';
    const result = await parse(text);
    expect([result.kind, paths(result.entries)]).toEqual(['index', ['/1.xml', '/2.xml']]);
  });

  it('reads news, whose date stands in for a missing lastmod', async () => {
    const news =
      '<n:news><n:publication><n:name>The Paper</n:name><n:language>en</n:language></n:publication>' +
      '<n:publication_date>2024-05-06T07:08:09+02:00</n:publication_date><n:title>It &amp; that</n:title></n:news>';
    const [entry] = (await parse(urlset(url('/a', news)))).entries;
    expect(entry?.news).toEqual({
      title: 'It & that',
      publicationDate: new Date('2024-05-06T05:08:09Z'),
      name: 'The Paper',
      language: 'en',
    });
    expect(entry?.lastModified).toEqual(new Date('2024-05-06T05:08:09Z'));
  });

  it('keeps images apart from pages', async () => {
    for (const prefix of ['image:', 'wrong:', '']) {
      const image = `<${prefix}image><${prefix}loc>https://cdn.example/i.jpg</${prefix}loc></${prefix}image>`;
      const result = await parse(urlset(url('/a', `${image}<lastmod>2024</lastmod>`)));
      expect(result.entries).toHaveLength(1);
      expect(result.entries[0]).toMatchObject({
        images: ['https://cdn.example/i.jpg'],
        lastModified: new Date('2024'),
      });
    }
  });

  it('reads plain text', async () => {
    const result = await parse(
      '\ufeffhttps://example.com/a\r\n\r\n  https://example.com/b  \nnot an address\n',
    );
    expect([result.kind, paths(result.entries), result.invalid]).toEqual(['text', ['/a', '/b'], 1]);
  });

  it('reads gzip, packed twice, cut and damaged', async () => {
    const text = urlset(...Array.from({ length: 3000 }, (_, index) => url(`/${index}-${Math.sin(index)}`)));
    const once = gzipSync(text);
    expect((await parse(once)).count).toBe(3000);
    expect((await parse(gzipSync(once))).count).toBe(3000);
    const cut = await parse(once.subarray(0, once.length / 2));
    expect(cut.kind).toBe('urlset');
    expect(cut.count).toBeGreaterThan(1000);
    const damaged = Buffer.from(once);
    const middle = Math.floor(damaged.length / 2);
    damaged.fill(0xff, middle, middle + 100);
    expect(await parse(damaged)).toMatchObject({ kind: 'urlset', stopped: 'corrupt_gzip' });
    expect((await parse(gzipSync(gzipSync(once)))).kind).toBe('error');
  });

  it('reads UTF-16', async () => {
    const text = Buffer.from(`\ufeff${urlset(url('/ä'))}`, 'utf16le');
    expect(paths((await parse(text)).entries)).toEqual(['/%C3%A4']);
    expect(paths((await parse(text.swap16())).entries)).toEqual(['/%C3%A4']);
  });

  it('reads feeds that serve as sitemaps', async () => {
    const rss =
      '<rss version="2.0"><channel><link>https://example.com/</link><item><link>https://example.com/a</link>' +
      '<pubDate>Mon, 06 May 2024 07:08:09 GMT</pubDate></item></channel></rss>';
    const result = await parse(rss);
    expect([result.kind, paths(result.entries)]).toEqual(['feed', ['/a']]);
    expect(result.entries[0]?.lastModified).toEqual(new Date('2024-05-06T07:08:09Z'));
  });
});

describe('broken files', () => {
  it.each([
    ['no namespace', '<urlset><url><loc>https://example.com/a</loc></url></urlset>', ['/a']],
    ['prefix', '<s:urlset><s:url><s:loc>https://example.com/a</s:loc></s:url></s:urlset>', ['/a']],
    ['upper case', '<URLSET><URL><LOC>https://example.com/a</LOC></URL></URLSET>', ['/a']],
    ['warning before', `<br />\n<b>Warning</b>: x\n${urlset(url('/a'))}`, ['/a']],
    ['text before', `Warning: x\n${urlset(url('/a'))}`, ['/a']],
    ['blanks and mark', `\ufeff \n ${urlset(url('/a'))}`, ['/a']],
    ['no root', url('/a') + url('/b'), ['/a', '/b']],
    [
      'unclosed url',
      '<urlset><url><loc>https://example.com/a</loc><url><loc>https://example.com/b</loc>',
      ['/a', '/b'],
    ],
    [
      'unclosed loc',
      '<urlset><url><loc>https://example.com/a</url><url><loc>https://example.com/b</url>',
      ['/a', '/b'],
    ],
    ['loc closed by a field', '<urlset><url><loc>https://example.com/a<lastmod>2024</lastmod></url>', ['/a']],
    ['url in loc', '<urlset><url><loc><url>https://example.com/a</url></loc></url>', ['/a']],
    ['address without loc', '<urlset><url>\nhttps://example.com/a\n</url></urlset>', ['/a']],
    ['CDATA', '<urlset><url><loc>\n<![CDATA[ https://example.com/a?b&c ]]>\n</loc></url>', ['/a?b&c']],
    ['raw ampersand', '<urlset><url><loc>https://example.com/a?b=1&c=2</loc></url>', ['/a?b=1&c=2']],
    ['escaped twice', '<urlset><url><loc>https://example.com/a?b=1&amp;amp;c=2</loc></url>', ['/a?b=1&c=2']],
    [
      'escaped inside CDATA',
      '<urlset><url><loc><![CDATA[https://example.com/a?b=1&amp;c=2]]></loc></url>',
      ['/a?b=1&c=2'],
    ],
    ['link never closed', urlset(`<url><xhtml:link href="x"><loc>https://example.com/a</loc></url>`), ['/a']],
    ['cut in the end tag', '<urlset><url><loc>https://example.com/a</lo', ['/a']],
    ['cut in the address', `<urlset>${url('/a')}<url><loc>https://example.com/b`, ['/a']],
    [
      'unusable addresses',
      urlset(url('/a'), '<url><loc>ftp://x/</loc></url>', '<url><loc> </loc></url>', '<url/>'),
      ['/a'],
    ],
  ])('%s', async (_name, text, expected) => {
    const result = await parse(text);
    expect([result.kind, paths(result.entries)]).toEqual(['urlset', expected]);
  });

  it('resolves relative addresses only with a base', async () => {
    const text = '<urlset><url><loc>/a</loc></url><url><loc>www.example.com/b</loc></url></urlset>';
    expect((await parse(text)).count).toBe(0);
    const result = await parse(text, { url: 'https://example.com/sitemap.xml' });
    expect(result.entries.map((entry) => entry.loc)).toEqual([
      'https://example.com/a',
      'https://www.example.com/b',
    ]);
  });

  it.each([
    ['', 'the file is empty'],
    [' \n', 'the file is empty'],
    ['<!DOCTYPE html><html><body><a href="/x">x</a></body></html>', 'the file is an HTML page'],
    ['this is no sitemap', 'the file names no address'],
    ['<other><loc>https://example.com/</loc></other>', 'the file has no sitemap element'],
  ])('says what is wrong: %s', async (text, error) => {
    expect(await parse(text)).toMatchObject({ kind: 'error', error, count: 0 });
  });

  it('expands no entity of the document', async () => {
    const laughs = Array.from({ length: 9 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join(
      '',
    );
    const doctype = `<!DOCTYPE urlset [<!ENTITY l0 "ha">${laughs}<!ENTITY x SYSTEM "file:///etc/passwd">]>`;
    const text = `${doctype}<urlset><url><loc>&l9;</loc></url><url><loc>&x;</loc></url>${url('/a')}</urlset>`;
    const result = await parse(text, { url: 'https://example.com/sitemap.xml' });
    expect(paths(result.entries)).toEqual(['/a']);
  });

  it('reads through 100,000 unclosed elements', async () => {
    const result = await parse(`<urlset>${'<url><a><b>'.repeat(100_000)}${url('/a')}`);
    expect([result.count, result.invalid]).toEqual([1, 100_000]);
  });
});

describe('limits and batches', () => {
  const many = urlset(...Array.from({ length: 1200 }, (_, index) => url(`/${index}`)));

  it('hands entries on in batches, in order, and waits for each', async () => {
    const sizes: number[] = [];
    const seen: string[] = [];
    let busy = false;
    const result = await parse(many, {
      batchSize: 500,
      onEntries: async (entries) => {
        expect(busy).toBe(false);
        busy = true;
        await Promise.resolve();
        busy = false;
        sizes.push(entries.length);
        seen.push(...paths(entries));
      },
    });
    expect(sizes).toEqual([500, 500, 200]);
    expect(seen).toEqual(Array.from({ length: 1200 }, (_, index) => `/${index}`));
    expect([result.count, result.entries]).toEqual([1200, []]);
  });

  it('stops at the limits and says so', async () => {
    expect(await parse(many, { maxEntries: 10 })).toMatchObject({ count: 10, stopped: 'max_entries' });
    expect(await parse(many, { maxBytes: 40_000 })).toMatchObject({ kind: 'urlset', stopped: 'max_bytes' });
    expect((await parse(gzipSync(many), { maxBytes: 40_000 })).stopped).toBe('max_bytes');
  });

  it('ends its source when it has enough', async () => {
    let isClosed = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        yield Buffer.from('<urlset>');
        for (;;) yield Buffer.from(url('/a').repeat(100));
      } finally {
        isClosed = true;
      }
    }
    const result = await readSitemap(endless(), { maxEntries: 500 });
    expect([result.count, isClosed]).toEqual([500, true]);
  });

  it.each(['<a>', 'no', ' ', '\0'])('gives up on a megabyte of "%s"', async (text) => {
    const result = await parse(gzipSync(text.repeat(3_000_000)));
    expect(result.kind).toBe('error');
    expect(result.bytes).toBeLessThan(1_200_000);
  });

  it('passes on the error of its source', async () => {
    // biome-ignore lint/correctness/useYield: the source fails before its first chunk
    async function* broken(): AsyncGenerator<Uint8Array> {
      throw new Error('connection reset');
    }
    await expect(readSitemap(broken())).rejects.toThrow('connection reset');
  });
});

describe('properties', () => {
  it('keeps the entries before a cut, and reads the same in any chunks', async () => {
    const entries = fc.array(fc.integer({ min: 0, max: 9999 }), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(entries, fc.nat(), fc.integer({ min: 1, max: 50 }), async (numbers, cutAt, size) => {
        const whole = Buffer.from(
          urlset(...numbers.map((n) => url(`/${n}`, '<lastmod>2024-05-06</lastmod>'))),
        );
        const cut = whole.subarray(0, cutAt % (whole.length + 1));
        const ended = cut.toString().split('</url>').length - 1;
        const result = await parse(cut);
        expect(paths(result.entries).slice(0, ended)).toEqual(numbers.slice(0, ended).map((n) => `/${n}`));
        expect(result.count).toBeLessThanOrEqual(ended + 1);
        for (const entry of result.entries) expect(numbers.map((n) => `/${n}`)).toContain(paths([entry])[0]);
        async function* chunks(): AsyncGenerator<Uint8Array> {
          for (let at = 0; at < cut.length; at += size) yield cut.subarray(at, at + size);
        }
        expect(await readSitemap(chunks())).toEqual(result);
      }),
      { numRuns: 200 },
    );
  });

  it('never throws', async () => {
    const part = fc.constantFrom(
      '<urlset>',
      '<url>',
      '<loc>',
      '</loc>',
      '</url>',
      'https://e.example/',
      '<image:loc>',
      '&x;',
    );
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.concat([Buffer.from([0x1f, 0x8b]), bytes])),
      fc
        .array(fc.oneof(part, fc.string({ unit: 'binary' })), { maxLength: 20 })
        .map((parts) => Buffer.from(parts.join(''))),
    );
    await fc.assert(
      fc.asyncProperty(body, async (bytes) => {
        const result = await parseSitemap(bytes);
        expect(result.count).toBe(result.entries.length);
        if (result.kind === 'error') expect(result.error).not.toBe(null);
      }),
      { numRuns: 1000 },
    );
  });
});
