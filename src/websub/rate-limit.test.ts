import { expect, it } from 'vitest';
import { RateLimit } from './rate-limit.ts';

it('allows a burst, then the rate, by key', () => {
  let now = 0;
  const limit = new RateLimit({ perSecond: 1, burst: 3 }, () => now);
  expect([1, 2, 3, 4].map(() => limit.take('a'))).toEqual([true, true, true, false]);
  expect(limit.take('b')).toBe(true);
  now += 1500;
  expect([limit.take('a'), limit.take('a')]).toEqual([true, false]);
  now += 500;
  expect(limit.take('a')).toBe(true);
  now += 3_600_000;
  expect([1, 2, 3, 4].map(() => limit.take('a'))).toEqual([true, true, true, false]);
});

it('forgets the quiet ones, not the busy one', () => {
  const limit = new RateLimit({ perSecond: 0, burst: 1 }, () => 0);
  limit.take('busy');
  for (let n = 0; n < 9_999; n += 1) limit.take(`key ${n}`);
  expect(limit.take('busy')).toBe(false);
  for (let n = 0; n < 9_999; n += 1) limit.take(`other ${n}`);
  expect(limit.take('busy')).toBe(false);
});
