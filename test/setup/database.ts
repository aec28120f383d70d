import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { attachServer } from '../../src/db/embedded/index.ts';
import { type Database, openDatabase } from '../../src/db/index.ts';
import { loadFunctions, loadMigrations } from '../../src/db/migration-files.ts';
import { saveLeaseMode } from '../../src/frontier/index.ts';
import { dataDirVariable } from './global.ts';

/** A database of its own for one test file. */
export type TestDatabase = { url: string; db: Database; pool: pg.Pool; drop(): Promise<void> };

/** How the database is made. */
export type TestDatabaseOptions = {
  migrationsDir?: string;
  /** An empty database instead of a migrated one. */
  empty?: boolean;
  maxConnections?: number;
};

/**
 * How leases are taken in the databases of this run, unless a test says otherwise: `npm run test:buckets` runs the tests
 * of the frontier and the crawls a second time with `bucket`.
 */
export const testLeaseMode = process.env.OUTRIDER_TEST_LEASE_MODE === 'bucket' ? 'bucket' : 'single';

type TestServer = { urlOf(name: string): string; admin: pg.Client };

let server: Promise<TestServer> | undefined;

// One connection per test process. The server itself stays up for the whole run; global.ts ends it.
async function connectServer(): Promise<TestServer> {
  const given = process.env.TEST_DATABASE_URL;
  let urlOf = (name: string): string => withDatabase(given ?? '', name);
  if (!given) {
    const dataDir = process.env[dataDirVariable];
    if (!dataDir) throw new Error('test/setup/global.ts did not run: start the tests with vitest');
    const embedded = attachServer({ dataDir, durable: false });
    await embedded.ensureRunning();
    const { host, user } = embedded.address();
    urlOf = (name) => `postgresql://${user}@localhost/${name}?host=${encodeURIComponent(host)}`;
  }
  const admin = new pg.Client({ connectionString: given ?? urlOf('postgres') });
  await admin.connect();
  return { urlOf, admin };
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

/** Clones a migrated template: a test file gets its own database in about a tenth of a second. */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  server ??= connectServer();
  const { urlOf, admin } = await server;
  const template = options.empty ? 'template1' : await ensureTemplate(await server, options.migrationsDir);
  const name = `outrider_test_${randomBytes(6).toString('hex')}`;
  // Copied as files: writing it all to the log as well takes three times as long.
  await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
  const url = urlOf(name);
  const db = await openDatabase({
    databaseUrl: url,
    migrate: false,
    applicationName: 'test',
    maxConnections: options.maxConnections ?? 10,
  });
  return {
    url,
    db,
    pool: db.pool,
    drop: async () => {
      await db.close();
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

// The template's name says what is in it, so a server that is given (TEST_DATABASE_URL) never serves an old one.
async function ensureTemplate({ urlOf, admin }: TestServer, migrationsDir?: string): Promise<string> {
  const contents = [
    ...loadMigrations(migrationsDir).map((migration) => migration.checksum),
    loadFunctions(migrationsDir)?.checksum,
    ...(testLeaseMode === 'single' ? [] : [testLeaseMode]),
  ];
  const name = `outrider_template_${createHash('sha256').update(contents.join()).digest('hex').slice(0, 16)}`;
  const lock = BigInt.asIntN(64, BigInt(`0x${createHash('sha256').update(name).digest('hex').slice(0, 16)}`));
  // Session lock: CREATE DATABASE cannot run in a transaction. Nobody else may connect while it is copied.
  await admin.query('SET lock_timeout = 0');
  await admin.query('SELECT pg_advisory_lock($1)', [lock.toString()]);
  try {
    const ready = await admin.query('SELECT FROM pg_database WHERE datname = $1 AND datistemplate', [name]);
    if (ready.rowCount === 0) {
      // Left half made by an interrupted run.
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await admin.query(`CREATE DATABASE ${name}`);
      const db = await openDatabase({
        databaseUrl: urlOf(name),
        ...(migrationsDir ? { migrationsDir } : {}),
      });
      if (testLeaseMode === 'bucket' && !migrationsDir) await saveLeaseMode(db.pool, 'bucket', 'test');
      await db.close();
      await admin.query(`ALTER DATABASE ${name} IS_TEMPLATE true ALLOW_CONNECTIONS false`);
    }
    return name;
  } finally {
    await admin.query('SELECT pg_advisory_unlock($1)', [lock.toString()]);
  }
}
