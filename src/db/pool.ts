import pg from 'pg';
import { isConnectionLost } from './connection-errors.ts';
import type { Queryable } from './queryable.ts';

const int8 = 20;
const int8Array = 1016;

const textArray = 1009;

const parseTextArray = pg.types.getTypeParser(textArray as 25) as unknown as (
  text: string,
) => (string | null)[];

// Ids are 64-bit hashes: a number would round them silently. Set per pool, since pg.types is global to the process.
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === int8 && format !== 'binary') return (text: string) => BigInt(text);
    if (oid === int8Array && format !== 'binary')
      return (text: string) => parseTextArray(text).map((item) => (item === null ? null : BigInt(item)));
    return pg.types.getTypeParser(oid as 16, format as 'text');
  }) as typeof pg.types.getTypeParser,
};

/** A statement that waits longer for a lock than this is stuck behind something a person must look at. */
const lockTimeoutMs = 3_000;
/** Our transactions never wait for the network: one that idles belongs to a frozen process and holds others up. */
const idleInTransactionMs = 10_000;

const sessionOptions = `-c lock_timeout=${lockTimeoutMs} -c idle_in_transaction_session_timeout=${idleInTransactionMs}`;
const beginWithLimits = `BEGIN; SET LOCAL lock_timeout = ${lockTimeoutMs}; SET LOCAL idle_in_transaction_session_timeout = ${idleInTransactionMs}`;

/** What every pool of ours has, wherever the server is. */
export function poolSettings(options: {
  applicationName?: string | undefined;
  maxConnections?: number | undefined;
  /** PgBouncer refuses startup options; the limits then hold inside withTransaction only. */
  sessionLimits: boolean;
}): pg.PoolConfig {
  return {
    application_name: options.applicationName ?? 'outrider',
    max: options.maxConnections ?? 10,
    types,
    idleTimeoutMillis: 30_000,
    // Longer than a restart of the server takes, so that callers wait through one instead of failing.
    connectionTimeoutMillis: 15_000,
    keepAlive: true,
    ...(options.sessionLimits ? { options: sessionOptions } : {}),
  };
}

/**
 * Keeps lost connections from ending the process: an idle one is reported here, and one that is checked out but
 * between two statements has no other listener (its next statement fails, which is report enough).
 */
export function tameErrors(pool: pg.Pool, onIdleError: (error: Error) => void): void {
  pool.on('error', onIdleError);
  pool.on('connect', (client) => client.on('error', () => undefined));
}

/** A pool that brings its server back: a lost server is started again before the connection is given up. */
export class RevivingPool extends pg.Pool {
  #revive: () => Promise<void>;

  constructor(settings: pg.PoolConfig, revive: () => Promise<void>, onError: (error: Error) => void) {
    super(settings);
    this.#revive = revive;
    tameErrors(this, onError);
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(
    callback: (
      error: Error | undefined,
      client: pg.PoolClient | undefined,
      done: (release?: unknown) => void,
    ) => void,
  ): void;
  override connect(
    callback?: (
      error: Error | undefined,
      client: pg.PoolClient | undefined,
      done: (release?: unknown) => void,
    ) => void,
  ): Promise<pg.PoolClient> | undefined {
    const attempt = this.#connectOrRevive();
    if (callback === undefined) return attempt;
    attempt.then(
      (client) =>
        setImmediate(() =>
          callback(undefined, client, (release) => client.release(release as Error | boolean)),
        ),
      (error: Error) => setImmediate(() => callback(error, undefined, () => undefined)),
    );
    return undefined;
  }

  async #connectOrRevive(): Promise<pg.PoolClient> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await super.connect();
      } catch (error) {
        if (attempt === 3 || this.ending || !isConnectionLost(error)) throw error;
        await this.#revive();
      }
    }
  }
}

/** Runs statements in one transaction with our limits; they travel with BEGIN, so they cost no round trip. */
export async function withTransaction<T>(pool: pg.Pool, fn: (tx: Queryable) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // The connection may die between two statements, when nobody awaits it.
  const onError = (error: Error): void => {
    broken = error;
  };
  client.on('error', onError);
  try {
    await client.query(beginWithLimits);
    const result = await fn(client as Queryable);
    const end = await client.query('COMMIT');
    // A statement failed and its error was swallowed by fn: the server then answers COMMIT with ROLLBACK.
    if (end.command === 'ROLLBACK')
      throw new Error('the transaction was rolled back because a statement in it had failed');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    throw error;
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
}
