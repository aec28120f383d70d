import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textSource } from '../text/index.ts';
import { hashStep, nameAt } from './names.ts';

const textOf = (page: string) => ({ raw: page, codes: textSource(page).codes });

function read(page: string, start: number, end: number): string {
  let hash = 0;
  for (let at = start; at < end; at++) hash = hashStep(hash, page.charCodeAt(at));
  return nameAt(textOf(page), start, end, hash);
}

describe('nameAt', () => {
  it.each([
    ['<div class=x>', 1, 4, 'div'],
    ['<DIV class=x>', 1, 4, 'div'],
    ['<div CLASS=x>', 5, 10, 'class'],
    ['<divide>', 1, 7, 'divide'],
    ['<di', 1, 3, 'di'],
    ['<my-Element>', 1, 11, 'my-element'],
    ['<p data-Unheard-Of>', 3, 18, 'data-unheard-of'],
    ['<p =>', 3, 4, '='],
  ])('%s', (page, start, end, name) => {
    expect(read(page, start, end)).toBe(name);
  });

  it('reads any name as cutting and lower-casing it would', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.string({ unit: 'binary', minLength: 1 }),
        fc.string(),
        (before, name, after) => {
          const page = before + name + after;
          expect(read(page, before.length, before.length + name.length)).toBe(name.toLowerCase());
        },
      ),
    );
  });
});
