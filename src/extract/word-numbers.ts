import { clearedLender, lender } from './lent-memory.ts';

const FIRST_SLOTS = 4_096;
const borrowKeys = lender((size) => new Int32Array(size));
const borrowNumbers = clearedLender((size) => new Int32Array(size));

/**
 * Numbers words by their hashes in the order they come, from 0; only good while no other page is read. A Map took three
 * times as long, and a page asks a thousand times.
 */
export class WordNumbers {
  /** How many words have a number. */
  count = 0;
  #keys = borrowKeys(FIRST_SLOTS);
  /** By slot: a word's number plus one, 0 where there is none. */
  #numbers = borrowNumbers(FIRST_SLOTS);
  #mask = FIRST_SLOTS - 1;

  /** The number of a word; a new one when it is equal to `count` before the call. */
  numberOf(hash: number): number {
    const slot = this.#find(hash);
    const known = this.#numbers[slot]!;
    if (known !== 0) return known - 1;
    this.#keys[slot] = hash;
    this.#numbers[slot] = ++this.count;
    if (2 * this.count > this.#mask) this.#grow();
    return this.count - 1;
  }

  #find(hash: number): number {
    let slot = (hash ^ (hash >>> 15)) & this.#mask;
    while (this.#numbers[slot] !== 0 && this.#keys[slot] !== hash) slot = (slot + 1) & this.#mask;
    return slot;
  }

  #grow(): void {
    const [keys, numbers, slots] = [this.#keys, this.#numbers, this.#mask + 1];
    this.#keys = new Int32Array(2 * slots);
    this.#numbers = new Int32Array(2 * slots);
    this.#mask = 2 * slots - 1;
    for (let i = 0; i < slots; i++) {
      if (numbers[i] === 0) continue;
      const slot = this.#find(keys[i]!);
      this.#keys[slot] = keys[i]!;
      this.#numbers[slot] = numbers[i]!;
    }
  }
}
