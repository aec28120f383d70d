import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Database } from '../db/index.ts';
import { actOnJob } from '../jobs/index.ts';
import { actOnEach, eachShape, names } from './each.ts';
import { stayWith } from './long-work.ts';
import { oneOf, serial, strict, words } from './schemas.ts';

/** `POST /api/v1/jobs/actions`: one act for many jobs. */
export function addJobActions(instance: FastifyInstance, { database }: { database: Database }): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  app.post(
    '/api/v1/jobs/actions',
    {
      schema: {
        operationId: 'actOnJobs',
        tags: ['jobs'],
        summary: 'Pause, resume, cancel, retry or run up to 500 jobs',
        description:
          'What a job may not do as it stands is refused for that job alone. A call works for some seconds; call again with those that are `left`.',
        body: Type.Object(
          {
            action: oneOf(['pause', 'resume', 'cancel', 'retry', 'force_run'] as const),
            ids: names(serial),
            reason: Type.Optional(words(500)),
          },
          strict,
        ),
        response: { 200: eachShape(serial) },
      },
    },
    async ({ body: { action, ids, reason = null }, identity, raw }) => {
      stayWith(raw);
      return actOnEach(ids, (id) => actOnJob(database, id, action, { actor: identity.name, reason }));
    },
  );
}
