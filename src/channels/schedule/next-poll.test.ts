import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideMultipliers } from './fleet.ts';
import { decideNextPoll, decideWeight, type PollPlan } from './next-poll.ts';
import { learnRhythm, type Rhythm } from './rhythm.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const start = Date.parse('2026-03-02T00:00:00Z');
const middle = () => 0.5;

/** A channel that publishes so often a day at these hours, as its last month shows. */
function publishing(
  perDay: number,
  hours: readonly number[] = Array.from({ length: 24 }, (_, n) => n),
): Rhythm {
  const dates: number[] = [];
  const steps = Math.round(30 * perDay);
  for (let n = 0; n < steps; n += 1) {
    const day = Math.floor(n / perDay);
    const hour = hours[Math.floor(((n % perDay) / perDay) * hours.length)]!;
    dates.push(start - (30 - day) * dayMs + hour * hourMs + (n % 7) * 60_000);
  }
  return learnRhythm(null, { nowMs: start, dates, undated: 0 })!;
}

const plan = (change: Partial<PollPlan> = {}): PollPlan => ({
  nowMs: start,
  intervalSeconds: 900,
  rhythm: null,
  multiplier: null,
  floorSeconds: null,
  pushed: false,
  ...change,
});
const minutes = (change: Partial<PollPlan>): number => decideNextPoll(plan(change), middle) / 60_000;

describe('what is fixed', () => {
  test.each<[string, Partial<PollPlan>, number]>([
    ['nothing is known: the interval', {}, 15],
    ['a floor above it', { floorSeconds: 3600 }, 60],
    ['a floor below it', { floorSeconds: 60 }, 15],
    ['a floor of a year: a day', { floorSeconds: 31_536_000 }, 1440],
    ['an interval of a week', { intervalSeconds: 604_800 }, 10_080],
    ['a hub tells us: a safety net', { pushed: true }, 120],
    ['a hub tells us, whatever the rhythm', { pushed: true, rhythm: publishing(96) }, 120],
    ['a hub tells us, and a floor', { pushed: true, floorSeconds: 43_200 }, 720],
  ])('%s', (_, change, expected) => {
    expect(minutes(change)).toBeCloseTo(expected, 6);
  });

  test('jitter keeps channels apart, by three parts in a hundred', () => {
    expect(decideNextPoll(plan(), () => 0)).toBe(873_000);
    expect(decideNextPoll(plan(), () => 1)).toBe(927_000);
  });
});

describe('what is learnt', () => {
  const busy = publishing(96);
  const slow = publishing(1);
  const share = (rhythms: readonly Rhythm[]): number => {
    let multiplier: number | null = null;
    // As the schedule role does it, until it rests.
    for (let turn = 0; turn < 20; turn += 1) {
      const of: Parameters<typeof decideWeight>[0] = { nowMs: start, intervalSeconds: 900, multiplier };
      const weight: number = rhythms.reduce((sum, one) => sum + decideWeight(of, one), 0);
      multiplier = decideMultipliers([{ intervalSeconds: 900, channels: rhythms.length, weight }])['900']!;
    }
    return multiplier!;
  };

  test('polls go where items are expected, and nobody is starved', () => {
    const multiplier = share([busy, slow, slow, slow]);
    expect(minutes({ rhythm: busy, multiplier })).toBeLessThan(8);
    expect(minutes({ rhythm: slow, multiplier })).toBeGreaterThan(15);
    expect(minutes({ rhythm: slow, multiplier: multiplier / 1000 })).toBeCloseTo(45, 1);
    expect(minutes({ rhythm: busy, multiplier: multiplier * 1000 })).toBeCloseTo(1, 1);
  });

  test('all together they are polled as often as at fixed intervals', () => {
    const fleet = [0.3, 1, 2, 5, 12, 24, 96, 300].map((perDay) => publishing(perDay));
    const multiplier = share(fleet);
    const polls = fleet.reduce((sum, rhythm) => sum + countPolls(rhythm, multiplier), 0);
    expect(polls / (fleet.length * 7 * 96)).toBeGreaterThan(0.97);
    expect(polls / (fleet.length * 7 * 96)).toBeLessThan(1.03);
  });

  test('a channel alone keeps its number of polls and makes them when items come', () => {
    const office = publishing(24, [8, 9, 10, 11, 12, 13, 14, 15, 16]);
    const polls = countPolls(office, null);
    expect(polls / (7 * 96)).toBeGreaterThan(0.95);
    expect(polls / (7 * 96)).toBeLessThan(1.05);
    const night = minutes({ rhythm: office, nowMs: start + 2 * hourMs });
    const noon = minutes({ rhythm: office, nowMs: start + 12 * hourMs });
    expect(night).toBeGreaterThan(2 * noon);
  });

  /** Polls of a week without news, so that the plan itself is counted. */
  function countPolls(rhythm: Rhythm, multiplier: number | null): number {
    let polls = 0;
    for (let nowMs = start; nowMs < start + 7 * dayMs; polls += 1) {
      const asOfNow = { ...rhythm, atMs: nowMs, recent: 0 };
      nowMs += decideNextPoll(plan({ nowMs, rhythm: asOfNow, multiplier }), middle);
    }
    return polls;
  }
});

test('the next poll is never beyond three intervals nor within a minute, whatever was learnt', () => {
  const rhythm = fc.record({
    atMs: fc.constant(start),
    newestMs: fc.nat(start),
    count: fc.double({ min: 0, max: 1e6, noNaN: true }),
    spanH: fc.double({ min: 0, max: 1e4, noNaN: true }),
    hours: fc.array(fc.double({ min: 0, max: 1e5, noNaN: true }), { minLength: 24, maxLength: 24 }),
    days: fc.array(fc.double({ min: 0, max: 1e5, noNaN: true }), { minLength: 7, maxLength: 7 }),
    recent: fc.double({ min: 0, max: 1e5, noNaN: true }),
    extraH: fc.double({ min: 0, max: 1e3, noNaN: true }),
  });
  const multiplier = fc.option(fc.double({ min: 1e-9, max: 1e3, noNaN: true }));
  fc.assert(
    fc.property(rhythm, multiplier, fc.nat(7 * dayMs), (one, shared, laterMs) => {
      const ms = decideNextPoll(plan({ rhythm: one, multiplier: shared, nowMs: start + laterMs }), middle);
      expect(ms).toBeGreaterThanOrEqual(60_000 - 1);
      expect(ms).toBeLessThanOrEqual(3 * 900_000 + 1);
      expect(decideWeight(plan({ multiplier: shared }), one)).toBeGreaterThan(0);
    }),
  );
});
