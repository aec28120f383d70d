import { createHash } from 'node:crypto';
import rateLimit, { normalizeIP } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/index.ts';
import { sendProblem } from './problems.ts';

type Answer = Promise<FastifyReply | undefined>;

/** The limits of one process; each answers a reply when it is reached. */
export type RateLimits = {
  /** A request of somebody who is signed in. */
  signedIn(request: FastifyRequest, reply: FastifyReply, name: string): Answer;
  /** A public page, or an address that does not exist. */
  visit(request: FastifyRequest, reply: FastifyReply): Answer;
  /** A request without credentials, where some are needed. */
  unsigned(request: FastifyRequest, reply: FastifyReply): Answer;
  /** Credentials that were refused. */
  refused(request: FastifyRequest, reply: FastifyReply): Answer;
  /** Before credentials are looked at: an address that was refused too often is not heard, unless they were good before. */
  hold(request: FastifyRequest, reply: FastifyReply, credentials: readonly string[]): Answer;
  /** These credentials are good. */
  remember(credentials: readonly string[]): void;
};

const windowMs = 60_000;
const mostRemembered = 10_000;

const addressOf = (request: FastifyRequest): string => normalizeIP(request.ip);

/** Counts in this process: with several behind one address the limits add up, which is still a bound. */
export async function addRateLimits(
  app: FastifyInstance,
  { config }: { config: Config },
): Promise<RateLimits> {
  const { requestsPerMinute, refusalsPerMinute } = config.api;
  await app.register(rateLimit, { global: false });
  const names = new WeakMap<FastifyRequest, string>();
  const limiter = (max: number, keyGenerator: (request: FastifyRequest) => string) =>
    app.createRateLimit({ max, timeWindow: windowMs, keyGenerator });
  const bySigner = limiter(requestsPerMinute, (request) => names.get(request) ?? '');
  const byVisitor = limiter(requestsPerMinute, addressOf);
  const byUnsigned = limiter(refusalsPerMinute, addressOf);
  const byRefused = limiter(refusalsPerMinute, addressOf);
  // Of credentials that were good here: somebody at the same address who guesses must not lock their owner out.
  const good = new Set<string>();
  const markOf = (text: string): string => createHash('sha256').update(text).digest('base64');
  const count = async (
    limit: ReturnType<typeof limiter>,
    request: FastifyRequest,
    reply: FastifyReply,
    increment = true,
  ): Answer => {
    const result = await limit(request, { increment });
    if (result.isAllowed || !result.isExceeded) return undefined;
    reply.header('retry-after', String(Math.max(1, result.ttlInSeconds)));
    return sendProblem(
      reply,
      429,
      'rate_limited',
      `more than ${result.max} requests in a minute`,
      `Try again in ${Math.max(1, result.ttlInSeconds)} s.`,
    );
  };
  return {
    signedIn: (request, reply, name) => {
      names.set(request, name);
      return count(bySigner, request, reply);
    },
    visit: (request, reply) => count(byVisitor, request, reply),
    unsigned: (request, reply) => count(byUnsigned, request, reply),
    refused: (request, reply) => count(byRefused, request, reply),
    hold: async (request, reply, credentials) =>
      credentials.some((text) => good.has(markOf(text)))
        ? undefined
        : count(byRefused, request, reply, false),
    remember: (credentials) => {
      if (good.size >= mostRemembered) good.clear();
      for (const text of credentials) good.add(markOf(text));
    },
  };
}
