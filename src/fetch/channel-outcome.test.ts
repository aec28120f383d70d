import { describe, expect, test } from 'vitest';
import {
  type ChannelError,
  channelErrorOf,
  channelErrorOfFailure,
  decideError,
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
  ['proxy', 'network'],
  ['no_proxy', 'network'],
  ['body_too_large', 'parse'],
  ['decompress_bomb', 'parse'],
  ['bad_response', 'parse'],
] as const)('a failure of kind %s is a %s error', (kind, error) => {
  expect(channelErrorOfFailure(kind)).toBe(error);
});

describe('after an error', () => {
  const fine = { ...quarter, errorKind: null, errorsInRow: 0, asleep: false };
  /** A channel whose errors of one kind come for the n-th time, and none of another kind before them. */
  const failing = (error: ChannelError, inRow: number, change: Partial<typeof fine> = {}) =>
    decideError(
      { ...fine, errorKind: inRow > 1 ? error : null, errorsInRow: inRow - 1, ...change } as typeof fine,
      error,
      { failures: inRow, retryAfterMs: null },
      middle,
    );

  test.each<[ChannelError, number, number, 'awake' | 'sleeps' | 'sleeps and looks for it']>([
    // Backoff: interval × 2^n.
    ['5xx', 1, 0.5, 'awake'],
    ['5xx', 2, 1, 'awake'],
    ['5xx', 4, 4, 'awake'],
    ['5xx', 7, 24, 'awake'],
    // The sleeps of the table replace it once they are due.
    ['403', 4, 4, 'awake'],
    ['403', 5, 24, 'sleeps'],
    ['404', 2, 1, 'awake'],
    ['404', 3, 48, 'sleeps and looks for it'],
    ['410', 1, 72, 'sleeps and looks for it'],
    ['5xx', 9, 24, 'awake'],
    ['5xx', 10, 24, 'sleeps'],
    ['network', 9, 24, 'awake'],
    ['network', 10, 24, 'sleeps'],
    ['parse', 4, 4, 'awake'],
    ['parse', 5, 24, 'sleeps and looks for it'],
    // A 429 never sleeps, and other answers only back off.
    ['429', 6, 16, 'awake'],
    ['429', 40, 24, 'awake'],
    ['http', 40, 24, 'awake'],
    ['moved', 40, 24, 'awake'],
  ])('%s for the %i. time in a row: again in %f h, %s', (error, inRow, hours, state) => {
    const { dueInMs, sleeps, rediscovers } = failing(error, inRow);
    expect(dueInMs / hourMs).toBeCloseTo(hours, 5);
    expect([sleeps, rediscovers]).toEqual([state !== 'awake', state === 'sleeps and looks for it']);
  });

  test('errors are counted by kind, the backoff by all of them', () => {
    const mixed = { ...fine, errorKind: '5xx', errorsInRow: 4 };
    expect(decideError(mixed, '404', { failures: 5, retryAfterMs: null }, middle)).toEqual({
      dueInMs: 8 * hourMs,
      sleeps: false,
      rediscovers: false,
    });
  });

  test.each<[ChannelError, number, boolean]>([
    ['5xx', 24, true],
    ['404', 48, true],
    ['410', 72, true],
    ['429', 0.5, false],
  ])('the first %s after a sleep: again in %f h', (error, hours, sleeps) => {
    const again = failing(error, 1, { asleep: true });
    expect(again.dueInMs / hourMs).toBeCloseTo(hours, 5);
    expect(again.sleeps).toBe(sleeps);
  });

  test('Retry-After is a floor, not a ceiling', () => {
    const asked = (retryAfterMs: number) => decideError(fine, '429', { failures: 1, retryAfterMs }, middle);
    expect(asked(5 * hourMs).dueInMs).toBe(5 * hourMs);
    expect(asked(1000).dueInMs).toBe(0.5 * hourMs);
  });

  test('a sleep is never shorter than the backoff', () => {
    for (let inRow = 1; inRow < 30; inRow += 1)
      expect(
        failing('403', inRow, { intervalSeconds: 86_400 } as Partial<typeof fine>).dueInMs,
      ).toBeGreaterThanOrEqual(24 * hourMs);
  });

  test('jitter is a tenth either way', () => {
    const at = (share: number) => decideError(fine, '5xx', { failures: 1, retryAfterMs: null }, () => share);
    expect([at(0).dueInMs, at(1).dueInMs]).toEqual([1_620_000, 1_980_000]);
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
