import { isMainThread } from 'node:worker_threads';

// Loaded into a real process before the program (`NODE_OPTIONS=--import=…`): on a signal it does what a bug would do, so
// that the program needs no door for tests.

/** What a page or an expression that never ends does to an event loop. */
function blockForEver(): void {
  for (;;) Math.sqrt(Math.random());
}

if (isMainThread) {
  process.on('SIGUSR2', () => blockForEver());
  process.on('SIGWINCH', () => void Promise.reject(new Error('nobody caught this')));
}
