import { Readable } from 'node:stream';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Database, Queryable } from '../db/index.ts';
import { AppError } from '../errors/index.ts';
import {
  type LogLine,
  logCategories,
  logLevels,
  readLog,
  requireExecution,
  searchLog,
} from '../jobs/index.ts';
import { parseCursor, serialRange, writeCursor } from './cursors.ts';
import { executionDetailShape, executionId, logLineShape } from './job-schemas.ts';
import { answer, count, cursor, limit, oneOf, pageFields, strict, text } from './schemas.ts';

const tags = ['jobs'];
const named = Type.Object({ id: executionId }, strict);
type Options = { database: Database };

/** Executions, their logs a page at a time and as a file. */
export function addExecutionRoutes(instance: FastifyInstance, options: Options): void {
  addReading(instance, options);
  addDownload(instance, options);
}

function addReading(instance: FastifyInstance, { database: { pool } }: Options): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  app.get(
    '/api/v1/executions/:id',
    {
      schema: {
        operationId: 'getExecution',
        tags,
        summary: 'One run of a job with all that is kept of it',
        params: named,
        querystring: Type.Object({}, strict),
        response: { 200: executionDetailShape },
      },
    },
    async ({ params }) => requireExecution(pool, params.id),
  );
  app.get(
    '/api/v1/executions/:id/logs',
    {
      schema: {
        operationId: 'listLogLines',
        tags,
        summary: 'Lines of a run: in their order, or the newest first',
        description:
          'Looks at 20,000 lines at a time: with a filter a page may have few items, or none, and a cursor that goes on.',
        params: named,
        querystring: Type.Object(
          {
            category: Type.Optional(oneOf(logCategories)),
            level: Type.Optional(oneOf(logLevels)),
            q: Type.Optional(text(200, { description: 'part of a message' })),
            order: Type.Optional(oneOf(['oldest', 'newest'] as const)),
            before: Type.Optional(
              Type.Integer({
                minimum: 1,
                maximum: 2_147_483_647,
                description: 'only lines before this one, where the newest come first',
              }),
            ),
            limit: limit(1000, 200),
            cursor: Type.Optional(cursor),
          },
          strict,
        ),
        response: { 200: answer({ ...pageFields(logLineShape), lines: count }) },
      },
    },
    async ({ params, query }) => {
      const { category, level, q, order } = query;
      if (query.before !== undefined && (order !== 'newest' || query.cursor !== undefined))
        throw beforeAlone();
      const execution = await requireExecution(pool, params.id);
      // A number far beyond the end would be walked back to it a look at a time.
      const before = query.before === undefined ? null : Math.min(query.before, execution.logLines + 1);
      const [from = before] = query.cursor === undefined ? [] : parseCursor(query.cursor, [serialRange]);
      const { lines, next } = await searchLog(pool, execution, {
        from: from === null ? null : Number(from),
        newestFirst: order === 'newest',
        limit: query.limit,
        ...(category === undefined ? {} : { categories: [category] }),
        ...(level === undefined ? {} : { levels: [level] }),
        ...(q === undefined ? {} : { text: q }),
      });
      return { items: lines, cursor: next === null ? null : writeCursor([next]), lines: execution.logLines };
    },
  );
}

const beforeAlone = (): AppError =>
  new AppError('request_invalid', 'before goes with order=newest, and not with a cursor', {
    httpStatus: 400,
  });

const formats = ['text', 'ndjson'] as const;
type Format = (typeof formats)[number];
const types: Readonly<Record<Format, string>> = {
  text: 'text/plain; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
};

function addDownload(instance: FastifyInstance, { database: { pool } }: Options): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  app.get(
    '/api/v1/executions/:id/logs/download',
    {
      // Nobody who asks for the head alone should have everything read for it.
      exposeHeadRoute: false,
      schema: {
        operationId: 'downloadLog',
        tags,
        summary: 'The log of a run as a file, up to the line that is the last one now',
        params: named,
        querystring: Type.Object({ format: Type.Optional(oneOf(formats)) }, strict),
        response: {
          // Nothing that TypeScript should compare with the stream that is sent.
          200: Type.Unsafe<unknown>({
            description: 'the file',
            content: Object.fromEntries(
              Object.values(types).map((type) => [type.split(';')[0]!, { schema: Type.String() }]),
            ),
          }),
        },
      },
    },
    async ({ params, query }, reply) => {
      const format = query.format ?? 'text';
      const execution = await requireExecution(pool, params.id);
      const ending = format === 'text' ? 'log' : 'ndjson';
      return reply
        .type(types[format])
        .header('content-disposition', `attachment; filename="execution-${execution.id}.${ending}"`)
        .header('cache-control', 'no-store')
        .send(Readable.from(writeLog(pool, execution, format), { objectMode: false }));
    },
  );
}

const portion = 1000;

/** The lines of a log, a portion at a time; those that come meanwhile are for the next one who asks. */
async function* writeLog(
  db: Queryable,
  { id, logLines }: { id: string; logLines: number },
  format: Format,
): AsyncGenerator<string> {
  for (let after = 0; after < logLines; ) {
    const lines = await readLog(db, BigInt(id), { after, limit: Math.min(portion, logLines - after) });
    if (lines.length === 0) return;
    yield lines.map((line) => `${format === 'text' ? lineText(line) : JSON.stringify(line)}\n`).join('');
    after = lines.at(-1)!.id;
  }
}

/** A line as people read it; a message of several lines stays one, so that a file can be searched. */
const lineText = ({ at, level, category, message }: LogLine): string =>
  `${at.toISOString()} ${level.padEnd(5)} ${category.padEnd(10)} ${message.replaceAll(/[\r\n]+/g, ' ⏎ ')}`;
