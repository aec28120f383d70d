import { describe, expect, it } from 'vitest';
import { parsePage } from '../html/index.ts';
import { textSource } from '../text/index.ts';
import { articleHtml } from './article-html.ts';
import { extractPage } from './extract-page.ts';

const url = 'https://paper.example/news/ferry';
const sentence =
  'The ferry to the island leaves every hour until the end of the summer, the council said on Monday.';
const paragraphs = Array.from({ length: 12 }, (_, n) => `<p>Part ${n}: ${sentence}</p>`).join('');
const page = (inner: string) =>
  `<html><head><title>Ferry</title></head><body><nav><a href="/">Home</a> <a href="/sport">Sport</a></nav>
   <main><article><h1>Ferry leaves hourly</h1>${inner}</article></main>
   <footer>Copyright. <a href="/imprint">Imprint</a></footer></body></html>`;
const read = (html: string, selectors = {}) =>
  articleHtml(parsePage(textSource(html), { url }), { url, selectors, maxBytes: 1_000_000 });

describe('the article as HTML', () => {
  it('has the text of the document in the elements of the page', () => {
    const html = page(`${paragraphs}<h2>Fares</h2><ul><li>${sentence}</li></ul>
      <p>See <a href="/fares">the <em>fares</em></a> for all of them, which did not change since the last year.</p>`);
    const shown = read(html).html;
    expect(shown).toContain('<p>Part 0: The ferry');
    expect(shown).toContain('<h2>Fares</h2>');
    expect(shown).toContain(`<ul><li>${sentence}</li></ul>`);
    expect(shown).toMatch(/<a href="https:\/\/paper\.example\/fares" [^>]*>the <em>fares<\/em><\/a> for all/);
    expect(shown).not.toMatch(/Home|Imprint|Copyright/);
    const { text } = extractPage(parsePage(textSource(html), { url }));
    expect(shown.replace(/<[^>]*>/g, ' ').match(/\S+/g)).toEqual(text.match(/\S+/g));
  });

  it('formulas are there, also alone; numbers of lines and marks of notes are not', () => {
    const formula =
      '<span class="katex"><span><math><mi>x</mi></math></span><span aria-hidden="true">x</span></span>';
    const code = [1, 2].map((n) => `<i class="lineno">${n}</i>light(${n * 10})`).join('\n');
    const shown = read(
      page(
        `${paragraphs}<div>${formula}</div><p>${sentence}<sup><a href="#fn1">1</a></sup></p><pre>${code}</pre>${paragraphs.replaceAll('Part', 'Piece')}`,
      ),
    ).html;
    expect(shown).toContain(`<div>$x$</div><p>${sentence}</p><pre>light(10)\nlight(20)</pre>`);
  });

  it('a formula that a script has drawn is there once', () => {
    const drawn = '<span class="MathJax"><i>x</i></span><script type="math/tex">x</script>';
    expect(read(page(`${paragraphs}<p>Let ${drawn} be. ${sentence}</p>`)).html).toContain(
      '<p>Let $x$ be. The',
    );
  });

  it('images inside it are told in words', () => {
    const shown = read(
      page(`${paragraphs}<img src="/boat.jpg" alt="A boat">${paragraphs.replaceAll('Part', 'Piece')}`),
    );
    expect(shown.html).toContain('<small>[A boat, https://paper.example/boat.jpg]</small>');
  });

  it('selectors of the source hold, and nothing behind their last element is shown', () => {
    const html =
      page(`<div class="text">${paragraphs}<span class="ad">Buy now, says the advertisement</span></div>
      <p>Not this: ${sentence}</p>`);
    const shown = read(html, { body: '.text', exclude: '.ad' }).html;
    expect(shown).toContain('Part 11');
    expect(shown).not.toMatch(/Buy now|Not this|Imprint/);
  });

  it('a page without an article gives nothing', () => {
    expect(read('<html><body></body></html>')).toEqual({ html: '', isCut: false });
  });
});
