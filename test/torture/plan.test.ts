import { expect, test } from 'vitest';
import { makePlan } from './plan.ts';

const faults = ['a', 'b', 'c', 'd'].map((name) => ({ name, leastMs: 0, mostMs: 5000 }));
const plan = (seed: number, seconds = 60) => makePlan({ seed, seconds, faults, everyMs: 3000 });

test('a seed gives the same plan again, another seed another one', () => {
  expect(plan(7)).toEqual(plan(7));
  expect(plan(7)).not.toEqual(plan(8));
});

test('every fault strikes before one strikes for the third time', () => {
  const names = plan(3).map((one) => one.fault);
  expect(names.length).toBeGreaterThan(10);
  for (let at = 0; at + 4 <= names.length; at += 4)
    expect(new Set(names.slice(at, at + 4)).size, names.join()).toBe(4);
});

test('strikes come in order and within the time', () => {
  const times = plan(11, 20).map((one) => one.atMs);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect(Math.max(...times)).toBeLessThan(20_000);
  expect(makePlan({ seed: 1, seconds: 20, faults: [], everyMs: 3000 })).toEqual([]);
});
