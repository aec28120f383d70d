import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Database } from '../db/index.ts';
import { loadLeases, loadWorkers } from '../domains/index.ts';
import { strict } from './fields.ts';
import { answers, maybe, time } from './shapes.ts';

const nothing = Type.Object({}, strict);

/** Who works, and what they hold. */
export function addWorkerRoutes(instance: FastifyInstance, { database }: { database: Database }): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  app.get(
    '/api/v1/domains/leases',
    {
      schema: {
        operationId: 'listLeases',
        tags: ['workers'],
        summary: 'Leases by worker, with the earliest end, and how many have expired',
        querystring: nothing,
        response: answers(
          Type.Object({
            workers: Type.Array(
              Type.Object({
                owner: Type.String(),
                leases: Type.Integer(),
                earliestExpiry: time,
                expired: Type.Integer(),
              }),
            ),
            expired: Type.Integer(),
          }),
        ),
      },
    },
    async () => loadLeases(pool),
  );
  app.get(
    '/api/v1/workers',
    {
      schema: {
        operationId: 'listWorkers',
        tags: ['workers'],
        summary: 'Processes with the domains they hold',
        querystring: nothing,
        response: answers(
          Type.Object({
            items: Type.Array(
              Type.Object({
                id: Type.String(),
                isKnown: Type.Boolean({ description: 'false: it holds leases and never registered' }),
                role: maybe(Type.String()),
                pool: maybe(Type.String()),
                host: maybe(Type.String()),
                pid: maybe(Type.Integer()),
                version: maybe(Type.String()),
                startedAt: maybe(time),
                heartbeatAt: maybe(time),
                isAlive: Type.Boolean(),
                leases: Type.Integer(),
                earliestExpiry: maybe(time),
                expired: Type.Integer(),
              }),
            ),
          }),
        ),
      },
    },
    async () => ({ items: await loadWorkers(pool) }),
  );
}
