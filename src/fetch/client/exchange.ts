import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Connection } from './connection-pool.ts';
import { type Encoding, parseContentEncoding } from './content-decoding.ts';
import { classifyError } from './failure.ts';
import { type Recording, type Truncation, truncationOf } from './recording.ts';
import { type Failure, HttpBodyError, type ResponseHeaders } from './result.ts';

/** The head of a final response. */
export type ResponseHead = { status: number; headers: ResponseHeaders; headersAt: number };

/** Everything an exchange needs to know, decided beforehand. */
export type ExchangePlan = {
  url: URL;
  method: 'GET' | 'HEAD' | 'POST';
  payload: string | undefined;
  /** Flat list of names and values, as undici writes it. */
  requestHeaders: string[];
  accept: ((contentType: string | null, status: number) => boolean) | undefined;
  mode: 'buffer' | 'stream';
  maxWireBytes: number;
  maxBodyBytes: number;
  /** On the monotonic clock. */
  deadlineAt: number;
  headersTimeoutMs: number;
  signal: AbortSignal | undefined;
  /** The last look before the request is written. */
  maySend: (() => boolean) | undefined;
  /** Is told everything that goes over the wire. */
  recording: Recording | undefined;
};

/** How an exchange ended, before decoding. */
export type ExchangeEnd =
  | { end: 'body'; head: ResponseHead; wire: Buffer; encodings: readonly Encoding[] }
  | { end: 'stream'; head: ResponseHead; wire: WireStream; encodings: readonly Encoding[] }
  | { end: 'redirect'; head: ResponseHead; location: string }
  | { end: 'not_modified'; head: ResponseHead }
  | { end: 'unsupported_type'; head: ResponseHead }
  /**
   * `stale`: a kept-alive connection died before answering, so the request may be sent once more. `unsent`: given up
   * before anything was written.
   */
  | { end: 'failed'; failure: Failure; headersAt: number | null; stale: boolean; unsent: boolean };

/** The received bytes of a streamed response, with their running count. */
export type WireStream = { readable: Readable; bytes: () => number };

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
// Reading out a small unwanted body costs less than a new connection; a longer one costs more.
const DRAIN_BYTES = 16 * 1024;
const DRAIN_MS = 2000;
// 103 Early Hints may come a few times; a server that sends more is holding us.
const MAX_INFORMATIONAL = 20;
const STREAM_BUFFER_BYTES = 256 * 1024;
// Timers may go off a moment before their time.
const EARLY_MS = 1;

// Joined by commas, as lists are, two equal ones of a server and the proxy before it would be one that means nothing.
const SINGLE = new Set(['location', 'retry-after', 'etag', 'last-modified']);

/** Cookies are the one list whose parts may have commas inside (RFC 9110 section 5.3): each keeps a line of its own. */
const separatorOf = (name: string): string => (name === 'set-cookie' ? '\n' : ', ');

function joinHeaders(raw: Record<string, string | string[] | undefined>): ResponseHeaders {
  const headers: ResponseHeaders = {};
  for (const name of Object.keys(raw)) {
    const value = raw[name];
    // An own `__proto__` would set the prototype on assignment; no caller needs such a header.
    if (value === undefined || name === '__proto__') continue;
    headers[name] =
      typeof value === 'string' ? value : SINGLE.has(name) ? value[0]! : value.join(separatorOf(name));
  }
  return headers;
}

/** Header text arrives byte for byte (latin1); servers put raw UTF-8 into Location, which URL parsing needs whole. */
function decodeLocation(raw: string): string {
  if (!/[\x80-\xff]/.test(raw)) return raw;
  const text = Buffer.from(raw, 'latin1').toString('utf8');
  return text.includes('\ufffd') ? raw : text;
}

function resolveLocation(raw: string, base: URL): string {
  const text = decodeLocation(raw.trim());
  return URL.canParse(text, base.href) ? new URL(text, base).href : text;
}

/** One request and its response over one connection. undici calls the `on…` methods. */
class Exchange implements Dispatcher.DispatchHandler {
  private readonly plan: ExchangePlan;
  private readonly connection: Connection;
  private readonly release: (reusable: boolean) => void;
  private readonly settle: (end: ExchangeEnd) => void;
  private controller: Dispatcher.DispatchController | null = null;
  private isBegun = false;
  private head: ResponseHead | null = null;
  private encodings: readonly Encoding[] = [];
  private state: 'waiting' | 'body' | 'draining' | 'over' = 'waiting';
  private timer: ReturnType<typeof setTimeout> | null = null;
  private timerAt = 0;
  private dueAt = 0;
  private overdue = '';
  private chunks: Buffer[] = [];
  private wireBytes = 0;
  private informational = 0;
  private stream: Readable | null = null;

  constructor(
    connection: Connection,
    plan: ExchangePlan,
    hooks: { release: (reusable: boolean) => void; settle: (end: ExchangeEnd) => void },
  ) {
    this.connection = connection;
    this.plan = plan;
    this.release = hooks.release;
    this.settle = hooks.settle;
  }

  start(): void {
    const { plan } = this;
    plan.signal?.addEventListener('abort', this.onAbort, { once: true });
    this.connection.client.dispatch(
      {
        path: plan.url.pathname + plan.url.search,
        method: plan.method,
        headers: plan.requestHeaders,
        ...(plan.payload === undefined ? {} : { body: plan.payload }),
      },
      this,
    );
    // Over a connection that is open the request has begun by now, and has its own timer.
    if (this.timer === null && this.state === 'waiting')
      this.arm(plan.deadlineAt - performance.now(), 'no connection before the deadline');
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.state === 'over') {
      controller.abort(new Error('given up while connecting'));
      return;
    }
    const { headersTimeoutMs, maySend, recording, payload } = this.plan;
    if (maySend?.() === false) {
      this.fail({ kind: 'aborted', detail: 'too late to send it' });
      return;
    }
    this.isBegun = true;
    recording?.begin({
      method: this.plan.method,
      url: this.plan.url,
      headers: this.plan.requestHeaders,
      payloadBytes: payload === undefined ? null : Buffer.byteLength(payload),
    });
    const leftMs = this.plan.deadlineAt - performance.now();
    this.arm(Math.min(headersTimeoutMs, leftMs), `no headers within ${headersTimeoutMs} ms`);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    raw: Record<string, string | string[] | undefined>,
    reason?: string,
  ): void {
    if (this.state !== 'waiting') return;
    if (status < 200) {
      this.informational += 1;
      if (this.informational > MAX_INFORMATIONAL)
        this.fail({ kind: 'bad_response', detail: 'endless informational responses' });
      return;
    }
    const head = { status, headers: joinHeaders(raw), headersAt: performance.now() };
    this.head = head;
    if (this.plan.recording !== undefined) {
      const { rawHeaders } = controller;
      const raw = Array.isArray(rawHeaders) ? rawHeaders : [];
      this.plan.recording.answer(status, reason ?? '', { read: head.headers, raw });
    }
    this.arm(this.plan.deadlineAt - head.headersAt, 'the body did not end before the deadline');
    this.decideBody(head);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.state !== 'body' && this.state !== 'draining') return;
    this.wireBytes += chunk.length;
    const { recording } = this.plan;
    if (this.state === 'draining') {
      recording?.add(Buffer.from(chunk));
      if (this.wireBytes > DRAIN_BYTES) this.abandon('length');
      return;
    }
    if (this.wireBytes > this.plan.maxWireBytes) {
      this.fail({
        kind: 'body_too_large',
        detail: `more than ${this.plan.maxWireBytes} bytes received`,
      });
      return;
    }
    if (this.stream === null) {
      this.chunks.push(chunk);
      return;
    }
    const copy = Buffer.from(chunk);
    recording?.add(copy);
    if (!this.stream.push(copy)) controller.pause();
  }

  onResponseEnd(): void {
    if (this.state === 'over') return;
    const { head, state } = this;
    this.state = 'over';
    this.cleanUp();
    this.release(head?.headers.connection?.toLowerCase() !== 'close');
    const isBuffered = state === 'body' && this.stream === null && head !== null;
    // Always a copy: slices would keep 64 kB socket buffers alive for as long as the caller keeps the page.
    const wire = isBuffered ? Buffer.concat(this.chunks, this.wireBytes) : null;
    if (wire !== null && wire.length > 0) this.plan.recording?.add(wire);
    this.plan.recording?.end(null);
    if (state === 'draining' || head === null) return;
    if (wire === null) this.stream?.push(null);
    else {
      this.chunks = [];
      this.settle({ end: 'body', head, wire, encodings: this.encodings });
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.state === 'draining') {
      this.abandon('disconnect');
      return;
    }
    this.fail(classifyError(error, this.head !== null));
  }

  /** What the headers decide: redirect, gate, size, or reading the body. */
  private decideBody(head: ResponseHead): void {
    const { plan } = this;
    const { status, headers } = head;
    if (status === 304) {
      this.skipBody({ end: 'not_modified', head });
      return;
    }
    if (REDIRECTS.has(status)) {
      const location = headers.location;
      if (location === undefined) {
        this.fail({ kind: 'bad_response', detail: `status ${status} without Location` }, 'unspecified');
        return;
      }
      this.skipBody({ end: 'redirect', head, location: resolveLocation(location, plan.url) });
      return;
    }
    if (plan.accept !== undefined && !plan.accept(headers['content-type'] ?? null, status)) {
      this.skipBody({ end: 'unsupported_type', head });
      return;
    }
    const encoding = parseContentEncoding(headers['content-encoding']);
    if (encoding.outcome === 'failed') {
      this.fail(encoding.failure, 'unspecified');
      return;
    }
    this.encodings = encoding.encodings;
    const announced = plan.method === 'HEAD' ? 0 : Number(headers['content-length'] ?? 0);
    const most =
      this.encodings.length === 0 ? Math.min(plan.maxWireBytes, plan.maxBodyBytes) : plan.maxWireBytes;
    if (announced > most) {
      this.fail({ kind: 'body_too_large', detail: `${announced} bytes announced, ${most} allowed` });
      return;
    }
    this.state = 'body';
    if (plan.mode === 'stream') this.openStream(head);
  }

  private openStream(head: ResponseHead): void {
    const stream = new Readable({
      highWaterMark: STREAM_BUFFER_BYTES,
      read: () => this.controller?.resume(),
      destroy: (error, callback) => {
        // The reader left early, or never came and the deadline did. Where it did, it has read as much as it may.
        if (this.state !== 'over') this.plan.recording?.end('length');
        this.fail({ kind: 'aborted', detail: 'the reader stopped' });
        callback(error);
      },
    });
    // Without a reader yet, a failure must not become an uncaught error; the reader still gets it.
    stream.on('error', () => undefined);
    this.stream = stream;
    const wire = { readable: stream, bytes: () => this.wireBytes };
    this.settle({ end: 'stream', head, wire, encodings: this.encodings });
  }

  /** The outcome is known without the body: a small one is read out so that the connection stays usable. */
  private skipBody(end: ExchangeEnd & { head: ResponseHead }): void {
    const { headers } = end.head;
    const length = headers['content-length'];
    const isSmall = length === undefined ? end.end !== 'unsupported_type' : Number(length) <= DRAIN_BYTES;
    this.state = 'draining';
    this.settle(end);
    if (isSmall) this.arm(DRAIN_MS, '');
    // A 304 has no body, whatever length it tells.
    else this.abandon(end.head.status === 304 ? null : 'unspecified');
  }

  /**
   * Sets when this stage must have ended. Making and clearing timers costs more than anything else here, so a timer that
   * is early for the new stage stays and is set again when it goes off.
   */
  private arm(ms: number, detail: string): void {
    this.dueAt = performance.now() + Math.max(0, ms);
    this.overdue = detail;
    if (this.timer !== null) {
      if (this.timerAt <= this.dueAt) return;
      clearTimeout(this.timer);
    }
    this.setTimer();
  }

  private setTimer(): void {
    this.timerAt = this.dueAt;
    this.timer = setTimeout(
      () => {
        this.timer = null;
        if (this.dueAt - performance.now() > EARLY_MS) this.setTimer();
        else if (this.state === 'draining') this.abandon('time');
        else this.fail({ kind: 'timeout', detail: this.overdue });
      },
      Math.max(0, Math.ceil(this.dueAt - performance.now())),
    );
  }

  private readonly onAbort = (): void => {
    if (this.state === 'draining') this.abandon('unspecified');
    else this.fail({ kind: 'aborted', detail: 'the caller gave up' });
  };

  private cleanUp(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.plan.signal?.removeEventListener('abort', this.onAbort);
  }

  private abandon(truncated: Truncation | null): void {
    if (this.state === 'over') return;
    this.state = 'over';
    this.cleanUp();
    const { recording } = this.plan;
    if (recording !== undefined) {
      if (this.chunks.length > 0) recording.add(Buffer.concat(this.chunks));
      recording.end(truncated);
    }
    this.chunks = [];
    this.controller?.abort(new Error('response abandoned'));
    this.release(false);
  }

  private fail(failure: Failure, truncated: Truncation = truncationOf(failure)): void {
    if (this.state === 'over') return;
    const { head, connection } = this;
    this.abandon(truncated);
    if (this.stream !== null) this.stream.destroy(new HttpBodyError(failure));
    else {
      const stale = failure.kind === 'reset' && head === null && connection.served > 0;
      const unsent = failure.kind === 'aborted' && !this.isBegun;
      this.settle({ end: 'failed', failure, headersAt: head?.headersAt ?? null, stale, unsent });
    }
  }
}

/** Sends the request over the connection; `release` is called exactly once, when the connection is done with. */
export function runExchange(
  connection: Connection,
  plan: ExchangePlan,
  release: (reusable: boolean) => void,
): Promise<ExchangeEnd> {
  return new Promise((settle) => new Exchange(connection, plan, { release, settle }).start());
}
