import { describe, expect, it } from 'vitest';
import { parsePage } from '../html/index.ts';
import { extractPage } from './index.ts';

type Step = [name: string, url?: string];

function sectionOf(steps: Step[], head = '') {
  const list = steps.map(([name, item], i) => ({ '@type': 'ListItem', position: i + 1, name, item }));
  // Steps may stand in any order: their positions tell.
  const ld = { '@type': 'BreadcrumbList', itemListElement: list.toReversed() };
  const html = `<title>A lamp for the keeper | The Post</title>${head}<script type="application/ld+json">${JSON.stringify(ld)}</script><h1>A lamp for the keeper</h1>`;
  const { section, evidence } = extractPage(
    parsePage(html, { url: 'https://post.example/harbour/lamp?from=feed' }),
  );
  return [section, evidence.section];
}

describe('the section by breadcrumbs', () => {
  const front: Step = ['Home', 'https://post.example/'];
  const own: Step = ['A lamp for the keeper', 'https://post.example/harbour/lamp'];

  it('is the last step before the page', () => {
    const steps: Step[] = [front, ['News', '/news'], ['Harbour', '/harbour'], own];
    expect(sectionOf(steps)).toEqual(['Harbour', 'breadcrumbs']);
    expect(
      sectionOf([
        ['The Post', 'https://post.example'],
        ['Harbour', '/harbour'],
      ]),
    ).toEqual(['Harbour', 'breadcrumbs']);
    expect(sectionOf([['Startseite'], ['Hafen'], ['A lamp for the keeper']])).toEqual([
      'Hafen',
      'breadcrumbs',
    ]);
  });

  it('is none where only the front page and the page are steps, or a title', () => {
    expect(sectionOf([front, own])).toEqual([null, undefined]);
    expect(sectionOf([front, ['Why the keeper of the harbour needs a new lamp this year']])).toEqual([
      null,
      undefined,
    ]);
    expect(sectionOf([])).toEqual([null, undefined]);
  });

  it('comes after what the page declares', () => {
    const declared = '<meta property="article:section" content="Local">';
    expect(sectionOf([front, ['Harbour', '/harbour'], own], declared)).toEqual(['Local', 'article:section']);
  });
});
