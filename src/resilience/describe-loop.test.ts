import { expect, test } from 'vitest';
import { describeLoop, describeLoops } from './describe-loop.ts';

const loop = {
  name: 'lease',
  intervalMs: 1000,
  lastTurnAt: 1_000_000,
  turns: 3,
  errorsInRow: 0,
  lastError: null,
};
const failing = { ...loop, errorsInRow: 2, lastError: 'no luck' };

test.each([
  [loop, 1_000_500, 'ok', 'The lease loop turned a moment ago.'],
  [loop, 1_007_000, 'ok', 'The lease loop turned 7 s ago.'],
  [{ ...loop, lastTurnAt: null }, 9e9, 'ok', 'The lease loop takes its first turn.'],
  [failing, 1_000_000, 'failing', 'The lease loop failed 2 times in a row: no luck'],
  [{ ...failing, errorsInRow: 1 }, 1_000_000, 'failing', 'The lease loop failed once: no luck'],
  [{ ...failing, errorsInRow: 10 }, 1_000_000, 'broken', 'The lease loop failed 10 times in a row: no luck'],
  [loop, 1_000_000 + 301_000, 'ok', 'The lease loop turned 301 s ago.'],
  [loop, 1_000_000 + 360_000, 'still', 'The lease loop has not turned for 6 min.'],
  // An hourly loop may rest for an hour, and one of an older version may be one.
  [{ ...loop, intervalMs: 3_600_000 }, 1_000_000 + 3_600_000, 'ok', 'The lease loop turned 3600 s ago.'],
  [{ ...loop, intervalMs: undefined }, 1_000_000 + 3_600_000, 'ok', 'The lease loop turned 3600 s ago.'],
])('%j at %d', ({ intervalMs, ...one }, now, state, text) => {
  const stored = { ...one, ...(intervalMs === undefined ? {} : { intervalMs }) };
  expect(describeLoop(stored, now)).toEqual({ state, text });
});

test('all together', () => {
  const well = describeLoop(loop, 1_000_000);
  expect(describeLoops([])).toEqual({ state: 'ok', text: 'No loop runs.' });
  expect(describeLoops([well])).toEqual({ state: 'ok', text: 'The one loop turns.' });
  expect(describeLoops([well, well])).toEqual({ state: 'ok', text: 'All 2 loops turn.' });
  expect(describeLoops([well, describeLoop(failing, 1_000_000)])).toEqual({
    state: 'failing',
    text: 'The lease loop failed 2 times in a row: no luck',
  });
  const still = describeLoop(loop, 9e9);
  expect(describeLoops([describeLoop(failing, 1_000_000), still]).state).toBe('still');
});
