import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Database } from '../db/index.ts';
import { AppError } from '../errors/index.ts';
import { loadLogEnds, logCategories, logLevels, readLog, requireExecution } from '../jobs/index.ts';
import type { Clock } from '../telemetry/index.ts';
import { executionId } from './job-schemas.ts';
import { oneOf, strict } from './schemas.ts';
import { eventText, type StreamRoom } from './streams.ts';
import { Watch } from './watch.ts';

const portion = 200;

/** `GET /api/v1/executions/:id/logs/stream`: lines as they come, until the run has ended. */
export function addLogStream(
  instance: FastifyInstance,
  { database: { pool }, clock, streams }: { database: Database; clock: Clock; streams: StreamRoom },
): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const followed = new Followed();
  const watch = new Watch({ look: () => loadLogEnds(pool, followed.ids), clock, stop: streams.stop });
  app.get(
    '/api/v1/executions/:id/logs/stream',
    {
      // A HEAD would never end.
      exposeHeadRoute: false,
      schema: {
        operationId: 'streamLog',
        tags: ['jobs'],
        summary: 'Lines of a run, those that are there and those that come (server-sent events)',
        description:
          'Each event "line" has the number of its line as id; a reader that comes back with Last-Event-ID misses none and gets none twice. "end" says that the run has ended and how; the reader should close then.',
        params: Type.Object({ id: executionId }, strict),
        querystring: Type.Object(
          {
            after: Type.Optional(
              Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'only lines after this one' }),
            ),
            category: Type.Optional(oneOf(logCategories)),
            level: Type.Optional(oneOf(logLevels)),
          },
          strict,
        ),
        response: {
          200: {
            description: 'events named "line" and "end", each with JSON',
            content: { 'text/event-stream': { schema: Type.String() } },
          },
        },
      },
    },
    async (request, reply) => {
      streams.requireRoom(request.identity.name);
      const { category, level, after = 0 } = request.query;
      const { id } = await requireExecution(pool, request.params.id);
      let place = placeOf(request.headers['last-event-id']) ?? after;
      return streams.open(request, reply, `from ${place}`, async ({ gone, write }) =>
        followed.while(id, async () => {
          while (!gone.aborted) {
            // Looked at before the lines: a run that had ended then has no lines beyond the last it had.
            const end = (await loadLogEnds(pool, [id])).get(id);
            const lines = await readLog(pool, BigInt(id), { after: place, limit: portion });
            for (const line of lines)
              if ((category ?? line.category) === line.category && (level ?? line.level) === line.level)
                await write(eventText({ id: String(line.id), name: 'line', data: line }));
            place = lines.at(-1)?.id ?? place;
            if (lines.length === portion) continue;
            if (end === undefined || end.status !== 'running')
              return write(
                eventText({ id: String(place), name: 'end', data: { status: end?.status ?? 'pruned' } }),
              );
            if (end.lines > place) continue;
            await write(`id: ${place}\n:\n\n`);
            const seen = place;
            await watch.wait((ends) => {
              const now = ends.get(id);
              return now === undefined || now.status !== 'running' || now.lines > seen;
            }, gone);
          }
        }),
      );
    },
  );
}

function placeOf(given: string | string[] | undefined): number | null {
  if (given === undefined || given === '') return null;
  const place = Number(given);
  if (Number.isInteger(place) && place >= 0 && place <= 2_147_483_647) return place;
  throw new AppError('cursor_invalid', 'this is no number of a line', {
    httpStatus: 400,
    advice: 'Begin again without Last-Event-ID.',
  });
}

/** The executions that somebody follows, so that one look tells all readers what is new. */
class Followed {
  readonly #readers = new Map<string, number>();

  get ids(): string[] {
    return [...this.#readers.keys()];
  }

  async while(id: string, work: () => Promise<void>): Promise<void> {
    this.#readers.set(id, (this.#readers.get(id) ?? 0) + 1);
    try {
      await work();
    } finally {
      const left = this.#readers.get(id)! - 1;
      if (left === 0) this.#readers.delete(id);
      else this.#readers.set(id, left);
    }
  }
}
