import { describe, expect, it } from 'vitest';
import { parsePage } from '../html/index.ts';
import { readBlocks } from './blocks.ts';
import { chooseBlocks } from './fallback.ts';
import { explainPage, extractPage } from './index.ts';

const url = 'https://post.example/news/a-storm';
const parse = (body: string) => parsePage(`<html><body>${body}</body></html>`, { url });
const blocksOf = (body: string) => readBlocks(parse(body));

const rope =
  'The keeper tied the boats with a second rope before the storm came, and went home to his family.';
const storm =
  'In the night the storm took the roof of the ice house, two sheds and a crane that nobody had insured.';
const menu = '<ul><li><a href="/n">News</a></li><li><a href="/s">Sport</a></li></ul>';

describe('chooseBlocks', () => {
  it.each([
    ['elements that meet', `<div><p>${rope}</p><p>${storm}</p></div>`, [rope, storm]],
    ['other white space', `<p>${rope.replaceAll(' ', '  ')}</p>`, [rope]],
    ['a word of the menu', `<p>News</p><p>${rope}</p>`, [rope]],
    ['a heading right above', `<h2>Ropes</h2><p>${rope}</p>`, ['Ropes', rope]],
    ['a paragraph without its end', `<p>${storm.slice(0, 80)}</p>`, [storm]],
    ['the beginning of a paragraph alone', `<p>${storm.slice(0, 45)}</p>`, []],
    ['a menu alone', '<p>News</p><p>Sport</p>', []],
    ['a text twice', `<p>${rope}</p><p>${rope}</p>`, [rope]],
    ['what the page does not hold', '<p>Another text.</p>', []],
  ])('%s', (_name, part, texts) => {
    const page = `${menu}<i>x</i><p>${'<p>y</p>'.repeat(4)}<h2>Ropes</h2><p>${rope}</p><p>${storm}</p>`;
    expect(chooseBlocks(blocksOf(page), blocksOf(part)).map(({ text }) => text)).toEqual(texts);
  });
});

describe('the second opinion', () => {
  const figures = [rope, storm, rope.replace('second', 'third'), storm.replace('roof', 'door')]
    .map(
      (text, i) =>
        `<figure><img src="/p/${i}.jpg"><figcaption>${text} <span class="credit">Photo: Jon Berg</span></figcaption></figure>`,
    )
    .join('');
  const gallery = `<header><nav>${menu}</nav></header><main><h1>In pictures: the storm</h1><p>Our photographers were there.</p>${figures}</main>`;
  const sponsored = gallery.replace('</h1>', `</h1><div class="sponsor"><p>${rope} Buy our ropes.</p></div>`);

  it('is written in paragraphs, and explained as it is', () => {
    const told = explainPage(parse(gallery), { url, allowFallback: true });
    expect(told.extraction.evidence.text).toBe('readability');
    expect(told.extraction.text).toContain(`Photo: Jon Berg\n\n${storm}`);
    expect(told.extraction).toMatchObject({ pageType: 'article' });
    const kept = told.blocks.filter((block) => block.kept).map((block) => block.text);
    expect(kept.join('\n\n')).toBe(told.extraction.text);
    expect(told.blocks.find(({ text }) => text === 'News')?.why).toEqual(['not in what Readability found']);
  });

  it.each([
    ['what is excluded', { exclude: '.sponsor' }, 'Buy our ropes'],
    ['what stands outside of the container', { container: 'figure' }, storm],
  ])('does not bring back %s', (_name, selectors, text) => {
    expect(extractPage(parse(sponsored), { url, selectors, allowFallback: true }).text).not.toContain(text);
  });

  it('is no menu', () => {
    const { text, evidence } = extractPage(parse(`<nav>${menu}</nav><h1>The storm</h1>`), {
      url,
      allowFallback: true,
    });
    expect([text, evidence.text]).toEqual(['', 'blocks']);
  });
});
