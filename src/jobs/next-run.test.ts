import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/setup/database.ts';
import { effectiveIntervalSeconds, nextRunAt, retryBackoffSeconds } from './next-run.ts';

test.each([
  [6 * 3600, 0, 6 * 3600],
  [6 * 3600, 1, 12 * 3600],
  [6 * 3600, 2, 24 * 3600],
  [6 * 3600, 3, 24 * 3600],
  [6 * 3600, 30, 24 * 3600],
  [900, 6, 900 * 64],
  [900, 7, 86_400],
  // A day is no multiple of seven hours: the phase goes before the last hours.
  [7 * 3600, 5, 21 * 3600],
  [86_400, 4, 86_400],
  // A week is longer than a day and stays a week.
  [7 * 86_400, 4, 7 * 86_400],
])('an interval of %i s after %i unchanged runs is %i s', (interval, unchanged, expected) => {
  expect(effectiveIntervalSeconds(interval, unchanged)).toBe(expected);
});

test.each([
  [1, 60],
  [2, 120],
  [3, 240],
  [4, 480],
  [5, 960],
  [6, 1920],
  [7, 3600],
  [8, 3600],
  [100, 3600],
])('attempt %i waits %i s', (attempt, seconds) => {
  expect(retryBackoffSeconds(60, attempt)).toBe(seconds);
});

describe('the next time', () => {
  const from = new Date('2026-03-01T00:07:00Z');
  test.each([
    ['2026-03-01T00:07:00Z', 0, '2026-03-01T06:07:00Z'],
    ['2026-03-01T00:09:31Z', 0, '2026-03-01T06:07:00Z'],
    ['2026-03-01T06:07:00Z', 0, '2026-03-01T12:07:00Z'],
    ['2026-03-02T05:00:00Z', 0, '2026-03-02T06:07:00Z'],
    ['2026-03-01T00:09:31Z', 1, '2026-03-01T12:07:00Z'],
    ['2026-03-01T00:09:31Z', 2, '2026-03-02T00:07:00Z'],
    // A run that was forced before its time: the phase holds.
    ['2026-02-28T23:00:00Z', 0, '2026-03-01T00:07:00Z'],
  ])('at %s with %i unchanged runs is %s', (now, unchangedRuns, expected) => {
    const next = nextRunAt({ from, intervalSeconds: 6 * 3600, unchangedRuns, nowMs: Date.parse(now) });
    expect(next.toISOString()).toBe(new Date(expected).toISOString());
  });

  test('is after now, no further than one interval, and in phase', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 60, max: 31_536_000 }),
        fc.integer({ min: 0, max: 40 }),
        fc.integer({ min: -(10 ** 10), max: 10 ** 11 }),
        (intervalSeconds, unchangedRuns, agoMs) => {
          const nowMs = from.getTime() + agoMs;
          const next = nextRunAt({ from, intervalSeconds, unchangedRuns, nowMs }).getTime();
          expect(next).toBeGreaterThan(nowMs);
          expect(next - nowMs).toBeLessThanOrEqual(
            effectiveIntervalSeconds(intervalSeconds, unchangedRuns) * 1000,
          );
          expect(Math.abs((next - from.getTime()) % (intervalSeconds * 1000))).toBe(0);
        },
      ),
    );
  });
});

describe('the database', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  test('says the same', async () => {
    const cases = fc.sample(
      fc.tuple(
        fc.integer({ min: 60, max: 31_536_000 }),
        fc.integer({ min: 0, max: 30 }),
        fc.integer({ min: 0, max: 10 ** 10 }),
      ),
      { numRuns: 500, seed: 4 },
    );
    const from = new Date('2026-03-01T00:07:00.123Z');
    const rows = await database.pool.query<{ next: Date; backoff: number }>(
      `SELECT job_next_run($1, c.interval, c.unchanged, $1::timestamptz + ms(c.ago)) AS next,
              extract(epoch FROM job_backoff(60, c.unchanged + 1))::float8 AS backoff
         FROM unnest($2::integer[], $3::integer[], $4::float8[]) WITH ORDINALITY AS c(interval, unchanged, ago, ord) ORDER BY c.ord`,
      [from, cases.map((one) => one[0]), cases.map((one) => one[1]), cases.map((one) => one[2])],
    );
    for (const [at, [intervalSeconds, unchangedRuns, agoMs]] of cases.entries()) {
      const nowMs = from.getTime() + agoMs;
      expect(rows.rows[at]!.next).toEqual(nextRunAt({ from, intervalSeconds, unchangedRuns, nowMs }));
      expect(rows.rows[at]!.backoff).toBe(retryBackoffSeconds(60, unchangedRuns + 1));
    }
  });
});
