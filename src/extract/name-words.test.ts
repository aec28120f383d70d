import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NameWords } from './name-words.ts';

const words = new Map([
  ['article', 1],
  ['nav', 2],
  ['body', 4],
  ['h1', 8],
]);
const compounds = [
  { pattern: /^comment|comments$/, holds: ['omme'], minChars: 7, bits: 16 },
  { pattern: /sidebar/, holds: ['ideb'], minChars: 7, bits: 32 },
  { pattern: /date$/, holds: ['date'], minChars: 5, bits: 64 },
];
const reader = new NameWords(words, compounds);
const read = (name: string) =>
  reader.read(
    Uint16Array.from({ length: name.length }, (_, i) => name.charCodeAt(i)),
    0,
    name.length,
  );

/** The same by patterns and strings. */
function readPlainly(name: string): number {
  let bits = 0;
  for (const [word] of name.matchAll(/[A-Z]*[a-z0-9][a-z0-9]*|[A-Z]+/g)) {
    const key = word.toLowerCase();
    const known = words.get(key);
    if (known !== undefined) bits |= known;
    else
      for (const one of compounds) if (key.length >= one.minChars && one.pattern.test(key)) bits |= one.bits;
  }
  return bits;
}

describe('NameWords', () => {
  it.each([
    ['c-article__body', 5],
    ['ArticleBody', 5],
    ['ARTICLE', 1],
    ['navy articles', 0],
    ['h1 H1', 8],
    ['my-commentlist', 16],
    ['xcomments', 16],
    ['comme', 0],
    ['leftSidebarx', 32],
    ['leftsidebarx', 32],
    ['update', 64],
    ['date', 0],
    ['', 0],
  ])('%s', (name, bits) => {
    expect(read(name)).toBe(bits);
  });

  it('reads any name as patterns would', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'article',
        'Nav',
        'BODY',
        'comment',
        's',
        'sidebar',
        'date',
        'up',
        '-',
        '_',
        ' ',
        'é',
        '1',
      ),
      fc.string({ maxLength: 4 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const name = pieces.join('').slice(0, 160);
        expect(read(name)).toBe(readPlainly(name));
      }),
      { numRuns: 500 },
    );
  });
});
