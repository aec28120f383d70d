import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Database, Queryable } from '../db/index.ts';
import { AppError } from '../errors/index.ts';
import {
  type Event,
  type EventPlace,
  eventPlaceText,
  isEventPlace,
  listAudit,
  loadActivity,
  loadEvents,
  loadEventsEnd,
  loadNewestEvent,
  loadWorkerHealth,
  parseEventPlace,
} from '../events/index.ts';
import { loadJobProgress } from '../jobs/index.ts';
import type { Clock } from '../telemetry/index.ts';
import { parseCursor, wideRange, writeCursor } from './cursors.ts';
import { answer, cursor, date, limit, page, strict, text } from './schemas.ts';
import { eventText, type StreamReader, type StreamRoom } from './streams.ts';
import { Watch } from './watch.ts';

const portion = 100;
const pulseEveryMs = 2000;

type Options = { database: Database; clock: Clock; streams: StreamRoom };

/** What happened and what is going on: the audit, and events as they come. */
export function addEventRoutes(instance: FastifyInstance, options: Options): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = options.database;
  app.get(
    '/api/v1/audit',
    {
      schema: {
        operationId: 'listAudit',
        tags: ['operate'],
        summary: 'What operators did, newest first',
        querystring: Type.Object({ limit: limit(1000, 100), cursor: Type.Optional(cursor) }, strict),
        response: { 200: page(auditEntry) },
      },
    },
    async ({ query }) => {
      const [beforeId] = query.cursor === undefined ? [] : parseCursor(query.cursor, [wideRange]);
      const items = await listAudit(pool, {
        limit: query.limit,
        ...(beforeId === undefined ? {} : { beforeId }),
      });
      const last = items.length === query.limit ? items.at(-1) : undefined;
      return { items, cursor: last === undefined ? null : writeCursor([last.id]) };
    },
  );
  addStream(app, options);
}

const auditEntry = answer({
  id: Type.String({ pattern: '^\\d+$' }),
  at: date,
  actor: Type.String(),
  action: Type.String(),
  subject: Type.String(),
  detail: Type.Object({}, { additionalProperties: true }),
});

function addStream(instance: FastifyInstance, { database, clock, streams }: Options): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  const pulse = new Pulse(pool, clock);
  const watch = new Watch({
    look: async () => {
      await pulse.refresh();
      return { newest: await loadNewestEvent(pool), beat: pulse.beat };
    },
    clock,
    stop: streams.stop,
  });
  app.get(
    '/api/v1/events',
    {
      // A HEAD would never end.
      exposeHeadRoute: false,
      schema: {
        operationId: 'streamEvents',
        tags: ['operate'],
        summary: 'What happens, as it happens (server-sent events)',
        description:
          'Events "audit" (what operators did), "domain" and "job" (a domain or job changed its status) have an id: a reader that comes back with Last-Event-ID misses none and gets none twice. Events "activity", "workers" and "progress" (jobs that run) tell how things stand whenever that has changed, at most every two seconds, and have no id. Without an id it begins with what cannot be read yet: what is to come, and what an older transaction still holds back.',
        querystring: Type.Object({ after: Type.Optional(text(100)) }, strict),
        response: {
          200: {
            description:
              'events named "audit", "domain", "job", "activity", "workers" and "progress", each with JSON',
            content: { 'text/event-stream': { schema: Type.String() } },
          },
        },
      },
    },
    async (request, reply) => {
      streams.requireRoom(request.identity.name);
      const asked = request.headers['last-event-id'] ?? request.query.after;
      let place = await placeOf(pool, asked?.toString());
      return streams.open(request, reply, `from ${eventPlaceText(place)}`, async (reader) => {
        await pulse.refresh();
        let beat = 0;
        while (!reader.gone.aborted) {
          beat = await pulse.tell(reader, beat);
          const events = await loadEvents(pool, place, portion);
          for (const event of events) await reader.write(textOf(event));
          const last = events.at(-1)?.place;
          if (last !== undefined) {
            place = last;
            continue;
          }
          await reader.write(`id: ${eventPlaceText(place)}\n:\n\n`);
          const seen = { place, beat };
          await watch.wait((news) => news.beat > seen.beat || isAfter(news.newest, seen.place), reader.gone);
        }
      });
    },
  );
}

const textOf = (event: Event): string =>
  eventText({
    id: eventPlaceText(event.place),
    name: event.kind,
    data: event.kind === 'audit' ? event.entry : event.event,
  });

// A transaction's events can all be read as soon as one can; a place without an id has seen none of its own.
const isAfter = (newest: bigint, { tx, id }: EventPlace): boolean =>
  newest > tx || (id === null && newest === tx);

async function placeOf(db: Queryable, asked: string | undefined): Promise<EventPlace> {
  if (asked === undefined || asked === '') return loadEventsEnd(db);
  const place = parseEventPlace(asked);
  if (place === null)
    throw new AppError('cursor_invalid', 'this is no id of an event', {
      httpStatus: 400,
      advice: 'Begin again without Last-Event-ID.',
    });
  if (await isEventPlace(db, place)) return place;
  throw new AppError('changes_gone', 'this id is of another database, or of one before it was restored', {
    httpStatus: 410,
    advice: 'Begin again without Last-Event-ID.',
  });
}

/**
 * How things stand, read once for all readers. Only the latest is kept: a reader that is slow misses what was in between
 * and nothing piles up for it.
 */
class Pulse {
  readonly #db: Queryable;
  readonly #clock: Clock;
  readonly #latest = new Map<string, { json: string; beat: number; data: unknown }>();
  #reading: Promise<void> | null = null;
  #readAt = Number.NEGATIVE_INFINITY;
  /** Grows with each change. */
  beat = 0;

  constructor(db: Queryable, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  /** Reads how things stand, unless that was done a moment ago; those who come meanwhile share the reading. */
  async refresh(): Promise<void> {
    if (this.#clock.monotonic() - this.#readAt < pulseEveryMs) return;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    await this.#reading;
  }

  /** Tells a reader what has changed since a beat; answers the beat it knows now. */
  async tell(reader: StreamReader, since: number): Promise<number> {
    const { beat } = this;
    for (const [name, latest] of this.#latest)
      if (latest.beat > since) await reader.write(eventText({ name, data: latest.data }));
    return beat;
  }

  async #read(): Promise<void> {
    this.#note('activity', await loadActivity(this.#db));
    this.#note('workers', { items: await loadWorkerHealth(this.#db) });
    this.#note('progress', { items: await loadJobProgress(this.#db) });
    this.#readAt = this.#clock.monotonic();
  }

  #note(name: string, data: unknown): void {
    const json = JSON.stringify(data);
    if (this.#latest.get(name)?.json === json) return;
    this.beat += 1;
    this.#latest.set(name, { json, beat: this.beat, data });
  }
}
