import type { Rhythm } from '../../src/channels/index.ts';
import { type Records, widened, width } from './frontier/index.ts';
import { articlesOfDay, backlogOf, nextEditMs, type Publisher, type WebOptions } from './web.ts';

/** Entries of which a feed may say that they were edited. */
const shown = 25;
const dayMs = 86_400_000;
const never = 0x7fffffff;
const nothing: number[] = [];

/** What publishers brought out, how far we have read it, and when articles change: the truth beside the model. */
export class Feeds {
  readonly #publishers: readonly Publisher[];
  readonly #web: WebOptions;
  readonly #startMs: number;
  readonly #waiting: number[][];
  readonly #cursor: Float64Array;
  readonly #nextMs: Float64Array;
  readonly #day: Float64Array;
  readonly #rows: Int32Array;
  readonly #last: Float64Array;
  /** By row, in seconds since the start: when it came out and when it is edited next. */
  #published: Int32Array;
  #edited: Int32Array;
  readonly nextListedEditMs: Float64Array;
  /** Entries that were told as edited and are not fetched yet: every body that is read tells them again. */
  readonly hasTold: Float64Array;
  /** State of channels beside their row. */
  readonly rhythms: (Rhythm | null)[];
  readonly weight: Float64Array;
  readonly errorKind: (string | null)[];
  readonly errorsInRow: Float64Array;
  readonly slept: Float64Array;
  readonly failingSince: Float64Array;
  readonly pushed: Float64Array;

  constructor(
    publishers: readonly Publisher[],
    options: { web: WebOptions; startMs: number; rows: number; records: Records },
  ) {
    const { records } = options;
    const count = publishers.length;
    this.#publishers = publishers;
    this.#web = options.web;
    this.#startMs = options.startMs;
    const today = Math.floor(options.startMs / dayMs);
    this.#waiting = publishers.map((one) => [
      ...(one.rhythm === undefined ? backlogOf(one, options.startMs) : []),
      ...articlesOfDay(one, today).filter((date) => date > options.startMs),
    ]);
    this.#nextMs = records.column();
    this.pushed = records.column();
    this.hasTold = records.column();
    this.nextListedEditMs = records.column(Number.POSITIVE_INFINITY);
    this.weight = records.column(Number.NaN);
    this.errorsInRow = records.column();
    this.slept = records.column();
    this.failingSince = records.column(Number.NaN);
    this.#cursor = records.column();
    this.#day = records.column(today);
    this.#last = records.column();
    this.#rows = new Int32Array(count * shown).fill(-1);
    this.#published = new Int32Array(options.rows);
    this.#edited = new Int32Array(options.rows).fill(never);
    this.rhythms = publishers.map(({ rhythm }) => rhythm ?? null);
    this.errorKind = new Array<string | null>(count).fill(null);
    for (const [domain, { weight }] of publishers.entries()) {
      this.#nextMs[domain * width] = this.#find(domain);
      if (weight !== undefined) this.weight[domain * width] = weight;
    }
  }

  /** Articles that came out since the last look, oldest first. */
  readNew(domain: number, nowMs: number): number[] {
    if (this.#nextMs[domain * width]! > nowMs) return nothing;
    const dates: number[] = [];
    while (this.#nextMs[domain * width]! <= nowMs) {
      if (!this.#isEmpty(domain)) dates.push(this.#nextMs[domain * width]!);
      this.#cursor[domain * width]! += 1;
      this.#nextMs[domain * width] = this.#find(domain);
    }
    return dates;
  }

  /** When the next article comes out that was not read yet, or when to look again. */
  nextAt(domain: number): number {
    return this.#nextMs[domain * width]!;
  }

  #isEmpty(domain: number): boolean {
    return this.#waiting[domain]!.length === 0;
  }

  #find(domain: number): number {
    const waiting = this.#waiting[domain]!;
    return this.#cursor[domain * width]! < waiting.length
      ? waiting[this.#cursor[domain * width]!]!
      : this.#turnDay(domain);
  }

  // Days are drawn when the last is used up. Slow publishers have many empty ones: the next busy day is looked for.
  #turnDay(domain: number): number {
    for (let tries = 0; tries < 60; tries += 1) {
      this.#day[domain * width]! += 1;
      const dates = articlesOfDay(this.#publishers[domain]!, this.#day[domain * width]!);
      if (dates.length === 0) continue;
      this.#waiting[domain] = dates;
      this.#cursor[domain * width] = 0;
      return dates[0]!;
    }
    this.#waiting[domain] = [];
    this.#cursor[domain * width] = 0;
    return (this.#day[domain * width]! + 1) * dayMs;
  }

  /** Notes a row for an article, and that the feed shows it. */
  list(domain: number, row: number, publishedMs: number): void {
    this.#note(row, publishedMs);
    this.#rows[domain * shown + (this.#last[domain * width]! % shown)] = row;
    this.#last[domain * width]! += 1;
  }

  /** Notes a row whose article never changes. */
  noteOld(row: number): void {
    this.#note(row, this.#startMs);
    this.#edited[row] = never;
  }

  #note(row: number, publishedMs: number): void {
    if (row >= this.#published.length) {
      const capacity = Math.ceil(row * 1.3) + 1024;
      this.#edited = widened(this.#edited, new Int32Array(capacity).fill(never));
      this.#published = widened(this.#published, new Int32Array(capacity));
    }
    this.#published[row] = Math.round((publishedMs - this.#startMs) / 1000);
  }

  /** The page was read: when it changes after this. */
  readPage(domain: number, row: number, nowMs: number): void {
    const publishedMs = this.#startMs + this.#published[row]! * 1000;
    const nextMs = nextEditMs(this.#publishers[domain]!, publishedMs, nowMs, this.#web);
    this.#edited[row] =
      nextMs === Number.POSITIVE_INFINITY
        ? never
        : Math.min(never - 1, Math.ceil((nextMs - this.#startMs) / 1000));
    if (nextMs < this.nextListedEditMs[domain * width]!) this.nextListedEditMs[domain * width] = nextMs;
  }

  /** When a page that was read was edited, or will be; Infinity: never again. */
  editedAt(row: number): number {
    const seconds = this.#edited[row]!;
    return seconds === never ? Number.POSITIVE_INFINITY : this.#startMs + seconds * 1000;
  }

  /** Rows of entries that the feed says were edited by now. Asked only when there may be some. */
  readEdited(domain: number, nowMs: number): number[] {
    const rows: number[] = [];
    let next = Number.POSITIVE_INFINITY;
    for (let at = domain * shown; at < (domain + 1) * shown; at += 1) {
      const row = this.#rows[at]!;
      if (row < 0) continue;
      const editedMs = this.editedAt(row);
      if (editedMs <= nowMs) rows.push(row);
      else if (editedMs < next) next = editedMs;
    }
    this.nextListedEditMs[domain * width] = next;
    this.hasTold[domain * width] = rows.length > 0 ? 1 : 0;
    return rows;
  }
}
