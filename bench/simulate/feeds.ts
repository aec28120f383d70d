import type { Rhythm } from '../../src/channels/index.ts';
import { widened } from './frontier/index.ts';
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
  readonly #cursor: Int32Array;
  readonly #nextMs: Float64Array;
  readonly #day: Int32Array;
  readonly #rows: Int32Array;
  readonly #last: Int32Array;
  /** By row, in seconds since the start: when it came out and when it is edited next. */
  #published: Int32Array;
  #edited: Int32Array;
  readonly nextListedEditMs: Float64Array;
  /** Entries that were told as edited and are not fetched yet: every body that is read tells them again. */
  readonly hasTold: Uint8Array;
  /** State of channels beside their row. */
  readonly rhythms: (Rhythm | null)[];
  readonly weight: Float64Array;
  readonly errorKind: (string | null)[];
  readonly errorsInRow: Uint16Array;
  readonly slept: Uint8Array;
  readonly failingSince: Float64Array;
  readonly lastPollMs: Float64Array;
  readonly pushed: Uint8Array;

  constructor(publishers: readonly Publisher[], options: { web: WebOptions; startMs: number; rows: number }) {
    const count = publishers.length;
    this.#publishers = publishers;
    this.#web = options.web;
    this.#startMs = options.startMs;
    const today = Math.floor(options.startMs / dayMs);
    this.#waiting = publishers.map((one) => [
      ...(one.rhythm === undefined ? backlogOf(one, options.startMs) : []),
      ...articlesOfDay(one, today).filter((date) => date > options.startMs),
    ]);
    this.#cursor = new Int32Array(count);
    this.#day = new Int32Array(count).fill(today);
    this.#nextMs = Float64Array.from(publishers, (_, domain) => this.#find(domain));
    this.#rows = new Int32Array(count * shown).fill(-1);
    this.#last = new Int32Array(count);
    this.#published = new Int32Array(options.rows);
    this.#edited = new Int32Array(options.rows).fill(never);
    this.nextListedEditMs = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
    this.hasTold = new Uint8Array(count);
    this.rhythms = publishers.map(({ rhythm }) => rhythm ?? null);
    this.weight = Float64Array.from(publishers, ({ weight }) => weight ?? Number.NaN);
    this.errorKind = new Array<string | null>(count).fill(null);
    this.errorsInRow = new Uint16Array(count);
    this.slept = new Uint8Array(count);
    this.failingSince = new Float64Array(count).fill(Number.NaN);
    this.lastPollMs = new Float64Array(count).fill(Number.NaN);
    this.pushed = new Uint8Array(count);
  }

  /** Articles that came out since the last look, oldest first. */
  readNew(domain: number, nowMs: number): number[] {
    if (this.#nextMs[domain]! > nowMs) return nothing;
    const dates: number[] = [];
    while (this.#nextMs[domain]! <= nowMs) {
      if (!this.#isEmpty(domain)) dates.push(this.#nextMs[domain]!);
      this.#cursor[domain]! += 1;
      this.#nextMs[domain] = this.#find(domain);
    }
    return dates;
  }

  /** When the next article comes out that was not read yet, or when to look again. */
  nextAt(domain: number): number {
    return this.#nextMs[domain]!;
  }

  #isEmpty(domain: number): boolean {
    return this.#waiting[domain]!.length === 0;
  }

  #find(domain: number): number {
    const waiting = this.#waiting[domain]!;
    return this.#cursor[domain]! < waiting.length ? waiting[this.#cursor[domain]!]! : this.#turnDay(domain);
  }

  // Days are drawn when the last is used up. Slow publishers have many empty ones: the next busy day is looked for.
  #turnDay(domain: number): number {
    for (let tries = 0; tries < 60; tries += 1) {
      this.#day[domain]! += 1;
      const dates = articlesOfDay(this.#publishers[domain]!, this.#day[domain]!);
      if (dates.length === 0) continue;
      this.#waiting[domain] = dates;
      this.#cursor[domain] = 0;
      return dates[0]!;
    }
    this.#waiting[domain] = [];
    this.#cursor[domain] = 0;
    return (this.#day[domain]! + 1) * dayMs;
  }

  /** Notes a row for an article, and that the feed shows it. */
  list(domain: number, row: number, publishedMs: number): void {
    this.#note(row, publishedMs);
    this.#rows[domain * shown + (this.#last[domain]! % shown)] = row;
    this.#last[domain]! += 1;
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
    if (nextMs < this.nextListedEditMs[domain]!) this.nextListedEditMs[domain] = nextMs;
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
    this.nextListedEditMs[domain] = next;
    this.hasTold[domain] = rows.length > 0 ? 1 : 0;
    return rows;
  }
}
