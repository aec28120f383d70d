import { describe, expect, it } from 'vitest';
import { parsePage } from '../html/index.ts';
import { extractPage } from './index.ts';

const sentence = (n: number) =>
  `Part ${n} tells how the harbour pilots of a small town bring the ferries in at night, when the wind turns and the lamps along the mole are hard to tell from the stars above the hills.`;
const paragraphs = (count: number) =>
  Array.from({ length: count }, (_, n) => `<p>${sentence(n)}</p>`).join('\n');
const headlines = (count: number) =>
  Array.from(
    { length: count },
    (_, n) => `<li><a href="/s/${n}">Headline ${n} of the other lamps</a></li>`,
  ).join('');
const teasers = (count: number, more = '') =>
  Array.from(
    { length: count },
    (_, n) =>
      `<div><h2><a href="/story-${n}">The lamps of harbour ${n}</a></h2><p>${sentence(n)}</p>${more}</div>`,
  ).join('');

function kindOf(body: string, { url = 'https://pier.example/pilots', head = '' } = {}) {
  const page = parsePage(
    `<html lang="en"><head><title>Night pilots of the harbour</title>${head}</head><body>${body}</body></html>`,
    { url },
  );
  const { pageType, evidence } = extractPage(page);
  return [pageType, evidence.pageType];
}

const story = `<h1>Night pilots of the harbour</h1><div>${paragraphs(6)}</div>`;
const DECLARED = '<meta property="og:type" content="article">';

describe('page type', () => {
  it('a text is an article however many headlines stand beside it', () => {
    expect(kindOf(`${story}<ul>${headlines(60)}</ul>`)).toEqual(['article', 'a text']);
    expect(kindOf(`${story}<ul>${headlines(60)}</ul>`, { head: DECLARED })).toEqual(['article', 'declared']);
  });

  it('headings that lead elsewhere between the paragraphs make a listing', () => {
    const url = 'https://pier.example/category/pilots';
    const [type, why] = kindOf(teasers(12, '<p><a href="/s">Read more</a></p>'), { url });
    expect(type).toBe('listing');
    expect(why).toContain('the address of a listing');
    expect(why).toContain('linked headings in the text');
    expect(kindOf(teasers(12), { url, head: DECLARED })[0]).toBe('listing');
  });

  it('what its head and its address call an article is one', () => {
    const url = 'https://pier.example/2024/05/17/night-pilots-of-the-harbour';
    expect(kindOf(story + teasers(12), { url, head: DECLARED })).toEqual(['article', 'declared']);
  });

  it('headings that lead to places of the same page are those of an article', () => {
    const parts = Array.from(
      { length: 9 },
      (_, n) => `<h2 id="p${n}"><a href="#p${n}">The lamps of harbour ${n}</a></h2><p>${sentence(n)}</p>`,
    );
    expect(kindOf(`<h1>Night pilots of the harbour</h1>${parts.join('')}`)[0]).toBe('article');
  });

  it('front pages and pages of few words are listings by their headlines alone', () => {
    expect(kindOf(`<ul>${headlines(20)}</ul>`)[0]).toBe('listing');
    expect(kindOf(`${story}<ul>${headlines(20)}</ul>`, { url: 'https://pier.example/' })[0]).toBe('listing');
  });

  it('few words are a stub with a title, and nothing else without', () => {
    expect(kindOf(`<h1>Night pilots of the harbour</h1><p>${sentence(1)}</p>`)).toEqual([
      'stub',
      'few words',
    ]);
    expect(kindOf('')).toEqual(['other', 'few words']);
  });
});
