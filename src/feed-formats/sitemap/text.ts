import { resolveLoc, type SitemapEntry } from './entry.ts';
import type { SitemapSink } from './xml.ts';

// A line longer than this holds no address; it is skipped, not collected.
const MAX_LINE = 8_192;

/** Reads the plain form: one address per line. */
export class SitemapTextReader {
  #sink: SitemapSink;
  #base: string | undefined;
  #rest = '';
  #isSkipping = false;

  constructor(sink: SitemapSink, base: string | undefined) {
    this.#sink = sink;
    this.#base = base;
  }

  push(piece: string): void {
    const lines = (this.#rest + piece).split(/\r\n|\n|\r/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (this.#isSkipping) this.#isSkipping = false;
      else this.#take(line);
    }
    if (this.#rest.length > MAX_LINE) {
      this.#rest = '';
      this.#isSkipping = true;
    }
  }

  /** Ends the file; its last line needs no line end, so a cut one cannot be told from a whole one. */
  end(): void {
    if (!this.#isSkipping) this.#take(this.#rest);
    this.#rest = '';
  }

  #take(line: string): void {
    const text = line.trim();
    if (text === '') return;
    // Absolute only: in running text every word would be a relative address.
    const loc = /^https?:\/\//i.test(text) ? resolveLoc(text.split(/\s/, 1)[0] ?? '', this.#base) : null;
    if (loc === null) this.#sink.onInvalid(1);
    else this.#sink.onEntry(bareEntry(loc));
  }
}

/** An entry of which nothing but the address is known. */
export function bareEntry(loc: string): SitemapEntry {
  return {
    loc,
    lastModified: null,
    isVague: false,
    changeFrequency: null,
    priority: null,
    news: null,
    images: [],
  };
}
