import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_RETRY_AFTER_MS, parseRetryAfter, retryAfterOf } from './retry-after.ts';

const now = new Date('2026-03-01T12:00:00Z');

test.each<[string | null | undefined, number | null]>([
  ['0', 0],
  ['120', 120_000],
  [' 7 ', 7000],
  ['0.5', 500],
  ['1000000000000', MAX_RETRY_AFTER_MS],
  ['9'.repeat(60), MAX_RETRY_AFTER_MS],
  ['Sun, 01 Mar 2026 12:01:00 GMT', 60_000],
  ['Sunday, 01-Mar-26 12:01:00 GMT', 60_000],
  ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
  ['Sun, 01 Mar 2099 11:00:00 GMT', MAX_RETRY_AFTER_MS],
  ['-5', null],
  ['1e3', null],
  ['0x10', null],
  ['soon', null],
  ['', null],
  [null, null],
  [undefined, null],
  ['9'.repeat(100), null],
  ['120, 240', null],
])('%s is %s', (value, expected) => {
  expect(parseRetryAfter(value, now)).toBe(expected);
});

test('any text is null or between 0 and a day', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const ms = parseRetryAfter(text, now);
      expect(ms === null || (ms >= 0 && ms <= MAX_RETRY_AFTER_MS)).toBe(true);
    }),
  );
});

test('a date is counted by the clock of the server that names it', () => {
  const until = 'Sun, 01 Mar 2026 12:10:00 GMT';
  // Sent long ago by our clock, which then is not theirs.
  expect(retryAfterOf({ date: 'Sun, 01 Mar 2026 12:00:00 GMT', 'retry-after': until })).toBe(600_000);
  expect(retryAfterOf({ date: 'Sun, 01 Mar 2026 12:00:00 GMT', 'retry-after': '30' })).toBe(30_000);
  // Without a time of theirs there is only ours.
  expect(retryAfterOf({ date: 'today', 'retry-after': until })).toBe(0);
  expect(retryAfterOf({ 'retry-after': until })).toBe(0);
  expect(retryAfterOf({ date: 'Sun, 01 Mar 2026 12:00:00 GMT' })).toBeNull();
});
