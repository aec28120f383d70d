import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutIntoParts, type LinePart } from './line-parts.ts';

async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function partsOf(text: string, size: number, most: number): Promise<LinePart[]> {
  const parts: LinePart[] = [];
  for await (const part of cutIntoParts(pieces(text, size), most)) parts.push(part);
  return parts;
}

test('parts end with a line and know their first one', async () => {
  expect(await partsOf('a\nbb\r\nccc\nd', 2, 7)).toEqual([
    { text: 'a\nbb\r\n', firstLine: 1 },
    { text: 'ccc\nd', firstLine: 3 },
  ]);
  expect(await partsOf('', 2, 7)).toEqual([]);
  expect(await partsOf('a\n', 2, 7)).toEqual([{ text: 'a\n', firstLine: 1 }]);
});

test('a line without end is cut', async () => {
  expect(await partsOf('aaaaaaa\nb', 3, 3)).toEqual([
    { text: 'aaa', firstLine: 1 },
    { text: 'aaa', firstLine: 1 },
    { text: 'a\nb', firstLine: 1 },
  ]);
});

test('together they are the list, however it came', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('a', 'é', '\n', '\r\n', '漢', '😀'), { maxLength: 60 }),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 2, max: 20 }),
      async (letters, size, most) => {
        const text = letters.join('');
        const parts = await partsOf(text, size, most);
        expect(parts.map((one) => one.text).join('')).toBe(text);
        let line = 1;
        for (const part of parts) {
          expect(part.text.length).toBeLessThanOrEqual(most);
          expect(part.firstLine).toBe(line);
          line += part.text.split('\n').length - 1;
        }
      },
    ),
  );
});
