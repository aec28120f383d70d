/** What work is ended with whose time is up. */
export class DeadlinePassed extends Error {}

/** Does work under a signal that aborts with the outer one or after so long, and leaves no listener behind. */
export async function withDeadline<T>(
  signal: AbortSignal,
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  // AbortSignal.any() would do the same, but Node 20 keeps every composite of a long-lived signal alive.
  const own = new AbortController();
  const abort = (): void =>
    own.abort(signal.aborted ? signal.reason : new DeadlinePassed(`no answer within ${ms} ms`));
  const timer = setTimeout(abort, ms);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await work(own.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}
