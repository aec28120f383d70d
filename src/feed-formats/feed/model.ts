/** A file a feed entry offers. */
export type Enclosure = { url: string; type: string | null; length: number | null };

/** One item of a feed; text fields are decoded, `summary` and `content` are HTML as the publisher wrote it. */
export type FeedEntry = {
  /** Absolute http(s) address of the article. */
  link: string | null;
  id: string | null;
  /** Plain text on one line. */
  title: string | null;
  summary: string | null;
  content: string | null;
  authors: string[];
  categories: string[];
  published: Date | null;
  updated: Date | null;
  enclosures: Enclosure[];
};

/** A feed of any format, in one shape. */
export type Feed = {
  format: 'rss' | 'atom' | 'rdf' | 'json' | 'cdf';
  version: string | null;
  title: string | null;
  /** The site the feed belongs to. */
  link: string | null;
  self: string | null;
  hubs: string[];
  language: string | null;
  ttlMinutes: number | null;
  /** From sy:updatePeriod and sy:updateFrequency. */
  updatePeriodSeconds: number | null;
  entries: FeedEntry[];
  entriesWithoutLink: number;
  /** The document ended before its root element did. */
  truncated: boolean;
  /** The entry limit was reached and the rest not read. */
  capped: boolean;
};

/** Why a document is not a feed. */
export type NotAFeedReason = 'empty' | 'html' | 'unknown_format' | 'too_deep' | 'invalid_json';

/** What reading a document as a feed gave. */
export type FeedResult =
  | { outcome: 'feed'; feed: Feed }
  | { outcome: 'not_a_feed'; reason: NotAFeedReason; detail: string };

/** What is known about a feed document besides its bytes, and its limits. */
export type FeedOptions = {
  /** Where the document came from (after redirects, or its Content-Location); relative links need it. */
  url?: string | undefined;
  /** The Content-Type header. */
  contentType?: string | undefined;
  /** Entries read at most; 50,000 unless said. */
  maxEntries?: number | undefined;
};

/** A feed with nothing in it yet. */
export function emptyFeed(format: Feed['format'], version: string | null): Feed {
  return {
    format,
    version,
    title: null,
    link: null,
    self: null,
    hubs: [],
    language: null,
    ttlMinutes: null,
    updatePeriodSeconds: null,
    entries: [],
    entriesWithoutLink: 0,
    truncated: false,
    capped: false,
  };
}

/** Adds an entry and keeps the count of those nobody can fetch. */
export function addEntry(feed: Feed, entry: FeedEntry): void {
  feed.entries.push(entry);
  if (entry.link === null) feed.entriesWithoutLink += 1;
}
