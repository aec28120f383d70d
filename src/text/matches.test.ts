import fc from 'fast-check';
import { expect, it } from 'vitest';
import { matchesOf } from './index.ts';

it.each([/a|b/g, /\d{1,2}/gu, /x*/g, /\b/g, /(?<=a)b|c$/gu])('finds with %s what matchAll finds', (pattern) =>
  fc.assert(
    fc.property(fc.stringMatching(/^[abcx1 ]{0,20}$/), fc.nat(10), (text, from) => {
      pattern.lastIndex = from;
      const wanted = Array.from(text.matchAll(pattern), (match) => [match.index, ...match]);
      const given: unknown[] = [];
      for (const match of matchesOf(pattern, text, from)) {
        given.push([match.index, ...match]);
        // In between somebody searches elsewhere.
        pattern.lastIndex = 0;
        pattern.exec('abcx1');
      }
      expect(given).toEqual(wanted);
    }),
  ),
);
