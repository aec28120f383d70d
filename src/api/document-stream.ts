import { Type, type TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import type { Database } from '../db/index.ts';
import { type ChangePlace, loadChanges, loadLastPlace } from '../documents/index.ts';
import type { Clock, Log } from '../telemetry/index.ts';
import { changeFilter, changeQuery, placeOf } from './documents.ts';
import type { StreamRoom } from './streams.ts';

const lookEveryMs = 500;
const heartbeatMs = 15_000;
const portion = 100;

/** Tells waiting readers that there are changes: one look at the database for all of them. */
class ChangeWatch {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #stop: AbortSignal;
  #waiting: { after: ChangePlace; wake: () => void }[] = [];
  #isLooking = false;

  constructor(database: Database, clock: Clock, stop: AbortSignal) {
    this.#database = database;
    this.#clock = clock;
    this.#stop = stop;
  }

  /** Resolves when there is something after a place, after the heartbeat's time, or when either side ends. */
  async wait(after: ChangePlace, signal: AbortSignal): Promise<void> {
    const timeUp = new AbortController();
    const waiter = { after, wake: () => timeUp.abort() };
    this.#waiting.push(waiter);
    for (const one of [signal, this.#stop]) one.addEventListener('abort', waiter.wake);
    if (!this.#isLooking) void this.#look();
    await this.#clock.wait(heartbeatMs, timeUp.signal);
    for (const one of [signal, this.#stop]) one.removeEventListener('abort', waiter.wake);
    this.#waiting = this.#waiting.filter((one) => one !== waiter);
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    try {
      while (this.#waiting.length > 0 && !this.#stop.aborted) {
        const last = await loadLastPlace(this.#database.pool);
        for (const { after, wake } of this.#waiting) if (last > after) wake();
        await this.#clock.wait(lookEveryMs, this.#stop);
      }
    } catch {
      // The database is away: readers look for themselves after a heartbeat, and meet the error there.
    } finally {
      this.#isLooking = false;
    }
  }
}

/** `GET /api/v1/documents/stream`: changes as they come, by server-sent events that can be resumed. */
export function addDocumentStream(
  instance: FastifyInstance,
  { database, clock, log, streams }: { database: Database; clock: Clock; log: Log; streams: StreamRoom },
): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const stop = new AbortController();
  const watch = new ChangeWatch(database, clock, stop.signal);
  app.addHook('preClose', async () => stop.abort());
  app.get(
    '/api/v1/documents/stream',
    {
      // A HEAD would never end.
      exposeHeadRoute: false,
      schema: {
        summary: 'Documents that are new, changed or judged, as they come (server-sent events)',
        description:
          'Each event has the number of its change as id; a reader that comes back with Last-Event-ID misses nothing. From now on unless said.',
        querystring: Type.Object(changeQuery, { additionalProperties: false }),
      },
    },
    async (request, reply) => {
      streams.requireRoom(request.identity.name);
      const asked = request.headers['last-event-id'];
      const resumed = typeof asked === 'string' && /^\d{1,18}$/.test(asked) ? asked : undefined;
      let place = await placeOf(database.pool, resumed ?? request.query.after ?? 'now');
      const filter = await changeFilter(database.pool, request.query);
      const stream = streams.open(request, reply);
      try {
        await stream.write(`retry: 3000\n: from ${place}\n\n`);
        while (!stream.signal.aborted) {
          const found = await loadChanges(database.pool, place, { ...filter, limit: portion });
          for (const { place: at, document } of found.changes)
            await stream.write(`id: ${at}\nevent: document\ndata: ${JSON.stringify(document)}\n\n`);
          const isBehind = found.place > place;
          place = found.place;
          if (isBehind) continue;
          // Keeps the connection alive, and the reader's place near the end where a filter leaves most out.
          await stream.write(`id: ${place}\n:\n\n`);
          await watch.wait(place, stream.signal);
        }
      } catch (error) {
        // The reader comes again by itself and goes on where it was.
        log.warn({ error }, 'a stream of documents broke off');
      } finally {
        stream.close();
      }
      return reply;
    },
  );
}
