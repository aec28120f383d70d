import type { RefreshOptions } from '../../domains/index.ts';
import type { LeasedUrl, SettleItem, SubmitItem } from '../../frontier/index.ts';
import type { Ingested, IngestSettings, PageFacts, PageResponse } from '../../ingest/index.ts';
import type { UrlIdentity } from '../../url/index.ts';
import type { HttpResult } from '../client/index.ts';
import type { Arrival } from '../exchange.ts';
import type { FetchedImage } from '../image-store.ts';
import type { DomainSignal, Rendering, Verdict } from '../outcome.ts';
import type { PollNews } from '../poll-schedule.ts';

/** Everything that follows from one row's fetch: what to submit, what to settle, what it says about the domain. */
export type RowEnd = {
  items: SettleItem[];
  document: Extract<Ingested, { outcome: 'document' }>['document'] | null;
  found: SubmitItem[];
  /** What the spider is told of the page. */
  page?: PageFacts | null;
  /** To be stored before the row is settled. */
  image?: FetchedImage;
  domain: DomainSignal;
  /** What else follows for the channel that was polled. */
  poll?: PollEnd;
};

/** What a poll means for its channel beyond its row. */
export type PollEnd = {
  /** It succeeded: what it brought says when the next one is due. */
  news?: PollNews;
  /** It leads elsewhere: when the channel could be moved there, `items` are settled instead of the row's own. */
  move?: { to: UrlIdentity; dueInMs: number; items: SettleItem[] };
  /** Files that a sitemap index names: they become rows of their own. */
  files?: { url: string; modifiedAt: Date | null }[];
  /** Items that were not submitted, by reason. */
  refused?: Record<string, number>;
  /** Its site is looked through again, and why. */
  rediscover?: string;
  /** All errors in a row, this one included. */
  trouble?: { error: string; text: string; failures: number; sleeps: boolean };
};

export type RowContext = {
  settings: IngestSettings;
  maxTries: number;
  /** The circuit is open and this row probes it. */
  probing: boolean;
  /** What a page that needs JavaScript may hope for; `tried`: this is what a browser made of it. */
  rendering: Rendering;
  /** When known pages are looked at again. */
  refresh: RefreshOptions;
  /** How the further pages of an article are had; null: they are not asked for. */
  further: FurtherPages | null;
};

/** Further pages of an article that is read. */
export type FurtherPages = {
  ask(url: string, articlePage: number): Promise<FurtherPage>;
  /** Whether what came was a page of the article. */
  note(isPage: boolean): void;
};

/** What asking for one came to: `none` is there for us, or it may come `later`; `result` says why it did not now. */
export type FurtherPage =
  | { outcome: 'page'; response: PageResponse }
  | { outcome: 'none' }
  | { outcome: 'later'; result: HttpResult | null };

/** An arrival that led somewhere; rows that are handed back have no end. */
export type Ended = Exclude<Arrival, { end: 'handed_back' }>;
export type Answered = Extract<Arrival, { end: 'answered' }>;
export type AnsweredWithBody = Answered & { result: Extract<HttpResult, { outcome: 'response' }> };

/** Says nothing about the domain. */
export const neutral: DomainSignal = { signal: 'neutral' };

/** A URL that is done for now. */
export const fine = (): Verdict => ({
  status: 'fetched',
  dueInMs: null,
  tries: 0,
  errorCode: null,
  errorText: null,
});

/** The end of a row whose source was deleted while it waited. */
export const concludeOrphan = (row: LeasedUrl): RowEnd =>
  ended(row, {
    status: 'dead',
    dueInMs: null,
    tries: row.tries,
    errorCode: 'source_deleted',
    errorText: 'its source was deleted',
  });

/** The end of a row that found and stored nothing. */
export function ended(
  row: LeasedUrl,
  verdict: Verdict,
  extra: Partial<SettleItem> = {},
  domain: DomainSignal = neutral,
): RowEnd {
  const item: SettleItem = { hash: row.hash, kind: row.kind, fetched: false, ...verdict, ...extra };
  return { items: [item], document: null, found: [], domain };
}

/** The response as a handler gets it. */
export function responseOf(row: LeasedUrl, arrival: AnsweredWithBody) {
  const { result } = arrival;
  return {
    row,
    finalUrl: arrival.url,
    // Channels and probes keep their own hash; a page is known by where it ended.
    finalHash: row.kind === 'channel' || row.kind === 'probe' ? row.hash : arrival.identity.hash,
    status: result.status,
    headers: result.headers,
    body: result.body,
    wireBody: result.wireBody,
    contentEncoding: result.contentEncoding,
  };
}
