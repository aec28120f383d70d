import { describe, expect, it } from 'vitest';
import { classifyUrl } from '../url/index.ts';
import { decideKind, mayWait, Shapes } from './kinds.ts';

const counts = (article: number, listing: number, other: number, sampled = 0) => ({
  article,
  listing,
  other,
  sampled,
});

describe('what a shape is', () => {
  it.each([
    ['one address speaks for itself', '/team', 0, counts(0, 1, 0), 'listing'],
    ['many addresses need two pages', '/x/{slug2}', 0, counts(1, 0, 0), null],
    ['and then are known', '/x/{slug2}', 0, counts(2, 0, 0), 'article'],
    ['a general shape needs three', '/{w}/{slug2}', 1, counts(2, 0, 0), null],
    ['a coarse one five', '/{w}/{slug}', 2, counts(4, 0, 0), null],
    ['one in five may differ', '/{w}/{slug2}', 1, counts(8, 2, 0), 'article'],
    ['but not more', '/{w}/{slug2}', 1, counts(7, 3, 0), null],
    ['that nothing is there is said late', '/{w}', 1, counts(0, 0, 5), null],
    ['but said', '/{w}', 1, counts(0, 0, 6), 'other'],
    ['sooner where the words are the same', '/x/{slug2}', 0, counts(0, 0, 4), 'other'],
    ['and not at once', '/x/{slug2}', 0, counts(0, 0, 3), null],
    ['of one address at once', '/team', 0, counts(0, 0, 1), 'other'],
    ['nothing known', '/{w}', 1, counts(0, 0, 0), null],
  ] as const)('%s', (_name, shape, level, known, kind) => {
    expect(decideKind(shape, level, known)).toBe(kind);
  });
});

it('learns short slugs and numbered articles', () => {
  const shapes = new Shapes();
  for (const id of ['7x1', '8x2', '9x3']) shapes.learn(`https://a.test/article.php?id=${id}`, 'article');
  for (const name of ['red-fox', 'old-oak']) shapes.learn(`https://a.test/${name}`, 'article');
  for (const name of ['inland', 'ausland', 'panorama']) shapes.learn(`https://a.test/${name}/`, 'listing');
  const learned = shapes.kinds;
  expect(classifyUrl('https://a.test/article.php?id=zz9', { learned }).kind).toBe('article');
  expect(classifyUrl('https://a.test/new-day', { learned }).kind).toBe('article');
  expect(classifyUrl('https://a.test/kultur-welt-9/x', { learned }).kind).toBe('other');
  expect(classifyUrl('https://a.test/chronik/', { learned }).kind).toBe('listing');
  // Its own word says more than its neighbours.
  expect(classifyUrl('https://a.test/about', { learned }).kind).toBe('other');
  expect(classifyUrl('https://a.test/', { learned }).kind).toBe('listing');
});

it('hands changes over once, and takes back what could not be saved', () => {
  const shapes = new Shapes();
  shapes.learn('https://a.test/x/some-name', 'article');
  const changes = shapes.takeChanges();
  expect(changes.map(([shape, one]) => [shape, one.article, one.level])).toEqual([
    ['/x/{slug2}', 1, 0],
    ['/{w}/{slug2}', 1, 1],
    ['/{w}/{slug}', 1, 2],
  ]);
  expect(shapes.takeChanges()).toEqual([]);
  shapes.learn('https://a.test/x/other-name', 'article');
  shapes.putBack(changes);
  expect(shapes.takeChanges().map(([, one]) => one.article)).toEqual([2, 2, 2]);
});

it('lets only so many addresses of an unknown shape wait, each once', () => {
  const shapes = new Shapes();
  const taken = Array.from({ length: 100 }, (_, n) => shapes.sample(`https://a.test/x?n=${n}`, false));
  expect(taken.filter(Boolean)).toHaveLength(30);
  expect(shapes.sample('https://a.test/x?n=200', true)).toBe(true);
  expect(shapes.sample('https://a.test/x?n=200', true)).toBe(false);
  expect(mayWait(counts(7, 7, 6), true)).toBe(false);
});
