import { enterArchiveDomains } from '../archives/index.ts';
import type { Queryable } from '../db/index.ts';
import { loadSpidered, type SpideredPlace } from '../sources/index.ts';
import { identifyUrl } from '../url/index.ts';

const sourcesAtOnce = 500;
// Its front page is read first, and with it robots.txt and what its addresses look like.
const firstLookMs = 600_000;
// A change may be committed after a later one was seen: what is this young is looked at once more.
const youngMs = 30_000;
// A domain whose source let go of it may be another source's too.
const roundMs = 86_400_000;

/** Enters domains of spidered sources as they come and change; once a day all of them. */
export class ArchiveEntrance {
  readonly #db: Queryable;
  readonly #monotonic: () => number;
  #place: SpideredPlace | null = null;
  #roundAt = Number.NEGATIVE_INFINITY;

  constructor(db: Queryable, monotonic: () => number) {
    this.#db = db;
    this.#monotonic = monotonic;
  }

  /** Enters a portion; answers whether there may be more. */
  async turn(): Promise<boolean> {
    if (this.#monotonic() - this.#roundAt > roundMs) {
      this.#place = null;
      this.#roundAt = this.#monotonic();
    }
    const sources = await loadSpidered(this.#db, this.#place, sourcesAtOnce);
    await enterArchiveDomains(
      this.#db,
      sources.flatMap(({ id, url }) => {
        const identified = identifyUrl(url);
        return identified.outcome === 'rejected' ? [] : [{ ...identified.identity, sourceId: id }];
      }),
      firstLookMs,
    );
    const isFull = sources.length === sourcesAtOnce;
    const last = isFull ? sources.at(-1) : sources.findLast((one) => one.ageMs > youngMs);
    if (last !== undefined) this.#place = { changedAt: last.changedAt, id: last.id };
    return isFull;
  }
}
