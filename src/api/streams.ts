import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { AppError } from '../errors/index.ts';
import type { Clock, Log } from '../telemetry/index.ts';

/** A reader of server-sent events. */
export type StreamReader = {
  /** Aborted when the reader has left or the server stops. */
  gone: AbortSignal;
  /** Writes as fast as the reader reads: what it does not take waits in the database, not here. */
  write(text: string): Promise<void>;
};

/** Server-sent events for a bounded number of readers. */
export class Streams {
  readonly #most: number;
  readonly #name: string;
  readonly #stop: AbortSignal;
  readonly #log: Log;
  #readers = 0;

  constructor(options: { most: number; name: string; stop: AbortSignal; log: Log }) {
    this.#most = options.most;
    this.#name = options.name;
    this.#stop = options.stop;
    this.#log = options.log;
  }

  /** Refuses one reader too many; called before anything is looked up for it. */
  requireRoom(): void {
    if (this.#readers >= this.#most)
      throw new AppError('too_many_readers', `${this.#most} readers follow already`, { httpStatus: 503 });
  }

  /** Serves one reader until it leaves; what `serve` throws ends the stream, and the reader comes again by itself. */
  async open(
    reply: FastifyReply,
    greeting: string,
    serve: (reader: StreamReader) => Promise<void>,
  ): Promise<FastifyReply> {
    this.requireRoom();
    reply.hijack();
    const { raw } = reply;
    // By hand: the signals that AbortSignal.any makes would be kept as long as the server's own.
    const leaving = new AbortController();
    const leave = (): void => leaving.abort();
    const gone = leaving.signal;
    raw.once('close', leave);
    this.#stop.addEventListener('abort', leave);
    if (this.#stop.aborted) leave();
    this.#readers += 1;
    try {
      raw.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      raw.write(`retry: 3000\n: ${greeting}\n\n`);
      await serve({ gone, write: (text) => write(raw, text, gone) });
    } catch (error) {
      this.#log.warn({ error }, `a stream of ${this.#name} broke off`);
    } finally {
      this.#readers -= 1;
      this.#stop.removeEventListener('abort', leave);
      raw.end();
    }
    return reply;
  }
}

async function write(raw: ServerResponse, text: string, gone: AbortSignal): Promise<void> {
  if (gone.aborted || raw.write(text)) return;
  // Rejects when the reader has left, which ends the loop all the same.
  await once(raw, 'drain', { signal: gone }).catch(() => undefined);
}

/** One event as the wire has it; JSON keeps its data on one line. */
export const eventText = (event: { id?: string; name: string; data: unknown }): string =>
  `${event.id === undefined ? '' : `id: ${event.id}\n`}event: ${event.name}\ndata: ${JSON.stringify(event.data)}\n\n`;

const lookEveryMs = 500;
const heartbeatMs = 15_000;

/** Tells waiting readers that there is news: one look at the database for all of them. */
export class Watch<News> {
  readonly #look: () => Promise<News>;
  readonly #clock: Clock;
  readonly #stop: AbortSignal;
  #waiting: { isNews: (news: News) => boolean; wake: () => void }[] = [];
  #isLooking = false;

  constructor(options: { look: () => Promise<News>; clock: Clock; stop: AbortSignal }) {
    this.#look = options.look;
    this.#clock = options.clock;
    this.#stop = options.stop;
  }

  /** Resolves when a look finds news, after the heartbeat's time, or when either side ends. */
  async wait(isNews: (news: News) => boolean, gone: AbortSignal): Promise<void> {
    const timeUp = new AbortController();
    const waiter = { isNews, wake: () => timeUp.abort() };
    this.#waiting.push(waiter);
    gone.addEventListener('abort', waiter.wake);
    if (gone.aborted) waiter.wake();
    if (!this.#isLooking) void this.#watch();
    await this.#clock.wait(heartbeatMs, timeUp.signal);
    gone.removeEventListener('abort', waiter.wake);
    this.#waiting = this.#waiting.filter((one) => one !== waiter);
  }

  async #watch(): Promise<void> {
    this.#isLooking = true;
    try {
      while (this.#waiting.length > 0 && !this.#stop.aborted) {
        const news = await this.#look();
        for (const { isNews, wake } of this.#waiting) if (isNews(news)) wake();
        await this.#clock.wait(lookEveryMs, this.#stop);
      }
    } catch {
      // The database is away: readers look for themselves after a heartbeat, and meet the error there.
    } finally {
      this.#isLooking = false;
    }
  }
}
