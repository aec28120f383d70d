import type { Queryable } from '../db/index.ts';
import type { Role } from './roles.ts';
import { hashOf, randomText } from './secrets.ts';

/** What tokens begin with, so that people and secret scanners know one when they see it. */
export const tokenMark = 'otr_';
const shownLength = 10;

/** A token as lists show it; the token itself is nowhere. */
export type ApiToken = {
  id: number;
  name: string;
  role: Role;
  prefix: string;
  createdAt: Date;
  createdBy: string;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
};

const columns = `id, name, role, prefix, created_at AS "createdAt", created_by AS "createdBy",
  expires_at AS "expiresAt", last_used_at AS "lastUsedAt", revoked_at AS "revokedAt"`;

/** What a token may be called: it stands in the audit and in log lines. */
export const tokenNamePattern = '^[A-Za-z0-9][A-Za-z0-9 ._@:+-]{0,99}$';

/** Makes a token. Its text is in this answer and never again. One that has expired gives its name up to it. */
export async function createToken(
  db: Queryable,
  wish: { name: string; role: Role; expiresInSeconds?: number; actor: string },
): Promise<{ outcome: 'created'; token: string; row: ApiToken } | { outcome: 'name_taken' }> {
  const token = `${tokenMark}${randomText()}`;
  const { rows } = await db.query<ApiToken>(
    `WITH expired AS (
       UPDATE api_tokens SET revoked_at = now(), revoked_by = $5
        WHERE name = $1 AND revoked_at IS NULL AND expires_at <= now() RETURNING id),
     made AS (
       INSERT INTO api_tokens (name, role, hash, prefix, created_by, expires_at)
       SELECT $1, $2, $3, $4, $5, now() + make_interval(secs => $6)
         FROM (SELECT count(*) FROM expired) AS behind_it
       ON CONFLICT (name) WHERE revoked_at IS NULL DO NOTHING RETURNING *),
     noted AS (
       INSERT INTO audit (actor, action, subject, detail)
       SELECT created_by, 'token_create', name, jsonb_build_object('id', id, 'role', role, 'expiresAt', expires_at) FROM made)
     SELECT ${columns} FROM made`,
    [
      wish.name,
      wish.role,
      hashOf(token),
      token.slice(0, shownLength),
      wish.actor,
      wish.expiresInSeconds ?? null,
    ],
  );
  return rows[0] === undefined ? { outcome: 'name_taken' } : { outcome: 'created', token, row: rows[0] };
}

/** Tokens by id; revoked ones only when asked for. */
export async function listTokens(
  db: Queryable,
  options: { limit: number; afterId?: number; withRevoked?: boolean },
): Promise<ApiToken[]> {
  const { rows } = await db.query<ApiToken>(
    `SELECT ${columns} FROM api_tokens WHERE id > $1 AND ($2 OR revoked_at IS NULL) ORDER BY id LIMIT $3`,
    [options.afterId ?? 0, options.withRevoked ?? false, options.limit],
  );
  return rows;
}

/** Ends a token, by its id or by the name of one in use; null when there is none. Processes follow within seconds. */
export async function revokeToken(
  db: Queryable,
  which: { id: number } | { name: string },
  actor: string,
): Promise<ApiToken | null> {
  const [condition, value] = 'id' in which ? ['id = $2', which.id] : ['name = $2', which.name];
  const { rows } = await db.query<ApiToken>(
    `WITH ended AS (
       UPDATE api_tokens SET revoked_at = now(), revoked_by = $1 WHERE ${condition} AND revoked_at IS NULL RETURNING *),
     noted AS (
       INSERT INTO audit (actor, action, subject, detail)
       SELECT $1, 'token_revoke', name, jsonb_build_object('id', id) FROM ended)
     SELECT ${columns} FROM ended`,
    [actor, value],
  );
  return rows[0] ?? null;
}

/** A token that works, as the one who checks it needs it. */
export type LiveToken = { id: number; name: string; role: Role; expiresAtMs: number | null };

/** Finds a token that works, by the unique index on its hash, and notes its use, at most once a minute. */
export async function loadLiveToken(db: Queryable, token: string): Promise<LiveToken | null> {
  const { rows } = await db.query<LiveToken & { isNews: boolean }>(
    `SELECT id, name, role, (extract(epoch FROM expires_at) * 1000)::float8 AS "expiresAtMs",
            last_used_at IS NULL OR last_used_at < now() - interval '1 minute' AS "isNews"
       FROM api_tokens WHERE hash = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`,
    [hashOf(token)],
  );
  if (rows[0] === undefined) return null;
  const { isNews, ...live } = rows[0];
  if (isNews)
    await db.query(
      `UPDATE api_tokens SET last_used_at = now()
        WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
      [live.id],
    );
  return live;
}
