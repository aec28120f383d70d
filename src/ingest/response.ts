import type { Channel } from '../channels/index.ts';
import type { LeasedUrl, SettleDocument, SubmitItem } from '../frontier/index.ts';
import type { ImageFacts } from '../image-formats/index.ts';
import type { Pager } from '../sites/index.ts';
import type { ImageMode, Source } from '../sources/index.ts';
import type { LearnedKinds, PageKind } from '../url/index.ts';

/** What a handler asks of the row that was fetched. */
export type ReadRow = Pick<LeasedUrl, 'hash' | 'url' | 'kind' | 'origin' | 'sourceId' | 'depth'> &
  Partial<Pick<LeasedUrl, 'executionId'>>;

/** A response with status 2xx and a body, after redirects, as a handler gets it. */
export type PageResponse = {
  row: ReadRow;
  /** Where the body came from in the end. */
  finalUrl: string;
  finalHash: Buffer;
  status: number;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  wireBody: Buffer | null;
  contentEncoding: string | null;
  /** Which page of an article it is, where it is not the first. */
  articlePage?: number;
};

export type { ImageMode } from '../sources/index.ts';

/** What is done with images, and which of them are worth storing. */
export type ImageSettings = {
  /** Unless the source has its own. */
  mode: ImageMode;
  maxPerPage: number;
  minSide: number;
  maxPixels: number;
};

/** What a handler may know besides the response. */
export type IngestSettings = {
  source: Source | null;
  channel: Channel | null;
  minWords: number;
  /** A page of fewer bytes is no document. */
  minBodyBytes: number;
  keepHtml: 'none' | 'compressed' | 'archive';
  sitemapMaxAgeMs: number;
  /** A sitemap is read for the first time as an archive: everything it lists counts, at the lowest priority. */
  isArchive?: boolean;
  nowMs: number;
  images?: ImageSettings;
  /** What pages of this domain turned out to be, by the shape of their address. */
  learned?: LearnedKinds;
  /** Sites whose robots.txt names the sitemap at hand: it may list their addresses too. */
  namedBy?: readonly string[];
};

/** A page that says no, or that its site is out of order, although its status says yes. */
export type Refusal = { reason: 'challenge' | 'access_denied' | 'login_wall' | 'site_error'; detail: string };

/** What a channel's body was; errors are of the channel's own table, not the page table. */
export type ChannelReading = {
  error: 'parse' | null;
  detail: string | null;
  /** A page came instead: the channel may have gone elsewhere. */
  isPage: boolean;
  /** The page that came says no: the channel is where it was, and its domain does not want us, or fails. */
  refusal: Refusal | null;
  format: string | null;
  hub: string | null;
  /** What the hub calls the feed; null: nothing else than its address. */
  topic: string | null;
  lastItemAt: Date | null;
  /** When its newest items were published, a few hundred at most. */
  dates: number[];
  /** Items that named no usable address. */
  skipped: number;
  /** Items that were not submitted, by reason: files, and what the source's patterns leave out. */
  refused: Record<string, number>;
  /** The publisher asks not to be polled more often than this. */
  floorSeconds: number | null;
  /** Files that a sitemap index names and that have changed lately, newest first; null: it is no index. */
  files: { url: string; modifiedAt: Date | null }[] | null;
  /** It was read to its end. */
  isWhole: boolean;
};

/** A link of a page that is spidered, after the filters. */
export type SpiderLink = {
  url: string;
  kind: PageKind;
  /** Why it is taken for that. */
  reason: string;
  /** Outside navigation, and its text is long enough to be a headline. */
  isHeadline: boolean;
  inNav: boolean;
  external: boolean;
};

/** What a page that is spidered has to say beyond its text. */
export type PageFacts = {
  /** Where it came from in the end. */
  url: string;
  /** What it turned out to be. */
  kind: PageKind;
  links: SpiderLink[];
  /** Links that the filters refused, by reason. */
  refused: Record<string, number>;
  pagers: Pager[];
};

/** What a handler made of a response. Found URLs are submitted before the row is settled. */
export type Ingested =
  | {
      outcome: 'document';
      document: SettleDocument;
      stub: boolean;
      found: SubmitItem[];
      /** Where the article goes on; null: it ends here. */
      next: string | null;
      /** null: the spider does not follow its links. */
      page: PageFacts | null;
    }
  /** `found`: what names its addresses by itself, as a sitemap does. */
  | { outcome: 'links'; page: PageFacts | null; found?: SubmitItem[] }
  /** The page says little but where to go on: a redirect in its own words. */
  | { outcome: 'moved'; to: string }
  | { outcome: 'image'; sha256: Buffer; facts: ImageFacts }
  | { outcome: 'rejected'; reason: string; detail: string }
  /** Reading took too long or too much memory; the answer itself may have been fine. */
  | { outcome: 'unreadable'; reason: 'read_timeout' | 'read_memory'; detail: string }
  | { outcome: 'channel'; reading: ChannelReading; found: SubmitItem[] }
  | { outcome: 'probe'; result: object };

/** The header by its lower-case name. */
export const header = (response: Pick<PageResponse, 'headers'>, name: string): string | undefined =>
  response.headers[name];
