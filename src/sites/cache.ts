import type { Queryable } from '../db/index.ts';
import type { Site } from './site.ts';
import { loadSite, type SiteKey } from './store.ts';

const mostSites = 2000;

/**
 * Sites of the domains that this process leases. A copy holds for as long as nobody else had the domain: each lease
 * raises the epoch by one, and so does a reset.
 */
export class SiteCache {
  readonly #db: Queryable;
  readonly #sites = new Map<bigint, { epoch: bigint; site: Site }>();

  constructor(db: Queryable) {
    this.#db = db;
  }

  /** The site of a domain that is leased, from the lease before if that was ours. */
  async open(lease: SiteKey & { epoch: bigint }, nowMs: number): Promise<Site> {
    const known = this.#sites.get(lease.domainKey);
    this.#sites.delete(lease.domainKey);
    const isOurs = known !== undefined && (known.epoch === lease.epoch - 1n || known.epoch === lease.epoch);
    const site = isOurs ? known.site : await loadSite(this.#db, lease, nowMs);
    this.#keep(lease, site);
    return site;
  }

  /** The domain was taken from us: what we know of it may be old. */
  forget(lease: SiteKey): void {
    this.#sites.delete(lease.domainKey);
  }

  // The one that was not asked for the longest goes first.
  #keep({ domainKey, epoch }: SiteKey & { epoch: bigint }, site: Site): void {
    if (this.#sites.size >= mostSites) this.#sites.delete(this.#sites.keys().next().value!);
    this.#sites.set(domainKey, { epoch, site });
  }
}
