import { describe, expect, test } from 'vitest';
import {
  type ChannelError,
  channelErrorOf,
  channelErrorOfFailure,
  decideErrorInterval,
  decideInterval,
  maxAgeSeconds,
} from './channel-outcome.ts';

const hourMs = 3_600_000;
const quarter = { intervalSeconds: 900 };
const middle = () => 0.5;

test.each<[number, ChannelError]>([
  [429, '429'],
  [401, '403'],
  [403, '403'],
  [404, '404'],
  [410, '410'],
  [500, '5xx'],
  [599, '5xx'],
  [400, 'http'],
  [451, 'http'],
])('status %i is a %s error', (status, error) => {
  expect(channelErrorOf(status)).toBe(error);
});

test.each([
  ['dns', 'network'],
  ['connect', 'network'],
  ['tls', 'network'],
  ['timeout', 'network'],
  ['reset', 'network'],
  ['body_too_large', 'parse'],
  ['decompress_bomb', 'parse'],
  ['bad_response', 'parse'],
] as const)('a failure of kind %s is a %s error', (kind, error) => {
  expect(channelErrorOfFailure(kind)).toBe(error);
});

describe('after an error', () => {
  test.each<[ChannelError, number, number]>([
    // Backoff: interval × 2^n.
    ['5xx', 1, 0.5],
    ['5xx', 2, 1],
    ['5xx', 4, 4],
    ['5xx', 7, 24],
    // The sleeps of the table replace it once they are due.
    ['403', 4, 4],
    ['403', 5, 24],
    ['404', 2, 1],
    ['404', 3, 48],
    ['410', 1, 72],
    ['5xx', 10, 24],
    ['network', 9, 24],
    ['network', 10, 24],
    ['parse', 4, 4],
    ['parse', 5, 24],
    // A 429 never sleeps, and other answers only back off.
    ['429', 6, 16],
    ['429', 40, 24],
    ['http', 40, 24],
  ])('%s for the %i. time in a row: again in %f h', (error, inRow, hours) => {
    expect(decideErrorInterval(quarter, error, inRow, null, middle) / hourMs).toBeCloseTo(hours, 5);
  });

  test('Retry-After is a floor, not a ceiling', () => {
    expect(decideErrorInterval(quarter, '429', 1, 5 * hourMs, middle)).toBe(5 * hourMs);
    expect(decideErrorInterval(quarter, '429', 1, 1000, middle)).toBe(0.5 * hourMs);
  });

  test('a sleep is never shorter than the backoff', () => {
    const daily = { intervalSeconds: 86_400 };
    for (let inRow = 1; inRow < 30; inRow += 1)
      expect(decideErrorInterval(daily, '403', inRow, null, middle)).toBeGreaterThanOrEqual(24 * hourMs);
  });

  test('jitter is a tenth either way', () => {
    expect(decideErrorInterval(quarter, '5xx', 1, null, () => 0)).toBe(1_620_000);
    expect(decideErrorInterval(quarter, '5xx', 1, null, () => 1)).toBe(1_980_000);
  });
});

describe('after a success', () => {
  test.each([
    [null, 900],
    [60, 900],
    [3600, 3600],
    [10_000_000, 86_400],
  ])('a floor of %s s gives %i s', (floor, seconds) => {
    expect(decideInterval(quarter, floor, middle)).toBe(seconds * 1000);
  });
});

test.each([
  ['max-age=600', 600],
  ['public, max-age=60, must-revalidate', 60],
  ['MAX-AGE = "90"', 90],
  ['s-maxage=600', null],
  ['max-age=-5', null],
  ['max-age=soon', null],
  ['max-age=99999999999', 999_999_999],
  [undefined, null],
])('Cache-Control %j asks for %s s', (header, seconds) => {
  expect(maxAgeSeconds(header)).toBe(seconds);
});
