import swagger from '@fastify/swagger';
import { Type, type TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { Ajv } from 'ajv';
import { type FastifyInstance, fastify } from 'fastify';
import { listChannels, loadPushStates, startDiscovery } from '../channels/index.ts';
import type { Config } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import { AppError, EXIT, messageOf } from '../errors/index.ts';
import { countRows, loadTotals } from '../frontier/index.ts';
import type { LoopHealth } from '../resilience/index.ts';
import { createSource, listSources } from '../sources/index.ts';
import type { Clock, Log, Metrics } from '../telemetry/index.ts';
import { addDocumentStream } from './document-stream.ts';
import { addDocumentRoutes } from './documents.ts';
import { addDomainRoutes } from './domains.ts';
import { answerHealth } from './health.ts';
import { addSinkRoutes } from './sinks.ts';
import { addWebSubRoutes } from './websub.ts';

export type ApiOptions = {
  database: Database;
  config: Config;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  version: string;
  loops: () => readonly LoopHealth[];
};

const loopback = new Set(['127.0.0.1', '::1', 'localhost']);

/** Starts the API; answers its address. */
export async function startApi(options: ApiOptions): Promise<{ address: string; close(): Promise<void> }> {
  const { host, port } = options.config.api;
  if (!loopback.has(host)) {
    throw new AppError(
      'api_needs_auth',
      `the API has no sign-in yet and listens on loopback only, not on ${host}`,
      {
        exitCode: EXIT.usage,
        advice:
          'Leave api.host at 127.0.0.1 and put a proxy with authentication in front if others must reach it.',
      },
    );
  }
  const app = await buildApi(options);
  try {
    const address = await app.listen({ host, port });
    return { address, close: () => app.close() };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new AppError('port_in_use', `port ${port} on ${host} is in use by another program`, {
      exitCode: EXIT.busyPort,
      advice: `Stop the other program, or choose another port with --port or OUTRIDER_API_PORT (0 picks a free one).`,
    });
  }
}

async function buildApi(options: ApiOptions): Promise<FastifyInstance> {
  const app = fastify({
    logger: false,
    bodyLimit: 1_000_000,
    // Fastify waits for ever by default; a slow client must not hold a connection.
    requestTimeout: 30_000,
    connectionTimeout: 60_000,
    keepAliveTimeout: 10_000,
    routerOptions: { maxParamLength: 2048 },
  }).withTypeProvider<TypeBoxTypeProvider>();
  // An address is all text, so its numbers are read as such; a body says itself what is a number and what is text.
  const loose = new Ajv({ coerceTypes: 'array', useDefaults: true, allErrors: false });
  const exact = new Ajv({ useDefaults: true, allErrors: false });
  app.setValidatorCompiler(({ schema, httpPart }) =>
    (httpPart === 'body' ? exact : loose).compile(schema as object),
  );
  await app.register(swagger, {
    openapi: { openapi: '3.1.0', info: { title: 'Outrider', version: options.version } },
  });
  const { callbackUrl } = options.config.websub;
  const publicName = callbackUrl === null ? null : new URL(callbackUrl).hostname;
  // A page on the web must not reach a loopback API through a name it controls (DNS rebinding). By the public name hubs
  // reach their callbacks and nothing else.
  app.addHook('onRequest', async (request, reply) => {
    const name = request.hostname.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
    const isHub =
      publicName !== null &&
      name === publicName.replace(/^\[|\]$/g, '') &&
      request.url.startsWith('/websub/');
    if (!loopback.has(name) && !isHub)
      return reply
        .code(421)
        .type('application/problem+json')
        .send(problem(421, 'wrong_host', 'this server does not answer to that name'));
    return undefined;
  });
  app.setErrorHandler((error, request, reply) => {
    const { status, code } = statusOf(error);
    if (status >= 500) options.log.error({ error, route: request.routeOptions.url }, 'a request failed');
    const text = status >= 500 ? 'something failed here; the log says what' : messageOf(error);
    return reply
      .code(status)
      .type('application/problem+json')
      .send(problem(status, code, text));
  });
  app.setNotFoundHandler((_request, reply) =>
    reply
      .code(404)
      .type('application/problem+json')
      .send(
        problem(
          404,
          'not_found',
          'there is nothing at this address; GET /api/v1/openapi.json lists what there is',
        ),
      ),
  );
  addHealthRoutes(app, options);
  addDataRoutes(app, options);
  addDomainRoutes(app, options);
  addDocumentRoutes(app, options);
  addDocumentStream(app, options);
  addSinkRoutes(app, options);
  addWebSubRoutes(app, options);
  return app;
}

/** RFC 9457 problem document. */
const problem = (status: number, code: string, detail: string) => ({
  type: 'about:blank',
  title: code,
  status,
  code,
  detail,
});

function statusOf(error: unknown): { status: number; code: string } {
  if (error instanceof AppError) return { status: error.httpStatus, code: error.code };
  const { statusCode, validation } = error as { statusCode?: number; validation?: unknown };
  if (validation !== undefined) return { status: 400, code: 'request_invalid' };
  return {
    status: statusCode ?? 500,
    code: statusCode !== undefined && statusCode < 500 ? 'request_invalid' : 'internal',
  };
}

function addHealthRoutes(app: FastifyInstance, options: ApiOptions): void {
  for (const path of ['/healthz', '/readyz', '/health', '/metrics']) {
    app.get(path, { schema: { hide: true } }, async (_request, reply) => {
      const { status, type, body } = (await answerHealth(path, options))!;
      return reply.code(status).type(type).send(body);
    });
  }
  app.get('/api/v1/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  app.get('/', { schema: { hide: true } }, async (_request, reply) =>
    reply
      .type('text/plain')
      .send(
        `Outrider ${options.version}\n\n/api/v1/sources\n/api/v1/channels\n/api/v1/frontier/stats\n/api/v1/domains\n/api/v1/workers\n/api/v1/documents?q=words\n/api/v1/documents/changes\n/api/v1/documents/stream\n/api/v1/sinks\n/api/v1/openapi.json\n/health\n/metrics\n`,
      ),
  );
}

function addDataRoutes(instance: FastifyInstance, { database }: ApiOptions): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  const limit = (most: number, usual: number) => Type.Integer({ minimum: 1, maximum: most, default: usual });
  app.get(
    '/api/v1/sources',
    {
      schema: {
        summary: 'Sources by id',
        querystring: Type.Object(
          { limit: limit(1000, 100), after: Type.Integer({ minimum: 0, default: 0 }) },
          { additionalProperties: false },
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
          { additionalProperties: false },
        ),
      },
    },
    async (request, reply) => {
      const { source, created } = await createSource(pool, request.body);
      await startDiscovery(pool, source.id);
      return reply.code(created ? 201 : 200).send(source);
    },
  );
  app.get(
    '/api/v1/channels',
    {
      schema: {
        summary: 'Channels with their polls and pushes, trouble first',
        querystring: Type.Object({ limit: limit(1000, 100) }, { additionalProperties: false }),
      },
    },
    async (request) => {
      const channels = await listChannels(pool, request.query);
      const pushes = await loadPushStates(
        pool,
        channels.map((one) => one.id),
      );
      return {
        items: channels.map(
          ({ hash: _hash, rhythm: _rhythm, polls, notModified, itemsSeen, itemsNew, ...rest }) => ({
            ...rest,
            polls: Number(polls),
            notModified: Number(notModified),
            itemsSeen: Number(itemsSeen),
            itemsNew: Number(itemsNew),
            push: pushes.get(rest.id) ?? null,
          }),
        ),
      };
    },
  );
  app.get(
    '/api/v1/frontier/stats',
    { schema: { summary: 'URLs by status, and totals over all time' } },
    async () => ({
      urls: await countRows(pool),
      totals: await loadTotals(pool),
    }),
  );
}
