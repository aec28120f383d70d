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

// One host that fails is that host's affair; so many different ones in a row, with no answer from anybody in between,
// are ours.
const hostsToSuspect = 6;

/**
 * Tells our network's failure from a publisher's: the domains that failed since anybody last answered. Kept by each
 * process for itself, because each has its own way to the web.
 */
export class OutageWatch {
  readonly #failing = new Set<bigint>();

  /** Notes a request; an answer, whatever it says, proves that the network works. */
  note(domainKey: bigint, reach: Reach): void {
    if (reach === 'reached') this.#failing.clear();
    else if (this.#failing.size < hostsToSuspect) this.#failing.add(domainKey);
  }

  /** Nobody has been heard since somebody failed: it may be the beginning of an outage. */
  get isSilent(): boolean {
    return this.#failing.size > 0;
  }

  /** Whether failures should be held against nobody for now. */
  get isSuspected(): boolean {
    return this.#failing.size >= hostsToSuspect;
  }
}
