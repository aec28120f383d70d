import type { Readable, Writable } from 'node:stream';
import { AppError } from '../errors/index.ts';

/** What the browser tells by itself. */
export type CdpEvent = { method: string; params: Record<string, unknown>; sessionId: string | null };

/** The browser is gone, or does not answer. */
export class CdpError extends Error {
  override name = 'CdpError';
}

type Waiting = { resolve: (result: Record<string, unknown>) => void; reject: (error: Error) => void };
type Message = {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  sessionId?: string;
  result?: Record<string, unknown>;
  error?: { message?: string };
};

// A page whose markup is larger is refused before it is asked for; this bounds what a broken browser may send.
const mostMessageBytes = 64 * 1024 * 1024;

/**
 * Speaks the DevTools protocol over the two pipes that a browser inherits: nobody else can reach them, as anybody on the
 * machine can reach a debugging port. Messages end with a zero byte.
 */
export class CdpConnection {
  readonly #to: Writable;
  readonly #onEvent: (event: CdpEvent) => void;
  readonly #onBroken: (reason: string) => void;
  readonly #waiting = new Map<number, Waiting>();
  #parts: Buffer[] = [];
  #partBytes = 0;
  #lastId = 0;
  #broken: string | null = null;

  constructor(
    pipes: { to: Writable; from: Readable },
    handlers: { onEvent: (event: CdpEvent) => void; onBroken: (reason: string) => void },
  ) {
    this.#to = pipes.to;
    this.#onEvent = handlers.onEvent;
    this.#onBroken = handlers.onBroken;
    pipes.from.on('data', (chunk: Buffer) => this.#take(chunk));
    pipes.from.on('close', () => this.break('the browser closed its pipe'));
    for (const pipe of [pipes.to, pipes.from])
      pipe.on('error', (error: Error) => this.break(`the browser's pipe broke: ${error.message}`));
  }

  /** Sends a command; rejects with a `CdpError` when the browser is gone, says no, or is silent for too long. */
  send(
    method: string,
    params: object = {},
    options: { sessionId?: string | undefined; timeoutMs?: number } = {},
  ): Promise<Record<string, unknown>> {
    if (this.#broken !== null) return Promise.reject(new CdpError(this.#broken));
    this.#lastId += 1;
    const id = this.#lastId;
    const { sessionId, timeoutMs = 10_000 } = options;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new CdpError(`${method} was not answered within ${timeoutMs} ms`));
      }, timeoutMs);
      const done = (): void => clearTimeout(timer);
      this.#waiting.set(id, {
        resolve: (result) => {
          done();
          resolve(result);
        },
        reject: (error) => {
          done();
          reject(error);
        },
      });
      this.#to.write(`${JSON.stringify({ id, method, params, ...(sessionId ? { sessionId } : {}) })}\0`);
    });
  }

  /** Ends every wait: nothing will come any more. */
  break(reason: string): void {
    if (this.#broken !== null) return;
    this.#broken = reason;
    this.#parts = [];
    for (const { reject } of this.#waiting.values()) reject(new CdpError(reason));
    this.#waiting.clear();
    this.#onBroken(reason);
  }

  #take(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(0); end >= 0 && this.#broken === null; end = rest.indexOf(0)) {
      const text = Buffer.concat([...this.#parts, rest.subarray(0, end)]).toString('utf8');
      this.#parts = [];
      this.#partBytes = 0;
      rest = rest.subarray(end + 1);
      this.#read(text);
    }
    if (rest.length === 0 || this.#broken !== null) return;
    this.#parts.push(rest);
    this.#partBytes += rest.length;
    if (this.#partBytes > mostMessageBytes) this.break('the browser sent a message without end');
  }

  #read(text: string): void {
    let message: Message;
    try {
      message = JSON.parse(text) as Message;
    } catch (error) {
      this.break(`the browser sent what is no message: ${(error as Error).message.slice(0, 100)}`);
      return;
    }
    if (message.id === undefined) {
      if (message.method !== undefined)
        this.#onEvent({
          method: message.method,
          params: message.params ?? {},
          sessionId: message.sessionId ?? null,
        });
      return;
    }
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.error === undefined) waiting?.resolve(message.result ?? {});
    else waiting?.reject(new CdpError(message.error.message ?? 'the browser refused'));
  }
}

/** A text field of an answer or event; the browser is ours, but its page is not. */
export function textOf(value: Record<string, unknown>, field: string): string {
  const text = value[field];
  if (typeof text === 'string') return text;
  throw new AppError('browser_failed', `the browser's answer has no ${field}`);
}
