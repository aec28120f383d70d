import { expect, test } from 'vitest';
import { timeId } from './time-id.ts';

test('ids are UUIDs of version 7 that carry their time', () => {
  const now = Date.parse('2126-11-16T08:09:10.123Z');
  const id = timeId(now);
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(now);
});

test('ids of one process are in order, however many a millisecond has and whatever the clock does', () => {
  const now = Date.parse('2127-01-01T00:00:00Z');
  const ids = Array.from({ length: 20_000 }, (_, n) => timeId(now + (n % 7) - 3));
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});
