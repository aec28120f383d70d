import type { Queryable } from '../db/index.ts';
import { hashOf, randomText } from './secrets.ts';

/** Minutes a sign-in link works. */
export const signInMinutes = 10;

/** Makes a code that signs its user in once, as admin, under a name. */
export async function createSignInCode(db: Queryable, name: string): Promise<string> {
  const code = randomText();
  await db.query('DELETE FROM sign_in_codes WHERE expires_at < now()');
  await db.query(
    `INSERT INTO sign_in_codes (hash, name, expires_at) VALUES ($1, $2, now() + make_interval(mins => $3))`,
    [hashOf(code), name, signInMinutes],
  );
  return code;
}

/** Uses a code up; answers the name it was made for, null when it is unknown, used or too old. One of many at once wins. */
export async function takeSignInCode(db: Queryable, code: string): Promise<string | null> {
  const { rows } = await db.query<{ name: string }>(
    `WITH used AS (DELETE FROM sign_in_codes WHERE hash = $1 AND expires_at > now() RETURNING name),
     noted AS (INSERT INTO audit (actor, action, subject) SELECT name, 'sign_in', 'link' FROM used)
     SELECT name FROM used`,
    [hashOf(code)],
  );
  return rows[0]?.name ?? null;
}

/** The link a person opens; the code is in it. */
export const signInLink = (base: string, code: string): string =>
  `${base.replace(/\/+$/, '')}/sign-in?code=${code}`;
