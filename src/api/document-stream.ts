import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Database } from '../db/index.ts';
import { loadChanges, loadLastPlace } from '../documents/index.ts';
import type { Clock } from '../telemetry/index.ts';
import { changeFilter, changeQuery, placeOf } from './documents.ts';
import { strict } from './schemas.ts';
import { eventText, type StreamRoom } from './streams.ts';
import { Watch } from './watch.ts';

const portion = 100;

/** `GET /api/v1/documents/stream`: changes as they come, by server-sent events that can be resumed. */
export function addDocumentStream(
  instance: FastifyInstance,
  { database, clock, streams }: { database: Database; clock: Clock; streams: StreamRoom },
): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  const watch = new Watch({ look: () => loadLastPlace(pool), clock, stop: streams.stop });
  app.get(
    '/api/v1/documents/stream',
    {
      // A HEAD would never end.
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
      streams.requireRoom(request.identity.name);
      const asked = request.headers['last-event-id'];
      const resumed = typeof asked === 'string' && /^\d{1,18}$/.test(asked) ? asked : undefined;
      let place = await placeOf(pool, resumed ?? request.query.after ?? 'now');
      const filter = await changeFilter(pool, request.query);
      return streams.open(request, reply, `from ${place}`, async ({ gone, write }) => {
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
