import { createHash, randomBytes } from 'node:crypto';
import type { Queryable } from '../db/index.ts';

/** SHA-256, as secrets are stored and looked up: what is found in the database opens nothing. */
export const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** 256 random bits as text that needs no escaping in addresses and headers. */
export const randomText = (): string => randomBytes(32).toString('base64url');

/**
 * The key that signs sessions, made when there is none yet. It lies in the database, not in a file: API processes on
 * several machines must agree, and whoever reads the database can write a token into it anyway.
 */
export async function ensureSessionKey(db: Queryable): Promise<Uint8Array> {
  const found = await loadSessionKey(db);
  if (found !== null) return found;
  await db.query(
    `INSERT INTO auth_secrets (name, value) VALUES ('session', $1) ON CONFLICT (name) DO NOTHING`,
    [randomBytes(32)],
  );
  return (await loadSessionKey(db))!;
}

async function loadSessionKey(db: Queryable): Promise<Uint8Array | null> {
  const { rows } = await db.query<{ value: Buffer }>(`SELECT value FROM auth_secrets WHERE name = 'session'`);
  return rows[0] === undefined ? null : new Uint8Array(rows[0].value);
}

/** Makes another key: every session ends within seconds, for when a cookie or a copy of the database got away. */
export async function replaceSessionKey(db: Queryable, actor: string): Promise<void> {
  await db.query(
    `WITH changed AS (
       INSERT INTO auth_secrets (name, value, announced_at) VALUES ('session', $1, now())
       ON CONFLICT (name) DO UPDATE SET value = excluded.value, created_at = now()),
     codes AS (DELETE FROM sign_in_codes)
     INSERT INTO audit (actor, action, subject) VALUES ($2, 'sessions_end', 'all')`,
    [randomBytes(32), actor],
  );
}

/** Whether the first sign-in link of a database is still to be shown; of all who ask, one is told so, once. */
export async function claimFirstLink(db: Queryable): Promise<boolean> {
  const claimed = await db.query(
    `UPDATE auth_secrets SET announced_at = now() WHERE name = 'session' AND announced_at IS NULL`,
  );
  return claimed.rowCount === 1;
}
