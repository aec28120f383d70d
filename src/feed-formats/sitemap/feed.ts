import { parseFeed } from '../feed/index.ts';
import { resolveLoc, type SitemapEntry } from './entry.ts';
import { bareEntry } from './text.ts';
import type { SitemapSink } from './xml.ts';

// As large as a feed may be (a feed is read whole, unlike a sitemap).
const MAX_FEED_BYTES = 16_000_000;

/** Keeps the bytes of a feed that serves as a sitemap until they are whole. */
export class FeedCollector {
  isActive = false;
  isFull = false;
  #options: { url?: string; contentType?: string };
  #pieces: Uint8Array[] = [];
  #size = 0;

  constructor(options: { url?: string; contentType?: string }) {
    this.#options = options;
  }

  keep(piece: Uint8Array): void {
    if (this.#size + piece.length > MAX_FEED_BYTES) {
      this.isFull = this.isActive;
      return;
    }
    this.#pieces.push(piece);
    this.#size += piece.length;
  }

  drop(): void {
    this.#pieces = [];
  }

  /** Hands the feed's entries on; the reason when it is no feed. */
  finish(sink: SitemapSink): string | null {
    const result = parseFeed(Buffer.concat(this.#pieces), this.#options);
    this.drop();
    if (result.outcome !== 'feed') return `the file is no feed: ${result.detail}`;
    for (const entry of result.feed.entries) {
      const loc = entry.link === null ? null : resolveLoc(entry.link, this.#options.url);
      if (loc === null) sink.onInvalid(1);
      else sink.onEntry(feedEntry(loc, entry.updated ?? entry.published));
    }
    return null;
  }
}

function feedEntry(loc: string, lastModified: Date | null): SitemapEntry {
  return { ...bareEntry(loc), lastModified };
}
