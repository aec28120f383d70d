import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import {
  type ApiToken,
  type Authenticator,
  createToken,
  listTokens,
  revokeToken,
  tokenNamePattern,
} from '../auth/index.ts';
import type { Database } from '../db/index.ts';
import { AppError } from '../errors/index.ts';
import { roleSchema } from './identity.ts';
import { cursor, limit, strict } from './schemas.ts';

const time = Type.Union([Type.String(), Type.Null()]);
const tokenFields = {
  id: Type.Integer(),
  name: Type.String(),
  role: roleSchema,
  prefix: Type.String({ description: 'its first characters, to recognise it by' }),
  created_at: Type.String(),
  created_by: Type.String(),
  expires_at: time,
  last_used_at: time,
  revoked_at: time,
};
const tokenSchema = Type.Object(tokenFields, { ...strict, title: 'ApiToken' });

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;
const shown = (token: ApiToken) => ({
  id: token.id,
  name: token.name,
  role: token.role,
  prefix: token.prefix,
  created_at: token.createdAt.toISOString(),
  created_by: token.createdBy,
  expires_at: iso(token.expiresAt),
  last_used_at: iso(token.lastUsedAt),
  revoked_at: iso(token.revokedAt),
});

/** API tokens, for admins: list, make, revoke. */
export function addTokenRoutes(
  instance: FastifyInstance,
  { database: { pool }, auth }: { database: Database; auth: Authenticator | null },
): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const shared = { config: { role: 'admin' as const } };
  const tags = ['tokens'];
  app.get(
    '/api/v1/tokens',
    {
      ...shared,
      schema: {
        operationId: 'listTokens',
        tags,
        summary: 'API tokens by id; the tokens themselves are stored nowhere',
        querystring: Type.Object(
          {
            limit: limit(1000, 100),
            cursor: Type.Optional(cursor),
            revoked: Type.Boolean({ default: false, description: 'with those that were revoked' }),
          },
          strict,
        ),
        response: {
          200: Type.Object(
            { items: Type.Array(tokenSchema), cursor: Type.Union([Type.String(), Type.Null()]) },
            strict,
          ),
        },
      },
    },
    async ({ query }) => {
      const afterId = query.cursor === undefined ? 0 : parseCursor(query.cursor);
      const found = await listTokens(pool, { limit: query.limit + 1, afterId, withRevoked: query.revoked });
      const items = found.slice(0, query.limit);
      const last = found.length > query.limit ? items.at(-1) : undefined;
      return { items: items.map(shown), cursor: last === undefined ? null : `t${last.id}` };
    },
  );
  app.post(
    '/api/v1/tokens',
    {
      ...shared,
      schema: {
        operationId: 'createToken',
        tags,
        summary: 'Make an API token; it is in this answer and never again',
        querystring: Type.Object({}, strict),
        body: Type.Object(
          {
            name: Type.String({ pattern: tokenNamePattern, maxLength: 100 }),
            role: roleSchema,
            expires_in_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 3650 })),
            expires_in_seconds: Type.Optional(
              Type.Integer({ minimum: 60, maximum: 315_360_000, description: 'instead of days' }),
            ),
          },
          strict,
        ),
        response: { 201: Type.Object({ ...tokenFields, token: Type.String() }, strict) },
      },
    },
    async ({ body, identity }, reply) => {
      if (body.expires_in_days !== undefined && body.expires_in_seconds !== undefined)
        throw new AppError('request_invalid', 'give expires_in_days or expires_in_seconds, not both', {
          httpStatus: 400,
        });
      const expiresInSeconds =
        body.expires_in_seconds ??
        (body.expires_in_days === undefined ? undefined : body.expires_in_days * 86_400);
      const made = await createToken(pool, {
        name: body.name,
        role: body.role,
        actor: identity.name,
        ...(expiresInSeconds === undefined ? {} : { expiresInSeconds }),
      });
      if (made.outcome === 'name_taken')
        throw new AppError('token_name_taken', `a token "${body.name}" is in use`, {
          httpStatus: 409,
          advice: 'Choose another name, or revoke that one first.',
        });
      return reply.code(201).send({ ...shown(made.row), token: made.token });
    },
  );
  app.delete(
    '/api/v1/tokens/:id',
    {
      ...shared,
      schema: {
        operationId: 'revokeToken',
        tags,
        summary: 'Revoke an API token and the sessions it was exchanged for; it stops working within seconds',
        params: Type.Object({ id: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }) }, strict),
        querystring: Type.Object({}, strict),
        response: { 200: tokenSchema },
      },
    },
    async ({ params, identity }) => {
      const ended = await revokeToken(pool, { id: params.id }, identity.name);
      if (ended === null)
        throw new AppError('token_unknown', `there is no token ${params.id} in use`, { httpStatus: 404 });
      auth?.forget();
      return shown(ended);
    },
  );
}

function parseCursor(text: string): number {
  const id = /^t(\d{1,10})$/.exec(text)?.[1];
  if (id === undefined || Number(id) > 2_147_483_647)
    throw new AppError('cursor_invalid', 'the cursor is not one of this list', { httpStatus: 400 });
  return Number(id);
}
