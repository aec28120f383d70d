import swagger from '@fastify/swagger';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { Ajv, type ValidateFunction } from 'ajv';
import { type FastifyInstance, fastify } from 'fastify';
import type { FastifyValidationResult } from 'fastify/types/schema.js';
import type { Config } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import type { LoopHealth } from '../resilience/index.ts';
import type { Clock, Log, Metrics } from '../telemetry/index.ts';
import { addChannelRoutes } from './channels.ts';
import { addDiagnosisRoutes } from './diagnosis.ts';
import { addDocumentStream } from './document-stream.ts';
import { addDocumentRoutes } from './documents.ts';
import { addDomainRoutes } from './domains.ts';
import { addFrontierRoutes } from './frontier.ts';
import { answerHealth } from './health.ts';
import type { Identity } from './identity.ts';
import { addProblems, problemSchema, sendProblem } from './problems.ts';
import { addSinkRoutes } from './sinks.ts';
import { addSourceRoutes } from './sources.ts';

export type ApiOptions = {
  database: Database;
  config: Config;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  version: string;
  loops: () => readonly LoopHealth[];
  /** Who asks, where the API is called inside a process and never listens: nobody signs in there. */
  operator?: Identity;
};

/** Names of this machine to itself; a server that listens to no other needs no sign-in. */
export const loopback: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);

/** All routes, not listening yet. */
export async function buildApi(options: ApiOptions): Promise<FastifyInstance> {
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
  app.setValidatorCompiler(({ schema, httpPart }) => {
    const compile = (): ValidateFunction => (httpPart === 'body' ? exact : loose).compile(schema as object);
    // A server should fail at its start if a schema is wrong; a command that asks one route should not wait for all.
    return options.operator === undefined ? compile() : lazily(compile);
  });
  // Schemas of answers are for readers and tests. A serializer made from them would drop what they do not name.
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
  await app.register(swagger, {
    openapi: { openapi: '3.1.0', info: { title: 'Outrider', version: options.version } },
  });
  app.addHook('onRoute', (route) => {
    if (route.schema === undefined || route.schema.hide === true) return;
    route.schema.response = { '4xx': problemSchema, ...(route.schema.response as object) };
  });
  addHostCheck(app, options);
  const operator = options.operator ?? { name: 'api', role: 'admin' };
  app.decorateRequest('identity');
  app.addHook('onRequest', async (request) => {
    request.identity = operator;
  });
  addProblems(app, options.log);
  addHealthRoutes(app, options);
  addSourceRoutes(app, options);
  addChannelRoutes(app, options);
  addFrontierRoutes(app, options);
  addDomainRoutes(app, options);
  addDocumentRoutes(app, options);
  addDocumentStream(app, options);
  addSinkRoutes(app, options);
  addDiagnosisRoutes(app, options);
  // Hubs call servers; a command inside a process would only load the HTTP client that they need.
  if (options.operator === undefined) (await import('./websub.ts')).addWebSubRoutes(app, options);
  return app;
}

/** A validator that is made when it is first asked. */
function lazily(compile: () => ValidateFunction): FastifyValidationResult {
  let made: ValidateFunction | null = null;
  const validate: FastifyValidationResult = (data: unknown) => {
    made ??= compile();
    const isValid = made(data) as boolean;
    // Ajv's own errors, which Fastify reads from the function it called.
    Object.assign(validate, { errors: made.errors ?? null });
    return isValid;
  };
  return validate;
}

/**
 * A page on the web must not reach a loopback API through a name it controls (DNS rebinding). By the public name hubs
 * reach their callbacks and nothing else.
 */
function addHostCheck(app: FastifyInstance, { config }: ApiOptions): void {
  const { callbackUrl } = config.websub;
  const publicName = callbackUrl === null ? null : new URL(callbackUrl).hostname;
  app.addHook('onRequest', async (request, reply) => {
    const name = request.hostname.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
    const isHub =
      publicName !== null &&
      name === publicName.replace(/^\[|\]$/g, '') &&
      request.url.startsWith('/websub/');
    if (!loopback.has(name) && !isHub)
      return sendProblem(reply, 421, 'wrong_host', 'this server does not answer to that name');
    return undefined;
  });
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
