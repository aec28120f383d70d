// A power of two, and times count from the start: the remainder of large numbers is a call of its own.
const slots = 1 << 18;
const lastSlot = slots - 1;

/**
 * Events in the order of their times: a wheel of lists. Each event has a number and is planned at most once, so planning
 * it again moves it. A heap takes some twenty steps an event and as many cache misses, this one or two.
 */
export class Calendar {
  readonly #startMs: number;
  readonly #perMs: number;
  readonly #first: Int32Array;
  readonly #next: Int32Array;
  readonly #before: Int32Array;
  readonly #at: Float64Array;
  /** The turn of the wheel that is looked at. */
  #turn = 0;
  #size = 0;

  constructor(events: number, widthMs: number, startMs: number) {
    this.#startMs = startMs;
    this.#perMs = 1 / widthMs;
    this.#first = new Int32Array(slots).fill(-1);
    this.#next = new Int32Array(events).fill(-1);
    this.#before = new Int32Array(events).fill(-1);
    this.#at = new Float64Array(events).fill(Number.NaN);
  }

  /** When an event is planned for; NaN: it is not. */
  timeOf(event: number): number {
    return this.#at[event]!;
  }

  #turnOf(atMs: number): number {
    return Math.floor((atMs - this.#startMs) * this.#perMs);
  }

  plan(event: number, atMs: number): void {
    if (this.#at[event] === atMs) return;
    this.cancel(event);
    const turn = this.#turnOf(atMs);
    if (turn < this.#turn) this.#turn = turn;
    const slot = turn & lastSlot;
    const head = this.#first[slot]!;
    this.#at[event] = atMs;
    this.#next[event] = head;
    this.#before[event] = -1;
    if (head >= 0) this.#before[head] = event;
    this.#first[slot] = event;
    this.#size += 1;
  }

  cancel(event: number): void {
    const atMs = this.#at[event]!;
    if (Number.isNaN(atMs)) return;
    const before = this.#before[event]!;
    const next = this.#next[event]!;
    if (before >= 0) this.#next[before] = next;
    else this.#first[this.#turnOf(atMs) & lastSlot] = next;
    if (next >= 0) this.#before[next] = before;
    this.#at[event] = Number.NaN;
    this.#size -= 1;
  }

  /** The earliest event, or -1; it stays planned. */
  peek(): number {
    if (this.#size === 0) return -1;
    for (;;) {
      let best = -1;
      let bestMs = Number.POSITIVE_INFINITY;
      for (let event = this.#first[this.#turn & lastSlot]!; event >= 0; event = this.#next[event]!) {
        const atMs = this.#at[event]!;
        // What belongs to a later turn of the wheel stays.
        if (atMs < bestMs && this.#turnOf(atMs) <= this.#turn) {
          best = event;
          bestMs = atMs;
        }
      }
      if (best >= 0) return best;
      this.#turn += 1;
    }
  }
}
