import { expect, test } from 'vitest';
import { presentOf, readLoops } from './stored-loops.ts';

test('loops of this version are read as they are', () => {
  const loops = [
    { name: 'lease', intervalMs: 500, lastTurnAt: 1000, turns: 7, errorsInRow: 2, lastError: 'no' },
    { name: 'heartbeat', intervalMs: 5000, lastTurnAt: 2000, turns: 1, errorsInRow: 0, lastError: null },
  ];
  expect(readLoops(loops)).toEqual(loops);
  expect(presentOf(readLoops(loops))).toBe(2000);
});

test('what is missing or odd is plain, and what is no loop is left out', () => {
  expect(readLoops(null)).toEqual([]);
  expect(readLoops({ name: 'lease' })).toEqual([]);
  const plain = { name: 'a', lastTurnAt: null, turns: 0, errorsInRow: 0, lastError: null };
  expect(
    readLoops([
      null,
      7,
      'x',
      {},
      { name: 3 },
      { name: 'a' },
      { name: 'a', errorsInRow: -1, lastTurnAt: 1e300 },
    ]),
  ).toEqual([plain, plain]);
  expect(presentOf([])).toBe(null);
  expect(readLoops(Array.from({ length: 500 }, () => ({ name: 'x'.repeat(500) })))).toHaveLength(50);
  expect(readLoops([{ name: 'x'.repeat(500) }])[0]!.name).toHaveLength(100);
});
