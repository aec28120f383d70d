import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AppError } from '../errors/index.ts';
import { parseUrlCursor, writeUrlCursor } from './list-cursor.ts';

const place = fc.record({
  at: fc.option(fc.bigInt({ min: 0n, max: 10n ** 17n - 1n }).map(String), { nil: null }),
  bucket: fc.integer({ min: 0, max: 255 }),
  domainKey: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  hash: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes)),
});

it('reads back what it wrote, and only in lists of the same order', () => {
  fc.assert(
    fc.property(place, (one) => {
      const text = writeUrlCursor(one);
      expect(parseUrlCursor(text, one.at === null ? 'key' : 'time')).toEqual(one);
      expect(() => parseUrlCursor(text, one.at === null ? 'time' : 'key')).toThrow(AppError);
    }),
  );
});

it('refuses everything else with its code, whatever it is', () => {
  const refused = (text: string): void => {
    for (const order of ['key', 'time'] as const)
      expect(() => parseUrlCursor(text, order)).toThrow(expect.objectContaining({ code: 'cursor_invalid' }));
  };
  fc.assert(fc.property(fc.string({ unit: 'binary' }), refused));
  fc.assert(fc.property(fc.json(), (json) => refused(Buffer.from(json).toString('base64url'))));
  for (const parts of [
    [null, 256, '1', 'a'.repeat(64)],
    [null, 1.5, '1', 'a'.repeat(64)],
    [null, 1, '9223372036854775808', 'a'.repeat(64)],
    [null, 1, '1', 'A'.repeat(64)],
    [null, 1, '1', 'a'.repeat(62)],
    ['1'.repeat(18), 1, '1', 'a'.repeat(64)],
    [null, 1, '1', 'a'.repeat(64), 5],
  ])
    refused(Buffer.from(JSON.stringify(parts)).toString('base64url'));
});
