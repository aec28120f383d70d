import { once } from 'node:events';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/index.ts';
import { AppError } from '../errors/index.ts';
import type { Clock, Log } from '../telemetry/index.ts';

/** A reader of server-sent events. */
export type StreamReader = {
  /** Aborts when the reader has left or is too slow, its credentials ended, or the server stops. */
  gone: AbortSignal;
  /** Writes as fast as the reader reads; one that takes nothing for half a minute is cut off. */
  write(text: string): Promise<void>;
};

/** One event as the wire has it; JSON keeps its data on one line. */
export const eventText = (event: { id?: string; name: string; data: unknown }): string =>
  `${event.id === undefined ? '' : `id: ${event.id}\n`}event: ${event.name}\ndata: ${JSON.stringify(event.data)}\n\n`;

const recheckMs = 5000;
const patienceMs = 30_000;

/** All streams of a process: so many in total, so many per caller, none longer than its credentials. */
export class StreamRoom {
  readonly #most: number;
  readonly #mostPerCaller: number;
  readonly #clock: Clock;
  readonly #byCaller = new Map<string, number>();
  readonly #log: Log;
  /** Aborts when the server stops. */
  readonly stop: AbortSignal;
  #open = 0;

  constructor(app: FastifyInstance, { config, clock, log }: { config: Config; clock: Clock; log: Log }) {
    const stopping = new AbortController();
    this.stop = stopping.signal;
    this.#log = log;
    this.#most = config.api.streams;
    this.#mostPerCaller = config.api.streamsPerCaller;
    this.#clock = clock;
    app.addHook('preClose', async () => stopping.abort());
  }

  /** How many are open. */
  get size(): number {
    return this.#open;
  }

  /** Refuses when there are too many; asked before anything costly, and again by `open`. */
  requireRoom(caller: string): void {
    if ((this.#byCaller.get(caller) ?? 0) >= this.#mostPerCaller)
      throw new AppError('too_many_streams', `${caller} follows ${this.#mostPerCaller} streams already`, {
        httpStatus: 429,
        advice: 'Close one first, or raise api.streams_per_caller.',
      });
    if (this.#open >= this.#most)
      throw new AppError('too_many_readers', `${this.#most} readers follow already`, { httpStatus: 503 });
  }

  /** Serves one reader until it leaves; what `serve` throws ends the stream, and the reader comes again by itself. */
  async open(
    request: FastifyRequest,
    reply: FastifyReply,
    greeting: string,
    serve: (reader: StreamReader) => Promise<void>,
  ): Promise<FastifyReply> {
    const caller = request.identity.name;
    this.requireRoom(caller);
    this.#count(caller, 1);
    reply.hijack();
    const { raw } = reply;
    // By hand: the signals that AbortSignal.any makes would be kept as long as the server's own.
    const leaving = new AbortController();
    const leave = (): void => leaving.abort();
    raw.once('close', leave);
    this.stop.addEventListener('abort', leave, { once: true });
    if (this.stop.aborted) leave();
    try {
      raw.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      void this.#watchCredentials(request, leaving);
      const write = (text: string): Promise<void> => this.#write(reply, text, leaving);
      await write(`retry: 3000\n: ${greeting}\n\n`);
      await serve({ gone: leaving.signal, write });
    } catch (error) {
      this.#log.warn({ error, route: request.routeOptions.url }, 'a stream broke off');
    } finally {
      this.stop.removeEventListener('abort', leave);
      leave();
      raw.end();
      this.#count(caller, -1);
    }
    return reply;
  }

  #count(caller: string, change: 1 | -1): void {
    this.#open += change;
    const left = (this.#byCaller.get(caller) ?? 0) + change;
    if (left === 0) this.#byCaller.delete(caller);
    else this.#byCaller.set(caller, left);
  }

  async #watchCredentials({ proof }: FastifyRequest, gone: AbortController): Promise<void> {
    while (proof !== null && !gone.signal.aborted) {
      await this.#clock.wait(recheckMs, gone.signal);
      // While the database is away nobody can be told from anybody: the stream itself will meet the error.
      if (!gone.signal.aborted && !(await proof.isLive().catch(() => true))) gone.abort();
    }
  }

  async #write({ raw }: FastifyReply, text: string, gone: AbortController): Promise<void> {
    if (gone.signal.aborted || raw.write(text)) return;
    const drained = new AbortController();
    const isOver = AbortSignal.any([gone.signal, drained.signal]);
    const patience = this.#clock.wait(patienceMs, isOver).then(() => {
      if (isOver.aborted) return;
      // Not end(): what it has not taken would go on waiting here.
      raw.destroy();
      gone.abort();
    });
    // Rejects when the reader has left, which the caller sees by the signal.
    await once(raw, 'drain', { signal: gone.signal }).catch(() => undefined);
    drained.abort();
    await patience;
  }
}
