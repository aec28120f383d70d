import { once } from 'node:events';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/index.ts';
import { AppError } from '../errors/index.ts';
import type { Clock } from '../telemetry/index.ts';

/** A stream of server-sent events to one reader. */
export type EventStream = {
  /** Aborts when the reader has left or is too slow, its credentials ended, or the server stops. */
  signal: AbortSignal;
  /** Writes as fast as the reader reads; one that takes nothing for half a minute is cut off. */
  write(text: string): Promise<void>;
  /** Ends it; must be called. */
  close(): void;
};

const recheckMs = 5000;
const patienceMs = 30_000;

/** All streams of a process: so many in total, so many per caller, none longer than its credentials. */
export class StreamRoom {
  readonly #most: number;
  readonly #mostPerCaller: number;
  readonly #clock: Clock;
  readonly #byCaller = new Map<string, number>();
  readonly #stop = new AbortController();
  #open = 0;

  constructor(app: FastifyInstance, { config, clock }: { config: Config; clock: Clock }) {
    this.#most = config.api.streams;
    this.#mostPerCaller = config.api.streamsPerCaller;
    this.#clock = clock;
    app.addHook('preClose', async () => this.#stop.abort());
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

  /** Takes the connection over and begins a stream on it. */
  open(request: FastifyRequest, reply: FastifyReply): EventStream {
    const caller = request.identity.name;
    this.requireRoom(caller);
    this.#open += 1;
    this.#byCaller.set(caller, (this.#byCaller.get(caller) ?? 0) + 1);
    reply.hijack();
    const { raw } = reply;
    const gone = new AbortController();
    const leave = (): void => gone.abort();
    raw.once('close', leave);
    this.#stop.signal.addEventListener('abort', leave, { once: true });
    raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    void this.#watchCredentials(request, gone);
    let isClosed = false;
    return {
      signal: gone.signal,
      write: (text) => this.#write(reply, text, gone),
      close: () => {
        if (isClosed) return;
        isClosed = true;
        this.#stop.signal.removeEventListener('abort', leave);
        gone.abort();
        raw.end();
        this.#open -= 1;
        const left = (this.#byCaller.get(caller) ?? 1) - 1;
        if (left === 0) this.#byCaller.delete(caller);
        else this.#byCaller.set(caller, left);
      },
    };
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
