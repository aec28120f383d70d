/** Numbers with a key each, least key first. Keys are stored, so that an entry whose key no longer holds is simply stale. */
export class Heap {
  /** In the order of a heap; the first is Infinity when there is none. Read as it is: a getter puts every number in a box. */
  keys: Float64Array;
  #ids: Int32Array;
  #size = 0;

  constructor(capacity = 2) {
    this.keys = new Float64Array(capacity);
    this.keys[0] = Number.POSITIVE_INFINITY;
    this.#ids = new Int32Array(capacity);
  }

  get size(): number {
    return this.#size;
  }

  /** Number of the first entry. */
  get id(): number {
    return this.#ids[0]!;
  }

  push(key: number, id: number): void {
    if (this.#size === this.keys.length) this.#grow();
    const keys = this.keys;
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
    const keys = this.keys;
    const ids = this.#ids;
    this.#size -= 1;
    const size = this.#size;
    if (size === 0) {
      keys[0] = Number.POSITIVE_INFINITY;
      return;
    }
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
    const capacity = Math.ceil(this.keys.length * 1.5) + 2;
    const keys = new Float64Array(capacity);
    const ids = new Int32Array(capacity);
    keys.set(this.keys);
    ids.set(this.#ids);
    this.keys = keys;
    this.#ids = ids;
  }
}
