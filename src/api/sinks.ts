import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Database } from '../db/index.ts';
import { AppError } from '../errors/index.ts';
import {
  askReplay,
  type DeadLetterPlace,
  enableSink,
  listDeadLetters,
  listReplays,
  listSinks,
  removeSink,
  requireAsked,
  retryDeadLetters,
} from '../outbox/index.ts';
import { requireSource } from '../sources/index.ts';
import { saveAudit } from '../switches/index.ts';
import { parseUrlId, urlId } from '../url/index.ts';
import { cursorInvalid } from './cursors.ts';
import {
  answer,
  count,
  cursor,
  date,
  givenDate,
  limit,
  oneOf,
  orNull,
  page,
  parseDate,
  serial,
  slug,
  strict,
} from './schemas.ts';

const tags = ['sinks'];
const named = Type.Object({ id: Type.String({ pattern: '^[a-z0-9_-]{1,100}$' }) }, strict);

const sinkShape = answer({
  name: Type.String(),
  kind: Type.String(),
  takes: oneOf(['documents', 'responses'] as const),
  enabled: Type.Boolean(),
  waiting: count,
  held: count,
  waitingSince: orNull(date),
  deadLetters: count,
  delivered: orNull(count),
  deliveredAt: orNull(date),
  failingSince: orNull(date),
  error: orNull(Type.String()),
  retryAt: orNull(date),
  deliverer: orNull(Type.String()),
});
const letterShape = answer({
  id: Type.String(),
  sink: Type.String(),
  version: serial,
  url: orNull(Type.String()),
  title: orNull(Type.String()),
  deadAt: date,
  attempts: count,
  error: Type.String(),
});
const replayShape = answer({ sink: Type.String(), askedAt: date, enqueued: count });

// A letter's time in microseconds, the id of its document and its version: many are written with the same time.
const writePlace = ({ deadMicros, domainKey, hash, version }: DeadLetterPlace): string =>
  `${deadMicros}.${urlId(domainKey, hash)}.${version}`;

function parsePlace(given: string): DeadLetterPlace {
  const [, deadMicros, id, version] = /^(\d{1,17})\.([^.]{1,100})\.(\d{1,9})$/.exec(given) ?? [];
  const document = id === undefined ? null : parseUrlId(id);
  if (document === null) throw cursorInvalid();
  return {
    deadMicros: deadMicros!,
    domainKey: document.domainKey,
    hash: document.hash,
    version: Number(version),
  };
}

/** Sinks: how they are doing, what they refused, and giving them things again. */
export function addSinkRoutes(instance: FastifyInstance, { database }: { database: Database }): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  const requireSink = async (name: string): Promise<void> => {
    if (!(await listSinks(pool)).some((sink) => sink.name === name))
      throw new AppError('sink_unknown', `there is no sink "${name.slice(0, 100)}"`, { httpStatus: 404 });
  };
  app.get(
    '/api/v1/sinks',
    {
      schema: {
        operationId: 'listSinks',
        tags,
        summary: 'Sinks with what waits for them and what they met',
        querystring: Type.Object({}, strict),
        response: {
          200: answer({ items: Type.Array(sinkShape), replays: Type.Array(replayShape) }),
        },
      },
    },
    async () => ({
      items: await listSinks(pool),
      replays: await listReplays(pool),
    }),
  );
  app.get(
    '/api/v1/sinks/:id/dead-letters',
    {
      schema: {
        operationId: 'listDeadLetters',
        tags,
        summary: 'What a sink would not take, newest first',
        params: named,
        querystring: Type.Object({ limit: limit(1000, 100), cursor: Type.Optional(cursor) }, strict),
        response: { 200: page(letterShape) },
      },
    },
    async ({ params, query }) => {
      await requireSink(params.id);
      const letters = await listDeadLetters(pool, {
        sink: params.id,
        limit: query.limit,
        ...(query.cursor === undefined ? {} : { after: parsePlace(query.cursor) }),
      });
      const last = letters.length === query.limit ? letters.at(-1) : undefined;
      return {
        items: letters.map(({ domainKey, hash, deadMicros: _, ...rest }) => ({
          id: urlId(domainKey, hash),
          ...rest,
        })),
        cursor: last === undefined ? null : writePlace(last),
      };
    },
  );
  app.post(
    '/api/v1/sinks/:id/retry',
    {
      schema: {
        operationId: 'retryDeadLetters',
        tags,
        summary: 'Try all dead letters of a sink again',
        params: named,
        response: { 200: answer({ retried: count }) },
      },
    },
    async ({ params: { id: name }, identity }) => {
      await requireSink(name);
      const retried = await retryDeadLetters(pool, name);
      await saveAudit(pool, {
        actor: identity.name,
        action: 'sink_retry',
        subject: name,
        detail: { retried },
      });
      return { retried };
    },
  );
  app.post(
    '/api/v1/sinks/:id/replay',
    {
      schema: {
        operationId: 'replaySink',
        tags,
        summary: 'Give a sink its documents again, from what is stored',
        params: named,
        body: Type.Object({ source: Type.Optional(slug), since: Type.Optional(givenDate) }, strict),
        response: { 202: answer({ sink: Type.String(), replay: Type.Literal('under way') }) },
      },
    },
    async ({ params: { id: name }, body, identity }, reply) => {
      await requireSink(name);
      const since = body.since === undefined ? undefined : parseDate('since', body.since);
      const answer = await askReplay(pool, {
        sink: name,
        ...(body.source === undefined ? {} : { sourceId: (await requireSource(pool, body.source)).id }),
        ...(since === undefined ? {} : { since }),
      });
      requireAsked(answer, name);
      await saveAudit(pool, { actor: identity.name, action: 'sink_replay', subject: name, detail: body });
      return reply.code(202).send({ sink: name, replay: 'under way' });
    },
  );
  for (const [path, enabled, summary] of [
    ['pause', false, 'Pause a sink: nothing is delivered or kept for it'],
    ['resume', true, 'Let a paused sink go on'],
  ] as const) {
    app.post(
      `/api/v1/sinks/:id/${path}`,
      {
        schema: {
          operationId: `${path}Sink`,
          tags,
          summary,
          params: named,
          response: { 200: answer({ sink: Type.String(), enabled: Type.Boolean() }) },
        },
      },
      async ({ params: { id: name }, identity }) => {
        if (!(await enableSink(pool, name, enabled))) await requireSink(name);
        await saveAudit(pool, { actor: identity.name, action: `sink_${path}`, subject: name, detail: {} });
        return { sink: name, enabled };
      },
    );
  }
  app.delete(
    '/api/v1/sinks/:id',
    {
      config: { role: 'admin' },
      schema: {
        operationId: 'removeSink',
        tags,
        summary: 'Forget a sink that is configured no more, with what waits for it',
        params: named,
        response: { 200: answer({ sink: Type.String(), removed: Type.Literal(true) }) },
      },
    },
    async ({ params: { id: name }, identity }) => {
      if (name === 'index')
        throw new AppError('sink_builtin', 'the built-in index cannot be removed', {
          httpStatus: 409,
          advice: 'Pause it instead.',
        });
      await requireSink(name);
      await removeSink(pool, name);
      await saveAudit(pool, { actor: identity.name, action: 'sink_remove', subject: name, detail: {} });
      return { sink: name, removed: true as const };
    },
  );
}
