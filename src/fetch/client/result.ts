import type { HostsTable } from './hosts-table.ts';
import type { Recording } from './recording.ts';

/** Moments of one request on the monotonic clock (`performance.now()`): pacing needs "headers or failure". */
export type Timings = {
  /** When the request really began, after waiting for its turn. */
  startedAt: number;
  /** When the final response's headers were complete; null when they never were. */
  headersAt: number | null;
  /** When the outcome was known. */
  endedAt: number;
};

/** Response headers, names in lower case, repeated ones joined by ", ", `set-cookie` by line ends; together at most `maxHeaderBytes`. */
export type ResponseHeaders = Record<string, string>;

/** Why there is no usable response. */
export type FailureKind =
  | 'dns'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'reset'
  | 'body_too_large'
  | 'decompress_bomb'
  | 'bad_response'
  | 'headers_too_large'
  | 'refused_address'
  | 'refused_port'
  | 'proxy'
  // None of the proxies may be used now: nobody was asked.
  | 'no_proxy'
  | 'aborted'
  // What a browser came to.
  | 'render_timeout'
  | 'render_crashed'
  | 'render_too_large';

/** A named failure with the underlying code in its detail. */
export type Failure = { kind: FailureKind; detail: string };

type Answered = {
  status: number;
  headers: ResponseHeaders;
  /** The connected peer; with a proxy, the proxy. */
  remoteAddress: string | null;
  timings: Timings;
};

/** Outcomes that carry no body; shared by buffered and streamed requests. */
export type BodilessResult =
  /** `location` is absolute, or the raw text when it cannot be parsed; the hop itself is the caller's decision. */
  | ({ outcome: 'redirect'; location: string } & Answered)
  /** `conditional` is false for a 304 out of the blue. */
  | ({ outcome: 'not_modified'; conditional: boolean } & Answered)
  /** The content-type gate said no: the body was never downloaded. */
  | ({ outcome: 'unsupported_type'; contentType: string | null } & Answered)
  /**
   * `stale`: a kept-alive connection died before it answered, most likely of old age. The request may be sent once more
   * (RFC 9110 section 9.2.2), but by the caller: nobody knows whether the server saw the first, so it needs a turn.
   * `unsent`: given up before anything was written, so no server saw it.
   */
  | ({ outcome: 'failed'; timings: Timings; stale?: true; unsent?: true } & Failure);

/** What one request came to. */
export type HttpResult =
  | ({
      outcome: 'response';
      /** Decoded bytes. */
      body: Buffer;
      /** The bytes as they came (still encoded), for archiving; the same buffer as `body` when nothing was encoded. */
      wireBody: Buffer | null;
      contentEncoding: string | null;
      wireBytes: number;
      truncated: false;
    } & Answered)
  | BodilessResult;

/** What one streamed request came to; reading `body` throws `HttpBodyError` when it fails half way. */
export type HttpStreamResult =
  | ({ outcome: 'response'; body: AsyncIterable<Buffer>; contentEncoding: string | null } & Answered)
  | BodilessResult;

/** Thrown by a streamed body that ends badly; `kind` and `detail` as in a failed result. */
export class HttpBodyError extends Error {
  readonly kind: FailureKind;
  readonly detail: string;

  constructor(failure: Failure) {
    super(`${failure.kind}: ${failure.detail}`);
    this.name = 'HttpBodyError';
    this.kind = failure.kind;
    this.detail = failure.detail;
  }
}

/** One request; it makes a single hop and follows no redirect. */
export type HttpRequest = {
  url: string;
  method?: 'GET' | 'HEAD' | 'POST';
  /** What a POST sends; its type stands in `headers`. Nothing is ever sent twice by the client itself. */
  payload?: string;
  etag?: string | null;
  lastModified?: string | null;
  /** Content-type gate for final responses, decided before the body is read. */
  accept?: (contentType: string | null, status: number) => boolean;
  /** Cap on the decoded body. */
  maxBodyBytes?: number;
  /** Cap on the bytes received; `maxBodyBytes` unless said. */
  maxWireBytes?: number;
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Asked once more when the connection stands and the request is about to be written: false gives it up. */
  maySend?: () => boolean;
  headers?: Record<string, string>;
  /** Leaves out the ratio cap (archives and sitemaps compress better than pages); the byte caps stay. */
  exemptFromRatio?: boolean;
  /** Also unpacks a body that is itself a gzip file (`sitemap.xml.gz` is sent as one), under the same caps. */
  unwrapGzip?: boolean;
  /** Proxies of the source instead of the client's; an empty list goes out directly. */
  proxies?: readonly string[];
  /** Keeps what goes over the wire. */
  recording?: Recording | undefined;
};

/** Caps on concurrent requests per registrable domain and per /24 or /48; 0 switches a cap or the gap off. */
export type NetworkLimits = { maxPerDomain?: number; maxPerNetwork?: number; gapMs?: number };

/** Settings of the client; the defaults are those of the crawl. */
export type HttpClientOptions = {
  userAgent: string;
  /** Used in turn instead of the one; none unless given. */
  userAgents?: readonly string[];
  /** Exceptions from the address guard, `CIDR:PORT` each. */
  allowNetworks?: readonly string[];
  allowedPorts?: readonly number[];
  hosts?: HostsTable;
  localAddress?: string;
  maxConnections?: number;
  maxConnectionsPerHost?: number;
  networkLimits?: NetworkLimits;
  /** Total deadline, name lookup included, waiting for a turn not. */
  timeoutMs?: number;
  /** From the request being written to the headers being complete. */
  headersTimeoutMs?: number;
  connectTimeoutMs?: number;
  keepAliveMs?: number;
  maxHeaderBytes?: number;
  maxBodyBytes?: number;
  maxRatio?: number;
  /** Replaces DNS; answers are checked by the guard like any other. */
  resolver?: (host: string) => Promise<string[]>;
  /** `http://`, `https://` and `socks5://` proxies for every request; none unless given. */
  proxies?: readonly string[];
  /** PEM certificates trusted besides the public ones (intranets, tests). */
  ca?: string;
};
