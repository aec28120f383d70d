import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createNetworkLimiter, type Gate, type NetworkLimiter, type Release } from './network-limits.ts';

const gate = (key: string, max: number, gapMs = 0): Gate => ({ key, max, gapMs });

/** What an acquire has come to by now: promises settle when the microtasks have run. */
function watch(limiter: NetworkLimiter, gates: Gate[], signal?: AbortSignal): { release?: Release | null } {
  const seen: { release?: Release | null } = {};
  void Promise.resolve(limiter.acquire(gates, signal)).then((release) => {
    seen.release = release;
  });
  return seen;
}

const tick = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('caps', () => {
  test('a free gate is passed at once, without a promise', () => {
    expect(createNetworkLimiter().acquire([gate('a', 1)])).toBeTypeOf('function');
  });

  test('no more than the cap, in order', async () => {
    const limiter = createNetworkLimiter();
    const all = Array.from({ length: 4 }, () => watch(limiter, [gate('a', 2)]));
    await tick();
    expect(all.map((one) => typeof one.release)).toEqual(['function', 'function', 'undefined', 'undefined']);
    expect(limiter.stats()).toEqual({ active: 2, waiting: 2 });
    all[0]?.release?.();
    all[0]?.release?.();
    await tick();
    expect(all.map((one) => typeof one.release)).toEqual(['function', 'function', 'function', 'undefined']);
  });

  test('one gate without room does not hold the others', async () => {
    const limiter = createNetworkLimiter();
    const first = watch(limiter, [gate('a', 1), gate('n', 5)]);
    const blocked = watch(limiter, [gate('a', 1), gate('n', 5)]);
    const other = watch(limiter, [gate('b', 1), gate('n', 5)]);
    await tick();
    expect([first, blocked, other].map((one) => typeof one.release)).toEqual([
      'function',
      'undefined',
      'function',
    ]);
  });

  test('a waiter moves from one gate to the next', async () => {
    const limiter = createNetworkLimiter();
    const holdsA = watch(limiter, [gate('a', 1)]);
    const holdsB = watch(limiter, [gate('b', 1)]);
    const needsBoth = watch(limiter, [gate('a', 1), gate('b', 1)]);
    await tick();
    holdsA.release?.();
    await tick();
    expect(needsBoth.release).toBeUndefined();
    holdsB.release?.();
    await tick();
    expect(needsBoth.release).toBeTypeOf('function');
  });

  test('0 is no cap', async () => {
    const limiter = createNetworkLimiter();
    const all = Array.from({ length: 100 }, () => watch(limiter, [gate('a', 0)]));
    await tick();
    expect(all.every((one) => typeof one.release === 'function')).toBe(true);
  });
});

describe('gap', () => {
  test('starts are apart by the gap', async () => {
    const limiter = createNetworkLimiter();
    const starts: number[] = [];
    for (let i = 0; i < 4; i += 1)
      void Promise.resolve(limiter.acquire([gate('a', 4, 100)])).then(() => starts.push(performance.now()));
    await vi.advanceTimersByTimeAsync(1000);
    expect(starts).toHaveLength(4);
    starts.slice(1).forEach((at, index) => {
      expect(at - (starts[index] ?? 0)).toBeGreaterThanOrEqual(100);
    });
  });

  test('a newcomer does not overtake those whose gap has just ended', async () => {
    const limiter = createNetworkLimiter();
    watch(limiter, [gate('a', 4, 100)]);
    const early = watch(limiter, [gate('a', 4, 100)]);
    vi.setSystemTime(Date.now());
    await vi.advanceTimersByTimeAsync(99);
    const late = watch(limiter, [gate('a', 4, 100)]);
    await vi.advanceTimersByTimeAsync(5);
    expect(typeof early.release).toBe('function');
    expect(late.release).toBeUndefined();
  });
});

describe('leaving', () => {
  test('a signal ends the wait and makes room for the next', async () => {
    const limiter = createNetworkLimiter();
    const controller = new AbortController();
    const holder = watch(limiter, [gate('a', 1)]);
    const leaver = watch(limiter, [gate('a', 1)], controller.signal);
    const next = watch(limiter, [gate('a', 1)]);
    await tick();
    controller.abort();
    await tick();
    expect(leaver.release).toBeNull();
    holder.release?.();
    await tick();
    expect(next.release).toBeTypeOf('function');
    expect(limiter.stats()).toEqual({ active: 1, waiting: 0 });
  });

  test('after everybody left, a newcomer passes', async () => {
    const limiter = createNetworkLimiter();
    const controller = new AbortController();
    const holder = watch(limiter, [gate('a', 1)]);
    watch(limiter, [gate('a', 1)], controller.signal);
    await tick();
    controller.abort();
    holder.release?.();
    expect(limiter.acquire([gate('a', 1)])).toBeTypeOf('function');
  });

  test('close sends everybody away', async () => {
    const limiter = createNetworkLimiter();
    watch(limiter, [gate('a', 1, 50)]);
    const waiting = [watch(limiter, [gate('a', 1, 50)]), watch(limiter, [gate('a', 1, 50)])];
    await tick();
    limiter.close();
    await tick();
    expect(waiting.map((one) => one.release)).toEqual([null, null]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

test('whatever the gates, nobody waits for ever and no cap is passed', async () => {
  const gates = fc.array(
    fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), gapMs: fc.constantFrom(0, 10) }),
    { minLength: 1, maxLength: 3 },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(gates, { minLength: 1, maxLength: 40 }), async (requests) => {
      const limiter = createNetworkLimiter();
      const active = new Map<string, number>();
      let done = 0;
      for (const wanted of requests) {
        // One key has one setting: a gap that some ask for and others do not is no rule.
        const unique = [
          ...new Map(wanted.map((one) => [one.key, gate(one.key, 2, one.key < 'c' ? 10 : 0)])).values(),
        ];
        void Promise.resolve(limiter.acquire(unique)).then((release) => {
          for (const { key, max } of unique) {
            active.set(key, (active.get(key) ?? 0) + 1);
            expect(active.get(key)).toBeLessThanOrEqual(max);
          }
          setTimeout(() => {
            for (const { key } of unique) active.set(key, (active.get(key) ?? 0) - 1);
            release?.();
            done += 1;
          }, 3);
        });
      }
      await vi.advanceTimersByTimeAsync(5000);
      expect(done).toBe(requests.length);
      expect(limiter.stats()).toEqual({ active: 0, waiting: 0 });
    }),
    { numRuns: 50 },
  );
});

test('keys from the web do not pile up', async () => {
  let at = 0;
  const limiter = createNetworkLimiter(() => at);
  for (let i = 0; i < 50_000; i += 1) {
    at += 100;
    const release = limiter.acquire([gate(`host${i}`, 1)]);
    if (typeof release === 'function') release();
  }
  expect((limiter as unknown as { states: Map<string, unknown> }).states.size).toBeLessThan(10_000);
});
