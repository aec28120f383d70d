import { describe, expect, it } from 'vitest';
import { brokenFloors } from './floors.ts';

describe('brokenFloors', () => {
  it('is silent about parts that hold or were not run', () => {
    expect(brokenFloors({})).toEqual([]);
    expect(
      brokenFloors({
        feeds: { files: 1000, right: 990, entryFiles: 100, entryRight: 99, threw: 0 },
        dates: { cases: 10, right: 9, wrong: 0 },
        robots: { cases: 5, right: 5, wrongAllow: 0 },
        sitemaps: { files: 2, right: 2 },
      }),
    ).toEqual([]);
  });

  it.each([
    ['feeds', { files: 1000, right: 1000, entryFiles: 100, entryRight: 98, threw: 0 }],
    ['feeds', { files: 1000, right: 1000, entryFiles: 100, entryRight: 100, threw: 1 }],
    ['dates', { cases: 10, right: 9, wrong: 1 }],
    ['robots', { cases: 5, right: 4, wrongAllow: 1 }],
    ['sitemaps', { files: 2, right: 1 }],
    ['psl', { cases: 2, right: 1 }],
  ])('names a broken one: %s %o', (part, score) => {
    expect(brokenFloors({ [part]: score })).toHaveLength(1);
  });

  it('holds articles to their text, their fields and no false rejection', () => {
    const counts = { pages: 100, falseRejections: 0, takenForListings: 2 };
    const good = { ...counts, f1: 0.98, title: 0.95, author: 0.9, date: 0.92 };
    expect(brokenFloors({ articles: { aeb: good, wcxb: good } })).toEqual([]);
    expect(brokenFloors({ articles: { other: { ...good, f1: 0.93, title: null } } })).toEqual([]);
    const bad = { ...good, f1: 0.95, falseRejections: 1, takenForListings: 3, title: 0.8, author: null };
    expect(brokenFloors({ articles: { aeb: bad } })).toEqual([
      'articles aeb: F1 must be 0.975, is 0.95',
      'articles aeb: validation rejects 1 articles',
      'articles aeb: 3 of 100 articles are taken for listings',
      'articles aeb: 0.945 of titles must be right, 0.8 are',
    ]);
  });
});
