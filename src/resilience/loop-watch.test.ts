import { describe, expect, test } from 'vitest';
import { newLoop } from './loop.ts';
import { LoopWatch } from './loop-watch.ts';

const watchOf = () => new LoopWatch({ tickMs: 1000, stallMs: 10_000 });

/** Ticks until a loop is found silent, at most so often. */
function ticksUntil(watch: LoopWatch, loop: ReturnType<typeof newLoop>, most = 100): number | null {
  for (let tick = 1; tick <= most; tick += 1) if (watch.tick([loop]).length > 0) return tick;
  return null;
}

describe('LoopWatch', () => {
  test('a loop without a sign is found after the time, counted from its last sign', () => {
    const watch = watchOf();
    const loop = { ...newLoop('test', 0), signs: 1 };
    expect(ticksUntil(watch, loop)).toBe(11);
    loop.signs += 1;
    expect(ticksUntil(watch, loop)).toBe(11);
  });

  test('a loop that gives signs is never found', () => {
    const watch = watchOf();
    const loop = newLoop('test', 0);
    for (let tick = 0; tick < 100; tick += 1) {
      if (tick % 9 === 0) loop.signs += 1;
      expect(watch.tick([loop])).toEqual([]);
    }
  });

  test('one that pauses, or whose turns are long by nature, has so much longer', () => {
    const loop = { ...newLoop('test', 0), signs: 1, patienceMs: 30_000 };
    expect(ticksUntil(watchOf(), loop)).toBe(41);
  });

  test('one that has not begun is not looked at', () => {
    expect(ticksUntil(watchOf(), newLoop('test', 0))).toBe(null);
  });
});
