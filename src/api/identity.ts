import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import {
  type AuthAnswer,
  type Authenticator,
  type Identity,
  type Proof,
  permits,
  type Role,
} from '../auth/index.ts';
import type { Config } from '../config/index.ts';
import { isOwnOrigin, readCredentials } from './credentials.ts';
import { isLocalRequest } from './hosts.ts';
import { sendProblem } from './problems.ts';
import type { RateLimits } from './rate-limits.ts';

export { type Identity, type Role, roles } from '../auth/index.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; set before a route runs. */
    identity: Identity;
    /** What showed it; null on public routes and for calls inside the process. */
    proof: Proof | null;
  }
  interface FastifyContextConfig {
    /** What a caller needs; without it GET needs read and everything else write. */
    role?: Role | 'public';
    /** Programs on this machine need not sign in: /health and /metrics. */
    orLocal?: true;
  }
}

/** How callers are told apart. */
export type GuardOptions = {
  config: Config;
  /** Null where the API is called inside a process: then everybody is the operator. */
  auth: Authenticator | null;
  operator: Identity | undefined;
  limits: RateLimits;
};

/** A role in bodies and answers. */
export const roleSchema = Type.Union([Type.Literal('read'), Type.Literal('write'), Type.Literal('admin')]);

const nobody: Identity = { name: 'nobody', role: 'read' };

/** The role a route needs: what it declares, or else read for reading and write for everything else. */
export function neededRole(method: string, declared: Role | 'public' | undefined): Role | 'public' {
  return declared ?? (method === 'GET' || method === 'HEAD' ? 'read' : 'write');
}

/** One hook before every route: who asks, may they, and not too often. A route that says nothing is closed. */
export function addGuard(app: FastifyInstance, options: GuardOptions): void {
  const { auth, operator, limits } = options;
  app.decorateRequest('identity');
  app.decorateRequest('proof', null);
  app.addHook('onRequest', async (request, reply) => {
    request.identity = operator ?? nobody;
    if (auth === null) return undefined;
    const { role: declared, rateLimit } = request.routeOptions.config;
    const role = neededRole(request.method, declared);
    if (request.is404 || role === 'public')
      return rateLimit === false ? undefined : limits.visit(request, reply);
    return admit(request, reply, role, { ...options, auth });
  });
}

async function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  needed: Role,
  { auth, limits, config }: GuardOptions & { auth: Authenticator },
): Promise<FastifyReply | undefined> {
  const credentials = readCredentials(request);
  if (credentials.kind === 'none') {
    if (request.routeOptions.config.orLocal && isLocalRequest(request)) return undefined;
    return (await limits.unsigned(request, reply)) ?? refuse(reply, 'sign in first', null);
  }
  if (credentials.kind === 'malformed') {
    return (await limits.refused(request, reply)) ?? refuse(reply, credentials.reason, 'invalid_request');
  }
  const held = await limits.hold(request, reply, credentials.texts);
  if (held !== undefined) return held;
  const answer = await check(auth, credentials);
  if (answer.outcome === 'unavailable') {
    reply.header('retry-after', '30');
    return sendProblem(
      reply,
      503,
      'auth_unavailable',
      'the keys that JWTs are verified by cannot be had now',
    );
  }
  if (answer.outcome === 'refused')
    return (await limits.refused(request, reply)) ?? refuse(reply, answer.reason, 'invalid_token');
  const { proof } = answer;
  limits.remember(credentials.texts);
  if (credentials.kind === 'cookies' && !isOwnOrigin(request, config.api.hosts))
    return sendProblem(
      reply,
      403,
      'origin_refused',
      'a browser sent this with its session from another site',
      'Programs use a token: Authorization: Bearer …',
    );
  const limited = await limits.signedIn(request, reply, proof.identity.name);
  if (limited !== undefined) return limited;
  if (!permits(proof.identity.role, needed))
    return sendProblem(
      reply,
      403,
      'role_missing',
      `this needs the role ${needed}; ${proof.identity.name} has ${proof.identity.role}`,
    );
  request.identity = proof.identity;
  request.proof = proof;
  return undefined;
}

async function check(
  auth: Authenticator,
  credentials: { kind: 'bearer' | 'cookies'; texts: readonly string[] },
): Promise<AuthAnswer> {
  if (credentials.kind === 'bearer') return auth.checkBearer(credentials.texts[0]!);
  // Another program on this machine may have set a cookie of the same name: ports share them. One good one is enough.
  let answer: AuthAnswer = { outcome: 'refused', reason: 'there is no session' };
  for (const text of credentials.texts) {
    answer = await auth.checkSession(text);
    if (answer.outcome === 'accepted') break;
  }
  return answer;
}

function refuse(reply: FastifyReply, detail: string, error: string | null): FastifyReply {
  reply.header('www-authenticate', `Bearer realm="outrider"${error === null ? '' : `, error="${error}"`}`);
  return sendProblem(
    reply,
    401,
    'sign_in_needed',
    detail,
    'Make a token with "outrider token create", or sign in with "outrider token sign-in".',
  );
}
