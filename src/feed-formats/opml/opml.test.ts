import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type OpmlOutline, parseOpml, writeOpml } from './index.ts';

const outline = (more: Partial<OpmlOutline>): OpmlOutline => ({
  title: null,
  feedUrl: null,
  siteUrl: null,
  description: null,
  language: null,
  folders: [],
  ...more,
});

describe('parseOpml', () => {
  it('reads folders, names in any case and both kinds of titles', () => {
    const result =
      parseOpml(`<?xml version="1.0"?><opml version="1.1"><head><title>My &amp; list</title></head><body>
      <outline text="News"><outline title="World">
        <outline type="rss" text="One" XMLURL="https://one.example/feed?a=1&amp;b=2" htmlUrl="https://one.example/"/>
      </outline></outline>
      <outline text="Two" title="Second" xmlUrl="feed://two.example/rss" description="D" language="de"></outline>
      <outline text="Site only" type="link" url="https://three.example/"/>
      <outline text="bad" xmlUrl="javascript:alert(1)"/>
      <outline text="empty folder"/>
    </body></opml>`);
    expect(result).toEqual({
      outcome: 'ok',
      title: 'My & list',
      invalid: 1,
      capped: false,
      outlines: [
        outline({
          title: 'One',
          feedUrl: 'https://one.example/feed?a=1&b=2',
          siteUrl: 'https://one.example/',
          folders: ['News', 'World'],
        }),
        outline({ title: 'Second', feedUrl: 'http://two.example/rss', description: 'D', language: 'de' }),
        outline({ title: 'Site only', siteUrl: 'https://three.example/' }),
      ],
    });
  });

  it('says when it is none', () => {
    for (const text of ['', 'x', '<html></html>']) expect(parseOpml(text).outcome).toBe('not_opml');
    expect(parseOpml('<opml/>').outcome).toBe('ok');
  });

  it('survives depth, entities and a cut', () => {
    const deep = `<opml><body>${'<outline text="x">'.repeat(100_000)}<outline xmlUrl="https://a.example/"/>`;
    const result = parseOpml(`<!DOCTYPE opml [<!ENTITY x "y">]>${deep}`);
    expect(
      result.outcome === 'ok' && result.outlines.map((one) => [one.feedUrl, one.folders.length]),
    ).toEqual([['https://a.example/', 20]]);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.uint8Array()), (input) => void parseOpml(input)),
    );
  });
});

describe('writeOpml', () => {
  it('is read back as it was written', () => {
    const text = fc
      .string({ unit: 'binary', maxLength: 20 })
      .map((value) =>
        value
          .replace(/[\u0000-\u001f\ufffe\uffff\ud800-\udfff]/g, '')
          .replace(/\s+/g, ' ')
          .trim(),
      )
      .filter((value) => value !== '');
    const one = fc.record({
      title: text,
      feedUrl: fc.webUrl().map((value) => new URL(value).href),
      siteUrl: fc.option(fc.webUrl().map((value) => new URL(value).href)),
      description: fc.option(text),
      language: fc.option(fc.constantFrom('en', 'de-AT')),
      folders: fc.array(fc.constantFrom('A', 'B & C', '"D"'), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 8 }), (outlines) => {
        const result = parseOpml(writeOpml(outlines, { title: 'T' }));
        if (result.outcome !== 'ok') throw new Error(result.reason);
        const byUrl = (a: OpmlOutline, b: OpmlOutline) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
        expect(result.outlines.sort(byUrl)).toEqual(outlines.sort(byUrl));
      }),
      { numRuns: 300 },
    );
  });

  it('writes what other readers expect', () => {
    const text = writeOpml(
      [outline({ title: 'A "b" <c>', feedUrl: 'https://a.example/?x&y', folders: ['F'] })],
      {
        title: 'List',
        created: new Date(0),
      },
    );
    expect(text).toContain('<dateCreated>Thu, 01 Jan 1970 00:00:00 GMT</dateCreated>');
    expect(text).toContain(
      '    <outline text="F">\n      <outline type="rss" text="A &quot;b&quot; &lt;c&gt;" title="A &quot;b&quot; &lt;c&gt;" xmlUrl="https://a.example/?x&amp;y"/>\n    </outline>',
    );
  });
});
