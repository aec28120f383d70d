import { setImmediate } from 'node:timers/promises';

const YIELD_MS = 10;

/** Gives the event loop its turn when the last one is 10 ms ago. */
export function createYielder(): () => Promise<void> | null {
  let last = performance.now();
  return () => {
    if (performance.now() - last < YIELD_MS) return null;
    return setImmediate().then(() => {
      last = performance.now();
    });
  };
}
