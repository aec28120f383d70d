import { Type, type TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import {
  countDomains,
  type DomainRow,
  domainSorts,
  domainStatuses,
  listDomains,
  loadLeases,
  loadWorkers,
} from '../domains/index.ts';
import { AppError } from '../errors/index.ts';
import { describeDomain, loadDomainFacts } from '../explain/index.ts';
import { oneOf, strict } from './fields.ts';

/** Domains, leases and workers, for reading. */
export function addDomainRoutes(
  instance: FastifyInstance,
  { database, config }: { database: Database; config: Config },
): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  app.get(
    '/api/v1/domains',
    {
      schema: {
        summary: 'Domains with their numbers, a page at a time, and how many there are of each status',
        querystring: Type.Object(
          {
            status: Type.Optional(oneOf(domainStatuses)),
            sort: Type.Optional(oneOf(domainSorts)),
            limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
            cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
          },
          strict,
        ),
      },
    },
    async (request) => {
      const { status, sort, limit, cursor } = request.query;
      const page = await listDomains(pool, {
        limit,
        ...(status === undefined ? {} : { status }),
        ...(sort === undefined ? {} : { sort }),
        ...(cursor === undefined ? {} : { cursor }),
      });
      return { items: page.rows.map(shown), cursor: page.cursor, counts: await countDomains(pool) };
    },
  );
  app.get(
    '/api/v1/domains/leases',
    { schema: { summary: 'Leases by worker, with the earliest end, and how many have expired' } },
    async () => loadLeases(pool),
  );
  app.get(
    '/api/v1/domains/:name',
    {
      schema: {
        summary: 'One domain in words and numbers, with its events, runs and robots.txt',
        params: Type.Object({ name: Type.String({ minLength: 1, maxLength: 300 }) }),
      },
    },
    async (request) => {
      const { name } = request.params;
      const facts = await loadDomainFacts(pool, name, {
        defaultDelayMs: config.fetch.defaultDelayMs,
        defaultBudget: config.domains.maxPagesPerRun,
      });
      if (facts === null)
        throw new AppError('domain_unknown', `no domain "${name}" is known`, { httpStatus: 404 });
      const { domain, events, runs, robots } = facts;
      return { ...shown(domain), explanation: describeDomain(facts), events, runs, robots };
    },
  );
  app.get('/api/v1/workers', { schema: { summary: 'Processes with the domains they hold' } }, async () => ({
    items: await loadWorkers(pool),
  }));
}

// The key is 64 bits: JSON has it as the public ids spell it.
const shown = <T extends DomainRow>({ bucket: _bucket, domainKey, ...rest }: T) => ({
  key: BigInt.asUintN(64, domainKey).toString(16).padStart(16, '0'),
  ...rest,
});
