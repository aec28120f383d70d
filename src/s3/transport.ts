import { randomInt } from 'node:crypto';
import { Agent } from 'undici';
import { messageOf } from '../errors/index.ts';
import { type Clock, systemClock } from '../telemetry/index.ts';
import { parseError } from './answers.ts';
import { encodeQuery, type Signer, signRequest } from './sign.ts';

/** Where a store is and how patiently it is asked. */
export type S3Options = Signer & {
  /** `https://s3.eu-central-1.amazonaws.com`, `http://minio:9000`; a path before the bucket is kept. */
  endpoint: string;
  bucket: string;
  /** The bucket in the path (most stores) or in the host's name. */
  pathStyle?: boolean;
  /** One try, and all of them with the waits between. */
  tryTimeoutMs?: number;
  timeoutMs?: number;
  maxTries?: number;
  connections?: number;
  clock?: Clock;
};

/** Why a call came to nothing. `retry`: the same call may succeed later. */
export type S3Failure = {
  outcome: 'failed';
  kind:
    | 'network'
    /** It was there, and hung up or answered what is no HTTP. */
    | 'broken'
    | 'timeout'
    | 'busy'
    | 'server_error'
    | 'denied'
    | 'no_bucket'
    | 'refused'
    | 'too_large';
  retry: boolean;
  status: number | null;
  /** The store's own word, as `SlowDown`. */
  code: string | null;
  detail: string;
  tries: number;
};

export type S3Answer = { status: number; headers: Record<string, string>; body: Buffer; code: string | null };

export type S3Request = {
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  /** Encoded, beginning with a slash, without the bucket. */
  path: string;
  query?: readonly (readonly [string, string])[];
  headers?: Record<string, string>;
  body?: Buffer | null;
  /** Most bytes of a good answer's body. */
  maxBytes?: number;
  /** Other statuses that are an answer and not a failure. */
  expected?: readonly number[];
};

type Tried = { answer: S3Answer } | { failure: Omit<S3Failure, 'tries'>; waitMs: number | null };

const maxErrorBytes = 65_536;
const firstWaitMs = 200;
const longestWaitMs = 5_000;
// Where the store's clock and ours differ by more than it bears, the second try is signed by its clock.
const skewed = 'RequestTimeTooSkewed';

/** Sends signed requests and tries again while it makes sense: bounded in tries, time and bytes. */
export class S3Transport {
  readonly #options: S3Options;
  readonly #clock: Clock;
  readonly #agent: Agent;
  readonly #origin: string;
  readonly #host: string;
  readonly #base: string;
  #skewMs = 0;

  constructor(options: S3Options) {
    const { endpoint, bucket, pathStyle = true } = options;
    const url = new URL(endpoint);
    if (!pathStyle) url.hostname = `${bucket}.${url.hostname}`;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#origin = url.origin;
    this.#host = url.host;
    this.#base = `${url.pathname.replace(/\/+$/, '')}${pathStyle ? `/${bucket}` : ''}`;
    // An agent of its own, without the crawler's guard: the operator names the endpoint, and it may well be private.
    this.#agent = new Agent({ connections: options.connections ?? 16, connect: { timeout: 5_000 } });
  }

  close(): Promise<void> {
    return this.#agent.close();
  }

  /** Answers what the store said, or why it could not be asked. Never throws. */
  async send(request: S3Request, signal?: AbortSignal): Promise<S3Answer | S3Failure> {
    const { maxTries = 4, timeoutMs = 60_000, tryTimeoutMs = 20_000 } = this.#options;
    const endsAt = this.#clock.monotonic() + timeoutMs;
    for (let tries = 1; ; tries += 1) {
      const leftMs = Math.max(1, endsAt - this.#clock.monotonic());
      const tried = await this.#try(request, Math.min(tryTimeoutMs, leftMs), signal);
      if ('answer' in tried) return tried.answer;
      const { failure } = tried;
      const mayGoOn = failure.retry && tries < maxTries && signal?.aborted !== true;
      // Full jitter: many workers that were refused together must not come back together.
      const backoffMs = randomInt(1, Math.min(longestWaitMs, firstWaitMs * 2 ** tries));
      const waitMs = Math.max(tried.waitMs ?? 0, backoffMs);
      if (!mayGoOn || this.#clock.monotonic() + waitMs >= endsAt) return { ...failure, tries };
      await this.#clock.wait(waitMs, signal);
    }
  }

  async #try(request: S3Request, timeoutMs: number, signal?: AbortSignal): Promise<Tried> {
    const { method, query = [], headers = {}, body = null } = request;
    const path = `${this.#base}${request.path}`;
    const signed = signRequest(
      { method, host: this.#host, path, query, headers, body },
      this.#options,
      new Date(this.#clock.now() + this.#skewMs),
    );
    const deadline = AbortSignal.timeout(Math.ceil(timeoutMs));
    try {
      const response = await this.#agent.request({
        origin: this.#origin,
        // The raw path: a URL would resolve keys that hold `..`.
        path: query.length === 0 ? path : `${path}?${encodeQuery(query)}`,
        method,
        headers: signed,
        body,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
        signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
      });
      const { statusCode: status } = response;
      const isGood = (status >= 200 && status < 300) || (request.expected ?? []).includes(status);
      const most = status < 300 ? (request.maxBytes ?? maxErrorBytes) : maxErrorBytes;
      const read = await readBounded(response.body, most);
      const known = flatten(response.headers);
      if (isGood && read.isWhole) {
        const code = status < 300 ? null : parseError(read.bytes.toString()).code;
        return { answer: { status, headers: known, body: read.bytes, code } };
      }
      if (isGood) return { failure: tooLarge(status, most), waitMs: null };
      return this.#refuse(status, known, read.bytes);
    } catch (error) {
      const kind = deadline.aborted ? 'timeout' : hasBroken(error) ? 'broken' : 'network';
      const detail = deadline.aborted
        ? `no answer within ${Math.round(timeoutMs)} ms`
        : messageOf(deepest(error));
      const retry = signal?.aborted !== true;
      return { failure: { outcome: 'failed', kind, retry, status: null, code: null, detail }, waitMs: null };
    }
  }

  #refuse(status: number, headers: Record<string, string>, body: Buffer): Tried {
    const { code, message } = parseError(body.toString());
    const isSkewed = status === 403 && code === skewed;
    const date = Date.parse(headers.date ?? '');
    if (isSkewed && !Number.isNaN(date)) this.#skewMs = date - this.#clock.now();
    const { kind, retry } = decideFailure(status, code);
    const seconds = /^\d{1,4}$/.exec(headers['retry-after'] ?? '');
    return {
      failure: {
        outcome: 'failed',
        kind,
        retry: retry || isSkewed,
        status,
        code,
        detail: message ?? `the store answered ${status}`,
      },
      waitMs: seconds === null ? null : Number(seconds[0]) * 1000,
    };
  }
}

/** What an error status means for the caller. */
export function decideFailure(
  status: number,
  code: string | null,
): { kind: S3Failure['kind']; retry: boolean } {
  if (code === 'NoSuchBucket') return { kind: 'no_bucket', retry: false };
  if (status === 429 || status === 503) return { kind: 'busy', retry: true };
  if (status === 408 || code === 'RequestTimeout') return { kind: 'timeout', retry: true };
  // Two conditional writes at once: the store wants one of them again.
  if (status === 409) return { kind: 'busy', retry: true };
  if (status === 501) return { kind: 'refused', retry: false };
  if (status >= 500) return { kind: 'server_error', retry: true };
  return { kind: status === 401 || status === 403 ? 'denied' : 'refused', retry: false };
}

const tooLarge = (status: number, most: number): Omit<S3Failure, 'tries'> => ({
  outcome: 'failed',
  kind: 'too_large',
  retry: false,
  status,
  code: null,
  detail: `the answer is larger than ${most} bytes`,
});

async function readBounded(
  body: AsyncIterable<Buffer> & { destroy(): unknown },
  most: number,
): Promise<{ bytes: Buffer; isWhole: boolean }> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of body) {
    length += part.length;
    if (length > most) {
      body.destroy();
      return { bytes: Buffer.concat(parts), isWhole: false };
    }
    parts.push(part);
  }
  return { bytes: Buffer.concat(parts, length), isWhole: true };
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  return flat;
}

const brokenCodes = /^(UND_ERR_SOCKET|UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT|ECONNRESET|EPIPE|HPE_.*)$/;

function hasBroken(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && brokenCodes.test(code);
}

// "fetch failed" says nothing; the address that refused does, and it hides in causes and lists of errors.
function deepest(error: unknown): unknown {
  let at = error;
  for (let depth = 0; depth < 5; depth += 1) {
    const next =
      at instanceof AggregateError ? at.errors[0] : at instanceof Error ? (at.cause ?? undefined) : undefined;
    if (next === undefined) break;
    at = next;
  }
  return at;
}
