import { describe, expect, it } from 'vitest';
import { parsePage } from '../html/index.ts';
import { validatePage } from '../validate/index.ts';
import { asHtml } from './article-body.ts';
import { readBlocks } from './blocks.ts';
import { articleHtml, explainPage, extractPage } from './index.ts';

const url = 'https://post.example/news/ropes';

describe('asHtml', () => {
  const paragraphs = (value: string) =>
    readBlocks(parsePage(asHtml(value), { url })).map(({ lines, text }) => lines ?? text);
  it.each([
    ['plain', 'One rope.', ['One rope.']],
    ['lines', 'One rope.\nTwo ropes.\r\nThree.', ['One rope.', 'Two ropes.', 'Three.']],
    ['paragraphs of lines', 'One rope,\ntwo ropes.\n \nThree.', ['One rope,\ntwo ropes.', 'Three.']],
    ['HTML', '<p>One <b>rope</b>.</p>\n<p>Two\nropes.</p>', ['One rope.', 'Two ropes.']],
    ['HTML in a line', 'One <a href="/r">rope</a>.\n\nTwo.', ['One rope.', 'Two.']],
    ['escaped HTML', '&lt;p&gt;One rope.&lt;/p&gt;&lt;p&gt;Two.&lt;/p&gt;', ['One rope.', 'Two.']],
    ['entities', 'Ropes &amp; boats&nbsp;of &quot;Fern&quot;', ['Ropes & boats of "Fern"']],
    ['entities of entities', 'Ropes &amp;amp; boats &amp;#8211; all', ['Ropes & boats – all']],
    ['signs that are no tags', 'If a <x and c> d, then x<y.', ['If a <x and c> d, then x<y.']],
    ['scripts', '<p>One rope.</p><script>alert(1)</script>', ['One rope.']],
  ])('reads %s', (_name, value, texts) => {
    expect(paragraphs(value)).toEqual(texts);
  });
});

describe('the text of JSON-LD', () => {
  const told = Array.from(
    { length: 14 },
    (_, i) => `On day ${i + 1} the keeper of the harbour tied boat number ${i + 20} with a rope of its own.`,
  );
  const article = (more: object = {}) => ({
    '@type': 'NewsArticle',
    headline: 'Ropes for every boat',
    datePublished: '2026-03-04T08:00:00Z',
    articleBody: told.join('\n\n'),
    ...more,
  });
  const page = (body: string, ld: unknown, title = 'Ropes for every boat | Post') =>
    parsePage(
      `<html lang="en"><head><title>${title}</title><script type="application/ld+json">${JSON.stringify(ld)}</script></head><body>${body}${' '.repeat(600)}</body></html>`,
      { url },
    );
  const root =
    '<div id="root"></div><noscript>Please enable JavaScript.</noscript><script src="/a.js"></script>';
  const paragraphs = (texts: string[]) => texts.map((text) => `<p>${text}</p>`).join('');
  const from = (source: ReturnType<typeof page>, selectors = {}) =>
    extractPage(source, { url, selectors }).evidence.text;

  it('is that of an application without a text, which is then an article and valid', () => {
    const source = page(root, article());
    const extraction = extractPage(source, { url });
    expect(extraction).toMatchObject({ text: told.join('\n\n'), pageType: 'article', wordCount: 14 * 18 });
    expect(
      validatePage({ page: source, extraction, bodyBytes: 5_000, status: 200, headers: {} }).outcome,
    ).toBe('valid');
  });

  const other = article({
    headline: 'A lamp goes out',
    articleBody: told.join(' ').replaceAll('rope', 'lamp'),
  });
  it.each([
    ['a page that shows nothing', root, article()],
    ['a teaser', `<h1>Ropes for every boat</h1><p>${told[0]}</p><a href="/s">Subscribe</a>`, article()],
    ['a longer teaser', `<h1>Ropes for every boat</h1>${paragraphs(told.slice(0, 5))}`, article()],
    ['an article with another beside it', root, [other, article()]],
    ['an article named by its address', root, article({ headline: 'Knots', url })],
    ['the only one', root, article({ headline: undefined, articleBody: `<p>${told.join('</p><p>')}</p>` })],
  ])('is taken for %s', (_name, body, ld) => {
    expect(from(page(body, ld))).toBe('json-ld articleBody');
  });

  it.each([
    ['a page that tells it all', paragraphs(told), article()],
    ['a page that tells most of it', paragraphs(told.slice(0, 9)), article()],
    [
      'a page that tells something else',
      paragraphs(told.map((text) => text.replace('boat', 'house'))),
      article(),
    ],
    ['an article of another page', root, article({ headline: 'A lamp goes out', url: '/news/lamp' })],
    ['several articles of other pages', root, [other, { ...other, articleBody: told.join('') }]],
    ['what is no article', root, article({ '@type': 'WebPage' })],
    [
      'a text hardly longer',
      `<h1>Ropes for every boat</h1>${paragraphs(told.slice(0, 2))}`,
      article({ articleBody: told.slice(0, 3).join('\n') }),
    ],
  ])('is left to %s', (_name, body, ld) => {
    expect(from(page(body, ld))).toBe('blocks');
  });

  it('is left where the source has said which part of a page holds the text', () => {
    const body = `<main><p>${told[0]}</p></main>`;
    expect(from(page(body, article()), { container: 'main' })).toBe('blocks');
    expect(from(page(body, article()), { body: 'main' })).toBe('selector');
  });

  it('is explained and shown as HTML like any other', () => {
    const source = page(`<h1>Ropes for every boat</h1><p>${told[0]}</p>`, article());
    const kept = explainPage(source, { url }).blocks.filter((block) => block.kept);
    expect(kept.map(({ text }) => text)).toEqual(told);
    expect(articleHtml(source, { url, maxBytes: 10_000 }).html).toContain(`<p>${told[13]}</p>`);
  });
});
