import fc from 'fast-check';
import { expect, test } from 'vitest';
import { intervalNow, intervalSecondsOf } from './interval.ts';
import { decideMoves, distributionOf, type Placed, Slots, slotSeconds, slotsPerDay } from './slots.ts';

const day = 86_400;
// Seven minutes into a quarter.
const now = 1_900_000_800 + 420;

test.each([
  [6, 'hours', 21_600],
  [6, 'minutes', 360],
  [6, 'days', 518_400],
  [365, 'days', 31_536_000],
  [366, 'days', null],
] as const)('%i %s are %j seconds', (count, type, seconds) => {
  expect(intervalSecondsOf(count, type)).toBe(seconds);
});

test.each([
  [3600, 0, 3600],
  [3600, 1, 7200],
  [3600, 4, 57_600],
  [3600, 5, 86_400],
  [3600, 30_000, 86_400],
  // A multiple of itself, or its phase would not hold.
  [25_200, 2, 75_600],
  [60, 11, 86_400],
  [172_800, 3, 172_800],
] as const)(
  'an interval of %i s after %i runs without news is %i s',
  (intervalSeconds, unchangedRuns, expected) => {
    const job = { intervalSeconds, unchangedRuns };
    expect(intervalNow({ ...job, adaptiveScheduling: true })).toBe(expected);
    expect(intervalNow({ ...job, adaptiveScheduling: false })).toBe(intervalSeconds);
  },
);

test('each run of a day is counted where it falls, once', () => {
  const slots = new Slots(now, [
    { at: now + 60, intervalSeconds: 3600, jobs: 2 },
    { at: now + 2 * day, intervalSeconds: 7 * day, jobs: 5 },
    { at: now - 5000, intervalSeconds: null, jobs: 1 },
  ]);
  expect(slots.loads.filter((load) => load === 2)).toHaveLength(23);
  expect(slots.loads[0]).toBe(3);
  expect(slots.loads.reduce((sum, load) => sum + load, 0)).toBe(49);
  // A minute between two runs: fifteen in every quarter.
  expect(new Slots(now, [{ at: now, intervalSeconds: 60, jobs: 1 }]).loads).toEqual(
    Array.from({ length: slotsPerDay }, () => 15),
  );
});

test('a job gets the emptiest slot of its interval, the earliest of several', () => {
  const slots = new Slots(now);
  const first = slots.choose(day);
  expect(Math.floor(first / slotSeconds)).toBe(Math.floor(now / slotSeconds) + 1);
  // All but one slot of the next hour hold somebody.
  const filled = new Slots(
    now,
    [0, 1, 3].map((slot) => ({ at: now + slot * slotSeconds, intervalSeconds: 3600, jobs: 1 })),
  );
  expect(Math.floor((filled.choose(3600) - Math.floor(now / slotSeconds) * slotSeconds) / slotSeconds)).toBe(
    2,
  );
});

test('a job runs first within its interval and a day, whatever is there', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 60, max: 31_536_000 }),
      fc.integer({ min: 1_000_000_000, max: 4_000_000_000 }),
      fc.array(
        fc.record({
          at: fc.integer({ min: -day, max: 2 * day }),
          intervalSeconds: fc.option(fc.integer({ min: 60, max: 10 * day })),
          jobs: fc.integer({ min: 1, max: 50 }),
        }),
        { maxLength: 20 },
      ),
      (intervalSeconds, moment, groups) => {
        const slots = new Slots(
          moment,
          groups.map((group) => ({ ...group, at: moment + group.at })),
        );
        const at = slots.choose(intervalSeconds);
        expect(at).toBeGreaterThanOrEqual(moment);
        expect(at).toBeLessThan(moment + Math.min(intervalSeconds, day));
      },
    ),
  );
});

test.each([
  ['daily', [day]],
  ['hourly', [3600]],
  ['every quarter', [900]],
  ['of all kinds', [900, 3600, 6 * 3600, day, 2 * day, 7200]],
])('ten thousand jobs, %s, are spread evenly', (_name, intervals) => {
  const slots = new Slots(now);
  const times = slots.chooseAll(Array.from({ length: 10_000 }, (_, n) => intervals[n % intervals.length]!));
  const { distributionScore, peak, totalRuns } = distributionOf(slots, 10_000);
  expect(distributionScore).toBeGreaterThan(0.999);
  expect(peak!.runs - Math.min(...slots.loads)).toBeLessThanOrEqual(2);
  expect(totalRuns).toBe(slots.loads.reduce((sum, load) => sum + load, 0));
  // Within a slot they stand apart too: no minute of it has more than twice its share.
  const minutes = new Map<number, number>();
  for (const at of times.filter((one) => one >= now + slotSeconds))
    minutes.set(
      Math.floor((at % slotSeconds) / 60),
      (minutes.get(Math.floor((at % slotSeconds) / 60)) ?? 0) + 1,
    );
  const share = [...minutes.values()].reduce((sum, one) => sum + one, 0) / 15;
  if (intervals[0] === day) expect(Math.max(...minutes.values())).toBeLessThan(share * 2);
});

test('the score is the share of runs that could stay', () => {
  const at = (slot: number): number => Math.floor(now / slotSeconds) * slotSeconds + slot * slotSeconds + 450;
  const of = (...slotsOfJobs: number[]) =>
    distributionOf(
      new Slots(
        now,
        slotsOfJobs.map((slot) => ({ at: at(slot), intervalSeconds: day, jobs: 1 })),
      ),
      slotsOfJobs.length,
    );
  expect(of().distributionScore).toBe(1);
  expect(of().peak).toBeNull();
  expect(of(1, 2, 3, 4).distributionScore).toBe(1);
  expect(of(1, 1, 2, 3).distributionScore).toBe(0.75);
  expect(of(...Array.from({ length: 960 }, () => 7)).distributionScore).toBeCloseTo(10 / 960, 10);
  expect(of(5, 5, 9)).toMatchObject({ totalRuns: 3, peak: { runs: 2, at: new Date((at(5) - 450) * 1000) } });
  expect(
    of(5)
      .hourlyDistribution.map((hour) => hour.runs)
      .slice(0, 3),
  ).toEqual([0, 1, 0]);
});

test('rebalancing evens out what stands in a heap, and leaves what is even', () => {
  const jobs: Placed[] = Array.from({ length: 960 }, (_, n) => ({
    id: n + 1,
    at: now + 7200 + (n % 60),
    intervalSeconds: n % 3 === 0 ? 3600 : day,
  }));
  const groups = (all: readonly Placed[]) => all.map((job) => ({ ...job, jobs: 1 }));
  const slots = new Slots(now, groups(jobs));
  const before = distributionOf(slots, 960).distributionScore;
  const moves = decideMoves(slots, jobs);
  const after = distributionOf(slots, 960).distributionScore;
  expect(before).toBeLessThan(0.6);
  expect(after).toBeGreaterThan(0.95);
  // What it says is what is there then, and nothing more would move.
  const to = new Map(moves.map((move) => [move.id, move.to]));
  const moved = jobs.map((job) => ({ ...job, at: to.get(job.id) ?? job.at }));
  expect(new Slots(now, groups(moved)).loads).toEqual(slots.loads);
  expect(decideMoves(new Slots(now, groups(jobs)), jobs)).toEqual(moves);
  expect(decideMoves(new Slots(now, groups(moved)), moved).length).toBeLessThan(moves.length / 20);
});
