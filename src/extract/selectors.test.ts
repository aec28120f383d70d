import { describe, expect, it } from 'vitest';
import { parsePage } from '../html/index.ts';
import { explainPage, extractPage, type Selectors } from './index.ts';

const url = 'https://post.example/news/ropes';
const story = Array.from(
  { length: 6 },
  (_, i) =>
    `<p>On day ${i + 1} the keeper of the harbour tied boat number ${i + 20} with a rope of its own.</p>`,
).join('');
const page = parsePage(
  `<html lang="en"><head><title>Something else</title></head><body>
   <article><div class="teaser"><h1>Wrong headline of a teaser that should go away</h1></div>
   <div class="sponsor"><p class="byline">By Ad Vertiser</p><time datetime="2020-01-01">1 January 2020</time><img src="/ad.jpg" width="800" height="600"> <a rel="tag" href="/tag/ropes-for-sale">Ropes for sale</a></div>
   <h2 class="real">Ropes for every boat</h2><i class="empty"></i><i class="empty">Ropes in the news</i><p class="by"></p><p class="when">some day</p>
   <div class="gap"></div><img class="lazy" alt="A rope"><img class="lead" src="/m.jpg" width="800" height="600">${story}</article></body></html>`,
  { url },
);
const extract = (selectors: Selectors) => extractPage(page, { url, selectors });

describe('exclude', () => {
  const selectors = { exclude: '.teaser, .sponsor' };

  it('is not read for any field', () => {
    expect(extract({})).toMatchObject({
      title: 'Wrong headline of a teaser that should go away',
      authors: ['Ad Vertiser'],
      publishedAt: new Date('2020-01-01T00:00:00Z'),
    });
    const left = extract(selectors);
    expect(left).toMatchObject({ title: 'Something else', authors: [], publishedAt: null });
    expect(left.images.map((image) => image.url)).toEqual(['https://post.example/m.jpg']);
    expect(left.keywords).toEqual([]);
  });

  it('is not chosen by other selectors, and gives the same again', () => {
    const first = extract({ ...selectors, author: '.byline', date: 'time' });
    expect(first.evidence).toMatchObject({
      'selector.exclude': 'matched',
      'selector.author': 'no_match',
      'selector.date': 'no_match',
    });
    expect(extract({ ...selectors, author: '.byline', date: 'time' })).toEqual(first);
  });

  it('is named where it stood', () => {
    const { blocks } = explainPage(page, { url, selectors });
    expect(blocks.slice(0, 5).map(({ text, why }) => [text, why[0]])).toEqual([
      ['Wrong headline of a teaser that should go away', "left out by the source's exclude"],
      ['By Ad Vertiser', "left out by the source's exclude"],
      ['1 January 2020 Ropes for sale', "left out by the source's exclude"],
      ['Ropes for every boat', expect.any(String)],
      expect.anything(),
    ]);
  });

  it('leaves the page itself', () => {
    const left = extract({ exclude: 'body' });
    expect(left.evidence['selector.exclude']).toBe('no_value');
    expect(left.text).not.toBe('');
  });
});

describe('a selector that matches', () => {
  it.each<[keyof Selectors, string, string]>([
    ['title', '.real', 'matched'],
    ['title', '.empty', 'matched'],
    ['title', '.gap', 'no_value'],
    ['author', '.by', 'no_value'],
    ['date', '.when', 'no_value'],
    ['date', '.when, time', 'matched'],
    ['section', '.gap', 'no_value'],
    ['body', '.gap', 'no_value'],
    ['container', '.gap', 'no_value'],
    ['container', '.gap, article', 'matched'],
    ['image', '.lazy', 'no_value'],
    ['image', '.lead', 'matched'],
  ])('%s: %s gives %s', (name, selector, outcome) => {
    const { evidence, text } = extract({ [name]: selector });
    expect(evidence[`selector.${name}`]).toBe(outcome);
    expect(text).toContain('On day 6');
  });

  it('takes the first that says something', () => {
    expect(extract({ title: '.empty' }).title).toBe('Ropes in the news');
  });
});
