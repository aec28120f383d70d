import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Authenticator } from '../auth/index.ts';
import { AppError } from '../errors/index.ts';
import { setSessionCookie } from './credentials.ts';
import { roleSchema } from './identity.ts';
import { strict } from './schemas.ts';

const sessionSchema = Type.Object(
  {
    name: Type.String({ description: 'as events and the audit name the caller' }),
    role: roleSchema,
    by: Type.Union([
      Type.Literal('token'),
      Type.Literal('jwt'),
      Type.Literal('session'),
      Type.Literal('process'),
    ]),
    expires_at: Type.Union([Type.String(), Type.Null()], { description: 'when these credentials end' }),
  },
  { ...strict, title: 'Session' },
);

// A credential may say that it ends after the last date there is.
const isoOf = (ms: number | null): string | null =>
  ms === null || Math.abs(ms) > 8.64e15 ? null : new Date(ms).toISOString();

/** `/api/v1/session`: who am I, a token exchanged for a browser's cookie, and signing out. */
export function addSessionRoutes(instance: FastifyInstance, { auth }: { auth: Authenticator | null }): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const tags = ['session'];
  app.get(
    '/api/v1/session',
    {
      schema: {
        operationId: 'getSession',
        tags,
        summary: 'Who asks, and what they may do',
        querystring: Type.Object({}, strict),
        response: { 200: sessionSchema },
      },
    },
    async ({ identity, proof }) => ({
      ...identity,
      by: proof?.by ?? ('process' as const),
      expires_at: isoOf(proof?.expiresAtMs ?? null),
    }),
  );
  app.post(
    '/api/v1/session',
    {
      config: { role: 'read' },
      schema: {
        operationId: 'createSession',
        tags,
        summary: 'Exchange a bearer token for a cookie session with the same rights',
        querystring: Type.Object({}, strict),
        response: { 201: sessionSchema },
      },
    },
    async (request, reply) => {
      const { proof } = request;
      // A session that renewed itself would never end.
      if (auth === null || proof === null || proof.by === 'session')
        throw new AppError('session_needs_token', 'a session is had for a bearer token, not for a session', {
          httpStatus: 409,
          advice: 'Send Authorization: Bearer with an API token or a JWT.',
        });
      const { cookie, session } = await auth.startSession(proof);
      setSessionCookie(
        request,
        reply,
        cookie,
        Math.max(1, Math.floor((session.expiresAtMs - Date.now()) / 1000)),
      );
      return reply
        .code(201)
        .send({ ...session.identity, by: 'session', expires_at: isoOf(session.expiresAtMs) });
    },
  );
  app.delete(
    '/api/v1/session',
    {
      config: { role: 'read' },
      schema: {
        operationId: 'deleteSession',
        tags,
        summary: 'Sign out: the session of the cookie ends, everywhere',
        querystring: Type.Object({}, strict),
        response: { 200: Type.Object({ signed_out: Type.Boolean() }, strict) },
      },
    },
    async (request, reply) => {
      const session = request.proof?.session ?? null;
      if (auth !== null && session !== null) await auth.signOut(session);
      setSessionCookie(request, reply, null);
      return { signed_out: session !== null };
    },
  );
}
