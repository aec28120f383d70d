import { expect, test } from 'vitest';
import { decideMultipliers } from './fleet.ts';

test('channels of one interval share what they would spend at it', () => {
  const shared = decideMultipliers([
    { intervalSeconds: 900, channels: 10, weight: 5 },
    { intervalSeconds: 21_600, channels: 2, weight: 0.1 },
  ]);
  expect(shared['900']! * 5).toBeCloseTo(10 / 900, 12);
  expect(shared['21600']! * 0.1).toBeCloseTo(2 / 21_600, 12);
});

test('nobody to share with is no share', () => {
  expect(decideMultipliers([{ intervalSeconds: 900, channels: 0, weight: 0 }])).toEqual({});
  expect(decideMultipliers([])).toEqual({});
});
