/** What a row may be; the other statuses of the frontier do not occur in the modelled web. */
export const rowState = { pending: 0, failed: 1, fetched: 2, dead: 3 } as const;
export type RowState = (typeof rowState)[keyof typeof rowState];

/** Bits of a row. */
export const rowFlag = {
  ready: 1,
  budgeted: 2,
  channel: 4,
  inFlight: 8,
  /** A request was answered: `since` is when it last was, otherwise when the row was found. */
  answered: 16,
  /** Dead as not_found or max_retries: a newer date brings it back. */
  revivable: 32,
} as const;

/** The rows of url_frontier, column by column: tens of millions of objects would not fit. */
export class Rows {
  count = 0;
  due: Float64Array;
  since: Float64Array;
  refreshSeconds: Uint32Array;
  level: Uint8Array;
  priority: Uint8Array;
  state: Uint8Array;
  tries: Uint8Array;
  flags: Uint8Array;
  fetches: Uint16Array;

  constructor(capacity: number) {
    this.due = new Float64Array(capacity);
    this.since = new Float64Array(capacity);
    this.refreshSeconds = new Uint32Array(capacity);
    this.level = new Uint8Array(capacity);
    this.priority = new Uint8Array(capacity);
    this.state = new Uint8Array(capacity);
    this.tries = new Uint8Array(capacity);
    this.flags = new Uint8Array(capacity);
    this.fetches = new Uint16Array(capacity);
  }

  /** A new row, pending and never asked for. */
  add(): number {
    if (this.count === this.due.length) this.#grow();
    this.count += 1;
    return this.count - 1;
  }

  has(row: number, flag: number): boolean {
    return (this.flags[row]! & flag) !== 0;
  }

  set(row: number, flag: number): void {
    this.flags[row]! |= flag;
  }

  clear(row: number, flag: number): void {
    this.flags[row]! &= ~flag;
  }

  #grow(): void {
    const capacity = Math.ceil(this.due.length * 1.3) + 1024;
    this.due = widened(this.due, new Float64Array(capacity));
    this.since = widened(this.since, new Float64Array(capacity));
    this.refreshSeconds = widened(this.refreshSeconds, new Uint32Array(capacity));
    this.level = widened(this.level, new Uint8Array(capacity));
    this.priority = widened(this.priority, new Uint8Array(capacity));
    this.state = widened(this.state, new Uint8Array(capacity));
    this.tries = widened(this.tries, new Uint8Array(capacity));
    this.flags = widened(this.flags, new Uint8Array(capacity));
    this.fetches = widened(this.fetches, new Uint16Array(capacity));
  }
}

/** The same numbers with more room behind them. */
export function widened<T extends { set(from: T): void }>(from: T, to: T): T {
  to.set(from);
  return to;
}
