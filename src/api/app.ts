import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { Ajv, type ValidateFunction } from 'ajv';
import { type FastifyInstance, fastify, type RouteOptions } from 'fastify';
import type { FastifyValidationResult } from 'fastify/types/schema.js';
import { createAuthenticator, type Identity } from '../auth/index.ts';
import type { Config } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import type { LoopHealth, Vitals } from '../resilience/index.ts';
import type { Clock, Log, Metrics } from '../telemetry/index.ts';
import { addSessionRoutes } from './auth.ts';
import { addBodies } from './bodies.ts';
import { sessionCookie } from './credentials.ts';
import { answerHealth } from './health.ts';
import { addHostCheck, addSecurityHeaders } from './hosts.ts';
import { addGuard } from './identity.ts';
import { sayInvalid } from './invalid.ts';
import { noteMethods } from './methods.ts';
import { addProblems, problemSchema, sendNotFound, sendProblem, sendUnreadable } from './problems.ts';
import { addRateLimits } from './rate-limits.ts';
import { addSignIn } from './sign-in.ts';
import { StreamRoom } from './streams.ts';
import { loadSubject, type Subject, subjects } from './subjects.ts';

export type ApiOptions = {
  database: Database;
  config: Config;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  version: string;
  loops: () => readonly LoopHealth[];
  /** What the process knows of itself, as /health tells it. */
  vitals?: Vitals;
  /** Whether it believes its own network to be down. */
  isAway?: () => boolean;
  /** Who asks, where the API is called inside a process and never listens: nobody signs in there. */
  operator?: Identity;
  /** Only the routes about this; all unless said. A command asks few, and to read in all of them takes a second. */
  subject?: Subject;
  /** Hears of every route as it is added; tests of all routes ask for it. */
  onRoute?: (route: RouteOptions) => void;
};

// Each costs some kilobytes; beyond it the kernel's queue is the place to wait.
const mostConnections = 2000;

/** All routes, not listening yet. */
export async function buildApi(options: ApiOptions): Promise<FastifyInstance> {
  const app = fastify({
    logger: false,
    bodyLimit: 1_000_000,
    // Fastify waits for ever by default; a slow client must not hold a connection.
    requestTimeout: 30_000,
    connectionTimeout: 60_000,
    keepAliveTimeout: 10_000,
    // Node looks for slow clients every 30 s by default, and gives their headers a minute.
    http: { headersTimeout: 15_000, connectionsCheckingInterval: 1000 },
    trustProxy: options.config.api.trustProxy.length === 0 ? false : [...options.config.api.trustProxy],
    routerOptions: { maxParamLength: 2048 },
    schemaErrorFormatter: sayInvalid,
    clientErrorHandler: sendUnreadable,
    // An address that no route can have: the error handler is never asked about it.
    frameworkErrors: (error, _request, reply) =>
      void sendProblem(reply, error.statusCode ?? 400, 'request_invalid', error.message.slice(0, 200)),
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.server.maxConnections = mostConnections;
  // An address is all text, so its numbers are read as such; a body says itself what is a number and what is text.
  // Verbose, so that what is said of a mistake can name what would have been none.
  const loose = new Ajv({ coerceTypes: 'array', useDefaults: true, allErrors: false, verbose: true });
  const exact = new Ajv({ useDefaults: true, allErrors: false, verbose: true });
  app.setValidatorCompiler(({ schema, httpPart }) => {
    const compile = (): ValidateFunction => (httpPart === 'body' ? exact : loose).compile(schema as object);
    // Nobody asks all routes at once: a start should not wait for their schemas. A test asks every one of them.
    return lazily(compile);
  });
  addNumberCheck(app);
  // Schemas of answers are for readers and tests. A serializer made from them would drop what they do not name.
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
  if (options.operator === undefined) await describe(app, options.version);
  app.addHook('onRoute', (route) => {
    options.onRoute?.(route);
    if (route.schema === undefined || route.schema.hide === true) return;
    route.schema.response = { '4xx': problemSchema, ...(route.schema.response as object) };
    for (const part of ['querystring', 'body'] as const) {
      const schema = route.schema[part];
      if (schema !== undefined) route.schema[part] = withDefaults(schema as ObjectSchema);
    }
  });
  const sendWrongMethod = noteMethods(app);
  addProblems(app, options.log);
  addBodies(app);
  addRequestMetrics(app, options.metrics);
  addSecurityHeaders(app);
  addHostCheck(app, options);
  const { operator, database, config } = options;
  const limits = await addRateLimits(app, options);
  const auth = operator === undefined ? await createAuthenticator({ ...options, db: database.pool }) : null;
  addGuard(app, { config, auth, operator, limits });
  const streams = new StreamRoom(app, options);
  addSignIn(app, { ...options, auth, limits });
  addSessionRoutes(app, { auth });
  addHealthRoutes(app, options);
  const parts = { ...options, auth, streams };
  const wanted = options.subject === undefined ? subjects : [options.subject];
  for (const addRoutes of (await Promise.all(wanted.map(loadSubject))).flat()) addRoutes(app, parts);
  // Hubs call servers; a command inside a process would only load the HTTP client that they need.
  if (options.operator === undefined) {
    (await import('./websub.ts')).addWebSubRoutes(app, options);
    (await import('./reference-page.ts')).addReferencePage(app);
    const { sendLost } = (await import('./dashboard.ts')).addDashboard(app);
    // Somebody who mistyped the address of a screen is no program, and can read the page better than a problem document.
    app.setNotFoundHandler(
      async (request, reply) =>
        sendWrongMethod(request, reply) ?? (await sendLost(request, reply)) ?? sendNotFound(reply),
    );
  } else app.setNotFoundHandler((request, reply) => sendWrongMethod(request, reply) ?? sendNotFound(reply));
  return app;
}

type ObjectSchema = { properties?: Record<string, object>; required?: string[] };

/** What has a default need not be given: handlers find it filled in, callers need not know. */
function withDefaults(schema: ObjectSchema): ObjectSchema {
  const { properties, required } = schema;
  if (properties === undefined || required === undefined) return schema;
  return { ...schema, required: required.filter((name) => !('default' in (properties[name] ?? {}))) };
}

/** The description of all routes, which nobody asks for inside a process. */
async function describe(app: FastifyInstance, version: string): Promise<void> {
  const { default: swagger } = await import('@fastify/swagger');
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Outrider', version: version },
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'an API token (otr_…) or a JWT' },
          session: { type: 'apiKey', in: 'cookie', name: sessionCookie },
        },
      },
      security: [{ bearer: [] }, { session: [] }],
    },
  });
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

// Few reasons, so that the label stays small whatever is asked.
const refusals: ReadonlyMap<number, string> = new Map([
  [401, 'sign_in_needed'],
  [403, 'forbidden'],
  [421, 'wrong_host'],
  [429, 'rate_limited'],
]);

function addRequestMetrics(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', async (_request, reply) => {
    const { statusCode } = reply;
    if (reply.raw.getHeader('content-type') === 'text/event-stream') return;
    metrics.apiSeconds.observe({ status: `${Math.floor(statusCode / 100)}xx` }, reply.elapsedTime / 1000);
    const reason = refusals.get(statusCode);
    if (reason !== undefined) metrics.apiRefusals.inc({ reason });
  });
}

/** Ajv reads "1e400" in an address as a number and then forgets to hold it against the bounds. */
function addNumberCheck(app: FastifyInstance): void {
  const isBounded = (value: unknown): boolean => typeof value !== 'number' || Number.isFinite(value);
  app.addHook('preHandler', async ({ query, params }, reply) => {
    if ([query, params].every((part) => Object.values(part ?? {}).every(isBounded))) return undefined;
    return sendProblem(reply, 400, 'request_invalid', 'the address has an endless number');
  });
}

function addHealthRoutes(app: FastifyInstance, options: ApiOptions): void {
  for (const path of ['/healthz', '/readyz', '/health', '/metrics']) {
    const isPublic = path === '/healthz' || path === '/readyz';
    const access = isPublic ? { role: 'public' as const } : { role: 'read' as const, orLocal: true as const };
    app.get(
      path,
      { config: { ...access, rateLimit: false }, schema: { hide: true } },
      async (_request, reply) => {
        const { status, type, body } = (await answerHealth(path, options))!;
        return reply.code(status).type(type).send(body);
      },
    );
  }
}
