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
});
