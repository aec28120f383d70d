import { describe, expect, test } from 'vitest';
import type { Clock } from '../telemetry/index.ts';
import { Pacer } from './pacer.ts';

/** A clock that jumps to the end of each wait, or stops short of it as timers may. */
function jumpingClock(shortBy: readonly number[] = []): Clock & { at: number; waits: number[] } {
  const left = [...shortBy];
  return {
    at: 1000,
    waits: [],
    now() {
      return this.at;
    },
    monotonic() {
      return this.at;
    },
    async wait(ms, signal) {
      if (signal?.aborted) return;
      this.waits.push(ms);
      this.at += ms - (left.shift() ?? 0);
    },
  };
}

const open = new AbortController().signal;

describe('Pacer', () => {
  test('the first request starts at once', async () => {
    const clock = jumpingClock();
    const pacer = new Pacer(clock, 1000);
    expect(await pacer.turn(open)).toBe(0);
    expect(pacer.lastAnswerAt).toBeNull();
    expect(clock.waits).toEqual([]);
  });

  test('the next starts a delay after the last answer, not after its own start', async () => {
    const clock = jumpingClock();
    const pacer = new Pacer(clock, 1000);
    clock.at = 5000;
    pacer.answered(4800);
    expect(pacer.nextStartAt()).toBe(5800);
    expect(await pacer.turn(open)).toBe(800);
    expect(clock.at).toBe(5800);
  });

  test('a timer that fires early is waited for again', async () => {
    const clock = jumpingClock([3, 1]);
    const pacer = new Pacer(clock, 100);
    pacer.answered(1000);
    await pacer.turn(open);
    expect(clock.at).toBeGreaterThanOrEqual(1100);
    expect(clock.waits).toEqual([100, 3, 1]);
  });

  test('a gap that has passed already is not waited for', async () => {
    const clock = jumpingClock();
    const pacer = new Pacer(clock, 1000);
    pacer.answered(1000);
    clock.at = 9000;
    expect(await pacer.turn(open)).toBe(0);
  });

  test('answers that are noted out of order never shorten the gap', () => {
    const pacer = new Pacer(jumpingClock(), 1000);
    pacer.answered(4000);
    pacer.answered(3000);
    expect(pacer.nextStartAt()).toBe(5000);
  });

  test('a longer delay holds from the next request on', async () => {
    const clock = jumpingClock();
    const pacer = new Pacer(clock, 1000);
    pacer.answered(1000);
    pacer.setDelay(7000);
    await pacer.turn(open);
    expect(clock.at).toBe(8000);
    expect(pacer.delayMs).toBe(7000);
  });

  test('a stopped run does not wait for its turn', async () => {
    const clock = jumpingClock();
    const pacer = new Pacer(clock, 60_000);
    pacer.answered(1000);
    const stopped = new AbortController();
    stopped.abort();
    expect(await pacer.turn(stopped.signal)).toBe(0);
    expect(clock.at).toBe(1000);
  });
});
