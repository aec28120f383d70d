import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Config } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import type { Clock, Metrics } from '../telemetry/index.ts';
import { Callback, type CallbackAnswer } from '../websub/index.ts';

// A feed of full texts has some hundred kilobytes; a hub sends only what is new.
const bodyLimit = 1_048_576;

/** `/websub/:token`, where hubs call without signing in: the path is the secret, and each body is signed. */
export function addWebSubRoutes(
  app: FastifyInstance,
  options: { database: Database; config: Config; clock: Clock; metrics: Metrics },
): void {
  const callback = new Callback({
    db: options.database.pool,
    metrics: options.metrics,
    clock: options.clock,
    usualLeaseSeconds: options.config.websub.leaseDays * 86_400,
  });
  app.register(async (scope) => {
    // The signature is over the bytes as they came, whatever type they claim to be.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, (_request, body, done) =>
      done(null, body),
    );
    scope.get<{ Params: { token: string }; Querystring: Record<string, unknown> }>(
      '/websub/:token',
      // Limited per subscription by the callback itself; a hub's address stands for many feeds.
      { config: { role: 'public', rateLimit: false }, schema: { hide: true } },
      async (request, reply) => send(reply, await callback.verify(request.params.token, request.query)),
    );
    scope.post<{ Params: { token: string } }>(
      '/websub/:token',
      { config: { role: 'public', rateLimit: false }, schema: { hide: true } },
      async (request, reply) => {
        const signature = request.headers['x-hub-signature'];
        const answered = await callback.push(request.params.token, {
          body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
          contentType: request.headers['content-type'],
          signature: typeof signature === 'string' ? signature : undefined,
        });
        return send(reply, answered);
      },
    );
  });
}

// The challenge is the hub's text on our address: it must never be taken for a page.
function send(reply: FastifyReply, { status, body, retryAfterSeconds }: CallbackAnswer): FastifyReply {
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  return reply
    .code(status)
    .header('x-content-type-options', 'nosniff')
    .type('text/plain; charset=utf-8')
    .send(body);
}
