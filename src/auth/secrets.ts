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
  await db.query(
    `INSERT INTO auth_secrets (name, value) VALUES ('session', $1) ON CONFLICT (name) DO NOTHING`,
    [randomBytes(32)],
  );
  const { rows } = await db.query<{ value: Buffer }>(`SELECT value FROM auth_secrets WHERE name = 'session'`);
  return new Uint8Array(rows[0]!.value);
}

/** Whether the first sign-in link of a database is still to be shown; of all who ask, one is told so, once. */
export async function claimFirstLink(db: Queryable): Promise<boolean> {
  const claimed = await db.query(
    `UPDATE auth_secrets SET announced_at = now() WHERE name = 'session' AND announced_at IS NULL`,
  );
  return claimed.rowCount === 1;
}
