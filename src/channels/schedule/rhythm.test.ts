import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectItems, fade, learnRhythm, type Rhythm } from './rhythm.ts';
import { packRhythm, parseRhythm } from './stored.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
// A Monday, midnight.
const start = Date.parse('2026-03-02T00:00:00Z');

/** Dates at these hours of every day, from the past on. */
const everyDay = (hours: readonly number[], days: number, from = start - days * dayMs): number[] =>
  Array.from({ length: days }, (_, day) => hours.map((hour) => from + day * dayMs + hour * hourMs)).flat();

/** What is learnt when a feed of 25 entries is polled every quarter of an hour. */
function follow(dates: readonly number[], fromMs: number, untilMs: number): Rhythm {
  let rhythm: Rhythm | null = null;
  for (let nowMs = fromMs; nowMs <= untilMs; nowMs += 900_000) {
    const shown = dates.filter((date) => date <= nowMs).slice(-25);
    rhythm = learnRhythm(rhythm, { nowMs, dates: shown, undated: 0 }) ?? rhythm;
  }
  return rhythm!;
}

test('what is learnt may be written over what was known, and is the same', () => {
  const known = follow(everyDay([8, 12, 16], 28, start), start, start + 28 * dayMs);
  const before = structuredClone(known);
  const nowMs = start + 28 * dayMs + 90 * 60_000;
  const news = { nowMs, dates: [nowMs - 5000, nowMs - 1000], undated: 1 };
  const learnt = learnRhythm(known, news)!;
  expect(known).toEqual(before);
  expect(learnt.atMs).toBe(nowMs);
  expect(learnRhythm(known, news, true)).toBe(known);
  expect(known).toEqual(learnt);
});

describe('the rate', () => {
  test.each([
    ['three a day', [8, 12, 16], 3],
    ['one a day', [9], 1],
    ['twelve a day', Array.from({ length: 12 }, (_, n) => 6 + n), 12],
  ])('is known from the history a first poll shows: %s', (_, hours, perDay) => {
    const dates = everyDay(hours, 30).slice(-25);
    const rhythm = learnRhythm(null, { nowMs: start, dates, undated: 0 })!;
    expect(expectItems(rhythm, start).rate * 24).toBeGreaterThan(perDay * 0.6);
    expect(expectItems(rhythm, start).rate * 24).toBeLessThan(perDay * 1.5);
  });

  test('is learnt from polls, and each item counts once', () => {
    const rhythm = follow(everyDay([8, 12, 16], 28, start), start, start + 28 * dayMs);
    expect(expectItems(rhythm, start + 28 * dayMs).rate * 24).toBeCloseTo(3, 0);
  });

  test('falls while nothing comes, and follows a channel that changes its ways', () => {
    const rhythm = follow(everyDay([8, 12, 16], 28, start), start, start + 28 * dayMs);
    const later = expectItems(rhythm, start + 56 * dayMs);
    expect(later.rate * 24).toBeLessThan(1.7);
    expect(later.rate).toBeGreaterThan(0);
  });

  test('of items without dates is learnt from what was new', () => {
    let rhythm = learnRhythm(null, { nowMs: start, dates: [], undated: 20 })!;
    for (let hour = 1; hour <= 14 * 24; hour += 1) {
      const news = { nowMs: start + hour * hourMs, dates: [], undated: hour % 6 === 0 ? 1 : 0 };
      rhythm = learnRhythm(rhythm, news) ?? rhythm;
    }
    expect(expectItems(rhythm, start + 14 * dayMs).rate * 24).toBeGreaterThan(3);
    expect(expectItems(rhythm, start + 14 * dayMs).rate * 24).toBeLessThan(5);
  });

  test('of an empty channel is small, not nothing', () => {
    const rhythm = learnRhythm(null, { nowMs: start, dates: [], undated: 0 })!;
    expect(expectItems(rhythm, start).rate).toBeGreaterThan(0);
    expect(expectItems(rhythm, start).rate * 24).toBeLessThan(0.2);
  });
});

test('hours and days of the week are told apart', () => {
  const workdays = everyDay([8, 9, 10, 14], 56, start).filter(
    (date) => ![0, 6].includes(new Date(date).getUTCDay()),
  );
  const { hours, days } = expectItems(follow(workdays, start, start + 56 * dayMs), start + 56 * dayMs);
  expect(hours[9]).toBeGreaterThan(3);
  expect(hours[22]).toBeLessThan(0.3);
  expect(days[0]).toBeLessThan(0.5);
  expect(days[3]).toBeGreaterThan(1.1);
  for (const shares of [hours, days])
    expect(shares.reduce((sum, one) => sum + one, 0) / shares.length).toBeCloseTo(1, 6);
});

test('a burst is noticed and passes within hours', () => {
  const quiet = everyDay([8, 12, 16], 28, start);
  const burstAt = start + 28 * dayMs + 2 * hourMs;
  const burst = Array.from({ length: 12 }, (_, n) => burstAt + n * 60_000);
  const rhythm = follow([...quiet, ...burst], start, burstAt + hourMs / 4);
  expect(expectItems(rhythm, burstAt + hourMs / 4).burst).toBeGreaterThan(2);
  expect(expectItems(rhythm, burstAt + 6 * hourMs).burst).toBeLessThan(1.05);
});

test('dates that move with every poll are no news', () => {
  const stamped = (nowMs: number): number[] => Array.from({ length: 50 }, (_, n) => nowMs - n);
  let rhythm = learnRhythm(null, { nowMs: start, dates: stamped(start), undated: 0, newItems: 50 })!;
  expect(expectItems(rhythm, start)).toMatchObject({ burst: 1 });
  for (let poll = 1; poll <= 20; poll += 1) {
    const nowMs = start + poll * hourMs;
    // One new item among fifty, every other hour.
    const news = { nowMs, dates: stamped(nowMs), undated: 0, newItems: poll % 2 };
    rhythm = learnRhythm(rhythm, news) ?? rhythm;
  }
  expect(expectItems(rhythm, start + 20 * hourMs).rate).toBeCloseTo(0.5, 0);
  // Counted once, whether its date or its being new tells of it.
  const before = rhythm.count;
  const nowMs = start + 21 * hourMs;
  const next = learnRhythm(rhythm, { nowMs, dates: [nowMs], undated: 1, newItems: 1 })!;
  expect(next.count - before).toBeCloseTo(1, 1);
});

test('nothing new is nothing to store', () => {
  const dates = everyDay([8], 5);
  const rhythm = learnRhythm(null, { nowMs: start, dates, undated: 0 })!;
  expect(learnRhythm(rhythm, { nowMs: start + hourMs, dates, undated: 0 })).toBeNull();
});

test('whatever the dates, what is learnt is finite, positive, small and can be stored', () => {
  const times = fc.double({ min: -1e15, max: 1e15 });
  fc.assert(
    fc.property(fc.array(times, { maxLength: 40 }), fc.nat(50), fc.nat(1e9), (dates, undated, laterMs) => {
      const first = learnRhythm(null, { nowMs: start, dates, undated })!;
      const next = learnRhythm(first, { nowMs: start + laterMs, dates, undated: 1 })!;
      const stored = parseRhythm(JSON.parse(JSON.stringify(packRhythm(next))));
      expect(stored).not.toBeNull();
      expect(JSON.stringify(packRhythm(next)).length).toBeLessThan(600);
      const { rate, burst, hours } = expectItems(fade(stored!, start + laterMs), start + laterMs);
      for (const one of [rate, burst, ...hours]) expect(one).toBeGreaterThan(0);
      expect(Number.isFinite(rate * burst)).toBe(true);
    }),
  );
});

test.each([
  null,
  undefined,
  7,
  {},
  { at: [1, 2] },
  { at: [1, 2], sums: [1, 2, 3, Number.NaN], hours: [], days: [] },
])('what was stored by somebody else is no rhythm: %j', (stored) => {
  expect(parseRhythm(stored)).toBeNull();
});
