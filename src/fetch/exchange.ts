import type { Lease, LeasedUrl, LoggedRequest, Validators } from '../frontier/index.ts';
import type { Ingested } from '../ingest/index.ts';
import { identifyUrl, type RulesOf, type UrlIdentity } from '../url/index.ts';
import {
  HttpBodyError,
  type HttpClient,
  type HttpRequest,
  type HttpResult,
  type HttpStreamResult,
  type Recording,
  type Timings,
} from './client/index.ts';
import { ChainCookies } from './cookies.ts';
import { type Reach, reachOf } from './outage.ts';
import type { Pacer } from './pacer.ts';
import { type PageRenderer, renderAnswer } from './rendering.ts';
import type { GateAnswer, RobotsGate } from './robots-gate.ts';

/** Where fetching a row led, before anybody looked at the body. */
export type Arrival =
  | {
      end: 'answered';
      result: HttpResult;
      url: string;
      identity: UrlIdentity;
      moved: 'no' | 'permanently' | 'temporarily';
      /** What a body that was read as it came turned out to be; the result has none of it then. */
      ingested?: Ingested;
    }
  | { end: 'gate'; gate: Exclude<GateAnswer, { answer: 'allowed' | 'aborted' }>; url: string; hops: number }
  | { end: 'left'; identity: UrlIdentity; hops: number; status: number }
  | {
      end: 'dead';
      code: 'redirect_loop' | 'too_many_redirects' | 'bad_redirect' | 'bad_url';
      text: string;
      status: number | null;
    }
  /** The lease ended or the process stops: nothing was requested, the row goes back. */
  | { end: 'handed_back' };

const nothing = Buffer.alloc(0);

/**
 * Lets go of a body that was read. Something that waited for the answer, most likely its promises, keeps it until the next
 * full collection otherwise; with this, half as many of those are needed.
 */
export function letGo(arrival: Arrival): void {
  if (arrival.end !== 'answered' || arrival.result.outcome !== 'response') return;
  arrival.result.body = nothing;
  arrival.result.wireBody = null;
}

export type ExchangeDeps = {
  client: HttpClient;
  /** Runs what a row's request brings; null: pages are taken as they come. */
  renderer: PageRenderer | null;
  robots: RobotsGate;
  pacer: Pacer;
  lease: Lease;
  signal: AbortSignal;
  /** Checked when a request's turn comes, and again when it is about to be written: names, limits and dials take time. */
  mayStart: () => boolean;
  onRequest: (request: LoggedRequest) => void;
  onReach: (reach: Reach) => void;
  onCrawlDelay: (delayMs: number | null) => void;
  /** What the keys of addresses follow beyond the general rules. */
  rules: RulesOf;
  /** The source's own proxies. */
  proxies: readonly string[] | undefined;
  /** The source's operator decided, and answers for it, that Disallow does not hold for us. */
  ignoresDisallow: boolean;
  /** Keeps what the next request brings; undefined while nobody wants it. */
  record: (url: string, sent: Validators) => Recording | undefined;
};

const noValidators: Validators = { etag: null, lastModified: null };

const maxHops = 5;
const permanent = new Set([301, 308]);

/** Requests a row: robots, pace, request, and redirects as long as they stay in the leased domain. */
export async function fetchRow(
  deps: ExchangeDeps,
  row: LeasedUrl,
  request: {
    accept?: (type: string | null, status: number) => boolean;
    maxBodyBytes?: number;
    exemptFromRatio?: boolean;
    maxWireBytes?: number;
    timeoutMs?: number;
    unwrapGzip?: boolean;
    headers?: Record<string, string>;
    conditional: boolean;
    /** Reads the body of a success as it comes, for what may not be held in memory. */
    read?: BodyReader;
  },
): Promise<Arrival> {
  const own = identifyUrl(row.url, { rules: deps.rules });
  if (own.outcome === 'rejected') {
    return {
      end: 'dead',
      code: 'bad_url',
      text: `the address is refused today (${own.reason})`,
      status: null,
    };
  }
  // A file that an index names may lie in another domain, whose pace and robots.txt are not ours to spend.
  if (own.identity.domainKey !== deps.lease.domainKey)
    return { end: 'left', identity: own.identity, hops: row.hops, status: 0 };
  // A row keeps the key it was fetched by, whatever the rules of its domain have become since: what is the same page as
  // the row is known as the row.
  const known = (found: UrlIdentity): UrlIdentity =>
    found.hash.equals(own.identity.hash) ? { ...found, hash: row.hash } : found;
  let identity = known(own.identity);
  let moved = 'no' as 'no' | 'permanently' | 'temporarily';
  let hops = row.hops;
  let isRepeated = false;
  const cookies = new ChainCookies();
  const seen = new Set([identity.fetchUrl]);
  for (;;) {
    const url = identity.fetchUrl;
    const gate = await deps.robots.check(deps.lease, url, (...asked) => requestRobots(deps, ...asked));
    if (gate.answer === 'aborted') return { end: 'handed_back' };
    if (gate.answer !== 'unavailable') deps.onCrawlDelay(gate.crawlDelayMs);
    if (gate.answer === 'unavailable' || (gate.answer === 'blocked' && !deps.ignoresDisallow))
      return { end: 'gate', gate, url, hops: hops - row.hops };
    const waitMs = await deps.pacer.turn(deps.signal);
    if (!deps.mayStart()) return { end: 'handed_back' };
    // Validators belong to the address they were given by.
    const validators =
      request.conditional && moved === 'no'
        ? { etag: row.etag, lastModified: row.lastModified }
        : noValidators;
    const asked: HttpRequest = {
      url,
      signal: deps.signal,
      maySend: deps.mayStart,
      etag: validators.etag,
      lastModified: validators.lastModified,
      recording: deps.record(url, validators),
    };
    if (deps.proxies !== undefined) asked.proxies = deps.proxies;
    if (request.accept) asked.accept = request.accept;
    if (request.maxBodyBytes) asked.maxBodyBytes = request.maxBodyBytes;
    if (request.maxWireBytes) asked.maxWireBytes = request.maxWireBytes;
    if (request.timeoutMs) asked.timeoutMs = request.timeoutMs;
    if (request.exemptFromRatio) asked.exemptFromRatio = true;
    if (request.unwrapGzip) asked.unwrapGzip = true;
    const cookie = cookies.headerFor(url);
    if (request.headers || cookie !== null)
      asked.headers = { ...request.headers, ...(cookie === null ? {} : { cookie }) };
    const { result, ingested } =
      request.read === undefined
        ? { result: await requestPage(deps, asked), ingested: undefined }
        : await requestRead(deps.client, asked, request.read);
    if (isUnsent(result)) return { end: 'handed_back' };
    noteAnswer(deps, result);
    // What a page loads comes from its site too: the gap begins when the browser is done.
    if (deps.renderer !== null) deps.pacer.answered(result.timings.endedAt);
    deps.onRequest(logged(result, row, url, waitMs));
    if (result.outcome === 'failed' && result.kind === 'aborted') return { end: 'handed_back' };
    // Not the URL's fault, so it costs no try; but the server may have seen the first, so the second waits its turn.
    if (isStale(result) && !isRepeated) {
      isRepeated = true;
      continue;
    }
    if (result.outcome !== 'redirect')
      return {
        end: 'answered',
        result,
        url,
        identity,
        moved,
        ...(ingested === undefined ? {} : { ingested }),
      };

    const target = identifyUrl(result.location, { base: url, rules: deps.rules });
    if (target.outcome === 'rejected') {
      return {
        end: 'dead',
        code: 'bad_redirect',
        text: `redirects to an address that cannot be fetched (${target.reason})`,
        status: result.status,
      };
    }
    hops += 1;
    // Whoever has been given a cookie may be led to the same address again, and be answered there.
    if (cookies.take(url, result.headers['set-cookie'])) seen.clear();
    if (seen.has(target.identity.fetchUrl)) {
      return {
        end: 'dead',
        code: 'redirect_loop',
        text: `redirects in a circle through ${target.identity.fetchUrl}`,
        status: result.status,
      };
    }
    if (hops > maxHops) {
      return {
        end: 'dead',
        code: 'too_many_redirects',
        text: `more than ${maxHops} redirects`,
        status: result.status,
      };
    }
    if (target.identity.domainKey !== deps.lease.domainKey) {
      return { end: 'left', identity: target.identity, hops, status: result.status };
    }
    moved = permanent.has(result.status) && moved !== 'temporarily' ? 'permanently' : 'temporarily';
    identity = known(target.identity);
    seen.add(identity.fetchUrl);
  }
}

async function requestPage({ client, renderer }: ExchangeDeps, asked: HttpRequest): Promise<HttpResult> {
  const answer = await client.request(asked);
  return renderer === null ? answer : renderAnswer(renderer, asked, answer);
}

/** Reads a body as it comes. */
export type BodyReader = (
  body: AsyncIterable<Buffer>,
  at: { url: string; headers: Readonly<Record<string, string>> },
) => Promise<Ingested>;

/** A request whose body is read while it comes; what it came to is the same, without the body. */
async function requestRead(
  client: HttpClient,
  asked: HttpRequest,
  read: BodyReader,
): Promise<{ result: HttpResult; ingested: Ingested | undefined }> {
  const streamed = await client.requestStream(asked);
  if (streamed.outcome !== 'response') return { result: streamed, ingested: undefined };
  const { body, ...head } = streamed;
  let bytes = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of body) {
      bytes += chunk.length;
      yield chunk;
    }
  }
  const timings = (): Timings => ({ ...head.timings, endedAt: performance.now() });
  try {
    const isGood = head.status >= 200 && head.status < 300;
    // The body of an error is not worth reading unless it is recorded, but its connection must be let go.
    if (!isGood)
      for await (const _ of body)
        if (asked.recording === undefined || asked.recording.truncated !== null) break;
    const ingested = isGood ? await read(counted(), { url: asked.url, headers: head.headers }) : undefined;
    const wireBytes = Number(head.headers['content-length'] ?? bytes) || bytes;
    const none = { body: Buffer.alloc(0), wireBody: null, truncated: false } as const;
    return { result: { ...head, ...none, wireBytes, timings: timings() }, ingested };
  } catch (error) {
    if (!(error instanceof HttpBodyError)) throw error;
    const { kind, detail } = error;
    return { result: { outcome: 'failed', kind, detail, timings: timings() }, ingested: undefined };
  }
}

const isStale = (result: HttpResult | HttpStreamResult): boolean =>
  result.outcome === 'failed' && result.stale === true;

const isUnsent = (result: HttpResult | HttpStreamResult): boolean =>
  result.outcome === 'failed' && result.unsent === true;

function noteAnswer(deps: ExchangeDeps, result: HttpResult | HttpStreamResult): void {
  deps.pacer.answered(result.timings.headersAt ?? result.timings.endedAt);
  const reach = reachOf(result);
  if (reach !== null) deps.onReach(reach);
}

/** One paced and logged request for robots.txt. */
export async function requestRobots(
  deps: ExchangeDeps,
  url: string,
  headers: Record<string, string>,
): Promise<HttpStreamResult> {
  const result = await requestRobotsOnce(deps, url, headers);
  return isStale(result) ? requestRobotsOnce(deps, url, headers) : result;
}

async function requestRobotsOnce(
  deps: ExchangeDeps,
  url: string,
  headers: Record<string, string>,
): Promise<HttpStreamResult> {
  const waitMs = await deps.pacer.turn(deps.signal);
  if (!deps.mayStart()) {
    const now = performance.now();
    return {
      outcome: 'failed',
      kind: 'aborted',
      unsent: true,
      detail: 'the lease ended',
      timings: { startedAt: now, headersAt: null, endedAt: now },
    };
  }
  const result = await deps.client.requestStream({
    url,
    headers,
    signal: deps.signal,
    maySend: deps.mayStart,
    // Read to its first 500 KiB, however long it says it is.
    maxBodyBytes: Number.POSITIVE_INFINITY,
    maxWireBytes: Number.POSITIVE_INFINITY,
    recording: deps.record(url, noValidators),
    ...(deps.proxies === undefined ? {} : { proxies: deps.proxies }),
  });
  if (isUnsent(result)) return result;
  noteAnswer(deps, result);
  deps.onRequest({
    endedAt: result.timings.endedAt,
    status: result.outcome === 'failed' ? null : result.status,
    kind: 'robots',
    outcome: result.outcome === 'failed' ? result.kind : result.outcome,
    hash: null,
    url,
    sourceId: null,
    executionId: null,
    waitMs,
    headersMs: result.timings.headersAt === null ? null : result.timings.headersAt - result.timings.startedAt,
    totalMs: result.timings.endedAt - result.timings.startedAt,
    bytes: 0,
  });
  return result;
}

function logged(result: HttpResult, row: LeasedUrl, url: string, waitMs: number): LoggedRequest {
  const { timings } = result;
  return {
    endedAt: timings.endedAt,
    status: result.outcome === 'failed' ? null : result.status,
    kind: row.kind,
    outcome: result.outcome === 'failed' ? result.kind : result.outcome,
    hash: row.hash,
    url,
    sourceId: row.sourceId,
    executionId: row.executionId,
    waitMs,
    headersMs: timings.headersAt === null ? null : timings.headersAt - timings.startedAt,
    totalMs: timings.endedAt - timings.startedAt,
    bytes: result.outcome === 'response' ? result.wireBytes : 0,
  };
}
