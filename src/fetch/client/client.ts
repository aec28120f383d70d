import { isIP, type Socket } from 'node:net';
import { type AddressGuard, createAddressGuard, DEFAULT_ALLOWED_PORTS } from './address-guard.ts';
import { readBodyStream } from './body-stream.ts';
import { type Connection, type ConnectionPool, createConnectionPool } from './connection-pool.ts';
import { ACCEPT_ENCODING, type DecodeLimits, decodeBody } from './content-decoding.ts';
import { type Destination, Destinations } from './destinations.ts';
import { createDialler, type Dialler } from './dial.ts';
import { type ExchangeEnd, type ExchangePlan, runExchange } from './exchange.ts';
import { NamedFailure } from './failure.ts';
import { type IssuerFailure, MissingIssuers } from './missing-issuers.ts';
import { createNameResolver, type NameResolver } from './name-resolver.ts';
import { createNetworkLimiter, type NetworkLimiter } from './network-limits.ts';
import { createProxyChooser, type ProxyChooser, type ProxyServer } from './proxies/index.ts';
import type {
  BodilessResult,
  Failure,
  HttpClientOptions,
  HttpRequest,
  HttpResult,
  HttpStreamResult,
  Timings,
} from './result.ts';

const MB = 1024 * 1024;
const DEFAULT_ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
// Longer validators are not validators: storing and echoing them would let a server fill our requests.
const MAX_VALIDATOR_CHARS = 1024;
const ISSUER_TIMEOUT_MS = 5000;
const MAX_ISSUER_BYTES = 64 * 1024;
const ISSUER_TYPES = 'application/pkix-cert,application/x-x509-ca-cert,*/*;q=0.1';

/** Counters of a client. */
export type HttpClientStats = {
  requests: number;
  failed: number;
  active: number;
  waiting: number;
  openConnections: number;
  idleConnections: number;
  connectionsOpened: number;
  connectionsReused: number;
  namesCached: number;
};

/** The one HTTP client: pages, feeds, sitemaps, robots.txt and images leave through it. */
export type HttpClient = {
  /** One hop, whole body; never rejects for anything the network does. */
  request(request: HttpRequest): Promise<HttpResult>;
  /** One hop, body in decoded chunks as they come (50 MB received, 500 MB decoded unless said). */
  requestStream(request: HttpRequest): Promise<HttpStreamResult>;
  /** A bare connection, checked like that of any request: what the browser's proxy is made of. */
  connect(
    to: { host: string; port: number },
    options?: { signal?: AbortSignal; proxies?: readonly string[] },
  ): Promise<Socket | Failure>;
  /** Ends every connection; requests under way end as `aborted`. */
  close(): Promise<void>;
  stats(): HttpClientStats;
};

type Settings = Required<
  Omit<HttpClientOptions, 'hosts' | 'localAddress' | 'resolver' | 'ca' | 'networkLimits' | 'proxies'>
> & {
  hosts: HttpClientOptions['hosts'];
  maxPerDomain: number;
  maxPerNetwork: number;
  gapMs: number;
};

function withDefaults(options: HttpClientOptions): Settings {
  return {
    userAgent: options.userAgent,
    userAgents: options.userAgents ?? [],
    allowNetworks: options.allowNetworks ?? [],
    allowedPorts: options.allowedPorts ?? DEFAULT_ALLOWED_PORTS,
    hosts: options.hosts,
    maxConnections: options.maxConnections ?? 256,
    maxConnectionsPerHost: options.maxConnectionsPerHost ?? 4,
    maxPerDomain: options.networkLimits?.maxPerDomain ?? 4,
    maxPerNetwork: options.networkLimits?.maxPerNetwork ?? 4,
    gapMs: options.networkLimits?.gapMs ?? 100,
    timeoutMs: options.timeoutMs ?? 30_000,
    headersTimeoutMs: options.headersTimeoutMs ?? 10_000,
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    keepAliveMs: options.keepAliveMs ?? 10_000,
    maxHeaderBytes: options.maxHeaderBytes ?? 65_536,
    maxBodyBytes: options.maxBodyBytes ?? 10 * MB,
    maxRatio: options.maxRatio ?? 100,
  };
}

function isUsableValidator(value: string | null | undefined): value is string {
  return (
    typeof value === 'string' &&
    value.length <= MAX_VALIDATOR_CHARS &&
    /^[\x21-\x7e\x80-\xff][\t\x20-\x7e\x80-\xff]*$/.test(value)
  );
}

/** Who answered: behind a proxy, the address that the proxy was given. */
function peerOf({ remoteAddress, target }: Connection): string | null {
  return target.proxy === null ? remoteAddress : (target.addresses[0] ?? null);
}

class Client implements HttpClient {
  private readonly settings: Settings;
  private readonly guard: AddressGuard;
  private readonly names: NameResolver;
  private readonly limiter: NetworkLimiter;
  private readonly pool: ConnectionPool;
  private readonly dial: Dialler;
  private readonly proxies: ProxyChooser;
  private agentTurn = -1;
  private readonly destinations: Destinations;
  private closed = false;
  private requests = 0;
  private failures = 0;

  constructor(options: HttpClientOptions) {
    const { localAddress, ca } = options;
    this.settings = withDefaults(options);
    const { allowNetworks, allowedPorts, connectTimeoutMs, ...rest } = this.settings;
    this.guard = createAddressGuard(allowNetworks, allowedPorts);
    this.names = createNameResolver({ lookup: options.resolver, localAddress });
    this.limiter = createNetworkLimiter();
    this.proxies = createProxyChooser(options.proxies ?? []);
    this.destinations = new Destinations(this.settings, {
      guard: this.guard,
      names: this.names,
      proxies: this.proxies,
    });
    const issuers = new MissingIssuers({ ask: (url, via) => this.askIssuer(url, via), ca });
    this.dial = createDialler({ guard: this.guard, connectTimeoutMs, localAddress, ca, issuers });
    this.pool = createConnectionPool({
      dial: this.dial,
      maxConnections: rest.maxConnections,
      keepAliveMs: rest.keepAliveMs,
      maxHeaderBytes: rest.maxHeaderBytes,
    });
  }

  async request(request: HttpRequest): Promise<HttpResult> {
    const maxBodyBytes = request.maxBodyBytes ?? this.settings.maxBodyBytes;
    const maxWireBytes = request.maxWireBytes ?? maxBodyBytes;
    const done = await this.run(request, { mode: 'buffer', maxBodyBytes, maxWireBytes });
    if ('outcome' in done) return this.count(done);
    const { end, timings } = done;
    if (end.end !== 'body') return this.count(this.finish(request, end, timings, done.remoteAddress));
    const body = await decodeBody(end.wire, end.encodings, this.limitsOf(request, maxBodyBytes));
    timings.endedAt = performance.now();
    if (!Buffer.isBuffer(body)) return this.count({ outcome: 'failed', ...body, timings });
    return this.count({
      outcome: 'response',
      status: end.head.status,
      headers: end.head.headers,
      body,
      wireBody: end.wire,
      contentEncoding: end.encodings.length === 0 ? null : end.encodings.join(', '),
      wireBytes: end.wire.length,
      truncated: false,
      remoteAddress: done.remoteAddress,
      timings,
    });
  }

  async requestStream(request: HttpRequest): Promise<HttpStreamResult> {
    const maxBodyBytes = request.maxBodyBytes ?? 500 * MB;
    const maxWireBytes = request.maxWireBytes ?? 50 * MB;
    const done = await this.run(request, { mode: 'stream', maxBodyBytes, maxWireBytes });
    if ('outcome' in done) return this.count(done);
    const { end, timings } = done;
    if (end.end !== 'stream') return this.count(this.finish(request, end, timings, done.remoteAddress));
    return this.count({
      outcome: 'response',
      status: end.head.status,
      headers: end.head.headers,
      body: readBodyStream(end.wire, end.encodings, this.limitsOf(request, maxBodyBytes)),
      contentEncoding: end.encodings.length === 0 ? null : end.encodings.join(', '),
      remoteAddress: done.remoteAddress,
      timings,
    });
  }

  async connect(
    { host, port }: { host: string; port: number },
    options: { signal?: AbortSignal; proxies?: readonly string[] } = {},
  ): Promise<Socket | Failure> {
    const { signal = new AbortController().signal, proxies } = options;
    const url = `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}/`;
    const request = { url, ...(proxies === undefined ? {} : { proxies }) };
    if (this.closed) return { kind: 'aborted', detail: 'the client was closed' };
    const to = await this.destinations.find(request, signal);
    if ('kind' in to) return to;
    try {
      return await this.dial(to.target, signal);
    } catch (error) {
      if (!(error instanceof NamedFailure)) throw error;
      return error.failure;
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    this.limiter.close();
    this.names.close();
    await this.pool.close();
  }

  stats(): HttpClientStats {
    const pool = this.pool.stats();
    return {
      requests: this.requests,
      failed: this.failures,
      ...this.limiter.stats(),
      openConnections: pool.open,
      idleConnections: pool.idle,
      connectionsOpened: pool.opened,
      connectionsReused: pool.reused,
      namesCached: this.names.size(),
    };
  }

  private limitsOf(request: HttpRequest, maxBodyBytes: number): DecodeLimits & { unwrapGzip: boolean } {
    return {
      maxBodyBytes,
      maxRatio: request.exemptFromRatio === true ? null : this.settings.maxRatio,
      unwrapGzip: request.unwrapGzip === true,
    };
  }

  private count<R extends HttpResult | HttpStreamResult>(result: R): R {
    this.requests += 1;
    if (result.outcome === 'failed') this.failures += 1;
    return result;
  }

  /** Everything up to the exchange's end; a result when it failed before there was one. */
  private async run(
    request: HttpRequest,
    sizes: Pick<ExchangePlan, 'mode' | 'maxBodyBytes' | 'maxWireBytes'>,
    issuerVia?: ProxyServer | null,
  ): Promise<BodilessResult | { end: ExchangeEnd; timings: Timings; remoteAddress: string | null }> {
    const timings: Timings = { startedAt: performance.now(), headersAt: null, endedAt: 0 };
    const failed = (failure: Failure): BodilessResult => {
      timings.endedAt = performance.now();
      return {
        outcome: 'failed',
        ...failure,
        timings,
        ...(failure.kind === 'aborted' ? { unsent: true } : {}),
      };
    };
    const { signal } = request;
    if (signal?.aborted === true || this.closed)
      return failed({ kind: 'aborted', detail: 'the caller gave up' });
    const to = await this.destinations.find(request, signal, issuerVia);
    if ('kind' in to) return failed(to);
    if (this.closed) return failed({ kind: 'aborted', detail: 'the client was closed' });
    // Who waits for an issuer holds places already, and would wait for ever for one of its own.
    const release =
      issuerVia === undefined ? await this.limiter.acquire(to.gates, signal) : (): void => undefined;
    timings.startedAt = performance.now();
    if (release === null) return failed({ kind: 'aborted', detail: 'the caller gave up while waiting' });
    const timeoutMs = request.timeoutMs ?? this.settings.timeoutMs;
    const plan: ExchangePlan = {
      mode: sizes.mode,
      maxBodyBytes: sizes.maxBodyBytes,
      maxWireBytes: sizes.maxWireBytes,
      url: to.url,
      method: request.method ?? 'GET',
      payload: request.payload,
      requestHeaders: this.headersOf(request),
      accept: request.accept,
      deadlineAt: timings.startedAt + timeoutMs - to.dnsMs,
      headersTimeoutMs: this.settings.headersTimeoutMs,
      signal,
      maySend: request.maySend,
      recording: request.recording,
    };
    const { end, remoteAddress } = await this.send(to, plan, release);
    timings.headersAt = end.end === 'failed' ? end.headersAt : end.head.headersAt;
    timings.endedAt = performance.now();
    return { end, timings, remoteAddress };
  }

  /** One hop to a certificate's issuer; no request of the crawl, so it is not counted among them. */
  private async askIssuer(url: string, via: ProxyServer | null): Promise<Buffer | IssuerFailure> {
    const request: HttpRequest = { url, timeoutMs: ISSUER_TIMEOUT_MS, headers: { accept: ISSUER_TYPES } };
    const sizes = { maxBodyBytes: MAX_ISSUER_BYTES, maxWireBytes: MAX_ISSUER_BYTES };
    const done = await this.run(request, { mode: 'buffer', ...sizes }, via);
    if ('outcome' in done)
      return done.outcome === 'failed' ? done : { kind: 'bad_response', detail: 'no certificate' };
    const { end } = done;
    if (end.end === 'failed') return end.failure;
    const { status } = end.head;
    if (end.end !== 'body' || status !== 200)
      return { kind: 'bad_response', detail: `it answers with ${status}`, status };
    return decodeBody(end.wire, end.encodings, this.limitsOf(request, MAX_ISSUER_BYTES));
  }

  private async send(
    to: Destination,
    plan: ExchangePlan,
    release: () => void,
  ): Promise<{ end: ExchangeEnd; remoteAddress: string | null }> {
    const connection = this.pool.take(to.url.origin, to.target);
    let isOver = false;
    let atEnd = (): void => {
      isOver = true;
    };
    const end = await runExchange(connection, plan, (reusable) => {
      this.pool.release(connection, reusable);
      atEnd();
    });
    // The exchange may outlive its outcome (draining, streaming): its place is held until it ends.
    if (isOver) release();
    else atEnd = release;
    if (end.end === 'failed') this.learnFrom(end, to);
    if (plan.recording !== undefined) plan.recording.address = peerOf(connection);
    return { end, remoteAddress: connection.remoteAddress };
  }

  private learnFrom(end: Extract<ExchangeEnd, { end: 'failed' }>, { url, target }: Destination): void {
    const { kind } = end.failure;
    if (kind === 'connect') this.names.forget(target.host);
    // Many proxies pass nothing but https on, and issuers are asked over http: that says nothing of the proxy.
    const isOfIssuer = target.issuersFor === null;
    if (kind === 'proxy' && target.proxy !== null && !isOfIssuer) this.proxies.rest(target.proxy);
    // The others of its age have most likely died with it.
    if (end.stale) this.pool.forget(url.origin, target);
  }

  private nextUserAgent(): string {
    const { userAgent, userAgents } = this.settings;
    if (userAgents.length === 0) return userAgent;
    this.agentTurn = (this.agentTurn + 1) % userAgents.length;
    return userAgents[this.agentTurn]!;
  }

  private headersOf(request: HttpRequest): string[] {
    if (request.headers !== undefined) return this.mergedHeaders(request, request.headers);
    const list = [
      'user-agent',
      this.nextUserAgent(),
      'accept',
      DEFAULT_ACCEPT,
      'accept-encoding',
      ACCEPT_ENCODING,
    ];
    if (isUsableValidator(request.etag)) list.push('if-none-match', request.etag);
    if (isUsableValidator(request.lastModified)) list.push('if-modified-since', request.lastModified);
    return list;
  }

  private mergedHeaders({ headers: _own, ...request }: HttpRequest, own: Record<string, string>): string[] {
    const list = this.headersOf(request);
    const merged = new Map<string, string>();
    for (let at = 0; at < list.length; at += 2) merged.set(list[at]!, list[at + 1]!);
    for (const [name, value] of Object.entries(own)) merged.set(name.toLowerCase(), value);
    return [...merged].flat();
  }

  /** The result of an exchange that ended without a body to hand over. */
  private finish(
    request: HttpRequest,
    end: ExchangeEnd,
    timings: Timings,
    remoteAddress: string | null,
  ): BodilessResult {
    if (end.end === 'failed')
      return {
        outcome: 'failed',
        ...end.failure,
        timings,
        ...(end.stale ? { stale: true } : {}),
        ...(end.unsent ? { unsent: true } : {}),
      };
    const answered = { status: end.head.status, headers: end.head.headers, remoteAddress, timings };
    if (end.end === 'redirect') return { outcome: 'redirect', location: end.location, ...answered };
    if (end.end === 'unsupported_type')
      return {
        outcome: 'unsupported_type',
        contentType: end.head.headers['content-type'] ?? null,
        ...answered,
      };
    if (end.end === 'not_modified') {
      const conditional = isUsableValidator(request.etag) || isUsableValidator(request.lastModified);
      return { outcome: 'not_modified', conditional, ...answered };
    }
    throw new Error(`exchange ended as ${end.end} in the wrong mode`);
  }
}

/** Builds the client; throws only for settings that cannot be read. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  return new Client(options);
}
