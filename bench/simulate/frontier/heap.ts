import { type Records, width } from './records.ts';

/** Numbers with a key each, least key first. Keys are stored, so that an entry whose key no longer holds is simply stale. */
export class Heap {
  #keys: Float64Array;
  #ids: Int32Array;
  #size = 0;

  constructor(capacity = 2) {
    this.#keys = new Float64Array(capacity);
    this.#ids = new Int32Array(capacity);
  }

  get size(): number {
    return this.#size;
  }

  /** Key of the first entry; Infinity when there is none. */
  get key(): number {
    return this.#size === 0 ? Number.POSITIVE_INFINITY : this.#keys[0]!;
  }

  /** Number of the first entry. */
  get id(): number {
    return this.#ids[0]!;
  }

  push(key: number, id: number): void {
    if (this.#size === this.#keys.length) this.#grow();
    const keys = this.#keys;
    const ids = this.#ids;
    let at = this.#size;
    this.#size += 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (keys[parent]! <= key) break;
      keys[at] = keys[parent]!;
      ids[at] = ids[parent]!;
      at = parent;
    }
    keys[at] = key;
    ids[at] = id;
  }

  /** Takes the first entry away. */
  drop(): void {
    const keys = this.#keys;
    const ids = this.#ids;
    this.#size -= 1;
    const size = this.#size;
    if (size === 0) return;
    const key = keys[size]!;
    const id = ids[size]!;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && keys[child + 1]! < keys[child]!) child += 1;
      if (keys[child]! >= key) break;
      keys[at] = keys[child]!;
      ids[at] = ids[child]!;
      at = child;
    }
    keys[at] = key;
    ids[at] = id;
  }

  #grow(): void {
    // By half: of a hundred thousand heaps twice the room would be a gigabyte of nothing.
    const capacity = Math.ceil(this.#keys.length * 1.5) + 2;
    const keys = new Float64Array(capacity);
    const ids = new Int32Array(capacity);
    keys.set(this.#keys);
    ids.set(this.#ids);
    this.#keys = keys;
    this.#ids = ids;
  }
}

/**
 * A heap for each domain. The first entry lies in the record of the domain, and most domains have no other: a hundred thousand heaps of
 * one entry each would be as many objects, and a look at one of them three cache misses instead of one.
 */
export class Heaps {
  readonly #key: Float64Array;
  readonly #id: Float64Array;
  readonly #rest: (Heap | undefined)[];

  constructor(records: Records) {
    this.#key = records.column(Number.POSITIVE_INFINITY);
    this.#id = records.column();
    this.#rest = new Array<Heap | undefined>(records.count).fill(undefined);
  }

  /** Key of a domain's first entry; Infinity when there is none. */
  key(domain: number): number {
    return this.#key[domain * width]!;
  }

  id(domain: number): number {
    return this.#id[domain * width]!;
  }

  isEmpty(domain: number): boolean {
    return this.#key[domain * width] === Number.POSITIVE_INFINITY;
  }

  push(domain: number, key: number, id: number): void {
    const first = this.#key[domain * width]!;
    if (first === Number.POSITIVE_INFINITY) {
      this.#key[domain * width] = key;
      this.#id[domain * width] = id;
      return;
    }
    let rest = this.#rest[domain];
    if (rest === undefined) {
      rest = new Heap();
      this.#rest[domain] = rest;
    }
    if (key < first) {
      rest.push(first, this.#id[domain * width]!);
      this.#key[domain * width] = key;
      this.#id[domain * width] = id;
    } else rest.push(key, id);
  }

  /** Takes a domain's first entry away. */
  drop(domain: number): void {
    const rest = this.#rest[domain];
    if (rest === undefined || rest.size === 0) {
      this.#key[domain * width] = Number.POSITIVE_INFINITY;
      return;
    }
    this.#key[domain * width] = rest.key;
    this.#id[domain * width] = rest.id;
    rest.drop();
  }
}
