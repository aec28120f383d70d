import type { Config } from '../config/index.ts';
import type { Queryable } from '../db/index.ts';
import type { Clock, Log } from '../telemetry/index.ts';
import type { Authenticator } from './authenticator.ts';
import { ensureSessionKey } from './secrets.ts';

/** Makes one, with the key all API processes on a database share. */
export async function createAuthenticator(options: {
  db: Queryable;
  clock: Clock;
  log: Log;
  config: Config;
}): Promise<Authenticator> {
  // At the start, so that the first sign-in link can be claimed before anybody has signed in.
  await ensureSessionKey(options.db);
  // Loaded here: commands make tokens and links without the library that reads JWTs.
  const { Authenticator } = await import('./authenticator.ts');
  return new Authenticator(options);
}
