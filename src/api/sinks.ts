import { Type, type TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import type { Database } from '../db/index.ts';
import { AppError } from '../errors/index.ts';
import {
  askReplay,
  enableSink,
  listDeadLetters,
  listReplays,
  listSinks,
  requireAsked,
  retryDeadLetters,
} from '../outbox/index.ts';
import { requireSource } from '../sources/index.ts';
import { saveAudit } from '../switches/index.ts';
import { urlId } from '../url/index.ts';

const strict = { additionalProperties: false } as const;
const named = Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }) });

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
    { schema: { summary: 'Sinks with what waits for them and what they met' } },
    async () => ({
      items: await listSinks(pool),
      replays: await listReplays(pool),
    }),
  );
  app.get(
    '/api/v1/sinks/:name/dead-letters',
    {
      schema: {
        summary: 'What a sink would not take, newest first',
        params: named,
        querystring: Type.Object(
          { limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }) },
          strict,
        ),
      },
    },
    async ({ params, query }) => {
      await requireSink(params.name);
      const letters = await listDeadLetters(pool, { sink: params.name, limit: query.limit });
      return {
        items: letters.map(({ domainKey, hash, ...rest }) => ({ id: urlId(domainKey, hash), ...rest })),
      };
    },
  );
  app.post(
    '/api/v1/sinks/:name/retry',
    { schema: { summary: 'Try all dead letters of a sink again', params: named } },
    async ({ params: { name }, identity }) => {
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
    '/api/v1/sinks/:name/replay',
    {
      schema: {
        summary: 'Give a sink its documents again, from what is stored',
        params: named,
        body: Type.Object(
          {
            source: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
            since: Type.Optional(Type.String({ minLength: 4, maxLength: 40 })),
          },
          strict,
        ),
      },
    },
    async ({ params: { name }, body, identity }, reply) => {
      await requireSink(name);
      const since = body.since === undefined ? undefined : new Date(body.since);
      if (since !== undefined && Number.isNaN(since.getTime()))
        throw new AppError('request_invalid', `"since" is no date: ${body.since}`, { httpStatus: 400 });
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
      `/api/v1/sinks/:name/${path}`,
      { schema: { summary, params: named } },
      async ({ params: { name }, identity }) => {
        if (!(await enableSink(pool, name, enabled))) await requireSink(name);
        await saveAudit(pool, { actor: identity.name, action: `sink_${path}`, subject: name, detail: {} });
        return { sink: name, enabled };
      },
    );
  }
}
