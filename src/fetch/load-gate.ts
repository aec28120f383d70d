import { type EventLoopUtilization, performance } from 'node:perf_hooks';

// Shorter looks see single pages.
const lookMs = 500;
const busyShare = 0.9;
// Enough to fill a core from hosts that answer within the time their neighbours' pages take to be read.
const enough = 16;

/** Reads how busy the event loop was between two looks; the runtime's own by default. */
export type MeasureLoop = (since?: EventLoopUtilization) => EventLoopUtilization;

/**
 * Keeps a fetcher without time to spare from holding more domains than it can work on. More of them make nothing faster
 * then: each gets fewer pages between two settles, of which every one costs the database about two milliseconds, and
 * other fetchers wait for domains that are held and not asked.
 */
export class LoadGate {
  readonly #monotonic: () => number;
  readonly #measure: MeasureLoop;
  #since: EventLoopUtilization;
  #lookedAt: number;
  #isBusy = false;

  constructor(
    monotonic: () => number,
    measure: MeasureLoop = (since) => performance.eventLoopUtilization(since),
  ) {
    this.#monotonic = monotonic;
    this.#measure = measure;
    this.#since = measure();
    this.#lookedAt = monotonic();
  }

  /** How many domains may be leased beside those that are running. */
  allow(free: number, running: number): number {
    if (this.#monotonic() - this.#lookedAt >= lookMs) {
      this.#isBusy = this.#measure(this.#since).utilization >= busyShare;
      this.#since = this.#measure();
      this.#lookedAt = this.#monotonic();
    }
    return this.#isBusy ? Math.max(0, Math.min(free, enough - running)) : free;
  }
}
