import type { Queryable } from '../db/index.ts';
import type { Ladder, Lease } from './lease.ts';
import {
  type HoldReason,
  hexBytes,
  rowsToJson,
  type UrlKind,
  type UrlOrigin,
  type UrlStatus,
} from './rows.ts';

/** How one URL ended. Fields left out keep what the row has. */
export type SettleItem = {
  hash: Buffer;
  status: UrlStatus;
  kind: UrlKind;
  /** Due again after this long; null: never by itself. */
  dueInMs: number | null;
  tries?: number;
  httpStatus?: number | null;
  errorCode?: string | null;
  errorText?: string | null;
  etag?: string | null;
  lastModified?: string | null;
  contentHash?: Buffer | null;
  redirectedTo?: string | null;
  /** New fetch address, when a permanent redirect kept the key. */
  url?: string | null;
  /** Interval of the next look at a page that is done. */
  refreshSeconds?: number;
  /** A request was answered. */
  fetched: boolean;
  /** 304 or the same text: nothing but the times moves. */
  unchanged?: boolean;
  validationStatus?: 'valid' | 'rejected' | 'stub' | null;
  rejectionReason?: string | null;
  /** The end of a redirect inside the domain; its row is made if it is unknown. */
  target?: {
    url: string;
    origin: UrlOrigin;
    sourceId: number | null;
    priority: number;
    level: number;
    depth: number;
    hops: number;
    parentUrl: string | null;
    executionId: bigint | null;
  };
  /** What submitting the found items answered. */
  found?: { seen: number; duplicate: number; rejected: number };
  channel?: {
    id: number;
    error: string | null;
    newItems: number;
    format: string | null;
    hub: string | null;
    /** What the hub calls the feed. */
    topic?: string | null;
    lastItemAt: Date | null;
    /** Why it sleeps from now on; left out: it does not begin to. */
    sleep?: string;
    /** Where a permanent redirect led. */
    redirect?: string;
    /** What was learnt of it, how many polls it deserves, and what its publisher asks for; left out: as before. */
    rhythm?: object;
    weight?: number;
    floorSeconds?: number;
    /** Items that appeared since the poll before, and how long ago together. */
    delays?: { items: number; seconds: number };
    /** Due until fetched. */
    lateSeconds?: number;
  };
  /** A probe's answer, stored for whoever asked. */
  result?: object;
  /** What a page turned out to be that was taken for the other kind. */
  becomes?: 'article' | 'listing';
};

/** A document to store with its URL, in the same transaction. */
export type SettleDocument = {
  hash: Buffer;
  url: string;
  sourceId: number | null;
  wordCount: number;
  confidence: number;
  publishedAt: Date | null;
  modifiedAt: Date | null;
  contentHash: Buffer;
  pageType: 'article' | 'stub' | 'listing' | 'other';
  language: string | null;
  canonicalUrl: string | null;
  title: string | null;
  section: string | null;
  description: string | null;
  leadImage: string | null;
  authors: string[];
  keywords: string[];
  meta: object;
  text: string;
  raw: { body: Buffer; encoding: string; contentType: string | null } | null;
  /** Sinks get it only when it is known to be no copy. */
  hold?: boolean;
};

/** One row of the crawl log; `endedAt` is monotonic and turned into the database's time by its age. */
export type LoggedRequest = {
  endedAt: number;
  status: number | null;
  kind: string;
  outcome: string;
  hash: Buffer | null;
  url: string;
  sourceId: number | null;
  executionId: bigint | null;
  waitMs: number | null;
  headersMs: number | null;
  totalMs: number;
  bytes: number;
};

/** A response as it came, for the sinks that take responses; settled even when the lease is lost. */
export type SettleResponse = {
  /** Its own for ever, however often it is settled or delivered. */
  id: string;
  /** When its request began, on the monotonic clock. */
  startedAt: number;
  status: number;
  method: string;
  url: string;
  /** Who answered. */
  address: string | null;
  /** Why the body is not whole. */
  truncated: 'length' | 'time' | 'disconnect' | 'unspecified' | null;
  requestHead: Buffer;
  responseHead: Buffer;
  body: Buffer;
  /** SHA-256 of the body. */
  digest: Buffer;
  /** Validators that came, and those that the request named: they tell what a 304 speaks of. */
  validators: Validators;
  sent: Validators;
};

/** What tells one state of a resource from another. */
export type Validators = { etag: string | null; lastModified: string | null };

export type SettleOptions = {
  owner: string;
  final: boolean;
  items: readonly SettleItem[];
  documents: readonly SettleDocument[];
  requests: readonly LoggedRequest[];
  /** None unless a sink takes them. */
  responses?: readonly SettleResponse[];
  /** Monotonic time now, and of the last response's headers or failure. */
  monotonicMs: number;
  lastAnswerAt: number;
  defaultDelayMs: number;
  /** What the lease taught about the domain; nothing unless said. */
  learnt?: Learnt;
  /** Pages of a run; 0: no limit but a domain's own, null: budgets are off. */
  budget?: number | null;
  skewMs?: number;
  /** The same was sent before and its answer lost: what was carried out then is not done, logged or counted again. */
  repeated?: boolean;
};

/** What a lease taught about its domain. What is left out stays as it was. */
export type Learnt = {
  hold?: { ms: number; reason: HoldReason } | null;
  penaltyMs?: number;
  goodRun?: number;
  robotsDelayMs?: number | null;
  sourceDelayMs?: number | null;
  ladder?: Ladder;
  /** The domain answered well although it rests. */
  trialPassed?: boolean;
  /** Begins a rest: how long the first time, the second, …; the last for all further times. */
  move?: { to: 'blocked' | 'unreachable'; reason: string; restMs: readonly number[] };
};

export type SettleResult = {
  outcome: 'settled' | 'stale';
  settled: number;
  documents: number;
  versions: number;
  duplicates: number;
};

// PostgreSQL text cannot hold NUL; pages can.
const clean = (value: string | null | undefined): string | undefined => value?.replaceAll('\u0000', '');
const short = (value: string | null | undefined, most: number): string | undefined =>
  clean(value)?.slice(0, most);
const json = (values: readonly object[]): string | null => (values.length === 0 ? null : rowsToJson(values));

/** Settles URLs of a leased domain, and with `final` ends the lease. A stale worker changes nothing. */
export async function settle(
  db: Queryable,
  lease: Pick<Lease, 'bucket' | 'domainKey' | 'epoch'>,
  options: SettleOptions,
): Promise<SettleResult> {
  const bytes = new Bytes();
  const documents = options.documents.map((document) => documentRow(document, bytes));
  const responses = (options.responses ?? []).map((one) => responseRow(one, options.monotonicMs, bytes));
  const result = await db.query<SettleResult>(
    `SELECT * FROM frontier_settle($1::smallint, $2, $3, $4, $5, $6, $7, $8::bytea, $9, $10, $11, $12, $13,
       $14 * interval '1 millisecond', $15, $16)`,
    [
      lease.bucket,
      lease.domainKey.toString(),
      options.owner,
      lease.epoch.toString(),
      options.final,
      json(options.items.map(itemRow)),
      json(documents),
      bytes.joined(),
      json(options.requests.map((request) => requestRow(request, options.monotonicMs))),
      options.learnt === undefined ? null : learntRow(options.learnt),
      Math.max(0, options.monotonicMs - options.lastAnswerAt),
      options.defaultDelayMs,
      options.budget ?? null,
      options.skewMs ?? 0,
      json(responses),
      options.repeated ?? false,
    ],
  );
  return result.rows[0]!;
}

// What is not there is left out: the server reads a third of the bytes, and a missing key is a NULL all the same.
function itemRow(item: SettleItem): object {
  const { target, found, channel } = item;
  return {
    url_hash: hexBytes(item.hash),
    status: item.status,
    kind: item.kind,
    due_in_ms: item.dueInMs ?? undefined,
    tries: item.tries ?? undefined,
    http_status: item.httpStatus ?? undefined,
    error_code: item.errorCode ?? undefined,
    error_text: short(item.errorText, 500),
    // A monster validator would be sent back with every request: longer ones are not worth keeping.
    etag: (item.etag?.length ?? 0) > 512 ? undefined : clean(item.etag),
    last_modified: (item.lastModified?.length ?? 0) > 64 ? undefined : clean(item.lastModified),
    content_hash: item.contentHash ? hexBytes(item.contentHash) : undefined,
    redirected_to: clean(item.redirectedTo),
    url: target?.url ?? item.url ?? undefined,
    refresh_seconds: item.refreshSeconds,
    fetched: item.fetched,
    unchanged: item.unchanged || undefined,
    becomes: item.becomes,
    validation_status: item.validationStatus ?? undefined,
    rejection_reason: item.rejectionReason ?? undefined,
    target: target !== undefined || undefined,
    origin: target?.origin ?? undefined,
    source_id: target?.sourceId ?? undefined,
    priority: target?.priority ?? undefined,
    level: target?.level ?? undefined,
    depth: target?.depth ?? undefined,
    hops: target?.hops ?? undefined,
    parent_url: target?.parentUrl ?? undefined,
    execution_id: target?.executionId?.toString(),
    items_seen: found?.seen ?? undefined,
    items_duplicate: found?.duplicate ?? undefined,
    items_rejected: found?.rejected ?? undefined,
    channel_id: channel?.id ?? undefined,
    channel_error: channel?.error ?? undefined,
    channel_new: channel?.newItems ?? undefined,
    channel_format: channel?.format ?? undefined,
    channel_hub: short(channel?.hub, 2048),
    channel_sleep: channel?.sleep,
    channel_redirect: channel?.redirect,
    channel_rhythm: channel?.rhythm,
    channel_weight: channel?.weight,
    channel_floor: channel?.floorSeconds,
    channel_delays: channel?.delays?.items,
    channel_delay_s: channel?.delays?.seconds,
    channel_late_s: channel?.lateSeconds,
    channel_topic: short(channel?.topic, 2048),
    last_item_at: channel?.lastItemAt ?? undefined,
    result: item.result ?? undefined,
  };
}

function learntRow({ hold, move, ...learnt }: Learnt): string {
  return JSON.stringify({
    hold_ms: hold?.ms,
    hold_reason: hold?.reason,
    penalty_ms: learnt.penaltyMs,
    good_run: learnt.goodRun,
    robots_delay_ms: learnt.robotsDelayMs,
    source_delay_ms: learnt.sourceDelayMs,
    ladder: learnt.ladder,
    trial_passed: learnt.trialPassed,
    move_to: move?.to,
    move_reason: move?.reason,
    rest_ms: move?.restMs,
  });
}

/** What travels beside the JSON, one after another. */
class Bytes {
  readonly #parts: Buffer[] = [];
  #length = 0;

  /** Answers where the part begins. */
  add(part: Buffer): number {
    const start = this.#length;
    this.#parts.push(part);
    this.#length += part.length;
    return start;
  }

  joined(): Buffer | null {
    return this.#parts.length === 0 ? null : Buffer.concat(this.#parts, this.#length);
  }
}

function documentRow(document: SettleDocument, bytes: Bytes): object {
  // Half a surrogate pair becomes U+FFFD here, as it does in rowsToJson.
  const text = Buffer.from(clean(document.text)!);
  return {
    url_hash: hexBytes(document.hash),
    url: document.url,
    source_id: document.sourceId,
    word_count: document.wordCount,
    confidence: document.confidence,
    published_at: document.publishedAt,
    modified_at: document.modifiedAt,
    content_hash: hexBytes(document.contentHash),
    page_type: document.pageType,
    language: document.language,
    canonical_url: document.canonicalUrl,
    title: clean(document.title),
    section: clean(document.section),
    description: clean(document.description),
    lead_image: document.leadImage,
    authors: document.authors,
    keywords: document.keywords,
    meta: document.meta,
    text_start: bytes.add(text),
    text_length: text.length,
    raw_start: document.raw === null ? undefined : bytes.add(document.raw.body),
    raw_length: document.raw?.body.length,
    raw_encoding: document.raw?.encoding,
    raw_type: document.raw?.contentType ?? undefined,
    hold: document.hold || undefined,
  };
}

function requestRow(request: LoggedRequest, nowMs: number): object {
  const round = (ms: number | null): number | null => (ms === null ? null : Math.round(ms));
  return {
    ago_ms: Math.max(0, nowMs - request.endedAt),
    status: request.status,
    kind: request.kind,
    outcome: request.outcome,
    url_hash: request.hash === null ? null : hexBytes(request.hash),
    url: request.url,
    source_id: request.sourceId,
    // Left out, it costs the settle no more than a look.
    execution_id: request.executionId?.toString(),
    wait_ms: round(request.waitMs),
    headers_ms: round(request.headersMs),
    total_ms: round(request.totalMs),
    bytes: request.bytes,
  };
}

function responseRow(response: SettleResponse, nowMs: number, bytes: Bytes): object {
  const { requestHead, responseHead, body, validators, sent } = response;
  const start = bytes.add(requestHead);
  bytes.add(responseHead);
  bytes.add(body);
  return {
    id: response.id,
    ago_ms: Math.max(0, nowMs - response.startedAt),
    status: response.status,
    method: response.method,
    url: response.url,
    address: response.address,
    truncated: response.truncated,
    payload_digest: hexBytes(response.digest),
    etag: clean(validators.etag),
    last_modified: clean(validators.lastModified),
    sent_etag: clean(sent.etag),
    sent_last_modified: clean(sent.lastModified),
    start,
    request_length: requestHead.length,
    head_length: responseHead.length,
    body_length: body.length,
  };
}
