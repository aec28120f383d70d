import type { FaultSpec } from './faults/fault.ts';
import type { Language } from './lexicon/index.ts';

export type FeedKind = 'rss' | 'atom' | 'json' | 'rdf';
export type SitemapKind = 'urlset' | 'index' | 'news' | 'gzip' | 'text';
export type UrlStyle = 'dated' | 'section' | 'flat' | 'html' | 'query' | 'slash';
export type Metadata = 'jsonld' | 'graph' | 'microdata' | 'opengraph' | 'none';

/** A feed of a publisher and its habits. */
export interface FeedSetup {
  kind: FeedKind;
  path: string;
  /** Named by a link element on every page; otherwise only found at its well-known path. */
  advertised: boolean;
  /** Carries the whole text; otherwise the first sentences. */
  full: boolean;
  /** Adds utm parameters to the links. */
  tracking: boolean;
  /** Links lead through a click counter, the real address is in feedburner:origLink. */
  origLink: boolean;
  /** Links are relative to xml:base (Atom) or to the feed's address (RSS). */
  relative: boolean;
  items: number;
}

/** A sitemap of a publisher. */
export interface SitemapSetup {
  kind: SitemapKind;
  path: string;
  inRobots: boolean;
  /** Entries say when they changed. */
  lastmod: boolean;
}

/** What a publisher's robots.txt says; plain prefixes only, so that the check of the log needs no parser. */
export interface RobotsSetup {
  disallow: readonly string[];
  /** Exceptions inside a disallowed prefix; the longer prefix wins. */
  allow: readonly string[];
  crawlDelayS: number;
  /** Rules stand in a group for this product token and `*` is allowed everything. */
  onlyFor?: string;
}

/** How the character set of the pages is announced. */
export type CharsetDeclaration = 'header' | 'meta' | 'none' | 'wrong';

/** One publisher: everything that is served for its domain follows from this value, the seed and the clock. */
export interface Publisher {
  index: number;
  /** Registrable domain, without www. */
  domain: string;
  title: string;
  /** The host that answers; the other one redirects to it. */
  host: string;
  hosts: readonly string[];
  /** Loopback address, in a /24 of its own. */
  address: string;
  language: Language;
  charset: string;
  charsetDeclaration: CharsetDeclaration;
  layout: number;
  metadata: Metadata;
  urlStyle: UrlStyle;
  feeds: readonly FeedSetup[];
  sitemaps: readonly SitemapSetup[];
  /** Replaced as a whole when the publisher changes its mind. */
  robots: RobotsSetup;
  /** Older articles: `?page=N`, `/page/N`, `?p=N`, `?offset=` entries to skip, `?order=desc&page=N`, `list_7_N.html`. */
  pagination: 'query' | 'path' | 'p' | 'offset' | 'sorted' | 'file';
  /** What its listings show of their pages; links to the next three and to the one before unless given. */
  pager?: 'links' | 'none';
  perPage: number;
  /** Pages that every article goes over: `?page=N`, or `N/` behind an address that ends with a slash; 1 unless given. */
  articleParts?: number;
  /** Date archives such as /2026/03/ exist. */
  archives: boolean;
  /** Articles that exist when the web starts. */
  backlog: number;
  /** Mean number of new articles a day before rhythm and bursts. */
  ratePerDay: number;
  /** Mean hours between two edits of an article, as if by chance; one edit of one in eight unless given. */
  editsEveryH?: number;
  /** Publishes some articles a second time under another address. */
  duplicates: boolean;
  /** Takes over articles of another publisher of its language. */
  syndicates: boolean;
  /** Weight of an article or listing page with the furniture of a real one; absent or 0: the bare page of some 6 kB. */
  pageKb?: number;
  /** Encoding offered to clients that accept it. */
  compression: 'none' | 'gzip' | 'br';
  /** The hub that its feeds name, in the document or in a Link header; none unless the web has one. */
  hub?: { url: string; by: 'document' | 'header' };
  /** Section whose articles robots.txt forbids, if any. */
  forbiddenSection?: string;
  faults: readonly FaultSpec[];
}
