import { Heap } from './heap.ts';
import { width } from './records.ts';
import type { Slots } from './slots.ts';

/** In which order due domains are leased: as the frontier does it, or as the simplest queues would. */
export type LeaseOrder = 'level' | 'fifo' | 'random';

const levels = 12;

/** The index (pool, top, next_at): which domains are due, best level first, within a level longest waiting first. */
export class ReadyIndex {
  readonly #slots: Slots;
  readonly #order: LeaseOrder;
  readonly #random: () => number;
  // By level, the best last; a queue without levels has one heap for all.
  readonly #heaps: readonly Heap[];
  readonly #offeredAt: Float64Array;
  readonly #offeredLevel: Float64Array;
  /** A bit for each heap that has entries. */
  #filled = 0;
  /** Due domains of the random order. */
  readonly #due: number[] = [];

  constructor(slots: Slots, order: LeaseOrder, random: () => number) {
    this.#slots = slots;
    this.#order = order;
    this.#random = random;
    this.#heaps = Array.from({ length: order === 'level' ? levels + 1 : 1 }, () => new Heap(1024));
    this.#offeredAt = slots.records.column(Number.NaN);
    this.#offeredLevel = slots.records.column();
  }

  /** Notes that a domain's level or time may have changed. */
  offer(domain: number): void {
    const { top, nextAt, leased } = this.#slots;
    const level = top[domain * width]!;
    const at = nextAt[domain * width]!;
    if (level === 0 || leased[domain * width] === 1) return;
    if (this.#offeredAt[domain * width] === at && this.#offeredLevel[domain * width] === level) return;
    this.#offeredAt[domain * width] = at;
    this.#offeredLevel[domain * width] = level;
    const heap = this.#order === 'level' ? level : 0;
    this.#heaps[heap]!.push(at, domain);
    this.#filled |= 1 << heap;
  }

  /** When the next domain is due, or was; Infinity when none is. */
  nextAt(): number {
    if (this.#due.length > 0) return Number.NEGATIVE_INFINITY;
    let least = Number.POSITIVE_INFINITY;
    for (let left = this.#filled; left !== 0; left &= left - 1) {
      const at = 31 - Math.clz32(left & -left);
      const heap = this.#heaps[at]!;
      this.#clean(heap, at);
      if (heap.size === 0) this.#filled &= ~(1 << at);
      else if (heap.keys[0]! < least) least = heap.keys[0]!;
    }
    return least;
  }

  /** Takes the next due domain out; -1 when none is due. */
  take(nowMs: number): number {
    if (this.#order === 'random') return this.#takeAny(nowMs);
    for (let left = this.#filled; left !== 0; ) {
      const at = 31 - Math.clz32(left);
      left &= ~(1 << at);
      const heap = this.#heaps[at]!;
      this.#clean(heap, at);
      if (heap.keys[0]! > nowMs) continue;
      const domain = heap.id;
      heap.drop();
      this.#offeredAt[domain * width] = Number.NaN;
      return domain;
    }
    return -1;
  }

  #takeAny(nowMs: number): number {
    const heap = this.#heaps[0]!;
    for (;;) {
      this.#clean(heap, 0);
      if (heap.keys[0]! > nowMs) break;
      this.#due.push(heap.id);
      this.#offeredAt[heap.id * width] = Number.NaN;
      heap.drop();
    }
    while (this.#due.length > 0) {
      const at = Math.floor(this.#random() * this.#due.length);
      const domain = this.#due[at]!;
      this.#due[at] = this.#due.at(-1)!;
      this.#due.pop();
      const { top, nextAt, leased } = this.#slots;
      if (top[domain * width]! > 0 && leased[domain * width] === 0 && nextAt[domain * width]! <= nowMs)
        return domain;
    }
    return -1;
  }

  /** Drops what has changed since it was offered. */
  #clean(heap: Heap, level: number): void {
    const { top, nextAt, leased } = this.#slots;
    while (heap.size > 0) {
      const domain = heap.id;
      const stands = top[domain * width]!;
      const holds =
        leased[domain * width] === 0 &&
        nextAt[domain * width] === heap.keys[0] &&
        (level === 0 ? stands > 0 : stands === level);
      if (holds) return;
      // Offered again it may be with the same time and level: then it must be taken in anew.
      if (this.#offeredAt[domain * width] === heap.keys[0]) this.#offeredAt[domain * width] = Number.NaN;
      heap.drop();
    }
  }
}
