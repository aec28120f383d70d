import type { HttpResult, HttpStreamResult } from './client/index.ts';

/** How one request went, as far as our own network is concerned. */
export type Reach = 'reached' | 'failed';

const doubtful = new Set(['dns', 'connect', 'timeout']);

/**
 * Whether anybody out there was heard. A name that does not exist, a port that is closed, a bad certificate: each is an
 * answer, and a list full of dead hosts is no outage. null: the request says nothing, it was never sent.
 */
export function reachOf(result: HttpResult | HttpStreamResult): Reach | null {
  if (result.outcome !== 'failed') return 'reached';
  if (result.kind === 'aborted' || result.kind.startsWith('refused_')) return null;
  if (!doubtful.has(result.kind) || result.timings.headersAt !== null) return 'reached';
  return /\b(ENOTFOUND|ENODATA|ECONNREFUSED)\b/.test(result.detail) ? 'reached' : 'failed';
}

// One host that fails is that host's affair; so many different ones within so long, with no answer from anybody in
// between, are ours.
const hostsToSuspect = 6;
const windowMs = 300_000;
// How long a check that found the network in order is believed, so that a list of dead hosts is worked through.
const trustMs = 60_000;

/**
 * Tells our network's failure from a publisher's: the domains that failed since anybody last answered. Kept by each
 * process for itself, because each has its own way to the web.
 */
export class OutageWatch {
  readonly #monotonic: () => number;
  readonly #failing = new Map<bigint, number>();
  #isSuspected = false;
  #trustedUntil = Number.NEGATIVE_INFINITY;

  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  /** Notes a request; an answer, whatever it says, proves that the network works. */
  note(domainKey: bigint, reach: Reach): void {
    if (reach === 'reached') {
      this.#clear();
      return;
    }
    const now = this.#monotonic();
    for (const [key, at] of this.#failing) if (now - at > windowMs) this.#failing.delete(key);
    if (this.#failing.size < hostsToSuspect) this.#failing.set(domainKey, now);
    // What is suspected stays so until somebody answers: while fetching pauses hardly anybody is asked.
    if (this.#failing.size >= hostsToSuspect && now >= this.#trustedUntil) this.#isSuspected = true;
  }

  /** Somebody who always answers has answered: those who failed did so by themselves. */
  trust(): void {
    this.#clear();
    this.#trustedUntil = this.#monotonic() + trustMs;
  }

  #clear(): void {
    this.#failing.clear();
    this.#isSuspected = false;
  }

  /** Nobody has been heard since somebody failed: it may be the beginning of an outage. */
  get isSilent(): boolean {
    return this.#failing.size > 0;
  }

  /** Whether failures should be held against nobody for now. */
  get isSuspected(): boolean {
    return this.#isSuspected;
  }
}
