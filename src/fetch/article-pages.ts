const mostDomains = 10_000;
// What a site numbers below its articles may be comments or lists of others; after so many of them it is believed to.
const triesInVain = 3;

/** Remembers of which domains articles go on on further pages, so that others are not asked for them in vain. */
export class ArticlePages {
  readonly #known = new Map<bigint, { joined: number; inVain: number }>();

  note(domainKey: bigint, isPage: boolean): void {
    const { joined, inVain } = this.#known.get(domainKey) ?? { joined: 0, inVain: 0 };
    this.#known.delete(domainKey);
    this.#known.set(domainKey, isPage ? { joined: joined + 1, inVain } : { joined, inVain: inVain + 1 });
    if (this.#known.size > mostDomains) this.#known.delete(this.#known.keys().next().value!);
  }

  mayAsk(domainKey: bigint): boolean {
    const known = this.#known.get(domainKey);
    return known === undefined || known.joined > 0 || known.inVain < triesInVain;
  }
}
