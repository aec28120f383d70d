// A power of two, and times count from the start: the remainder of large numbers is a call of its own.
const slots = 1 << 18;
const lastSlot = slots - 1;
// What is kept of an event, side by side: when it is, and its neighbours in the list of its place.
const cellsPerEvent = 4;
const next = 1;
const before = 2;

/**
 * Events in the order of their times: a wheel of lists. Each event has a number and is planned at most once, so planning
 * it again moves it. A heap takes some twenty steps an event and as many cache misses, this one or two.
 */
export class Calendar {
  readonly #startMs: number;
  readonly #perMs: number;
  readonly #first: Int32Array;
  readonly #cells: Float64Array;
  /** The turn of the wheel that is looked at. */
  #turn = 0;
  #size = 0;

  constructor(events: number, widthMs: number, startMs: number) {
    this.#startMs = startMs;
    this.#perMs = 1 / widthMs;
    this.#first = new Int32Array(slots).fill(-1);
    this.#cells = new Float64Array(events * cellsPerEvent).fill(Number.NaN);
  }

  /** When an event is planned for; NaN: it is not. */
  timeOf(event: number): number {
    return this.#cells[event * cellsPerEvent]!;
  }

  #turnOf(atMs: number): number {
    return Math.floor((atMs - this.#startMs) * this.#perMs);
  }

  plan(event: number, atMs: number): void {
    const cells = this.#cells;
    const at = event * cellsPerEvent;
    if (cells[at] === atMs) return;
    this.cancel(event);
    const turn = this.#turnOf(atMs);
    if (turn < this.#turn) this.#turn = turn;
    const slot = turn & lastSlot;
    const head = this.#first[slot]!;
    cells[at] = atMs;
    cells[at + next] = head;
    cells[at + before] = -1;
    if (head >= 0) cells[head * cellsPerEvent + before] = event;
    this.#first[slot] = event;
    this.#size += 1;
  }

  cancel(event: number): void {
    const cells = this.#cells;
    const at = event * cellsPerEvent;
    const atMs = cells[at]!;
    if (Number.isNaN(atMs)) return;
    const earlier = cells[at + before]!;
    const later = cells[at + next]!;
    if (earlier >= 0) cells[earlier * cellsPerEvent + next] = later;
    else this.#first[this.#turnOf(atMs) & lastSlot] = later;
    if (later >= 0) cells[later * cellsPerEvent + before] = earlier;
    cells[at] = Number.NaN;
    this.#size -= 1;
  }

  /** The earliest event, or -1; it stays planned. */
  peek(): number {
    if (this.#size === 0) return -1;
    const cells = this.#cells;
    for (;;) {
      let best = -1;
      let bestMs = Number.POSITIVE_INFINITY;
      for (let event = this.#first[this.#turn & lastSlot]!; event >= 0; ) {
        const atMs = cells[event * cellsPerEvent]!;
        // What belongs to a later turn of the wheel stays.
        if (atMs < bestMs && this.#turnOf(atMs) <= this.#turn) {
          best = event;
          bestMs = atMs;
        }
        event = cells[event * cellsPerEvent + next]!;
      }
      if (best >= 0) return best;
      this.#turn += 1;
    }
  }
}
