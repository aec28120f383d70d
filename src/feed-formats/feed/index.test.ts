import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Feed, FeedEntry, FeedOptions } from './index.ts';
import { parseFeed, readFeed } from './index.ts';

function read(text: string | Uint8Array, options: FeedOptions = {}): Feed {
  const result = parseFeed(typeof text === 'string' ? Buffer.from(text) : text, options);
  if (result.outcome !== 'feed') throw new Error(`not a feed: ${result.reason}`);
  return result.feed;
}

function rssItem(inner: string, options: FeedOptions = {}): FeedEntry {
  return first(read(`<rss version="2.0"><channel><item>${inner}</item></channel></rss>`, options));
}

function atomEntry(inner: string, options: FeedOptions = {}): FeedEntry {
  return first(read(`<feed xmlns="http://www.w3.org/2005/Atom"><entry>${inner}</entry></feed>`, options));
}

function first(feed: Feed): FeedEntry {
  const entry = feed.entries[0];
  if (!entry) throw new Error('no entry');
  return entry;
}

describe('formats', () => {
  it('reads RSS 2.0 with its modules', () => {
    const feed = read(
      `<?xml version="1.0"?>
      <rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:content="http://purl.org/rss/1.0/modules/content/"
           xmlns:atom="http://www.w3.org/2005/Atom" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"
           xmlns:media="http://search.yahoo.com/mrss/">
        <channel><title>News &amp; Views</title><link>https://example.com/</link><language>en-gb</language><ttl>30</ttl>
          <image><title>logo</title><link>https://example.com/logo</link></image>
          <sy:updatePeriod>hourly</sy:updatePeriod><sy:updateFrequency>2</sy:updateFrequency>
          <atom:link rel="self" href="https://example.com/feed"/><atom:link rel="hub" href="https://hub.example.com/"/>
          <item><title>One</title><link>https://example.com/1</link><guid isPermaLink="false">id-1</guid>
            <description>Short</description><content:encoded><![CDATA[<p>Long</p>]]></content:encoded>
            <dc:creator>Ann</dc:creator><category>a</category><category>b</category><category>a</category>
            <pubDate>Tue, 03 Jun 2003 09:39:21 GMT</pubDate><dc:date>2003-06-04T00:00:00Z</dc:date>
            <enclosure url="/a.mp3" type="audio/mpeg" length="12"/>
            <media:group><media:content url="https://example.com/v.mp4" type="video/mp4" fileSize="7"/></media:group>
          </item></channel></rss>`,
      { url: 'https://example.com/feed.xml' },
    );
    expect({ ...feed, entries: [] }).toEqual({
      format: 'rss',
      version: '2.0',
      title: 'News & Views',
      link: 'https://example.com/',
      self: 'https://example.com/feed',
      hubs: ['https://hub.example.com/'],
      language: 'en-gb',
      ttlMinutes: 30,
      updatePeriodSeconds: 1800,
      entries: [],
      entriesWithoutLink: 0,
      truncated: false,
      capped: false,
    });
    expect(feed.entries).toEqual([
      {
        link: 'https://example.com/1',
        id: 'id-1',
        title: 'One',
        summary: 'Short',
        content: '<p>Long</p>',
        authors: ['Ann'],
        categories: ['a', 'b'],
        published: new Date('2003-06-03T09:39:21Z'),
        updated: new Date('2003-06-04T00:00:00Z'),
        enclosures: [
          { url: 'https://example.com/a.mp3', type: 'audio/mpeg', length: 12 },
          { url: 'https://example.com/v.mp4', type: 'video/mp4', length: 7 },
        ],
      },
    ]);
  });

  it('reads Atom 1.0', () => {
    const feed =
      read(`<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de" xml:base="https://example.com/blog/">
      <title type="html">A &lt;b&gt;bold&lt;/b&gt; one</title><link href="/"/><link rel="self" href="atom.xml"/>
      <entry xml:base="2020/"><title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">x <em>y</em></div></title>
        <id>tag:example.com,2020:1</id><link rel="replies" href="replies"/><link href="one.json" type="application/json"/>
        <link rel="alternate" type="text/html" href="one"/><author><name>Ann</name><email>a@example.com</email></author>
        <category term="t" label="T"/><published>2020-01-02T03:04:05Z</published><updated>2020-01-03T03:04:05+01:00</updated>
        <source><title>other</title><id>other</id></source>
        <content type="xhtml"><div><p class="a">Text &amp; <br/>more</p></div></content></entry></feed>`);
    expect([feed.format, feed.version, feed.title, feed.link, feed.self, feed.language]).toEqual([
      'atom',
      '1.0',
      'A bold one',
      'https://example.com/',
      'https://example.com/blog/atom.xml',
      'de',
    ]);
    expect(first(feed)).toMatchObject({
      title: 'x y',
      id: 'tag:example.com,2020:1',
      link: 'https://example.com/blog/2020/one',
      authors: ['Ann'],
      categories: ['T'],
      content: '<div><p class="a">Text &amp; <br>more</p></div>',
      published: new Date('2020-01-02T03:04:05Z'),
      updated: new Date('2020-01-03T02:04:05Z'),
    });
  });

  it.each([
    [
      'rdf',
      '1.0',
      '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel/><item rdf:about="http://a.example/1"><title>t</title></item></rdf:RDF>',
    ],
    [
      'rdf',
      '0.90',
      '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://my.netscape.com/rdf/simple/0.9/"><item><title>t</title><link>http://a.example/1</link></item></rdf:RDF>',
    ],
    [
      'rss',
      '0.91',
      '<RSS VERSION="0.91"><CHANNEL><ITEM><TITLE>t</TITLE><LINK>http://a.example/1</LINK></ITEM></CHANNEL></RSS>',
    ],
    [
      'atom',
      '0.3',
      '<feed version="0.3" xmlns="http://purl.org/atom/ns#"><entry><title mode="base64">dA==</title><link rel="alternate" href="http://a.example/1"/></entry></feed>',
    ],
    [
      'atom',
      '1.0',
      '<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:entry><a:title>t</a:title><a:link href="http://a.example/1"/></a:entry></a:feed>',
    ],
    [
      'atom',
      null,
      '<entry xmlns="http://www.w3.org/2005/Atom"><title>t</title><link href="http://a.example/1"/></entry>',
    ],
    [
      'cdf',
      null,
      '<CHANNEL HREF="http://a.example/"><ITEM HREF="http://a.example/1"><TITLE>t</TITLE></ITEM></CHANNEL>',
    ],
    [
      'json',
      '1.1',
      '{"version":"https://jsonfeed.org/version/1.1","items":[{"id":1,"url":"http://a.example/1","title":"t"}]}',
    ],
    [
      'rss',
      '2.0',
      '{"rss":{"version":"2.0","channel":{"item":{"title":"t","guid":{"#value":"http://a.example/1"}}}}}',
    ],
  ])('reads %s %s', (format, version, text) => {
    const feed = read(text);
    expect([feed.format, feed.version, feed.truncated]).toEqual([format, version, false]);
    expect(feed.entries.map(({ title, link }) => [title, link])).toEqual([['t', 'http://a.example/1']]);
  });

  it('reads JSON Feed whole', () => {
    const feed = read(
      JSON.stringify({
        version: 'https://jsonfeed.org/version/1.1',
        title: 'T',
        home_page_url: '/',
        feed_url: 'https://example.com/feed.json',
        hubs: [{ type: 'WebSub', url: 'https://hub.example.com/' }],
        items: [
          {
            id: 'https://example.com/1',
            content_text: 'text',
            date_published: '2020-01-02T03:04:05Z',
            authors: [{ name: 'Ann' }],
            tags: ['a'],
            attachments: [{ url: 'a.mp3', mime_type: 'audio/mpeg', size_in_bytes: 5 }],
          },
          'not an item',
          { __proto__: null, constructor: 1 },
        ],
      }),
    );
    expect([feed.link, feed.hubs, feed.entriesWithoutLink]).toEqual([
      'https://example.com/',
      ['https://hub.example.com/'],
      1,
    ]);
    expect(first(feed)).toMatchObject({
      link: 'https://example.com/1',
      authors: ['Ann'],
      categories: ['a'],
      published: new Date('2020-01-02T03:04:05Z'),
      enclosures: [{ url: 'https://example.com/a.mp3', type: 'audio/mpeg', length: 5 }],
    });
  });
});

describe('links', () => {
  it.each([
    ['link', '<link> https://a.example/1?x=1&amp;y=2 </link>', 'https://a.example/1?x=1&y=2'],
    ['bare ampersand', '<link>https://a.example/1?x=1&copy=2</link>', 'https://a.example/1?x=1&copy=2'],
    ['escaped twice', '<link>https://a.example/1?x=1&amp;amp;y=2</link>', 'https://a.example/1?x=1&y=2'],
    [
      'escaped inside CDATA',
      '<link><![CDATA[https://a.example/1?x=1&amp;y=2&#038;z=3]]></link>',
      'https://a.example/1?x=1&y=2&z=3',
    ],
    ['relative', '<link>/1</link>', 'https://feed.example/1'],
    ['permalink by default', '<guid>https://a.example/1</guid>', 'https://a.example/1'],
    ['no permalink', '<guid isPermaLink="false">https://a.example/1</guid>', null],
    ['relative permalink that says so', '<guid isPermaLink="true">x/1</guid>', 'https://feed.example/x/1'],
    ['permalink in figures', '<guid isPermaLink="1">https://a.example/1</guid>', 'https://a.example/1'],
    ['no permalink in figures', '<guid isPermaLink="0">https://a.example/1</guid>', null],
    ['permalink unsaid', '<guid isPermaLink="">https://a.example/1</guid>', 'https://a.example/1'],
    ['text id', '<guid>abc</guid>', null],
    [
      'link over guid',
      '<guid>https://a.example/2</guid><link>https://a.example/1</link>',
      'https://a.example/1',
    ],
    [
      'original of a proxy',
      '<link>http://feedproxy.google.com/~r/x</link><feedburner:origLink>https://a.example/1</feedburner:origLink>',
      'https://a.example/1',
    ],
    [
      'original beside a real link',
      '<link>https://a.example/1</link><feedburner:origLink>https://a.example/2</feedburner:origLink>',
      'https://a.example/1',
    ],
    ['atom link in RSS', '<atom:link href="https://a.example/1"/>', 'https://a.example/1'],
    ['script', '<link>javascript:alert(1)</link><guid>https://a.example/1</guid>', 'https://a.example/1'],
    ['file', '<link>file:///etc/passwd</link>', null],
    ['empty', '<link/>', null],
    ['forgotten scheme', '<link>www.a.example/1</link>', 'http://www.a.example/1'],
    ['left open', '<link>https://a.example/1<title>t</title>', 'https://a.example/1'],
    ['of another element', '<source><link>https://a.example/1</link></source>', null],
  ])('%s', (_, inner, link) => {
    expect(rssItem(inner, { url: 'https://feed.example/feed' }).link).toBe(link);
  });

  it('takes the other address of a JSON item whose own is empty', () => {
    const items = [{ id: '1', url: ' ', external_url: 'https://a.example/1' }];
    const text = JSON.stringify({ version: 'https://jsonfeed.org/version/1.1', items });
    expect(read(text).entries.map((entry) => entry.link)).toEqual(['https://a.example/1']);
  });

  it('uses the site address where the feed has none', () => {
    const feed = read(
      '<rss><channel><link>https://a.example/</link><item><link>1</link></item></channel></rss>',
    );
    expect(first(feed).link).toBe('https://a.example/1');
  });

  it('takes an empty reference for its base only where the document names one', () => {
    const url = 'https://a.example/feed';
    expect(atomEntry('<link href=""/>', { url }).link).toBeNull();
    expect(atomEntry('<link xml:base="/1" href=""/>', { url }).link).toBe('https://a.example/1');
  });

  it('ignores a base nobody can fetch from', () => {
    const inner = '<link xml:base="file:///x/" href="1"/>';
    expect(atomEntry(inner, { url: 'https://a.example/feed' }).link).toBe('https://a.example/1');
  });
});

describe('dates', () => {
  it.each([
    ['fa', '1403/05/12 10:30', '2024-08-02'],
    ['fa', 'جمعه ۱۲ مرداد ۱۴۰۳', '2024-08-02'],
    ['ar', '1403/05/12', null],
    ['zh-TW', '113/05/04', '2024-05-04'],
    ['de', '02.03.24', '2024-03-02'],
    // American English is what programs write that were never asked.
    ['en-us', '02/03/2024', null],
    ['en-us', '31/03/2024', '2024-03-31'],
  ])('of a feed in %s: %s is %s', (language, date, day) => {
    const item = `<item><link>http://a.test/1</link><pubDate>${date}</pubDate></item>`;
    const rss = `<rss version="2.0"><channel><language>${language}</language>${item}</channel></rss>`;
    const json = { version: 'https://jsonfeed.org/version/1.1', language };
    const items = [{ id: '1', url: 'http://a.test/1', date_published: date }];
    for (const text of [rss, JSON.stringify({ ...json, items })])
      expect(first(read(text)).published?.toISOString().slice(0, 10) ?? null).toBe(day);
  });
});

describe('text', () => {
  it.each([
    ['a &amp; b', 'a & b'],
    ['caf&eacute; &nbsp; x', 'café x'],
    ['AT&amp;amp;T', 'AT&T'],
    ['<![CDATA[a <b>c</b> &lt; d]]>', 'a c < d'],
    ['a &lt;b&gt;c&lt;/b&gt;', 'a c'],
    ['Map&lt;String&gt; is &lt; x', 'Map<String> is < x'],
    ['naked <b>markup</b>', 'naked markup'],
    ['&#146;quoted&#x2019;', '’quoted’'],
    ['&#99999999;', '\ufffd'],
    ['  two\n lines ', 'two lines'],
    ['&unknown; stays', '&unknown; stays'],
  ])('title %s', (written, title) => {
    expect(rssItem(`<title>${written}</title>`).title).toBe(title);
  });

  it('keeps angle brackets of Atom plain text', () => {
    expect(atomEntry('<title type="text">&lt;b&gt; is a tag</title>').title).toBe('<b> is a tag');
  });

  it('decodes only what was base64', () => {
    expect(atomEntry('<title type="application/octet-stream">VGl0bGU=</title>').title).toBe('Title');
    expect(atomEntry('<title type="application/x-odd">test</title>').title).toBe('test');
  });

  it('takes other titles only where there is none', () => {
    expect(rssItem('<media:title>m</media:title><title>t</title>').title).toBe('t');
    expect(rssItem('<media:title>m</media:title>').title).toBe('m');
  });
});

describe('damage', () => {
  const item = (n: number) => `<item><title>t${n}</title><link>https://a.example/${n}</link></item>`;
  const rss = (inner: string) => `<rss version="2.0"><channel><title>c</title>${inner}</channel></rss>`;

  it.each([
    ['junk before', `\n\nWarning: <br>x in <b>y</b>\n<?xml version="1.0"?>${rss(item(1))}`],
    ['a brace before', `{oops}${rss(item(1))}`],
    ['no end', rss(item(1)).slice(0, -15)],
    ['a half end tag', rss(item(1)).slice(0, -1)],
    [
      'unclosed item',
      '<rss><channel><item><title>t1</title><link>https://a.example/1</link></channel></rss>',
    ],
    ['empty item inside', rss('<item><title>t1</title><item/><link>https://a.example/1</link></item>')],
    ['stray end tags', rss(`</b></p>${item(1)}</i>`)],
    ['control characters', rss(item(1).replace('t1', '\u0001t1\u0000'))],
    [
      'windows-1252 declared as UTF-8',
      Buffer.from(`<?xml version="1.0" encoding="utf-8"?>${rss(`${item(1)}<!--\u00e9-->`)}`, 'latin1'),
    ],
    ['UTF-16', Buffer.from(`\ufeff${rss(item(1))}`, 'utf16le')],
    ['gzip', gzipSync(rss(item(1)))],
    ['cut gzip', gzipSync(rss(item(1) + ' '.repeat(9))).subarray(0, -9)],
    ['html doctype', `<!DOCTYPE html>${rss(item(1))}`],
  ])('%s', (_, text) => {
    expect(read(text).entries.map(({ title, link }) => [title, link])).toEqual([
      ['t1', 'https://a.example/1'],
    ]);
  });

  it('drops what the cut left open', () => {
    const feed = read('<rss><channel><item><title>whole</title><link>https://a.example/ha');
    expect([feed.truncated, first(feed).title, first(feed).link]).toEqual([true, 'whole', null]);
  });

  it('keeps siblings of unclosed items apart', () => {
    const feed = read(
      '<rss><channel><item><title>a</title><item><title>b</title><item><title>c</title></channel></rss>',
    );
    expect(feed.entries.map((entry) => entry.title)).toEqual(['a', 'b', 'c']);
  });

  it('mends JSON', () => {
    const feed = read('{"items":[{"id":"1","title":"a\nb",},{"id":"2","tags":["x"],"title":"cu');
    expect(feed.entries.map((entry) => entry.title)).toEqual(['a b']);
    expect(feed.truncated).toBe(true);
  });

  it.each([
    ['', 'empty'],
    [' \n ', 'empty'],
    ['plain words', 'unknown_format'],
    ['<html><body><item>x</item></body></html>', 'html'],
    ['<!doctype html><title>x</title><feed>', 'html'],
    ['<urlset><url/></urlset>', 'unknown_format'],
    ['{"a":1}', 'unknown_format'],
    ['{"a":', 'invalid_json'],
    ['[1,2]', 'invalid_json'],
  ])('refuses %j as %s', (text, reason) => {
    expect(parseFeed(Buffer.from(text))).toMatchObject({ outcome: 'not_a_feed', reason });
  });
});

describe('attacks', () => {
  it('stops at depth', () => {
    expect(parseFeed(Buffer.from(`<rss>${'<a>'.repeat(100_000)}`))).toMatchObject({ reason: 'too_deep' });
    expect(parseFeed(Buffer.from(`{"items":[${'{"a":'.repeat(100_000)}`))).toMatchObject({
      reason: 'invalid_json',
    });
  });

  it('stops at the entry limit', () => {
    const feed = read(`<rss><channel>${'<item></item>'.repeat(1000)}</channel></rss>`, { maxEntries: 10 });
    expect([feed.entries.length, feed.capped, feed.truncated]).toEqual([10, true, false]);
    const open = read(`<rss><channel>${'<item><title>x</title>'.repeat(1000)}`, { maxEntries: 10 });
    expect([open.entries.length, open.capped]).toEqual([10, true]);
    const json = read(JSON.stringify({ items: Array.from({ length: 50 }, () => ({})) }), { maxEntries: 10 });
    expect([json.entries.length, json.capped]).toEqual([10, true]);
  });

  it('expands no declared entity', () => {
    const bomb =
      '<!DOCTYPE r [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]>';
    const feed = read(`${bomb}<rss><channel><item><title>&b;|&x;</title></item></channel></rss>`);
    expect(first(feed).title).toBe('&b;|&x;');
  });

  it('is not confused by names of the prototype', () => {
    const feed = read(
      '<rss><channel><__proto__>x</__proto__><item constructor="y" __proto__="z"><toString/></item></channel></rss>',
    );
    expect(feed.entries.length).toBe(1);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});

describe('properties', () => {
  const pieces = fc.constantFrom(
    ...[
      '<rss>',
      '<feed>',
      '<channel>',
      '<item>',
      '</item>',
      '<entry>',
      '<title>',
      '</title>',
      '<link>',
      '<link href="x"/>',
    ],
    ...[
      '<![CDATA[',
      ']]>',
      '&amp;',
      '&#0;',
      'text',
      '<!--',
      '-->',
      '<?xml',
      '{"items":[',
      '}',
      '"',
      '<a xmlns:x="y">',
      '</',
    ],
  );

  it('never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => typeof parseFeed(bytes).outcome === 'string'),
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
        expect(parseFeed(Buffer.from(parts.join(''))).outcome).toMatch(/feed/);
      }),
      { numRuns: 1000 },
    );
  });

  const formats: [string, (links: string[]) => { head: string; items: string[]; tail: string }][] = [
    [
      'rss',
      (links) => ({
        head: '<rss><channel>',
        items: links.map((link) => `<item><link>${link}</link><title>é &amp;</title></item>`),
        tail: '</channel></rss>',
      }),
    ],
    [
      'atom',
      (links) => ({
        head: '<feed>',
        items: links.map((link) => `<entry><title>é</title><link href="${link}"/></entry>`),
        tail: '</feed>',
      }),
    ],
    [
      'json',
      (links) => ({
        head: '{"items":[',
        items: links.map((link, n) => `${n > 0 ? ',' : ''}{"title":"é","url":"${link}"}`),
        tail: ']}',
      }),
    ],
  ];

  it.each(formats)('keeps the items before a cut: %s', (_, write) => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (count, share) => {
          const links = Array.from({ length: count }, (__, n) => `https://a.example/${n}`);
          const { head, items, tail } = write(links);
          const whole = Buffer.from(head + items.join('') + tail);
          const cut = Math.floor(whole.length * share);
          let complete = 0;
          let end = Buffer.byteLength(head);
          for (const item of items) {
            end += Buffer.byteLength(item);
            if (end <= cut) complete += 1;
          }
          const result = parseFeed(whole.subarray(0, cut));
          const kept = result.outcome === 'feed' ? result.feed.entries.map((entry) => entry.link) : [];
          expect(kept.slice(0, complete)).toEqual(links.slice(0, complete));
          for (const link of kept) expect(link === null || links.includes(link)).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('in turns', () => {
  const tokens = [
    '<item>',
    '</item>',
    '<title>',
    '</title>',
    'a &amp; b',
    '&#x1F600;',
    '\u{1F600}',
    '<link>http://h.test/a</link>',
    '<![CDATA[<b>c</b>]]>',
    '<!-- d -->',
    '<enclosure url="http://h.test/e" length="1"/>',
    '<pubDate>Wed, 05 Jun 2024 12:00:00 GMT</pubDate>',
    '<?f g?>',
    '<',
    '&',
  ];

  it('gives what it gives at once, wherever a piece ends', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...tokens), { maxLength: 60 }),
        fc.integer({ min: 0, max: 400 }),
        async (parts, before) => {
          // The first piece ends somewhere in what follows the filler.
          const filler = `<!--${'x'.repeat(65_536 - 60 - before)}-->`;
          const body = Buffer.from(`<rss version="2.0"><channel>${filler}${parts.join('')}</channel></rss>`);
          const options = { url: 'http://h.test/feed' };
          expect(await readFeed(body, options)).toEqual(parseFeed(body, options));
        },
      ),
    );
  });

  it('reads JSON and nothing alike', async () => {
    for (const text of [
      '',
      '   ',
      '{"version":"https://jsonfeed.org/version/1.1","items":[{"url":"http://h.test/"}]}',
      '[1',
    ])
      expect(await readFeed(Buffer.from(text))).toEqual(parseFeed(Buffer.from(text)));
  });

  it('lets others have their turn', async () => {
    const items = '<item><title>a b</title><link>http://h.test/a</link></item>'.repeat(20_000);
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    const result = await readFeed(Buffer.from(`<rss version="2.0"><channel>${items}</channel></rss>`));
    clearInterval(timer);
    expect(result.outcome === 'feed' && result.feed.entries.length).toBe(20_000);
    expect(turns).toBeGreaterThan(0);
  });
});

describe('values without end', () => {
  it('cuts a line that is none', () => {
    const entry = rssItem(`<title>${'x '.repeat(500_000)}</title>`);
    expect(entry.title?.length).toBeLessThanOrEqual(20_000);
  });

  it('ends on a namespace of slashes', () => {
    const text = `<feed xmlns="http://purl.test${'/'.repeat(600_000)}atom"><entry><id>a</id></entry></feed>`;
    expect(read(text).entries).toHaveLength(1);
  });

  it('refuses JSON that is nested too deep before it is parsed', () => {
    const text = `{"version":"https://jsonfeed.org/version/1.1","items":${'['.repeat(3_000_000)}`;
    const before = process.memoryUsage().heapUsed;
    expect(parseFeed(Buffer.from(text))).toMatchObject({ outcome: 'not_a_feed', reason: 'invalid_json' });
    // Three million open arrays would take a hundred bytes each.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(100_000_000);
  });

  it('brackets inside strings are no depth', () => {
    const id = '['.repeat(1_000);
    const text = `{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"${id}\\"","url":"http://h.test/"}]}`;
    expect(read(text).entries).toHaveLength(1);
  });
});
