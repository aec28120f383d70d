/** Time as the program sees it; tests give another. Leases, delays and due dates are the database's, never this. */
export type Clock = {
  /** Wall time in ms, for showing to people. */
  now(): number;
  /** Monotonic ms, for intervals. */
  monotonic(): number;
  /** Resolves after ms, or at once when the signal aborts. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
};

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  wait: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(ms, 2 ** 31 - 1));
      signal?.addEventListener('abort', done, { once: true });
    }),
};
