import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import type { Database } from '../db/index.ts';
import { countRows, loadTotals } from '../frontier/index.ts';

/** The frontier: what is known and what is due. */
export function addFrontierRoutes(instance: FastifyInstance, { database }: { database: Database }): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  app.get(
    '/api/v1/frontier/stats',
    { schema: { summary: 'URLs by status, and totals over all time' } },
    async () => ({
      urls: await countRows(pool),
      totals: await loadTotals(pool),
    }),
  );
}
