import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WordNumbers } from './word-numbers.ts';

describe('WordNumbers', () => {
  it('numbers words as a map would, page after page', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.integer(), fc.integer({ min: -5, max: 5 }))), (hashes) => {
        const numbers = new WordNumbers();
        const known = new Map<number, number>();
        for (const hash of hashes) {
          if (!known.has(hash)) known.set(hash, known.size);
          expect(numbers.numberOf(hash)).toBe(known.get(hash));
          expect(numbers.count).toBe(known.size);
        }
      }),
    );
  });

  it('grows with a page of many words', () => {
    const numbers = new WordNumbers();
    for (let i = 0; i < 20_000; i++) expect(numbers.numberOf(i * 4_096)).toBe(i);
    for (let i = 0; i < 20_000; i++) expect(numbers.numberOf(i * 4_096)).toBe(i);
    expect(numbers.count).toBe(20_000);
  });
});
