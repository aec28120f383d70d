import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rowsToJson } from './rows.ts';

test.each([
  ['plain', 'plain'],
  ['a\u0000b', 'ab'],
  ['half \ud83d pair', 'half \ufffd pair'],
  ['whole 😀 pair', 'whole 😀 pair'],
  ['quotes \\u0000 and \\ud800', 'quotes \\u0000 and \\ud800'],
  ['\\\u0000', '\\'],
])('%j becomes %j', (given, expected) => {
  expect(JSON.parse(rowsToJson([{ text: given }]))).toEqual([{ text: expected }]);
});

test('always valid JSON without NUL or half pairs', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.array(fc.constantFrom('\\', 'u0000', '\u0000', '\ud800', '"', 'ud800')),
      (text, pieces) => {
        const [row] = JSON.parse(rowsToJson([{ text: text + pieces.join('') }])) as [{ text: string }];
        return !row.text.includes('\u0000') && row.text.isWellFormed();
      },
    ),
  );
});
