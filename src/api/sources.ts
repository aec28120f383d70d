import { Type, type TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { startDiscovery } from '../channels/index.ts';
import type { Database } from '../db/index.ts';
import { createSource, listSources } from '../sources/index.ts';
import { limit, strict } from './fields.ts';

/** Sources: who is followed. */
export function addSourceRoutes(instance: FastifyInstance, { database }: { database: Database }): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  app.get(
    '/api/v1/sources',
    {
      schema: {
        summary: 'Sources by id',
        querystring: Type.Object(
          { limit: limit(1000, 100), after: Type.Integer({ minimum: 0, default: 0 }) },
          strict,
        ),
      },
    },
    async (request) => ({
      items: await listSources(pool, { limit: request.query.limit, afterId: request.query.after }),
    }),
  );
  app.post(
    '/api/v1/sources',
    {
      schema: {
        summary: 'Add a source and look for its feeds',
        body: Type.Object(
          {
            url: Type.String({ minLength: 1, maxLength: 2048 }),
            name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
          },
          strict,
        ),
      },
    },
    async (request, reply) => {
      const { source, created } = await createSource(pool, request.body);
      await startDiscovery(pool, source.id);
      return reply.code(created ? 201 : 200).send(source);
    },
  );
}
