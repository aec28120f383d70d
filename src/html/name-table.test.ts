import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readName } from './name-table.ts';

describe('readName', () => {
  it('is the slice in lower case, whatever was read before', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 20 }), { maxLength: 30 }), (names) => {
        const text = names.join('>');
        let at = 0;
        for (const name of names) {
          expect(readName(text, at, at + name.length)).toBe(name.toLowerCase());
          at += name.length + 1;
        }
      }),
    );
  });

  it('knows common names in any case', () => {
    expect(readName('<DIV Class=x>', 1, 4)).toBe('div');
    expect(readName('<DIV Class=x>', 5, 10)).toBe('class');
  });
});
