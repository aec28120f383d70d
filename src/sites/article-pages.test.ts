import { expect, it } from 'vitest';
import { nextArticlePage, withoutArticlePages } from './article-pages.ts';
import type { PagerLink } from './pagers.ts';

const link = (path: string, text: string, rel: string | null = null): PagerLink => ({
  url: `https://a.test${path}`,
  text,
  rel,
  inNav: false,
});
const next = (path: string, at: number, ...links: PagerLink[]): string | null =>
  nextArticlePage(`https://a.test${path}`, links, at)?.replace('https://a.test', '') ?? null;

it.each([
  ['a number behind a slash', '/a-story/', 1, [link('/a-story/2/', '2')], '/a-story/2/'],
  ['a parameter', '/a-story', 1, [link('/a-story?page=2', 'Next')], '/a-story?page=2'],
  ['its own name', '/a.html', 1, [link('/a_2.html', '2'), link('/a_3.html', '3')], '/a_2.html'],
  ['its own name and a step', '/a_story.html', 1, [link('/a_story_1.html', 'Next Page')], '/a_story_1.html'],
  ['rel=next', '/a-story', 1, [link('/a-story/2', '', 'next')], '/a-story/2'],
  ['another script', '/367', 1, [link('/367/2', '次ページ→')], '/367/2'],
  ['the third', '/a-story/2/', 2, [link('/a-story/', '1'), link('/a-story/3/', '3')], '/a-story/3/'],
])('goes on by %s', (_name, path, at, links, wanted) => {
  expect(next(path, at, ...links)).toBe(wanted);
});

it.each([
  ['comments', '/a', [link('/a/comment-page-2', '2'), link('/a/comment-page-3', '3')]],
  ['pictures', '/a', [link('/a?slide=2', 'Next')]],
  ['a list of others', '/a', [link('/a?b7_page=2', 'Next')]],
  ['the next article', '/story-7', [link('/story-6', 'Previous'), link('/story-8', 'Next')]],
  ['the next article by rel', '/?p=17', [link('/?p=18', 'Another', 'next')]],
  ['the next of the same title', '/roundup', [link('/roundup-2', 'Next'), link('/', 'Home')]],
  ['the same by rel', '/roundup', [link('/roundup-2', 'Roundup', 'next')]],
  ['years', '/a', [link('/a/2024', '2024')]],
  ['very many', '/a', [link('/a?page=2', '2'), link('/a?page=1200', '1200')]],
  ['nothing', '/a', []],
])('does not go on by %s', (_name, path, links) => {
  expect(next(path, 1, ...links)).toBeNull();
});

it.each([
  ['https://a.test/s/2/', true],
  ['https://a.test/s?page=3', true],
  ['https://a.test/s-2.html', true],
  ['https://a.test/s-2', false],
  ['https://a.test/s?comment=3', false],
  ['https://a.test/s/2024', false],
  ['https://a.test/t/2', false],
])('%s is a page of /s/: %s', (url, wanted) => {
  expect(withoutArticlePages([{ url }], 'https://a.test/s/')).toHaveLength(wanted ? 0 : 1);
});
