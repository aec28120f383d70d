import { randomBytes } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import type { Queryable } from '../db/index.ts';
import { type Identity, roles } from './roles.ts';

/** What a session's cookie says. */
export type Session = {
  id: string;
  identity: Identity;
  /** The API token it was exchanged for; when that is revoked, the session ends too. */
  tokenId: number | null;
  expiresAtMs: number;
};

// Its own type and its own key: no bearer token is ever taken for a session, and no session for a bearer token.
const type = 'outrider-session+jwt';

/** Signs a new session. */
export async function signSession(
  key: Uint8Array,
  wish: { identity: Identity; tokenId: number | null; nowMs: number; expiresAtMs: number },
): Promise<{ cookie: string; session: Session }> {
  const id = randomBytes(16).toString('base64url');
  const exp = Math.floor(wish.expiresAtMs / 1000);
  const cookie = await new SignJWT({ role: wish.identity.role, tid: wish.tokenId })
    .setProtectedHeader({ alg: 'HS256', typ: type })
    .setSubject(wish.identity.name)
    .setJti(id)
    .setIssuedAt(Math.floor(wish.nowMs / 1000))
    .setExpirationTime(exp)
    .sign(key);
  return {
    cookie,
    session: { id, identity: wish.identity, tokenId: wish.tokenId, expiresAtMs: exp * 1000 },
  };
}

/** Reads a session's cookie; null when it is not ours, changed, or too old. */
export async function readSession(key: Uint8Array, cookie: string, nowMs: number): Promise<Session | null> {
  try {
    const { payload } = await jwtVerify(cookie, key, {
      algorithms: ['HS256'],
      typ: type,
      requiredClaims: ['exp', 'sub', 'jti'],
      clockTolerance: 5,
      currentDate: new Date(nowMs),
    });
    const role = roles.find((one) => one === payload.role);
    if (role === undefined) return null;
    return {
      id: payload.jti!,
      identity: { name: payload.sub!, role },
      tokenId: typeof payload.tid === 'number' ? payload.tid : null,
      expiresAtMs: payload.exp! * 1000,
    };
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

/** Signs a session out for good. */
export async function endSession(db: Queryable, session: Session): Promise<void> {
  await db.query(`DELETE FROM ended_sessions WHERE expires_at < now() - interval '1 day'`);
  await db.query(
    'INSERT INTO ended_sessions (id, expires_at) VALUES ($1, to_timestamp($2)) ON CONFLICT (id) DO NOTHING',
    [session.id, session.expiresAtMs / 1000],
  );
}

/** Whether a session that is signed and in time still holds: not signed out, and its token not revoked. */
export async function isSessionLive(db: Queryable, session: Session): Promise<boolean> {
  const { rows } = await db.query<{ live: boolean }>(
    `SELECT NOT EXISTS (SELECT FROM ended_sessions WHERE id = $1)
        AND ($2::integer IS NULL OR EXISTS (SELECT FROM api_tokens
          WHERE id = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()))) AS live`,
    [session.id, session.tokenId],
  );
  return rows[0]!.live;
}
