import { Type, type TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import type { Database } from '../db/index.ts';
import { loadChanges, loadLastPlace } from '../documents/index.ts';
import type { Clock, Log } from '../telemetry/index.ts';
import { changeFilter, changeQuery, placeOf } from './documents.ts';
import { strict } from './fields.ts';
import { eventText, Streams, Watch } from './streams.ts';

const mostReaders = 100;
const portion = 100;

/** `GET /api/v1/documents/stream`: changes as they come, by server-sent events that can be resumed. */
export function addDocumentStream(
  instance: FastifyInstance,
  { database, clock, log }: { database: Database; clock: Clock; log: Log },
): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  const stopping = new AbortController();
  const stop = stopping.signal;
  const watch = new Watch({ look: () => loadLastPlace(pool), clock, stop });
  const streams = new Streams({ most: mostReaders, name: 'documents', stop, log });
  app.addHook('preClose', async () => stopping.abort());
  app.get(
    '/api/v1/documents/stream',
    {
      // Nobody who asks for the head alone should have a stream kept open for it.
      exposeHeadRoute: false,
      schema: {
        operationId: 'streamDocuments',
        tags: ['documents'],
        summary: 'Documents that are new, changed or judged, as they come (server-sent events)',
        description:
          'Each event has the number of its change as id; a reader that comes back with Last-Event-ID misses nothing. From now on unless said.',
        querystring: Type.Object(changeQuery, strict),
        response: {
          200: {
            description: 'events named "document", each with a document as JSON',
            content: { 'text/event-stream': { schema: Type.String() } },
          },
        },
      },
    },
    async (request, reply) => {
      streams.requireRoom();
      const asked = request.headers['last-event-id'];
      const resumed = typeof asked === 'string' && /^\d{1,18}$/.test(asked) ? asked : undefined;
      let place = await placeOf(pool, resumed ?? request.query.after ?? 'now');
      const filter = await changeFilter(pool, request.query);
      return streams.open(reply, `from ${place}`, async ({ gone, write }) => {
        while (!gone.aborted) {
          const found = await loadChanges(pool, place, { ...filter, limit: portion });
          for (const { place: at, document } of found.changes)
            await write(eventText({ id: String(at), name: 'document', data: document }));
          const isBehind = found.place > place;
          place = found.place;
          if (isBehind) continue;
          // Keeps the connection alive, and the reader's place near the end where a filter leaves most out.
          await write(`id: ${place}\n:\n\n`);
          const seen = place;
          await watch.wait((last) => last > seen, gone);
        }
      });
    },
  );
}
