import { type Records, width } from './records.ts';

// A block: how many entries it has room for, how many it has, then key and number of each.
const head = 2;
const entryCells = 2;
const firstRoom = 2;
const classes = 32;

/**
 * Memory of many heaps: blocks for powers of two of entries, which are used again. As two arrays for each heap they were
 * most of what the collector had to do, and a look at one of them three cache misses.
 */
export class HeapRoom {
  cells: Float64Array;
  // Block 0 stands for none.
  #used = head;
  readonly #free: number[][] = Array.from({ length: classes }, () => []);

  constructor(entries = 64) {
    this.cells = new Float64Array(head + entries * 2 * entryCells);
  }

  /** A block for so many entries, a power of two. */
  take(room: number): number {
    const free = this.#free[31 - Math.clz32(room)]!.pop();
    if (free !== undefined) return free;
    const start = this.#used;
    this.#used += head + room * entryCells;
    if (this.#used > this.cells.length) {
      const wider = new Float64Array(Math.ceil(this.#used * 1.5));
      wider.set(this.cells);
      this.cells = wider;
    }
    this.cells[start] = room;
    this.cells[start + 1] = 0;
    return start;
  }

  /** The same entries with room for as many again. */
  widen(start: number): number {
    const room = this.cells[start]!;
    const wider = this.take(room * 2);
    const { cells } = this;
    cells.copyWithin(wider + 1, start + 1, start + head + room * entryCells);
    cells[start + 1] = 0;
    this.#free[31 - Math.clz32(room)]!.push(start);
    return wider;
  }
}

/** A heap for each domain. The first entry lies in the record of the domain, and most domains have no other. */
export class Heaps {
  readonly #key: Float64Array;
  readonly #id: Float64Array;
  /** The block of all others; 0: there never were any. */
  readonly #block: Float64Array;
  readonly #room: HeapRoom;

  constructor(records: Records, room: HeapRoom) {
    this.#key = records.column(Number.POSITIVE_INFINITY);
    this.#id = records.column();
    this.#block = records.column();
    this.#room = room;
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
    const at = domain * width;
    const first = this.#key[at]!;
    if (key < first) {
      if (first !== Number.POSITIVE_INFINITY) this.#add(at, first, this.#id[at]!);
      this.#key[at] = key;
      this.#id[at] = id;
    } else this.#add(at, key, id);
  }

  /** Takes a domain's first entry away. */
  drop(domain: number): void {
    const at = domain * width;
    const block = this.#block[at]!;
    const { cells } = this.#room;
    if (block === 0 || cells[block + 1] === 0) {
      this.#key[at] = Number.POSITIVE_INFINITY;
      return;
    }
    this.#key[at] = cells[block + head]!;
    this.#id[at] = cells[block + head + 1]!;
    dropFirst(cells, block);
  }

  #add(at: number, key: number, id: number): void {
    const room = this.#room;
    let block = this.#block[at]!;
    if (block === 0 || room.cells[block] === room.cells[block + 1]) {
      block = block === 0 ? room.take(firstRoom) : room.widen(block);
      this.#block[at] = block;
    }
    const { cells } = room;
    const from = block + head;
    let nth = cells[block + 1]!;
    cells[block + 1] = nth + 1;
    while (nth > 0) {
      const parent = (nth - 1) >> 1;
      const parentAt = from + parent * entryCells;
      if (cells[parentAt]! <= key) break;
      cells[from + nth * entryCells] = cells[parentAt]!;
      cells[from + nth * entryCells + 1] = cells[parentAt + 1]!;
      nth = parent;
    }
    cells[from + nth * entryCells] = key;
    cells[from + nth * entryCells + 1] = id;
  }
}

function dropFirst(cells: Float64Array, block: number): void {
  const from = block + head;
  const size = cells[block + 1]! - 1;
  cells[block + 1] = size;
  const key = cells[from + size * entryCells]!;
  const id = cells[from + size * entryCells + 1]!;
  let nth = 0;
  for (let child = 1; child < size; child = 2 * nth + 1) {
    let childAt = from + child * entryCells;
    if (child + 1 < size && cells[childAt + entryCells]! < cells[childAt]!) {
      child += 1;
      childAt += entryCells;
    }
    if (cells[childAt]! >= key) break;
    cells[from + nth * entryCells] = cells[childAt]!;
    cells[from + nth * entryCells + 1] = cells[childAt + 1]!;
    nth = child;
  }
  cells[from + nth * entryCells] = key;
  cells[from + nth * entryCells + 1] = id;
}
