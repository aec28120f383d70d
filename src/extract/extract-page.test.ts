import { describe, expect, it } from 'vitest';
import { parsePage } from '../html/index.ts';
import { contentHash, extractPage } from './index.ts';

const paragraph = (n: number) =>
  `<p>Paragraph ${n} tells how the harbour pilots of a small town bring the ferries in at night, when the wind turns and the lamps along the mole are hard to tell from the stars above the hills.</p>`;

const article = (extra = '', head = '') => `<!doctype html><html lang="en-GB"><head>
<title>Night pilots of the harbour | The Pier Post</title>
<meta property="og:site_name" content="The Pier Post"><meta property="og:image" content="/lead.jpg">
<link rel="canonical" href="/stories/night-pilots">${head}</head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/news">News</a></li><li><a href="/sport">Sport</a></li></ul></nav>
<main><article><h1>Night pilots of the harbour</h1>${extra}
<div class="article-body">${[1, 2, 3, 4, 5, 6].map(paragraph).join('\n')}</div></article></main>
<aside class="related"><h3>Related stories</h3><ul><li><a href="/a">The lamps go out on the old mole</a></li><li><a href="/b">A ferry returns</a></li></ul></aside>
<footer><p>Copyright The Pier Post. All rights reserved. <a href="/privacy">Privacy</a></p></footer></body></html>`;

const read = (html: string, options = {}) =>
  extractPage(parsePage(html, { url: 'https://pier.example/stories/night-pilots' }), options);

describe('extractPage', () => {
  it('keeps the paragraphs and drops navigation, related stories and the footer', () => {
    const { text, wordCount, pageType } = read(article());
    for (const n of [1, 2, 3, 4, 5, 6]) expect(text).toContain(`Paragraph ${n} tells`);
    expect(text).not.toMatch(/Home|Related stories|A ferry returns|All rights reserved/);
    expect(text.split('\n\n').length).toBeGreaterThanOrEqual(6);
    expect(wordCount).toBeGreaterThan(150);
    expect(pageType).toBe('article');
  });

  it('keeps code, though in figures of its own, and leaves out the caption of a picture', () => {
    const code = (text: string) =>
      `<figure class="highlight"><pre><code class="language-bash" data-lang="bash">${text}</code></pre></figure>`;
    const pieces = [
      code('npm install lamplighter --save-dev'),
      code('lamplighter start --config lamps.ts'),
      '<figure><img src="/mole.jpg"><figcaption>The old mole. Picture: Ana Lund</figcaption></figure>',
    ];
    const { text } = read(article().replace(/(?<=<\/p>)\n/g, () => `\n${pieces.shift() ?? ''}`));
    expect(text).toContain('npm install lamplighter --save-dev');
    expect(text).toContain('lamplighter start --config lamps.ts');
    expect(text).not.toContain('Picture: Ana Lund');
  });

  it('keeps code between two lines of the text, and none beside the text', () => {
    const code = 'call rake -f rakefile.rb unit_tests if %ERRORLEVEL% == 1 ( pause )';
    const within = read(article().replace(paragraph(3), `<pre>${code}</pre>${paragraph(3)}`)).text;
    expect(within).toContain(`\n\n${code}\n\n`);
    const beside = read(article().replace('<footer>', `<footer><pre>${code}</pre>`)).text;
    expect(beside).not.toContain('rakefile');
  });

  it('keeps the lines about a piece of code that is most of the page', () => {
    const body = `<div class="entry-content"><p>方法一：</p><p>只需要在某个按钮上点击的时候，触发下面的方法即可：</p>
      <figure class="code"><div class="highlight"><table><tr><td class="code"><pre>${'private void startTimeCount() { onTick(60000, 1000); }\n'.repeat(6)}</pre></td></tr></table></div></figure>
      <p>其中，按钮为要显示的文字，当点击后，会出现，再过几秒可重获验证码的文字</p></div>`;
    const { text } = read(
      `<html lang="zh"><head><title>倒计时类的使用</title></head><body><nav><a href="/">首页</a></nav><div id="content"><article class="hentry"><h1>倒计时类的使用</h1>${body}</article></div></body></html>`,
    );
    expect(text).toMatch(/只需要在.*startTimeCount.*其中/s);
  });

  it('reads title, canonical address, language and lead image', () => {
    const result = read(article());
    expect(result.title).toBe('Night pilots of the harbour');
    expect(result.canonicalUrl).toBe('https://pier.example/stories/night-pilots');
    expect(result.language).toBe('en-GB');
    expect(result.leadImage).toBe('https://pier.example/lead.jpg');
  });

  it('does not believe a canonical address that cannot be that of the page', () => {
    const canonical = (href: string, url = 'https://pier.example/stories/lamp') =>
      extractPage(parsePage(`<link rel="canonical" href="${href}"><p>Lamp`, { url })).canonicalUrl;
    expect(canonical('https://pier.example/')).toBeNull();
    expect(canonical('https://pier.example/', 'https://pier.example/')).toBe('https://pier.example/');
    expect(canonical('https://pier.example/?p=7')).toBe('https://pier.example/?p=7');
    expect(canonical('https://a-lamp-for-the-keeper')).toBeNull();
    for (const none of ['undefined', 'null', '/undefined', '{{ url }}', '', '#', '[object Object]'])
      expect(canonical(none)).toBeNull();
    for (const bare of [
      'www.pier.example/stories/lamp',
      'pier.example/stories/lamp',
      'https//pier.example/lamp',
    ])
      expect(canonical(bare)).toBeNull();
    for (const host of ['127.0.0.1:3000', '10.1.2.3', '192.168.0.9', 'pier.local', '[::1]'])
      expect(canonical(`http://${host}/stories/lamp`)).toBeNull();
    expect(canonical('http://10.1.2.3/b', 'http://10.1.2.4/a')).toBe('http://10.1.2.3/b');
    expect(canonical('https://ada:lamp@pier.example/stories/1')).toBe('https://pier.example/stories/1');
    expect(canonical('undefined"><link rel="canonical" href="/stories/1')).toBe(
      'https://pier.example/stories/1',
    );
    expect(canonical('/stories/lamp', 'http://localhost:8080/a')).toBe('http://localhost:8080/stories/lamp');
  });

  it('prefers JSON-LD for author and date and survives a broken script beside it', () => {
    const ld = `<script type="application/ld+json">{"@graph":[{"@type":"NewsArticle","headline":"Night pilots of the harbour","datePublished":"2024-03-05T10:00:00Z","author":[{"@type":"Person","name":"Ada Lund"},{"name":"Jon Berg"}],},]}</script><script type="application/ld+json">{not json</script>`;
    const result = read(article('', ld));
    expect(result.authors).toEqual(['Ada Lund', 'Jon Berg']);
    expect(result.publishedAt?.toISOString()).toBe('2024-03-05T10:00:00.000Z');
    expect(result.evidence.authors).toBe('json-ld author');
    expect(result.jsonLd).toMatchObject({
      jsonld_schema_type: 'NewsArticle',
      jsonld_author: 'Ada Lund, Jon Berg',
    });
  });

  it('obeys selectors, and names the ones that match nothing or cannot be read', () => {
    const result = read(article('<p class="who">By Eva Strand</p>'), {
      selectors: { author: '.who', title: 'h9', date: 'p[', body: '.article-body' },
    });
    expect(result.authors).toEqual(['Eva Strand']);
    expect(result.evidence['selector.title']).toBe('no_match');
    expect(result.evidence['selector.date']).toMatch(/^invalid_selector/);
    expect(result.evidence.text).toBe('selector');
    expect(result.title).toBe('Night pilots of the harbour');
  });

  it('is the same for the same page, and its hash follows the text', () => {
    const [a, b] = [read(article()), read(article())];
    expect(a).toEqual(b);
    expect(contentHash(a.text).equals(contentHash(b.text))).toBe(true);
    expect(contentHash(a.text)).toHaveLength(32);
  });

  it.each([
    ['empty', ''],
    ['binary', Array.from({ length: 5_000 }, (_, i) => String.fromCharCode((i * 7919) % 256)).join('')],
    ['deep', `${'<div>'.repeat(50_000)}end`],
    ['unclosed', '<p><b><i><a href=x>word '.repeat(6_000)],
    ['unclosed lists', '<ul><li>word '.repeat(24_000)],
    ['unclosed tables', '<table><tr><td>word'.repeat(24_000)],
    ['nested JSON', `<script type="application/ld+json">${'{"@graph":['.repeat(20_000)}</script>`],
    ['one endless tag', `<div ${'a="b" '.repeat(50_000)}>x</div>`],
    ['many headlines', '<h1>A headline of it</h1><p>A paragraph with a handful of words.</p>'.repeat(20_000)],
    ['many dates', `<p>${'1 January 2024 '.repeat(20_000)}</p>`],
    ['a title of bars', `<title>${'-& | '.repeat(60_000)}</title>`],
    [
      'a declared headline of bars',
      `<script type="application/ld+json">{"@type":"NewsArticle","headline":"${'a | '.repeat(100_000)}"}</script>`,
    ],
    ['bodies with attributes', '<body a b c d>'.repeat(60_000)],
    ['times in times', '<time>'.repeat(60_000)],
    ['authors in authors', '<a rel=author>www.'.repeat(40_000)],
    ['wide', '<p>A paragraph with a handful of words in it.</p>'.repeat(60_000)],
    [
      'prototype keys',
      '<meta name="__proto__" content="x"><script type="application/ld+json">{"__proto__":{"@type":"Article"}}</script>',
    ],
  ])('ends with a result on a hostile page: %s', (_name, html) => {
    const result = read(html);
    expect(typeof result.text).toBe('string');
    expect(result.confidence).toBeLessThanOrEqual(1);
  });
});
