import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePage } from '../html/index.ts';
import { bylineTexts } from './byline-lines.ts';
import { extractPage } from './index.ts';
import { readJsonLd } from './json-ld.ts';
import { parseLdScript } from './json-ld-script.ts';
import { dateInUrl } from './page-dates.ts';
import { cleanName, splitNames } from './person-names.ts';
import { decodeTrees, encodeTrees, scoreRows } from './trees.ts';
import { datesInText } from './written-dates.ts';

describe('JSON-LD', () => {
  it.each([
    ['a trailing comma', '{"a":[1,2,],}', { a: [1, 2] }],
    ['a line break in a string', '{"a":"x\ny"}', { a: 'x\ny' }],
    ['a comment around it', '<!-- {"a":1} -->', { a: 1 }],
    ['a CDATA section', '//<![CDATA[\n{"a":1}\n//]]>', { a: 1 }],
    ['a missing end', '{"a":{"b":1', { a: { b: 1 } }],
    ['a bad escape', '{"a":"it\\\'s"}', { a: "it's" }],
    ['comments', '/* by a plugin */ {"a":1, // one\n"b":/* "x */"http://y"}', { a: 1, b: 'http://y' }],
    ['several values', '{"a":1}\n{"b":2},[3]', [{ a: 1 }, { b: 2 }, [3]]],
    ['missing values', '{"a":,"b":undefined,"c":[NaN],"d":}', { a: null, b: null, c: [null], d: null }],
    ['quotation marks in a string', '{"a":"the "old" pier","b":"x"}', { a: 'the "old" pier', b: 'x' }],
    ['a missing comma', '{"a":"x"\n"b":{"c":"y"}\n"d":"z"}', { a: 'x', b: { c: 'y' }, d: 'z' }],
    ['escaped quotation marks', '{&#34;a&#34;:&#34;x&#34;}', { a: 'x' }],
  ])('survives %s', (_name, source, expected) => {
    expect(parseLdScript(source)).toEqual(expected);
  });

  it('follows @graph and @id to the author, and knows publisher and type', () => {
    const facts = readJsonLd(
      [
        '{"@graph":[{"@type":"Person","@id":"#a","name":"Ida Holm"},{"@type":["Article"],"headline":"H","author":{"@id":"#a"},"publisher":{"name":"P"},"keywords":"x, y"}]}',
      ],
      'H - P',
    );
    expect(facts).toMatchObject({
      authors: ['Ida Holm'],
      publisher: 'P',
      type: 'Article',
      isArticle: true,
      keywords: ['x, y'],
    });
  });

  it.each([
    ['an address that is the id of a person', '"#a"'],
    ['a person with two names', '{"@type":"Person","givenName":"Ida","familyName":"Holm"}'],
    ['a list object', '{"@list":[{"@type":"Person","name":"Ida Holm"}]}'],
    ['a list with numbers for keys', '{"0":{"@type":"Person","name":"Ida Holm"}}'],
    ['a role', '{"@type":"Role","roleName":"reporter","author":{"@type":"Person","name":"Ida Holm"}}'],
    ['somebody beside what a program left empty', '[{"name":"undefined undefined"},{"name":"Ida Holm"}]'],
  ])('reads the author as %s', (_, author) => {
    const person = '{"@type":"Person","@id":"#a","givenName":"Ida","familyName":"Holm"}';
    const { authors } = readJsonLd(
      [`[${person},{"@type":"NewsArticle","headline":"H","author":${author}}]`],
      'H',
    );
    expect(authors).toEqual(['Ida Holm']);
  });

  it('dates a video by its upload', () => {
    const { datePublished } = readJsonLd(
      ['{"@type":"VideoObject","name":"H","uploadDate":"2024-03-05"}'],
      'H',
    );
    expect(datePublished).toBe('2024-03-05');
  });

  it('never throws, whatever the script', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.json()),
        (text) => readJsonLd([text, `[${text}`, `{"@type":"Article","author":${text}`], text) !== null,
      ),
    );
    expect(parseLdScript('['.repeat(100_000))).not.toBe(undefined);
    for (const piece of ['"', '"\n', '/*', '//', '{}', '",', '{"a" ', '" '])
      expect(parseLdScript(`{${piece.repeat(500_000 / piece.length)}`)).not.toBe(undefined);
  });
});

describe('names', () => {
  it.each([
    ['By Ada Lund', 'Ada Lund'],
    ['Written by: Jon Berg | May 3, 2024', 'Jon Berg'],
    ['Von Eva Strand', 'Eva Strand'],
    ['Mia Falk, PhD', 'Mia Falk, PhD'],
    ['By Ada Lund, May 3, 2024', 'Ada Lund'],
    ['jane.doe', null],
    ['page.head.author', null],
    ['Articles by Ada', null],
    ['admin', null],
    ['August 28', null],
    ['https://site.example/ada', null],
    ['Your Name *', null],
  ])('cleans %j', (raw, expected) => {
    expect(cleanName(raw)).toBe(expected);
  });

  it('splits lists but keeps degrees', () => {
    expect(splitNames('Ada Lund, Jon Berg and Eva Strand')).toEqual(['Ada Lund', 'Jon Berg', 'Eva Strand']);
    expect(splitNames('Ada Lund, MD')).toEqual(['Ada Lund, MD']);
  });

  it('reads lines led by "by" and the line after a lone label', () => {
    expect(bylineTexts(['By Ada Lund', 'by a narrow margin', 'Written by', 'Jon Berg'])).toEqual([
      'Ada Lund',
      'Jon Berg',
    ]);
  });
});

describe('dates', () => {
  it.each([
    ['Published on March 5, 2024 by us', '2024-03-05'],
    ['5. März 2024', '2024-03-05'],
    ['el 5 de marzo de 2024', '2024-03-05'],
    ['2025.12.17', '2025-12-17'],
    ['Dec 17, 2025Ada Lund', '2025-12-17'],
  ])('finds %j', (text, expected) => {
    expect(datesInText(text)[0]?.date.toISOString().slice(0, 10)).toBe(expected);
  });

  it.each([
    ['https://x.example/2024/03/05/story', '2024-03-05'],
    ['https://x.example/story-20240305.html', '2024-03-05'],
    ['https://x.example/2024/3/5/story', '2024-03-05'],
    ['https://x.example/2024/may/17/story', '17 may 2024'],
    ['https://x.example/2024/LAMPS/05/17/story/index.html', '2024-05-17'],
    ['https://x.example/a/202403/05/story', '2024-03-05'],
    ['https://x.example/2024/0305/story', '2024-03-05'],
    ['https://x.example/news/05-03-2024-story', '2024-03-05'],
    ['https://x.example/articles/199407-12-ways-to-light-a-lamp', undefined],
    ['https://x.example/2024/03/story', undefined],
    ['https://x.example/p/20241399', undefined],
  ])('reads the address %s', (address, expected) => {
    expect(dateInUrl(address)?.raw).toBe(expected);
  });

  it('prefers the date of publication to the one of change and leaves out the future', () => {
    const read = (body: string) =>
      extractPage(parsePage(`<h1>A story of note</h1>${body}`, { url: 'https://x.example/a' }));
    const both = read(
      '<p>Updated <time datetime="2024-05-05">May 5</time></p><p>Posted <time datetime="2024-03-05">March 5</time></p>',
    );
    expect(both.publishedAt?.toISOString()).toBe('2024-03-05T00:00:00.000Z');
    expect(read('<meta property="article:published_time" content="2999-01-01">').publishedAt).toBeNull();
    expect(read('<p>No date anywhere.</p>').publishedAt).toBeNull();
  });
});

describe('titles', () => {
  it('takes the headline the reader sees when it agrees with the head', () => {
    const page = parsePage(
      '<title>Lamps of the old mole: a guide | Post</title><meta property="og:title" content="You will not believe the lamps of the mole"><h1>Lamps of the old mole</h1>',
      { url: 'https://post.example/x' },
    );
    expect(extractPage(page).title).toBe('Lamps of the old mole');
  });
});

describe('small readers', () => {
  it('packs and unpacks trees', () => {
    const trees = {
      base: 0,
      roots: Int32Array.of(0),
      links: Uint16Array.of(1 | (2 << 8), 255, 255),
      value: Float32Array.of(0.5, -2, 2),
    };
    const again = decodeTrees(encodeTrees(trees));
    expect(again).toEqual(trees);
    const chances = Float64Array.of(0.1, 0.1, 0.1);
    scoreRows(
      again,
      { rows: Float32Array.of(9, 0, 9, 0, 9, 1), width: 2, wanted: Uint8Array.of(1, 0, 1) },
      chances,
    );
    expect(chances[0]).toBeCloseTo(1 / (1 + Math.exp(2)));
    expect(chances[1]).toBe(0.1);
    expect(chances[2]).toBeCloseTo(1 / (1 + Math.exp(-2)));
  });
});
