import { describe, expect, it } from 'vitest';
import type { Pager } from './pagers.ts';
import { type ListingPage, Pagination, pagerRestMs } from './pagination.ts';

const entries = (page: number): string[] => Array.from({ length: 10 }, (_, n) => `${page}-${n}`);
const address = (page: number): string => `https://a.test/n${page === 1 ? '' : `?page=${page}`}`;
const pager = (page: number, highest: number): Pager => ({
  base: '/n',
  form: '?page={N}',
  page,
  evidence: 3,
  highest,
  next: page < highest ? address(page + 1) : null,
});
const listing = (page: number, more: Partial<ListingPage> = {}): ListingPage => ({
  url: address(page),
  pagers: [],
  entries: entries(page),
  news: 10,
  isAgain: false,
  mayGuess: true,
  ...more,
});

describe('with links', () => {
  it('walks one page after the other and ends where the pager does', () => {
    const pages = new Pagination();
    for (const page of [1, 2, 3])
      expect(pages.follow(listing(page, { pagers: [pager(page, 4)] }), 0)).toEqual({
        url: address(page + 1),
        guessed: false,
        again: false,
      });
    expect(pages.follow(listing(4, { pagers: [pager(4, 4)] }), 0)).toBeNull();
    expect(pages.takeChanges()).toMatchObject([
      { form: '?page={N}', reached: 4, pages: 3, evidence: 3, ended: null },
    ]);
  });

  it.each([
    ['repeat', entries(1)],
    ['empty', []],
  ] as const)('a page that is %s ends it, and a later crawl does not ask', (reason, shown) => {
    const pages = new Pagination();
    pages.follow(listing(1, { pagers: [pager(1, 4)] }), 0);
    expect(pages.follow(listing(2, { pagers: [pager(2, 5)], entries: shown }), 7)).toBeNull();
    const [rule] = pages.takeChanges();
    expect(rule).toMatchObject({ ended: { reason, atMs: 7 }, pages: 0 });
    const later = new Pagination([rule!]);
    const again = listing(1, { pagers: [pager(1, 4)], isAgain: true });
    expect(later.follow(again, 8)).toBeNull();
    expect(later.follow(again, 8 + pagerRestMs)).toMatchObject({ url: address(2) });
  });
});

it('further pages with parameters that the first goes without are walked like others', () => {
  const pages = new Pagination();
  const sorted = (page: number): Pager => ({
    ...pager(page, 3),
    base: '/n?order=desc',
    next: next(page + 1),
  });
  const next = (page: number): string => `https://a.test/n?order=desc&page=${page}`;
  expect(pages.follow(listing(1, { pagers: [sorted(1)] }), 0)?.url).toBe(next(2));
  expect(pages.follow(listing(2, { url: next(2), pagers: [sorted(2)] }), 0)?.url).toBe(next(3));
  // Nothing new in front: the walk goes on where it was broken off.
  const again = listing(1, { pagers: [sorted(1)], isAgain: true, news: 0 });
  expect(pages.follow(again, 1)?.url).toBe(next(3));
});

it('a page whose address may be read in two ways stays with the listing it was found on', () => {
  const pages = new Pagination();
  const file = (page: number): string => `https://a.test/n/a_${page}.html`;
  const below = (page: number): Pager => ({ ...pager(page, 3), form: '/a_{N}.html', next: file(page + 1) });
  const behind = (page: number): Pager => ({ ...below(page), base: '/n/a.html', form: '_{N}.html' });
  pages.follow(listing(1, { url: 'https://a.test/n/', pagers: [below(1)] }), 0);
  expect(pages.follow(listing(2, { url: file(2), pagers: [behind(2), below(2)] }), 0)?.url).toBe(file(3));
  expect(pages.takeChanges().map(({ base, reached }) => [base, reached])).toEqual([['/n', 2]]);
});

it('what is far behind the last page is an article of that number', () => {
  const pages = new Pagination();
  pages.learnPagers([{ ...pager(1, 9), base: '/', form: '?p={N}' }]);
  expect(pages.placeOf('https://a.test/?p=10')?.page).toBe(10);
  expect(pages.placeOf('https://a.test/?p=4711')).toBeNull();
});

describe('broken off', () => {
  it('a walk goes on where it stood, with and without news in front', () => {
    const pages = new Pagination();
    for (const page of [1, 2]) pages.follow(listing(page, { pagers: [pager(page, 4)] }), 0);
    const again = { isAgain: true, news: 0 };
    const third = { url: address(3), guessed: false, again: false };
    expect(pages.follow(listing(1, { pagers: [pager(1, 4)], ...again }), 1)).toEqual(third);
    // Something new on the first page only: the second is read again, and then what was left.
    expect(pages.follow(listing(1, { pagers: [pager(1, 4)], isAgain: true, news: 1 }), 2)).toMatchObject({
      url: address(2),
    });
    expect(pages.follow(listing(2, { pagers: [pager(2, 4)], ...again }), 2)).toEqual(third);
    for (const page of [3, 4]) pages.follow(listing(page, { pagers: [pager(page, 4)] }), 3);
    expect(pages.follow(listing(1, { pagers: [pager(1, 4)], ...again }), 4)).toBeNull();
  });

  it('a guess that was never read is made again', () => {
    const pages = new Pagination();
    const second = { url: address(2), guessed: true, again: false };
    expect(pages.follow(listing(1), 0)).toEqual(second);
    expect(pages.follow(listing(1, { isAgain: true, news: 0 }), 1)).toEqual(second);
    // What failed is not: the next guess is.
    const other = pages.fail(address(2), 2);
    expect(other).toMatchObject({ url: 'https://a.test/n/page/2' });
    expect(pages.follow(listing(1, { isAgain: true, news: 0 }), 3)).toEqual(other);
  });
});

describe('read again', () => {
  const walked = (): Pagination => {
    const pages = new Pagination();
    for (const page of [1, 2, 3, 4]) pages.follow(listing(page, { pagers: [pager(page, 4)] }), 0);
    return pages;
  };
  it('without news nothing behind it is wanted', () => {
    const pages = walked();
    expect(pages.follow(listing(1, { pagers: [pager(1, 4)], isAgain: true, news: 0 }), 1)).toBeNull();
    expect(pages.isUnwanted(address(2))).toBe(true);
    expect(pages.isUnwanted(address(1))).toBe(false);
  });
  it('with news the next page is, and no more once that has none', () => {
    const pages = walked();
    expect(pages.follow(listing(1, { pagers: [pager(1, 4)], isAgain: true, news: 3 }), 1)).toEqual({
      url: address(2),
      guessed: false,
      again: true,
    });
    expect(pages.isUnwanted(address(2))).toBe(false);
    expect(pages.isUnwanted(address(3))).toBe(true);
    expect(pages.follow(listing(2, { pagers: [pager(2, 4)], isAgain: true, news: 0 }), 1)).toBeNull();
  });
});

describe('without links', () => {
  it('guesses page two, goes on where it is there, and ends one beyond the last', () => {
    const pages = new Pagination();
    expect(pages.follow(listing(1), 0)).toEqual({ url: address(2), guessed: true, again: false });
    expect(pages.follow(listing(2), 0)).toMatchObject({ url: address(3) });
    expect(pages.follow(listing(3), 0)).toMatchObject({ url: address(4) });
    expect(pages.fail(address(4), 5)).toBeNull();
    expect(pages.takeChanges()).toMatchObject([
      { reached: 3, pages: 2, ended: { reason: 'not_found', atMs: 5 } },
    ]);
    expect(pages.follow(listing(3, { isAgain: true, news: 1 }), 6)).toBeNull();
  });

  it('tries other forms, and none of them twice more where they fail everywhere', () => {
    const pages = new Pagination();
    const asked: string[] = [];
    for (const base of ['/a', '/b', '/c']) {
      let next = pages.follow(listing(1, { url: `https://a.test${base}` }), 0);
      while (next !== null) {
        asked.push(next.url.replace('https://a.test', ''));
        next = pages.fail(next.url, 0);
      }
    }
    expect(asked).toEqual(
      ['/a', '/b'].flatMap((base) => [
        `${base}?page=2`,
        `${base}/page/2`,
        `${base}/?p=2`,
        `${base}/?offset=10`,
      ]),
    );
  });

  it('takes the form that works elsewhere on the domain', () => {
    const pages = new Pagination();
    pages.follow(listing(1, { url: 'https://a.test/x' }), 0);
    pages.fail('https://a.test/x?page=2', 0);
    pages.follow(listing(2, { url: 'https://a.test/x/page/2' }), 0);
    expect(pages.follow(listing(1, { url: 'https://a.test/y' }), 0)?.url).toBe('https://a.test/y/page/2');
  });

  it('guesses nothing where little is listed, nor beside parameters', () => {
    const pages = new Pagination();
    expect(pages.follow(listing(1, { entries: ['a', 'b'] }), 0)).toBeNull();
    expect(pages.follow(listing(1, { mayGuess: false }), 0)).toBeNull();
    expect(pages.follow(listing(1, { url: 'https://a.test/n?sort=asc' }), 0)).toBeNull();
  });
});
