import pg from 'pg';
import { AppError, EXIT } from '../errors/index.ts';
import { describeTarget, isConnectionLost, unreachable } from './connection-errors.ts';
import { attachServer, defaultDataDir, type EmbeddedServer, watchServer } from './embedded/index.ts';
import { migrate } from './migrate.ts';
import { poolSettings, RevivingPool, tameErrors, withTransaction } from './pool.ts';
import { type Database, type DatabaseLog, type Queryable, silentLog } from './queryable.ts';
import { watchSilence } from './silence.ts';

/** How to open a database: an address, or a data directory with a server in it. */
export type OpenOptions = {
  /** An external PostgreSQL; nothing embedded is started then. */
  databaseUrl?: string | undefined;
  /** The same database past a pooler, for migrations and for hearing of new work. */
  directUrl?: string | undefined;
  dataDir?: string | undefined;
  applicationName?: string | undefined;
  maxConnections?: number | undefined;
  /** Bring the schema up to date first; true unless said. */
  migrate?: boolean | undefined;
  migrationsDir?: string | undefined;
  log?: DatabaseLog | undefined;
  /** False makes a new embedded cluster without fsync: for tests only. */
  durable?: boolean | undefined;
  /** Database on the embedded server; tests have many. */
  databaseName?: string | undefined;
  /** After how long without an answer the server is asked whether it is at work; for tests. */
  silentMs?: number | undefined;
};

const oldestServer = 150_000;

/** Opens the database, starting or joining the embedded server unless an address is given. */
export async function openDatabase(options: OpenOptions = {}): Promise<Database> {
  const database = options.databaseUrl
    ? await openExternal(options.databaseUrl, options)
    : await openEmbedded(options);
  try {
    if (options.migrate !== false) await throughLosses(() => migrateOpened(database, options));
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

// Past a pooler where there is a way: its time limits are made for short statements, and a migration is none.
async function migrateOpened(database: Database, options: OpenOptions): Promise<void> {
  const { migrationsDir, log } = options;
  if (database.directConnectionString === database.connectionString) {
    await migrate(database.pool, { migrationsDir, log });
    return;
  }
  const direct = await connectExternal(database.directConnectionString, { ...options, maxConnections: 1 });
  try {
    await migrate(direct, { migrationsDir, log });
  } finally {
    await direct.end();
  }
}

// Opening happens while others crash and restart the server. Each step can be repeated, so a lost connection is not
// yet a failure.
async function throughLosses<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (attempt === 5 || !isConnectionLost(error)) throw error;
    }
  }
}

async function openExternal(url: string, options: OpenOptions): Promise<Database> {
  const log = options.log ?? silentLog;
  const pool = await connectExternal(url, options);
  const { rows } = await pool.query<{ version: number; ssl: boolean }>(
    `SELECT current_setting('server_version_num')::int AS version,
            coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false)
              OR inet_server_addr() IS NULL OR inet_server_addr() <<= '127.0.0.0/8' OR inet_server_addr() = '::1' AS ssl`,
  );
  const version = rows[0]?.version ?? 0;
  if (version < oldestServer) {
    await pool.end();
    throw new AppError(
      'db_too_old',
      `The server at ${describeTarget(url)} is PostgreSQL ${Math.floor(version / 10_000)}.`,
      { exitCode: EXIT.database, advice: 'Outrider needs PostgreSQL 15 or newer.' },
    );
  }
  if (rows[0]?.ssl === false)
    log.warn({ target: describeTarget(url) }, 'the connection to the database is not encrypted; see sslmode');
  return {
    pool,
    connectionString: withPlainMode(url),
    directConnectionString: withPlainMode(options.directUrl ?? url),
    embedded: false,
    withTransaction: (fn) => withTransaction(pool, fn),
    ensureRunning: async () => undefined,
    close: () => pool.end(),
  };
}

/**
 * The address with the mode that is kept in any case: the driver checks certificate and name for `prefer`, `require` and
 * `verify-ca` too, and says so in a page of warning with every command.
 */
function withPlainMode(url: string): string {
  if (/[?&]uselibpqcompat=/.test(url)) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/g, '$1verify-full');
}

async function connectExternal(url: string, options: OpenOptions): Promise<pg.Pool> {
  const log = options.log ?? silentLog;
  for (const sessionLimits of [true, false]) {
    let pool: pg.Pool | undefined;
    try {
      const settings = {
        connectionString: withPlainMode(url),
        ...poolSettings({ ...options, sessionLimits }),
      };
      pool = new pg.Pool(settings);
      tameErrors(pool, (error) => log.warn({ err: error }, 'an idle database connection was lost'));
      watchSilence(pool, { settings, silentMs: options.silentMs, log });
      await pool.query('SELECT 1');
      return pool;
    } catch (error) {
      await pool?.end();
      const refusedOptions = error instanceof Error && /unsupported startup parameter/.test(error.message);
      if (!(sessionLimits && refusedOptions)) throw unreachable(url, error);
    }
  }
  throw unreachable(url, undefined);
}

async function openEmbedded(options: OpenOptions): Promise<Database> {
  const log = options.log ?? silentLog;
  const dataDir = options.dataDir ?? defaultDataDir();
  const server = attachServer({ dataDir, durable: options.durable ?? true });
  try {
    const startedAt = performance.now();
    const databaseName = options.databaseName ?? 'outrider';
    let started = false;
    await throughLosses(async () => {
      started = (await server.ensureRunning()) || started;
      await ensureDatabase(server, databaseName);
    });
    // Whoever only joins has nothing to tell.
    if (started)
      log.info(
        { dataDir, tookMs: Math.round(performance.now() - startedAt) },
        'embedded PostgreSQL was started',
      );
    return embeddedDatabase(server, { ...options, dataDir, databaseName, log });
  } catch (error) {
    await server.release();
    throw error;
  }
}

function embeddedDatabase(
  server: EmbeddedServer,
  options: OpenOptions & { dataDir: string; databaseName: string; log: DatabaseLog },
): Database {
  const { log, dataDir } = options;
  const address = server.address();
  let closing: Promise<void> | undefined;
  // A connection that is on its way out may hear that the server is stopped before its own goodbye is through.
  const onError = (error: unknown): void => {
    if (closing === undefined) log.warn({ err: error }, 'the embedded server was lost');
  };
  const revive = async (): Promise<void> => {
    log.warn({ dataDir }, 'the embedded server does not answer, starting it again');
    await server.ensureRunning();
  };
  const settings = {
    ...address,
    database: options.databaseName,
    ...poolSettings({ ...options, sessionLimits: true }),
  };
  const pool = new RevivingPool(settings, revive, onError);
  watchSilence(pool, { settings, silentMs: options.silentMs, log });
  const stopWatching = watchServer(server, { dataDir, onError });
  const connectionString = connectionStringOf(address, options.databaseName);
  return {
    pool,
    connectionString,
    directConnectionString: connectionString,
    embedded: true,
    withTransaction: (fn) => withTransaction(pool, fn),
    ensureRunning: async () => void (await server.ensureRunning()),
    close: () => {
      stopWatching();
      closing ??= pool.end().then(() => server.release());
      return closing;
    },
  };
}

/** A connection string for a server on a socket; the host parameter wins over the name in the middle. */
export function connectionStringOf(address: { host: string; user: string }, databaseName: string): string {
  return `postgresql://${address.user}@localhost/${databaseName}?host=${encodeURIComponent(address.host)}`;
}

async function ensureDatabase(server: EmbeddedServer, name: string): Promise<void> {
  const client = new pg.Client({ ...server.address(), database: 'postgres' });
  // Reported by the statement that meets it; without a listener it would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const found = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    if (found.rowCount === 0) await createDatabase(client as Queryable, name);
  } finally {
    await client.end();
  }
}

async function createDatabase(db: Queryable, name: string): Promise<void> {
  try {
    await db.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
  } catch (error) {
    // Two processes at once: 42P04 is "exists", 23505 the same seen a moment earlier.
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (isConnectionLost(error) || (code !== '42P04' && code !== '23505')) throw error;
  }
}
