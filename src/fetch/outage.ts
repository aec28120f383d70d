/** How one request went, as far as our own network is concerned. */
export type Reach = 'reached' | 'failed';

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

  /** Whether failures should be held against nobody for now. */
  get isSuspected(): boolean {
    return this.#failing.size >= hostsToSuspect;
  }
}
