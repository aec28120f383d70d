import { hash } from 'node:crypto';

// Forty bits of a hash: among a hundred thousand known addresses a new one is taken for known once in ten million.
const bytesEach = 5;
const mostAddresses = 100_000;

/**
 * Addresses of a sitemap without dates, from one poll to the next: half a megabyte at most. Those that are gone from the
 * file are forgotten.
 */
export class SeenAddresses {
  /** Nothing was known before: this poll takes the baseline. */
  readonly isFirst: boolean;
  readonly #known = new Set<number>();
  readonly #now = new Set<number>();

  constructor(stored: Uint8Array | null) {
    this.isFirst = stored === null;
    const bytes = Buffer.from(stored ?? []);
    for (let at = 0; at + bytesEach <= bytes.length; at += bytesEach)
      this.#known.add(bytes.readUIntBE(at, bytesEach));
  }

  /** Notes an address of the file; whether it is new, or the file is full. */
  note(url: string): 'new' | 'known' | 'too_many' {
    const number = hash('sha256', url, 'buffer').readUIntBE(0, bytesEach);
    if (this.#now.has(number)) return 'known';
    if (this.#now.size >= mostAddresses) return 'too_many';
    this.#now.add(number);
    return this.#known.has(number) ? 'known' : 'new';
  }

  /**
   * What to store; null: nothing has changed. A file that was not read to its end forgets nothing, nor does one that has
   * lost more than half of its addresses at once: it is being written, and at the next poll all of them would be news.
   */
  pack(isWhole: boolean): Buffer | null {
    const isFull = isWhole && this.#now.size * 2 >= this.#known.size;
    const numbers = isFull ? this.#now : new Set([...this.#now, ...this.#known]);
    const kept = [...numbers].slice(0, mostAddresses);
    if (kept.length === this.#known.size && kept.every((one) => this.#known.has(one))) return null;
    const bytes = Buffer.alloc(kept.length * bytesEach);
    for (const [at, number] of kept.entries()) bytes.writeUIntBE(number, at * bytesEach, bytesEach);
    return bytes;
  }
}
