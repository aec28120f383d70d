import { domainToASCII } from 'node:url';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Config } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import {
  countDomainsUpTo,
  countOpenCircuits,
  domainSorts,
  domainStatuses,
  listDomainEvents,
  listDomains,
  listRobots,
  requireDomain,
  testRobots,
  topDomains,
  unknownDomain,
} from '../domains/index.ts';
import { AppError } from '../errors/index.ts';
import { describeDomain, loadDomainFacts } from '../explain/index.ts';
import { identifyUrl } from '../url/index.ts';
import {
  domainCard,
  domainEvent,
  domainItem,
  domainLine,
  named,
  robotsItem,
  shownDomain,
  shownRules,
} from './domain-schemas.ts';
import { answers, counted, cursor, limit, oneOf, orNull, page, strict } from './schemas.ts';

const tags = ['domains'];
type Parts = { database: Database; config: Config };

/** Domains, for reading: lists, one of them, and its robots.txt. */
export function addDomainRoutes(instance: FastifyInstance, parts: Parts): void {
  addLists(instance, parts);
  addOne(instance, parts);
  addRobots(instance, parts);
}

function addLists(instance: FastifyInstance, { database, config }: Parts): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  app.get(
    '/api/v1/domains',
    {
      schema: {
        operationId: 'listDomains',
        tags,
        summary: 'Domains with their numbers, a page at a time, and how many there are of each status',
        description: 'Counts are exact up to 10,000 of each status. The order by name is the cheapest.',
        querystring: Type.Object(
          {
            q: Type.Optional(
              Type.String({
                // A name in Unicode has no NUL and no half of a pair; PostgreSQL could not compare them.
                pattern: '^[^\\u0000-\\u0020\\u007f\\ud800-\\udfff]{1,253}$',
                description: 'names that begin so',
              }),
            ),
            status: Type.Optional(oneOf(domainStatuses)),
            circuit: Type.Optional(
              Type.Unsafe<'open'>({
                type: 'string',
                enum: ['open'],
                description: 'only those whose circuit is open',
              }),
            ),
            sort: Type.Optional(oneOf(domainSorts)),
            limit: limit(1000, 100),
            cursor: Type.Optional(cursor),
          },
          strict,
        ),
        response: answers(
          Type.Object({
            items: Type.Array(domainLine),
            cursor: orNull(Type.String()),
            counts: Type.Object(Object.fromEntries(domainStatuses.map((status) => [status, counted]))),
            openCircuits: counted,
          }),
        ),
      },
    },
    async ({ query }) => {
      const { q, status, circuit, sort, limit: most, cursor: place } = query;
      const prefix = q === undefined ? undefined : nameStart(q);
      const page = await listDomains(pool, {
        limit: most,
        ...(prefix === undefined ? {} : { prefix }),
        ...(status === undefined ? {} : { status }),
        ...(circuit === undefined ? {} : { circuitOpen: true }),
        ...(sort === undefined ? {} : { sort }),
        ...(place === undefined ? {} : { cursor: place }),
        defaults: { delayMs: config.fetch.defaultDelayMs, budget: config.domains.maxPagesPerRun },
      });
      return {
        items: page.rows.map(shownDomain),
        cursor: page.cursor,
        counts: await countDomainsUpTo(pool, prefix),
        openCircuits: await countOpenCircuits(pool),
      };
    },
  );
  app.get(
    '/api/v1/domains/top',
    {
      schema: {
        operationId: 'listTopDomains',
        tags,
        summary: 'The domains that give most documents per page',
        querystring: Type.Object(
          {
            limit: limit(1000, 20),
            pages: Type.Integer({
              minimum: 1,
              maximum: 1_000_000_000,
              default: 5,
              description: 'only domains with at least so many pages crawled',
            }),
          },
          strict,
        ),
        response: answers(Type.Object({ items: Type.Array(domainItem) })),
      },
    },
    async ({ query }) => {
      const rows = await topDomains(pool, { limit: query.limit, leastPages: query.pages });
      return { items: rows.map(shownDomain) };
    },
  );
}

// Names are stored as the web writes them: of a name in letters of its own only whole labels begin alike.
const nameStart = (given: string): string =>
  (/[^\x00-\x7f]/.test(given) && domainToASCII(given)) || given.toLowerCase();

function addOne(instance: FastifyInstance, { database, config }: Parts): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  app.get(
    '/api/v1/domains/:name',
    {
      schema: {
        operationId: 'getDomain',
        tags,
        summary: 'One domain in words and numbers, with its events, runs, robots.txt and archives',
        params: named,
        response: answers(domainCard),
      },
    },
    async ({ params: { name } }) => {
      const facts = await loadDomainFacts(pool, name, {
        defaultDelayMs: config.fetch.defaultDelayMs,
        productToken: config.fetch.productToken,
        defaultBudget: config.domains.maxPagesPerRun,
      });
      if (facts === null) throw unknownDomain(name);
      const { domain, events, runs, robots, archives, pins, site } = facts;
      const explanation = describeDomain(facts);
      const rules = shownRules(domain);
      return { ...shownDomain(domain), rules, explanation, events, runs, robots, archives, pins, site };
    },
  );
  app.get(
    '/api/v1/domains/:name/events',
    {
      schema: {
        operationId: 'listDomainEvents',
        tags,
        summary: 'Moves of a domain, newest first',
        params: named,
        querystring: Type.Object({ limit: limit(1000, 100), cursor: Type.Optional(cursor) }, strict),
        response: answers(page(domainEvent)),
      },
    },
    async ({ params, query }) => {
      const known = await requireDomain(pool, params.name, config.fetch.defaultDelayMs);
      const page = await listDomainEvents(pool, known, {
        limit: query.limit,
        cursor: query.cursor ?? null,
      });
      return { items: page.rows, cursor: page.cursor };
    },
  );
}

function addRobots(instance: FastifyInstance, { database, config }: Parts): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  app.get(
    '/api/v1/domains/:name/robots',
    {
      schema: {
        operationId: 'listRobots',
        tags,
        summary: 'robots.txt of a domain as it was last read, parsed, for each of its origins',
        params: named,
        response: answers(Type.Object({ items: Type.Array(robotsItem) })),
      },
    },
    async ({ params }) => {
      const known = await requireDomain(pool, params.name, config.fetch.defaultDelayMs);
      return { items: await listRobots(pool, known, config.fetch.productToken) };
    },
  );
  app.get(
    '/api/v1/domains/:name/robots/test',
    {
      schema: {
        operationId: 'testRobots',
        tags,
        summary: 'Whether robots.txt lets an agent fetch a URL, and which line says so',
        params: named,
        querystring: Type.Object(
          {
            url: Type.String({ minLength: 1, maxLength: 2048 }),
            agent: Type.Optional(
              Type.String({
                minLength: 1,
                maxLength: 100,
                description: 'product token; ours unless said',
              }),
            ),
          },
          strict,
        ),
        response: answers(
          Type.Object({
            url: Type.String(),
            agent: Type.String(),
            outcome: oneOf(['allowed', 'forbidden', 'unknown', 'unavailable']),
            line: orNull(Type.Integer()),
            rule: orNull(Type.String()),
          }),
        ),
      },
    },
    async ({ params, query }) => {
      const known = await requireDomain(pool, params.name, config.fetch.defaultDelayMs);
      const identified = identifyUrl(query.url);
      if (identified.outcome === 'rejected' || identified.identity.domainKey !== known.domainKey)
        throw new AppError('request_invalid', `"${query.url.slice(0, 200)}" is no address of ${known.name}`, {
          httpStatus: 400,
        });
      const agent = query.agent ?? config.fetch.productToken;
      const { fetchUrl } = identified.identity;
      return { url: fetchUrl, agent, ...(await testRobots(pool, identified.identity, agent)) };
    },
  );
}
