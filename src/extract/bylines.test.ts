import { expect, test } from 'vitest';
import { isByline } from './bylines.ts';

test.each([
  ['Por Maite Peñalver - 2024-06-04 18:41', true],
  ['By Anna Berg', true],
  ['Von Anna Berg, aktualisiert am 4. Juni 2024, 18:41 Uhr', true],
  ['ANNA BERG | 4 June 2024', true],
  ['Anna Berg said on Tuesday that the bridge will be closed for repairs.', false],
  ['Text: Anna Berg / Foto: Jon Lund, Eva Strand, Ole Dahl', true],
  ['作者：王小明', true],
  ['王小明', false],
  ['Berg', false],
  ['The council met in June.', false],
  ['', false],
])('%s → %s', (line, expected) => {
  expect(isByline(line, ['Anna Berg', 'Maite Peñalver', '王小明'])).toBe(expected);
});
