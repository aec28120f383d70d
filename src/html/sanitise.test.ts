import fc from 'fast-check';
import { Parser } from 'htmlparser2';
import { describe, expect, it } from 'vitest';
import { textSource } from '../text/index.ts';
import { parsePage } from './parse-page.ts';
import { escapeHtml, paragraphsOf, SAFE_ATTRIBUTES, SAFE_TAGS, sanitise } from './sanitise.ts';

const url = 'https://paper.example/news/story';
const clean = (html: string, maxBytes = 1_000_000) =>
  sanitise(parsePage(textSource(html), { url }), { maxBytes });

describe('sanitise', () => {
  it.each([
    ['<p>One <b>two</b> <i>three</i></p>', '<p>One <b>two</b> <i>three</i></p>'],
    ['<script>alert(1)</script><p onclick="x()" style="a:b" class=c id=d>Text</p>', '<p>Text</p>'],
    ['<p>a<script>b</script>c<style>p{}</style></p>', '<p>ac</p>'],
    ['<p>Let <math><mi>x</mi><mo>&lt;</mo><mn>1</mn></math> be.</p>', '<p>Let $x&lt;1$ be.</p>'],
    [
      '<p>Let <span class="katex"><span><math><mi>x</mi></math></span><span aria-hidden="true">x</span></span> be.</p>',
      '<p>Let $x$ be.</p>',
    ],
    [
      '<a href="/next?a=1&amp;b=2">on</a>',
      `<a href="https://paper.example/next?a=1&amp;b=2" ${link()}>on</a>`,
    ],
    ['<a href="javascript:alert(1)">on</a>', 'on'],
    ['<a href=" JaVa\tScript:alert(1)">on</a>', 'on'],
    ['<a href="data:text/html,x">on</a>', 'on'],
    ['<meta http-equiv=refresh content="0;url=//evil.example"><p>x</p>', '<p>x</p>'],
    ['<base href="https://b.example/"><a href="x">y</a>', `<a href="https://b.example/x" ${link()}>y</a>`],
    ['<form action=/x><input value=v><button>go</button></form>', '<div>go</div>'],
    ['<iframe src=x>inner</iframe><object>o</object><embed src=x>', ''],
    ['<svg><a href="https://e.example/"><text>in</text></a><script>1</script></svg>after', 'after'],
    ['<math><mtext><img src=x onerror=1></mtext></math>after', 'after'],
    [
      '<img src="/a.jpg" alt="A &quot;boat&quot;" onerror=x>',
      image('A &quot;boat&quot;, https://paper.example/a.jpg'),
    ],
    ['<img src="data:image/png;base64,AAAA" alt="">', ''],
    ['<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>', '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>'],
    ['<textarea><p>x</p></textarea><noscript><p>n</p></noscript><template><p>t</p></template>', ''],
    ['<div><section><div>one</div>two</section></div>', '<div>one</div><div>two</div>'],
    ['<ol start=3><li>a<li>b</ol>', '<ol start="3"><li>a</li><li>b</li></ol>'],
    [
      '<table><tr><td colspan=2 rowspan="x">a</td></tr></table>',
      '<table><tr><td colspan="2">a</td></tr></table>',
    ],
    ['<pre>a\n  b</pre>', '<pre>a\n  b</pre>'],
    ['<p> </p><p></p><b></b>', ''],
    ['<x-card>custom</x-card>', '<div>custom</div>'],
  ])('%s', (given, expected) => {
    expect(clean(given).html).toEqual(expected);
  });

  it('nests no link in a link', () => {
    const { html } = clean(
      '<a href="https://e.example/">a<div><a href="https://f.example/">b</a></div>c</a>',
    );
    expect(html.match(/<a /g)).toHaveLength(1);
  });

  it('shows what is kept only', () => {
    const page = parsePage(textSource('<div>no<p>yes<em>not this</em></p>no<img src=/i.png></div>'), { url });
    const { html } = sanitise(page, {
      maxBytes: 1000,
      keeps: (node) => node.text === 'yes' || node.parent?.tag === 'em',
      skips: (node) => node.tag === 'em',
    });
    expect(html).toBe('<p>yes</p>');
  });

  it.each([
    ['many elements', '<b><i>x</i></b> '.repeat(100_000)],
    ['one text', '<p>'.concat('a&'.repeat(100_000))],
    ['long addresses', `<a href="/${'<'.repeat(2000)}">x</a>`.repeat(100)],
    ['depth', `${'<blockquote>'.repeat(5000)}x`],
    ['wide characters', `<p>${'日本語'.repeat(10_000)}`],
    ['line breaks', `x${'<br>'.repeat(10_000)}`],
  ])('is cut and still whole: %s', (_name, given) => {
    for (const maxBytes of [0, 1, 20, 1000, 5000]) {
      const { html, isCut } = clean(given, maxBytes);
      expect(isCut).toBe(true);
      expect(Buffer.byteLength(html)).toBeLessThanOrEqual(maxBytes);
      expect(problemsOf(html)).toEqual([]);
    }
  });

  const hostileTags = fc.constantFrom(
    ...'script style svg math iframe object embed form input button textarea select option template noscript title meta'.split(
      ' ',
    ),
    ...'link base img image video audio source a p div table tr td ul li b plaintext xmp noembed noframes frameset'.split(
      ' ',
    ),
    ...'foreignObject annotation-xml mglyph mtext html head body details dialog marquee x-y'.split(' '),
  );
  const attributes = fc.constantFrom(
    '',
    ' onerror=alert(1)',
    ' href="javascript:alert(1)"',
    ' href="https://e.example/?a=<b>&quot;>"',
    ` href='https://e.example/"onx="1'`,
    ' src=x onload="a(1)"',
    ' style="background:url(//e.example)"',
    ' srcdoc="<script>1</script>"',
    ' alt="--><script>x</script>"',
    ' colspan="9" rowspan=\'"><img>\'',
    ' formaction=javascript:1 xlink:href=javascript:1',
    ' id=x name=y class=z <',
  );
  const texts = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '<',
      '>',
      '"',
      "'",
      '&',
      '&lt;script&gt;',
      '<!--',
      '-->',
      '<![CDATA[',
      ']]>',
      '\u0000',
      '</p>',
      '<?x',
      '</',
    ),
  );
  const hostile = fc.letrec<{ tree: string }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'medium', withCrossShrink: true },
      texts,
      fc
        .tuple(hostileTags, attributes, fc.array(tie('tree'), { maxLength: 4 }), fc.boolean())
        .map(
          ([tag, more, inner, isClosed]) => `<${tag}${more}>${inner.join('')}${isClosed ? `</${tag}>` : ''}`,
        ),
    ),
  }));

  it('whatever a page holds, what comes out holds nothing else than what is allowed', () => {
    fc.assert(
      fc.property(
        fc.array(hostile.tree, { maxLength: 6 }),
        fc.integer({ min: 0, max: 3000 }),
        (parts, maxBytes) => {
          const given = parts.join('');
          const whole = clean(given);
          expect(problemsOf(whole.html)).toEqual([]);
          // Cleaned again it may lose empty lines, and never gains anything.
          expect(problemsOf(clean(whole.html).html)).toEqual([]);
          const cut = clean(given, maxBytes).html;
          expect(problemsOf(cut)).toEqual([]);
          expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(maxBytes);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('the test itself would notice', () => {
    expect(problemsOf('<p onclick=x>a</p>')).toEqual(['p onclick']);
    expect(problemsOf('<a href="javascript:x">a</a>')).toEqual(['a javascript:x']);
    expect(problemsOf('<b>a<script></script>')).toEqual(['script', 'b is open']);
    expect(problemsOf('<!-- x -->')).toEqual(['comment']);
  });
});

describe('paragraphs', () => {
  it('are made of a text and escaped', () => {
    expect(paragraphsOf('a <b>\n\n\nc & d', 1000).html).toBe('<p>a &lt;b&gt;</p>\n<p>c &amp; d</p>');
    expect(paragraphsOf('a\nb\n\nc', 1000).html).toBe('<p>a<br>b</p>\n<p>c</p>');
    expect(paragraphsOf('aaaa\n\nbbbb', 20)).toEqual({ html: '<p>aaaa</p>', isCut: true });
  });

  it('no text leaves an element or an attribute', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(problemsOf(`<p>${escapeHtml(text)}</p>`)).toEqual([]);
        expect(problemsOf(`<a href="https://e.example/${escapeHtml(text)}">x</a>`)).toEqual([]);
      }),
    );
  });
});

function link(): string {
  return 'rel="noopener noreferrer nofollow" target="_blank"';
}

function image(said: string): string {
  return `<small>[${said}]</small>`;
}

/** What another reader than ours finds in a text that is not allowed, or not closed. */
function problemsOf(html: string): string[] {
  const problems: string[] = [];
  const reading = new Parser({
    onopentag(tag, attributes) {
      if (!SAFE_TAGS.has(tag)) problems.push(tag);
      for (const [name, value] of Object.entries(attributes)) {
        if (SAFE_ATTRIBUTES.get(tag)?.has(name) !== true) problems.push(`${tag} ${name}`);
        if (name === 'href' && !/^https?:\/\//.test(value)) problems.push(`${tag} ${value}`);
      }
    },
    oncomment: () => void problems.push('comment'),
    onprocessinginstruction: () => void problems.push('instruction'),
  });
  reading.end(html);
  // As XML nothing is closed for us.
  const nesting = new Parser(
    {
      onclosetag: (tag, isImplied) => {
        if (isImplied) problems.push(`${tag} is open`);
      },
    },
    { xmlMode: true },
  );
  nesting.end(html.replaceAll('<br>', ''));
  return problems;
}
