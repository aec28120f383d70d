import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  attribute,
  discoverFeedLinks,
  discoverLinks,
  listAttributes,
  nextNode,
  type PageNode,
  parsePage,
  textOf,
} from './index.ts';

const url = 'https://site.example/dir/page.html';
const parse = (html: string, caps = {}) => parsePage(html, { url, ...caps });

/** The tree as nested tags, for short comparisons. */
function shape(root: PageNode): string {
  let out = '';
  for (let child = root.first; child !== null; child = child.next) {
    out += child.tag === '#text' ? child.text.trim() : `${child.tag}(${shape(child)})`;
  }
  return out;
}

describe('parsePage', () => {
  it.each([
    ['paragraphs end each other', '<p>a<p>b', 'p(a)p(b)'],
    ['a block ends a paragraph', '<p>a<div>b</div>', 'p(a)div(b)'],
    ['list items end each other', '<ul><li>a<li>b</ul>c', 'ul(li(a)li(b))c'],
    [
      'cells and rows end each other',
      '<table><tr><td>a<td>b<tr><td>c</table>',
      'table(tr(td(a)td(b))tr(td(c)))',
    ],
    ['a stray inline end closes nothing', '<div>a</b>b</div>c', 'div(ab)c'],
    ['an end tag closes what is open inside', '<div><span>a</div>b', 'div(span(a))b'],
    ['void elements have no content', '<div>a<br>b<img src=x>c</div>', 'div(abr()bimg()c)'],
    ['a lone < is text', '<p>1 < 2</p>', 'p(1 < 2)'],
    ['entities are read', '<p>caf&eacute; &amp; &#x2014; &lt;b&gt;</p>', 'p(café & — <b>)'],
    ['comments are nothing', '<p>a<!-- <b>x</b> -->b</p>', 'p(ab)'],
    ['an unclosed comment ends the page', '<p>a</p><!-- x <p>b</p>', 'p(a)'],
    ['a comment may end with --!>', '<p>a<!-- -- x --!>b</p><!-----><p>c</p>', 'p(ab)p(c)'],
    ['text ends an open drawing', '<div><svg><g><path></g><p>a</p>b</div>c', 'div(svg(g(path()))p(a)b)c'],
    ['and an open formula', '<p>a<math><mi>x</mi><p>b</p>', 'p(amath(mi(x)))p(b)'],
    [
      'a drawing may hold HTML',
      '<svg><foreignObject><p>a</p><p>b</p></foreignObject><text>c</text></svg>d',
      'svg(foreignobject(p(a)p(b))text(c))d',
    ],
    ['what follows an endless frame does not stand in it', '<iframe src=x><p>a</p>', 'iframe()p(a)'],
    ['nor in one that closes itself', '<iframe src=x /><p>a</p><style/><p>b</p>', 'iframe()p(a)style()p(b)'],
    ['scripts are raw', '<p>a</p><script>if (a < b) "<p>"</script><p>b</p>', 'p(a)script()p(b)'],
    ['an endless title does not swallow the page', '<title>x<p>a</p>', 'title(xp(a))'],
  ])('%s', (_name, html, expected) => {
    expect(shape(parse(html).body)).toBe(expected);
  });

  it.each([
    ['an ordinary template', '<template><p>a</p></template>', ''],
    ['a shadow root', '<story-page><template shadowrootmode="open"><p>a</p></template></story-page>', 'a'],
    ['a closed one', '<story-page><template shadowrootmode=CLOSED><p>a</p></template></story-page>', 'a'],
    [
      'one of older browsers',
      '<story-page><template shadowroot="open"><p>a</p></template></story-page>',
      'a',
    ],
    [
      'one of no mode that is known',
      '<story-page><template shadowrootmode="x">a</template></story-page>',
      '',
    ],
    [
      'the default of a slot, and what is put there',
      '<story-page><template shadowrootmode="open"><h1><slot name="t">a</slot></h1><slot></slot></template><p>b</p></story-page>',
      'a b',
    ],
    [
      'a template inside of it',
      '<x-y><template shadowrootmode="open"><template><p>a</p></template><p>b</p></template></x-y><p>c</p>',
      'b c',
    ],
  ])('reads what browsers show of %s', (_name, html, text) => {
    expect(textOf(parse(html).body)).toBe(text);
  });

  it.each([
    [
      'in brackets',
      '前の<ruby><rb>弾劾</rb><rp>（</rp><rt>だんがい</rt><rp>）</rp></ruby>訴追',
      '前の弾劾訴追',
    ],
    ['without', '<ruby>古<rt>ふる</rt></ruby>い<ruby>防波堤<rt>ぼうはてい</ruby>', '古い防波堤'],
    ['of two words', '<ruby>防<rp>(<rt>ぼう<rp>)<rb>波<rt>は</ruby>堤', '防波堤'],
    ['on both sides', '<ruby><rb>港<rt>みなと<rtc><rt>harbour</rtc></ruby>の', '港の'],
    ['that never ends', '<ruby>港<rt>みなと<p>の役所</p>', '港 の役所'],
    ['that never ends in a paragraph', '<p><ruby>港<rt>みなと<p>の役所</p>', '港 の役所'],
    ['outside of any', '<p>The <rt>reading</rt> room</p>', 'The reading room'],
  ])('leaves out what a ruby tells of pronunciation: %s', (_name, html, text) => {
    expect(textOf(parse(html).body)).toBe(text);
  });

  it('keeps attributes whatever their quotes, with entities read', () => {
    const node = parse('<a href=x.html title=\'A &amp; B\' data-x="1" hidden>t</a>').anchors[0]!;
    expect(listAttributes(node)).toEqual([
      ['href', 'x.html'],
      ['title', 'A & B'],
      ['data-x', '1'],
      ['hidden', ''],
    ]);
    expect(attribute(node, 'missing')).toBeNull();
  });

  it('reads attributes late, in any order and however long', () => {
    const long = 'ü&amp;'.repeat(500);
    const page = parse(`<p title="${long}" lang=de>a</p><p title="é" class='b'>c</p>`);
    const [first, second] = [page.body.first!, page.body.last!];
    expect(attribute(second, 'title')).toBe('é');
    expect(attribute(first, 'title')).toBe('ü&'.repeat(500));
    expect(attribute(first, 'lang')).toBe('de');
    expect(attribute(first, 'title')).toBe('ü&'.repeat(500));
    expect(attribute(second, 'class')).toBe('b');
  });

  it('gives the first html and body the attributes of a second one', () => {
    const { body } = parse('<body class=a><p id=x>b</p><body lang=de id=y>');
    expect(listAttributes(body)).toEqual([
      ['class', 'a'],
      ['lang', 'de'],
      ['id', 'y'],
    ]);
    expect(listAttributes(body.first!)).toEqual([['id', 'x']]);
  });

  it('notes title, language, base, JSON-LD and password fields', () => {
    const page = parse(
      '<html lang=de><head><base href="/other/"><title> A &amp; B </title><script type="application/ld+json">{"a":1}</script></head><body><input type=PASSWORD></body>',
    );
    expect(page).toMatchObject({
      title: 'A & B',
      lang: 'de',
      baseUrl: 'https://site.example/other/',
      jsonLd: ['{"a":1}'],
      passwordFields: 1,
    });
  });

  it('caps depth and nodes', () => {
    const deep = parse(`${'<div>'.repeat(5_000)}x`, { maxDepth: 50 });
    let depth = 0;
    let most = 0;
    for (let node: PageNode | null = deep.root; node !== null; node = nextNode(node, deep.root)) {
      depth = 0;
      for (let at = node.parent; at !== null; at = at.parent) depth++;
      most = Math.max(most, depth);
    }
    expect(most).toBeLessThanOrEqual(52);
    const wide = parse('<p>x</p>'.repeat(5_000), { maxNodes: 1_000 });
    expect(wide.truncated).toBe(true);
    expect(wide.nodeCount).toBeLessThanOrEqual(1_001);
  });

  it('reads any text without an exception, and every child after its parent', () => {
    const piece = fc.constantFrom(
      '<p>',
      '</p>',
      '<div class="',
      '">',
      '<!--',
      '-->',
      '<![CDATA[',
      ']]>',
      '<script>',
      '</script',
      '>',
      '&amp;',
      '&#',
      '<table><tr>',
      '</td>',
      '<li>',
      'x',
      ' ',
      '\u0000',
      '<svg/>',
      '</br>',
      '<title>',
      '<a href=',
      "'",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 60 }), (pieces) => {
        const page = parse(pieces.join(''));
        for (let node: PageNode | null = page.root; node !== null; node = nextNode(node, page.root)) {
          if (node.parent !== null) expect(node.index).toBeGreaterThan(node.parent.index);
        }
        expect(typeof textOf(page.root)).toBe('string');
      }),
    );
  });
});

describe('textOf', () => {
  it.each([
    ['<h1><span>Lamps of the north</span><span>A guide</span></h1>', 'Lamps of the north A guide'],
    ['<h1>The <b>L</b>amp<sup>SM</sup>s</h1>', 'The LampSMs'],
    ['<h1>Lamps<br>and<div>Ships</div></h1>', 'Lamps and Ships'],
    ['<p>lamps<script>var A</script><i>A</i></p>', 'lamps A'],
  ])('%s', (html, text) => {
    expect(textOf(parse(html).body)).toBe(text);
  });
});

describe('discoverLinks', () => {
  it('resolves, drops fragments and other schemes, keeps the longer text and tells navigation apart', () => {
    const page = parse(
      '<nav><a href="/a">A</a></nav><main><a href="/a#x">A story</a><a href="mailto:x@y.z">m</a><a href="javascript:void(0)">j</a><a href="b.html" rel=nofollow>B</a><a href="#top">t</a></main>',
    );
    expect(discoverLinks(page)).toEqual([
      { url: 'https://site.example/a', text: 'A story', rel: null, inNav: false },
      { url: 'https://site.example/dir/b.html', text: 'B', rel: 'nofollow', inNav: false },
    ]);
  });
});

describe('discoverFeedLinks', () => {
  it('puts declared feeds first and leaves out APIs', () => {
    const page = parse(
      '<link rel=alternate type="application/rss+xml" title="News" href="/rss"><link rel=alternate type="application/json" href="/wp-json/wp/v2/posts/1"><link rel="alternate" type="text/html" href="/x"><a href="/feed/">Feed</a><a href="/feedback">no</a>',
    );
    expect(discoverFeedLinks(page)).toEqual([
      { url: 'https://site.example/rss', type: 'application/rss+xml', title: 'News' },
      { url: 'https://site.example/feed/', type: null, title: 'Feed' },
    ]);
  });

  it.each([
    '<link rel=alternate type="application/rss+xml" title="The Post » Comments Feed" href="/comments/feed/">',
    '<link rel=alternate type="application/rss+xml" title="The Post » A lamp Comments Feed" href="/a-lamp/feed/">',
    '<link rel=alternate type="application/rss+xml" title="Die Post » Kommentar-Feed" href="/k/feed/">',
    '<link rel=alternate type="application/atom+xml" title="The Post - Atom" href="/feeds/4089/comments/default">',
    '<a href="/?feed=comments-rss2">RSS</a>',
    '<a href="https://www.facebook.example/dialog/feed?app_id=1">Share</a>',
    '<a href="https://friend.example/feed/">A friend</a>',
  ])('leaves out comments and what others publish: %s', (html) => {
    expect(discoverFeedLinks(parse(html))).toEqual([]);
  });

  it.each([
    '<a href="https://feeds.site.example/news.rss">News</a>',
    '<a href="https://feeds.feedburner.com/the-post">News</a>',
    '<a href="feed://site.example/feed">News</a>',
    '<link rel=alternate type="application/rss+xml" href="https://elsewhere.example/feed">',
    '<link rel=alternate type="application/rss+xml" title="Kommentare und Meinung" href="/kommentare/rss">',
    '<link rel=alternate type="application/rss+xml" title="Comment is free" href="/commentisfree/rss">',
  ])('takes %s', (html) => {
    expect(discoverFeedLinks(parse(html))).toHaveLength(1);
  });
});
