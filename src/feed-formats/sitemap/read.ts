import { createDecoder } from '../../text/index.ts';
import { createYielder } from '../turns.ts';
import { peek } from './chunks.ts';
import type { SitemapEntry } from './entry.ts';
import { FeedCollector } from './feed.ts';
import { gunzip, isGzip } from './gunzip.ts';
import { SitemapTextReader } from './text.ts';
import { type SitemapSink, SitemapXmlReader } from './xml.ts';

/** Where a sitemap came from, its limits and who takes its entries. */
export type SitemapOptions = {
  /** Address of the file; relative addresses need it. */
  url?: string;
  /** The Content-Type header. */
  contentType?: string;
  /** Takes the entries in batches as they are read, awaited; without it they are in the result. */
  onEntries?: (entries: SitemapEntry[], kind: SitemapResult['kind']) => void | Promise<void>;
  /** Entries per batch; 500. */
  batchSize?: number;
  /** Entries read at most; 1,000,000 (the protocol allows 50,000, real files have more). */
  maxEntries?: number;
  /** Unpacked bytes read at most; 500 MB. */
  maxBytes?: number;
};

/** What a sitemap was, and what came of it. */
export type SitemapResult = {
  kind: 'urlset' | 'index' | 'text' | 'feed' | 'error';
  /** The entries, unless `onEntries` took them. */
  entries: SitemapEntry[];
  count: number;
  /** Entries without a usable address. */
  invalid: number;
  /** Unpacked bytes read. */
  bytes: number;
  /** Why reading ended before the file did. */
  stopped: 'max_entries' | 'max_bytes' | 'corrupt_gzip' | null;
  /** Why it is not a sitemap, where `kind` is error. */
  error: string | null;
};

// A root element is in the first kilobytes; behind a megabyte of something else nobody meant a sitemap.
const MAX_PROLOGUE_BYTES = 1 << 20;
// Some servers pack a file that was packed already; a third layer is a game.
const MAX_GZIP_LAYERS = 2;

/**
 * Reads a sitemap of any form as it arrives, in memory that does not grow with it, and gives way to the event loop
 * every 10 ms. Never throws for what the bytes hold; an error of `chunks` itself or of `onEntries` passes through.
 */
export async function readSitemap(
  chunks: AsyncIterable<Uint8Array>,
  options: SitemapOptions = {},
): Promise<SitemapResult> {
  const collector = new EntryCollector(options);
  const reading = new Reading(collector, options);
  try {
    const unpacked = await unpack(chunks);
    if (unpacked !== null) await reading.run(unpacked.first, unpacked.all);
  } catch (error) {
    if (!isZlibError(error)) throw error;
    collector.stopped = 'corrupt_gzip';
  }
  const { kind, error } = reading.finish();
  await collector.flush(true);
  const { entries, count, invalid, stopped } = collector;
  return { kind, entries, count, invalid, bytes: reading.bytes, stopped, error };
}

/** Reads a sitemap that is in memory already. */
export async function parseSitemap(bytes: Uint8Array, options: SitemapOptions = {}): Promise<SitemapResult> {
  async function* whole(): AsyncGenerator<Uint8Array> {
    yield bytes;
  }
  return readSitemap(whole(), options);
}

async function unpack(chunks: AsyncIterable<Uint8Array>) {
  let pieces = await peek(chunks);
  for (let layer = 0; layer < MAX_GZIP_LAYERS && pieces !== null && isGzip(pieces.first); layer += 1) {
    pieces = await peek(gunzip(pieces.all));
  }
  return pieces;
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
}

/** Counts entries, hands them on in batches and knows when there are enough. */
class EntryCollector implements SitemapSink {
  entries: SitemapEntry[] = [];
  count = 0;
  invalid = 0;
  stopped: SitemapResult['stopped'] = null;
  /** What the entries of the moment are; known before the first of them is. */
  kindOf: () => SitemapResult['kind'] = () => 'error';
  #onEntries: SitemapOptions['onEntries'];
  #batchSize: number;
  #maxEntries: number;

  constructor(options: SitemapOptions) {
    this.#onEntries = options.onEntries;
    this.#batchSize = Math.max(1, options.batchSize ?? 500);
    this.#maxEntries = options.maxEntries ?? 1_000_000;
  }

  onEntry(entry: SitemapEntry): void {
    if (this.count >= this.#maxEntries) {
      this.stopped = 'max_entries';
      return;
    }
    this.count += 1;
    this.entries.push(entry);
  }

  onInvalid(count: number): void {
    this.invalid += count;
  }

  async flush(isLast: boolean): Promise<void> {
    if (this.#onEntries === undefined) return;
    while (this.entries.length >= this.#batchSize || (isLast && this.entries.length > 0)) {
      await this.#onEntries(this.entries.splice(0, this.#batchSize), this.kindOf());
    }
  }
}

/** One pass over the unpacked bytes: the form is found in the first piece, then each piece goes to its reader. */
class Reading {
  bytes = 0;
  #collector: EntryCollector;
  #options: SitemapOptions;
  #xml: SitemapXmlReader | null = null;
  #text: SitemapTextReader | null = null;
  #feed: FeedCollector;
  #isBare = true;

  constructor(collector: EntryCollector, options: SitemapOptions) {
    this.#collector = collector;
    collector.kindOf = () => this.#kind();
    this.#options = options;
    this.#feed = new FeedCollector(options);
  }

  async run(first: Uint8Array, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    const decoder = createDecoder(first, { contentType: this.#options.contentType, kind: 'xml' });
    const yielder = createYielder();
    const maxBytes = this.#options.maxBytes ?? 500_000_000;
    for await (const piece of pieces) {
      if (this.bytes + piece.length > maxBytes) {
        this.#collector.stopped = 'max_bytes';
        break;
      }
      this.bytes += piece.length;
      this.#push(decoder.write(piece), piece);
      await this.#collector.flush(false);
      if (this.#isDone()) break;
      const turn = yielder();
      if (turn !== null) await turn;
    }
    const tail = decoder.end();
    if (tail !== '') this.#push(tail, new Uint8Array(0));
  }

  finish(): { kind: SitemapResult['kind']; error: string | null } {
    this.#text?.end();
    this.#xml?.end();
    const kind = this.#xml?.kind ?? null;
    if (this.#feed.isActive || kind === 'feed') return this.#finishFeed();
    if (kind === 'urlset' || kind === 'index') return { kind, error: null };
    if (this.#text !== null && this.#collector.count > 0) return { kind: 'text', error: null };
    return { kind: 'error', error: this.#errorText(kind) };
  }

  #kind(): SitemapResult['kind'] {
    if (this.#feed.isActive) return 'feed';
    if (this.#text !== null) return 'text';
    return this.#xml?.kind === 'index' ? 'index' : 'urlset';
  }

  #finishFeed(): { kind: SitemapResult['kind']; error: string | null } {
    const error = this.#feed.finish(this.#collector);
    return error === null ? { kind: 'feed', error: null } : { kind: 'error', error };
  }

  #errorText(kind: string | null): string {
    if (this.#isBare) return 'the file is empty';
    if (kind === 'page') return 'the file is an HTML page';
    return this.#xml === null ? 'the file names no address' : 'the file has no sitemap element';
  }

  #push(text: string, piece: Uint8Array): void {
    if (this.#isBare && text.trim() !== '') {
      this.#isBare = false;
      this.#choose(text);
    }
    this.#text?.push(text);
    if (this.#xml !== null && !this.#feed.isActive) {
      if (this.#xml.kind === null) this.#feed.keep(piece);
      this.#xml.scanner.push(text);
      if (this.#xml.kind === 'feed') this.#feed.isActive = true;
      else if (this.#xml.kind !== null) this.#feed.drop();
    } else if (this.#feed.isActive) {
      this.#feed.keep(piece);
    }
  }

  #choose(text: string): void {
    const head = text.replace(/^[\s\ufeff]+/, '');
    const base = this.#options.url;
    if (head.startsWith('{')) this.#feed.isActive = true;
    // Warnings of a broken script may stand before the document.
    else if (
      head.startsWith('<') ||
      /<(?:[\w.-]{1,40}:)?(?:urlset|sitemapindex|rss|feed|rdf)[\s>]/i.test(head)
    )
      this.#xml = new SitemapXmlReader(this.#collector, base);
    else this.#text = new SitemapTextReader(this.#collector, base);
  }

  #isDone(): boolean {
    if (this.#collector.stopped !== null || this.#feed.isFull) return true;
    if (this.#xml?.kind === 'page') return true;
    const isLost =
      this.#isBare || this.#xml?.kind === null || (this.#text !== null && this.#collector.count === 0);
    return isLost && this.bytes > MAX_PROLOGUE_BYTES;
  }
}
