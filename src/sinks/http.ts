import { Agent, request } from 'undici';
import { messageOf } from '../errors/index.ts';
import { DeadlinePassed, withDeadline } from './deadline.ts';

/** What a service answered, or why it did not. */
export type ServiceAnswer =
  | { outcome: 'answered'; status: number; text: string; retryAfterMs: number | null }
  /** `broke`: it was there, and failed over this request; otherwise it was not to be had. */
  | { outcome: 'failed'; reason: string; broke: boolean };

/** A request to a service that the operator named. */
export type ServiceRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'HEAD' | 'DELETE';
  url: string;
  headers: Record<string, string>;
  body?: string | Buffer;
  signal: AbortSignal;
};

const defaultTimeoutMs = 30_000;
const longestPauseSeconds = 3600;

/**
 * A client for services that the operator configured. Unlike what pages name, they may well stand in a private network,
 * so it passes no address guard; it follows no redirect, because the next address would be the service's choice.
 */
export class ServiceClient {
  readonly #agent: Agent;
  readonly #mostBytes: number;
  readonly #timeoutMs: number;
  readonly #isStatusEnough: boolean;

  /** `isStatusEnough`: what the service says beside its status is for people; nothing hangs on how it ends. */
  constructor(options: {
    connections: number;
    mostAnswerBytes: number;
    timeoutMs?: number;
    isStatusEnough?: boolean;
  }) {
    this.#mostBytes = options.mostAnswerBytes;
    this.#isStatusEnough = options.isStatusEnough ?? false;
    this.#timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
    this.#agent = new Agent({
      connections: options.connections,
      connectTimeout: 10_000,
      headersTimeout: this.#timeoutMs,
      bodyTimeout: this.#timeoutMs,
    });
  }

  /** Sends a request; never rejects for what the network or the service does. */
  async send(asked: ServiceRequest): Promise<ServiceAnswer> {
    try {
      return await withDeadline(asked.signal, this.#timeoutMs, (signal) =>
        this.#exchange({ ...asked, signal }),
      );
    } catch (error) {
      const broke = !asked.signal.aborted && hasBroken(error);
      return { outcome: 'failed', reason: reasonOf(error), broke };
    }
  }

  async #exchange(asked: ServiceRequest): Promise<ServiceAnswer> {
    const { statusCode, headers, body } = await request(asked.url, {
      dispatcher: this.#agent,
      method: asked.method,
      headers: asked.headers,
      body: asked.body ?? null,
      signal: asked.signal,
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > this.#mostBytes) {
          if (this.#isStatusEnough) break;
          return {
            outcome: 'failed',
            reason: `the answer is longer than ${this.#mostBytes} bytes`,
            broke: true,
          };
        }
        chunks.push(chunk);
      }
    } catch (error) {
      if (!this.#isStatusEnough) throw error;
    }
    return {
      outcome: 'answered',
      status: statusCode,
      text: Buffer.concat(chunks).toString('utf8'),
      retryAfterMs: retryAfterOf(headers['retry-after']),
    };
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

function retryAfterOf(value: string | string[] | undefined): number | null {
  const text = Array.isArray(value) ? value[0] : value;
  if (text === undefined) return null;
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  if (!Number.isFinite(seconds)) return null;
  return Math.max(0, Math.min(seconds, longestPauseSeconds)) * 1000;
}

const brokenCodes = /^(UND_ERR_SOCKET|UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT|ECONNRESET|EPIPE|HPE_.*)$/;

/** Whether a service that could be reached hung up, said nothing, or answered what is no HTTP. */
function hasBroken(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return error instanceof DeadlinePassed || (typeof code === 'string' && brokenCodes.test(code));
}

// What Node says of a refused connection is empty but for its code.
function reasonOf(error: unknown): string {
  const { code, errors } = error as { code?: unknown; errors?: unknown[] };
  const [first] = Array.isArray(errors) ? errors : [];
  const message = messageOf(first ?? error);
  return typeof code === 'string' && !message.includes(code) ? `${code}: ${message}` : message;
}

/** Whether a service that answered so may well take the same later. */
export const isForNow = (status: number): boolean => status === 408 || status === 429 || status >= 500;

/** The beginning of an answer, for an error message. */
export const excerptOf = (text: string): string => {
  const line = text.slice(0, 2000).replace(/\s+/g, ' ').trim();
  return line === '' ? '' : `: ${line.slice(0, 300)}`;
};
