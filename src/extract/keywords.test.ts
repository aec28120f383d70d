import { describe, expect, it } from 'vitest';
import { parsePage } from '../html/index.ts';
import { extractPage } from './extract-page.ts';
import { splitKeywords } from './keywords.ts';

const keywords = (html: string): string[] =>
  extractPage(parsePage(html, { url: 'https://a.test/b' })).keywords;
const head = (content: string, more = ''): string =>
  `<title>The mayor opens a new bridge</title><meta name=keywords content="${content}">${more}`;

describe('keywords', () => {
  it.each([
    ['apart', ['harbour, ferry;tide'], ['harbour', 'ferry', 'tide']],
    ['of other scripts', ['健康、醫療，環保'], ['健康', '醫療', '環保']],
    ['a comma of their own, in a list', ['Holm, Ida', 'Harbour'], ['Holm, Ida', 'Harbour']],
    ['lists in a list', ['a1, b2, c3, d4', 'e5'], ['a1', 'b2', 'c3', 'd4', 'e5']],
    ['without marks', ['#tide, "ferry", &quot;port&quot;'], ['tide', 'ferry', 'port']],
    ['without labels', ['topic: Ports', 'displayType: list', 'contentId: 7f'], ['Ports']],
    ['a title of three parts', ['Round-up: Ports'], ['Round-up: Ports']],
    ['no numbers and letters', ['0, r, 404182, 3D, M&A, tide'], ['3D', 'M&A', 'tide']],
    ['no program', ["tide, var a = {}, if (b) { c(); }, document.write('d')"], []],
    ['no text', [`The ferry came late, ${'and nobody knew why it had been so late '.repeat(3)}, it was`], []],
    [
      'no sentence in a list',
      ['ports', 'The ferry came late, and nobody knew why it was so', 'tide'],
      ['ports', 'tide'],
    ],
  ])('%s', (_name, given, wanted) => {
    expect(splitKeywords(given)).toEqual(wanted);
  });

  it('come from tags for the article first, each once', () => {
    const more =
      '<meta property="article:tag" content="Harbour"><script type="application/ld+json">{"@type":"NewsArticle","keywords":["Tide, spring","harbour"]}</script>';
    expect(keywords(head('tides, harbour', more))).toEqual(['Harbour', 'Tide, spring', 'tides']);
  });

  it('are not the title, nor its words, nor the site', () => {
    const site = '<meta property="og:site_name" content="The Harbour Post">';
    expect(keywords(head('The mayor opens a new bridge, bridges, the harbour post', site))).toEqual([
      'bridges',
    ]);
    expect(keywords(head('the,mayor,opens,a,new,bridge,ferries'))).toEqual(['ferries']);
    expect(keywords(head('bridge, mayor, ferries'))).toEqual(['bridge', 'mayor', 'ferries']);
  });

  it('are what links say where nothing is declared, but no cloud of tags', () => {
    const link = (name: string) => `<a rel="category tag" href="/t/${name}">${name}</a>`;
    expect(keywords(`<p>A text.</p>${link('ports')}${link('ferries')}`)).toEqual(['ports', 'ferries']);
    expect(keywords(head('tides', link('ports')))).toEqual(['tides']);
    expect(keywords(Array.from({ length: 40 }, (_, n) => link(`tag${n}`)).join(''))).toEqual([]);
  });
});
