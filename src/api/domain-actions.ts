import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Config } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import {
  backfillCooldowns,
  backfillDomains,
  blockDomain,
  changeDomain,
  type DomainChange,
  domainStatuses,
  recalculatePart,
  requireDomain,
  resetDomain,
  seedDomains,
  takeDomain,
} from '../domains/index.ts';
import { AppError } from '../errors/index.ts';
import { isRenderPool } from '../frontier/index.ts';
import { saveAudit } from '../switches/index.ts';
import { hostRules, hostRulesChange, named, shownRules } from './domain-schemas.ts';
import { stayWith } from './long-work.ts';
import { answers, oneOf, orNull, strict, words } from './schemas.ts';

const tags = ['domains'];
type Parts = { database: Database; config: Config };

/** What people do with domains. */
export function addDomainActionRoutes(instance: FastifyInstance, parts: Parts): void {
  addBlocking(instance, parts);
  addChanging(instance, parts);
  addSeeding(instance, parts);
  addMending(instance, parts);
}

function addBlocking(instance: FastifyInstance, { database, config }: Parts): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  const find = (name: string) => requireDomain(pool, name, config.fetch.defaultDelayMs);
  app.post(
    '/api/v1/domains/:name/block',
    {
      schema: {
        operationId: 'blockDomain',
        tags,
        summary: 'Ask nothing of a domain until it is reset',
        params: named,
        body: Type.Object({ reason: words(500) }, strict),
        response: answers(Type.Object({ domain: Type.String(), blocked: Type.Boolean() })),
      },
    },
    async ({ params, body, identity }) => {
      const known = await find(params.name);
      await blockDomain(pool, known, { reason: body.reason, actor: identity.name });
      return { domain: known.name, blocked: true };
    },
  );
  app.post(
    '/api/v1/domains/:name/reset',
    {
      schema: {
        operationId: 'resetDomain',
        tags,
        summary: 'End a block or rest and forget what led to it; its listings are due again',
        params: named,
        body: Type.Object(
          {
            reason: words(500),
            all: Type.Optional(Type.Boolean({ description: 'known articles are due again too' })),
          },
          strict,
        ),
        response: answers(
          Type.Object({ domain: Type.String(), was: oneOf(domainStatuses), requeued: Type.Integer() }),
        ),
      },
    },
    async ({ params, body, identity }) => {
      const known = await find(params.name);
      const requeued = await resetDomain(pool, known, {
        reason: body.reason,
        actor: identity.name,
        all: body.all ?? false,
      });
      return { domain: known.name, was: known.status, requeued: requeued ?? 0 };
    },
  );
  app.post(
    '/api/v1/domains/:name/release',
    {
      schema: {
        operationId: 'releaseDomain',
        tags,
        summary: 'Take a domain from the worker that holds it; the gap to its last request stays',
        params: named,
        response: answers(
          Type.Object({
            domain: Type.String(),
            released: Type.Boolean(),
            owner: orNull(Type.String()),
          }),
        ),
      },
    },
    async ({ params, identity }) => {
      const known = await find(params.name);
      const owner = await takeDomain(pool, known, identity.name);
      return { domain: known.name, released: owner !== null, owner };
    },
  );
}

function addChanging(instance: FastifyInstance, { database, config }: Parts): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  app.patch(
    '/api/v1/domains/:name',
    {
      schema: {
        operationId: 'updateDomain',
        tags,
        summary: 'Give a domain its own delay, budget, group of fetchers or host rules; null takes it back',
        description:
          'When host rules change, what waits in the domain is given its key by them, and what became one page becomes one row.',
        params: named,
        body: Type.Object(
          {
            delay_ms: Type.Optional(orNull(Type.Integer({ minimum: 0, maximum: 86_400_000 }))),
            budget: Type.Optional(
              orNull(
                Type.Integer({
                  minimum: 0,
                  maximum: 10_000_000,
                  description: 'pages a run of a day may fetch by spider, archive and refresh',
                }),
              ),
            ),
            pool: Type.Optional(orNull(Type.String({ pattern: '^[a-z0-9_-]{1,40}$' }))),
            rules: Type.Optional(orNull(hostRulesChange)),
          },
          { ...strict, minProperties: 1 },
        ),
        response: answers(
          Type.Object({
            domain: Type.String(),
            delayMs: orNull(Type.Integer()),
            budget: orNull(Type.Integer()),
            pool: orNull(Type.String()),
            rules: hostRules,
          }),
        ),
      },
    },
    async ({ params, body, identity }) => {
      if (isRenderPool(body.pool ?? ''))
        throw new AppError('request_invalid', '"render" is the name of those who have a browser', {
          httpStatus: 400,
        });
      const known = await requireDomain(pool, params.name, config.fetch.defaultDelayMs);
      const change: DomainChange = {
        ...(body.delay_ms === undefined ? {} : { delayMs: body.delay_ms }),
        ...(body.budget === undefined ? {} : { budget: body.budget }),
        ...(body.pool === undefined ? {} : { pool: body.pool === 'default' ? null : body.pool }),
        ...(body.rules === undefined ? {} : { rules: body.rules }),
      };
      const choice = await changeDomain(pool, known, change, {
        actor: identity.name,
        defaultBudget: config.domains.maxPagesPerRun,
      });
      return { domain: known.name, ...choice, rules: shownRules(choice) };
    },
  );
}

// A list of a million domains is a file for the command line; through here comes what a person pastes.
const mostSeedBytes = 16 * 1024 * 1024;

function addSeeding(instance: FastifyInstance, { database }: Parts): void {
  // In a room of its own: only here text and NDJSON are bodies.
  instance.register(async (room) => {
    const app = room.withTypeProvider<TypeBoxTypeProvider>();
    for (const type of ['text/plain', 'text/csv', 'application/x-ndjson', 'application/ndjson'])
      app.addContentTypeParser(
        type,
        { parseAs: 'string', bodyLimit: mostSeedBytes },
        (_request, body, done) => done(null, body),
      );
    app.post(
      '/api/v1/domains/seed',
      {
        bodyLimit: mostSeedBytes,
        schema: {
          operationId: 'seedDomains',
          tags,
          summary: 'Enter domains from a list: one domain, "rank,domain", URL, or JSON object per line',
          description:
            'Known domains keep their state and learn their rank and list; sending a list twice changes nothing.',
          consumes: ['text/plain', 'text/csv', 'application/x-ndjson'],
          querystring: Type.Object(
            {
              dataset: Type.String({
                pattern: '^[A-Za-z0-9_.-]{1,100}$',
                description: 'name of the list, as tranco_20260205',
              }),
            },
            strict,
          ),
          body: Type.String({ minLength: 1 }),
          response: answers(
            Type.Object({
              lines: Type.Integer(),
              domains: Type.Integer(),
              added: Type.Integer(),
              known: Type.Integer(),
              submitted: Type.Integer(),
              bad: Type.Integer(),
              badLines: Type.Array(Type.Object({ number: Type.Integer(), reason: Type.String() })),
            }),
          ),
        },
      },
      async ({ body, query, identity, raw }) => {
        stayWith(raw);
        const report = await seedDomains(database.pool, [body], { dataset: query.dataset });
        const { badLines: _badLines, ...detail } = report;
        await saveAudit(database.pool, {
          actor: identity.name,
          action: 'domain_seed',
          subject: query.dataset,
          detail,
        });
        return report;
      },
    );
  });
}

// One call works so long and answers where to go on: a client waits half a minute at most.
const workMs = 10_000;
// Of all processes one at a time mends. Imports have 7102, slots 7103, syncs of jobs 7104.
const mendingLock = 7105;

function addMending(instance: FastifyInstance, { database, config }: Parts): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  /**
   * Holds a lock while the work is done on other connections. The lock is its transaction's, not its session's: behind a
   * pooler a session is nobody's. The transaction idles meanwhile and may do so for longer than others.
   */
  const alone = <T>(work: () => Promise<T>): Promise<T> =>
    database.withTransaction(async (tx) => {
      await tx.query(`SET LOCAL idle_in_transaction_session_timeout = '5min'`);
      const got = await tx.query<{ got: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS got', [
        mendingLock,
      ]);
      if (got.rows[0]?.got === true) return work();
      throw new AppError('busy', 'domains are being backfilled or recalculated already', {
        httpStatus: 409,
        retry: true,
        advice: 'Try again in a minute.',
      });
    });
  app.post(
    '/api/v1/domains/recalculate',
    {
      config: { role: 'admin' },
      schema: {
        operationId: 'recalculateDomains',
        tags,
        summary: 'Recompute scores, counts and what slots say of their rows, a part at a time',
        description: 'Call again with `from` = `next` until that is null.',
        querystring: Type.Object(
          { from: Type.Integer({ minimum: 0, maximum: 255, default: 0, description: 'part to begin with' }) },
          strict,
        ),
        response: answers(
          Type.Object({
            domains: Type.Integer(),
            scored: Type.Integer(),
            repaired: Type.Integer(),
            leased: Type.Integer(),
            fields: Type.Record(Type.String(), Type.Integer()),
            counts: Type.Integer({ description: 'sources whose counts were wrong' }),
            next: orNull(Type.Integer()),
          }),
        ),
      },
    },
    async ({ query, identity, raw }) => {
      stayWith(raw);
      const { report, next } = await alone(() => recalculatePart(pool, { from: query.from, forMs: workMs }));
      await saveAudit(pool, {
        actor: identity.name,
        action: 'domain_recalculate',
        subject: 'domains',
        detail: { ...report, from: query.from, next },
      });
      return { ...report, next };
    },
  );
  app.post(
    '/api/v1/domains/backfill',
    {
      config: { role: 'admin' },
      schema: {
        operationId: 'backfillDomains',
        tags,
        summary: 'Make domains and slots for rows and logs that have none, after an import for instance',
        description: 'Call again until `finished`.',
        querystring: Type.Object({}, strict),
        response: answers(
          Type.Object({
            made: Type.Object({
              active: Type.Integer(),
              exhausted: Type.Integer(),
              blocked: Type.Integer(),
            }),
            slots: Type.Integer(),
            misfiledRows: Type.Integer(),
            merged: Type.Integer(),
            unreadableRows: Type.Integer(),
            finished: Type.Boolean(),
          }),
        ),
      },
    },
    async ({ identity, raw }) => {
      stayWith(raw);
      const report = await alone(() =>
        backfillDomains(pool, {
          actor: identity.name,
          cooldownsMs: backfillCooldowns(config.domains),
          forMs: workMs,
        }),
      );
      await saveAudit(pool, {
        actor: identity.name,
        action: 'domain_backfill',
        subject: 'domains',
        detail: report,
      });
      return report;
    },
  );
}
