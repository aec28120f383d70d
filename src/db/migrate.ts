import { AppError, EXIT, messageOf } from '../errors/index.ts';
import { isForbidden } from './connection-errors.ts';
import { type FunctionSet, loadFunctions, loadMigrations, type Migration } from './migration-files.ts';
import type { DatabaseLog, Queryable } from './queryable.ts';
import { silentLog } from './queryable.ts';

/** Name of the lock around a migration; any constant does ("outrider" in ASCII, halved to fit). */
const lockKey = '4015726772614214329';

/** Where to migrate to and whether to only say so. */
export type MigrateOptions = {
  /** Target version, up or down; the newest unless said. */
  to?: number | undefined;
  dryRun?: boolean | undefined;
  migrationsDir?: string | undefined;
  log?: DatabaseLog | undefined;
};

/** What was done (or, in a dry run, would be). */
export type MigrateResult = {
  from: number;
  to: number;
  applied: number[];
  reverted: number[];
  dryRun: boolean;
};

/** One line of `outrider migrate --status`. */
export type MigrationStatus = {
  version: number;
  name: string;
  appliedAt: Date | undefined;
  changed: boolean;
};

/** A pool, or a single connection: a migration needs several statements in one transaction. */
export type Connectable = Queryable & { connect(): Promise<Queryable & { release(error?: Error): void }> };

type AppliedRow = { version: number; name: string; checksum: string; applied_at: Date };
type Step = { direction: 'up' | 'down'; migration: Migration };

/** Brings the schema to a version, each step in a transaction of its own; safe when many processes start at once. */
export async function migrate(pool: Connectable, options: MigrateOptions = {}): Promise<MigrateResult> {
  const migrations = loadMigrations(options.migrationsDir);
  const functions = loadFunctions(options.migrationsDir);
  const target = decideTarget(migrations, options.to);
  const log = options.log ?? silentLog;
  // The usual start: nothing to do, and no lock and no right to change tables is needed to see it.
  const before = await loadApplied(pool);
  checkApplied(before, migrations);
  const result: MigrateResult = {
    from: before.length,
    to: target,
    applied: [],
    reverted: [],
    dryRun: options.dryRun ?? false,
  };
  if (options.dryRun) {
    for (let at = before.length; at !== target; ) {
      const step = decideStep(migrations, at, target);
      if (!step) break;
      (step.direction === 'up' ? result.applied : result.reverted).push(step.migration.version);
      at += step.direction === 'up' ? 1 : -1;
    }
    return result;
  }
  const isNewest = target === migrations.length;
  const stale =
    isNewest && functions !== null && (await loadInstalled(pool))?.checksum !== functions.checksum;
  for (let at = before.length; at !== target || stale; ) {
    const step = await runStep(pool, migrations, functions, target);
    if (!step) break;
    const { direction, migration } = step;
    (direction === 'up' ? result.applied : result.reverted).push(migration.version);
    at = direction === 'up' ? migration.version : migration.version - 1;
    log.info({ version: migration.version, name: migration.name, direction }, 'migrated the database');
  }
  return result;
}

/** All migrations known to this program, and when the database got them. */
export async function migrationStatus(
  db: Queryable,
  options: { migrationsDir?: string | undefined } = {},
): Promise<MigrationStatus[]> {
  const applied = new Map((await loadApplied(db)).map((row) => [row.version, row]));
  const known = loadMigrations(options.migrationsDir);
  const unknown = [...applied.values()].filter((row) => row.version > known.length);
  return [
    ...known.map(({ version, name, checksum }) => {
      const row = applied.get(version);
      return {
        version,
        name,
        appliedAt: row?.applied_at,
        changed: row !== undefined && row.checksum !== checksum,
      };
    }),
    ...unknown.map((row) => ({
      version: row.version,
      name: row.name,
      appliedAt: row.applied_at,
      changed: false,
    })),
  ];
}

function decideTarget(migrations: Migration[], to: number | undefined): number {
  if (to === undefined) return migrations.length;
  if (Number.isInteger(to) && to >= 0 && to <= migrations.length) return to;
  throw new AppError('db_no_such_version', `There is no schema version ${to}.`, {
    exitCode: EXIT.usage,
    httpStatus: 400,
    advice: `Name a version from 0 (empty) to ${migrations.length}.`,
  });
}

function decideStep(migrations: Migration[], at: number, target: number): Step | undefined {
  const up = migrations[at];
  const down = migrations[at - 1];
  if (at < target && up) return { direction: 'up', migration: up };
  if (at > target && down) return { direction: 'down', migration: down };
  return undefined;
}

async function loadApplied(db: Queryable): Promise<AppliedRow[]> {
  const { rows: exists } = await db.query<{ found: boolean }>(
    `SELECT to_regclass('schema_migrations') IS NOT NULL AS found`,
  );
  if (!exists[0]?.found) return [];
  const { rows } = await db.query<AppliedRow>(
    'SELECT version, name, checksum, applied_at FROM schema_migrations ORDER BY version',
  );
  return rows;
}

/** The schema version a database has; 0 for an empty one. */
export async function loadSchemaVersion(db: Queryable): Promise<number> {
  return (await loadApplied(db)).at(-1)?.version ?? 0;
}

/** Throws where the schema is not one that this program knows; an older one is well, and nothing is changed. */
export async function refuseUnknownSchema(db: Queryable, migrationsDir?: string): Promise<void> {
  checkApplied(await loadApplied(db), loadMigrations(migrationsDir));
}

function checkApplied(applied: AppliedRow[], migrations: Migration[]): void {
  const newest = applied.at(-1)?.version ?? 0;
  if (newest > migrations.length)
    throw new AppError(
      'db_newer_schema',
      `The database has schema version ${newest}; this program knows ${migrations.length}.`,
      {
        exitCode: EXIT.database,
        httpStatus: 503,
        advice: `Use the newer Outrider that made it, or with that one run: outrider migrate --to ${migrations.length}`,
      },
    );
  for (const row of applied) {
    const migration = migrations[row.version - 1];
    if (migration?.checksum === row.checksum) continue;
    throw new AppError(
      'db_changed_migration',
      `Migration ${row.version} (${row.name}) is not the one this database was built with.`,
      {
        exitCode: EXIT.database,
        httpStatus: 503,
        advice:
          'Released migrations never change: install the matching version, or export, reset and import the data.',
      },
    );
  }
}

// The lock lasts for the transaction, not the session: behind PgBouncer in transaction mode a session is nobody's.
// Every process runs this loop; whoever waited for the lock finds the step done and goes on with the next.
async function runStep(
  pool: Connectable,
  migrations: Migration[],
  functions: FunctionSet | null,
  target: number,
): Promise<Step | undefined> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    // Waiting for another process's migration is not being stuck: more patience than the pool's own limit.
    await client.query(`BEGIN; SET LOCAL lock_timeout = '10min'; SELECT pg_advisory_xact_lock(${lockKey})`);
    await client.query(
      `CREATE TABLE IF NOT EXISTS schema_migrations (
         version int PRIMARY KEY CHECK (version > 0),
         name text NOT NULL,
         checksum text NOT NULL,
         applied_at timestamptz NOT NULL DEFAULT now())`,
    );
    const applied = await loadApplied(client);
    checkApplied(applied, migrations);
    const step = decideStep(migrations, applied.length, target);
    if (step) {
      // Functions belong to the newest schema only: they go before a table they speak of changes.
      await dropFunctions(client);
      await applyStep(client, step);
    } else if (applied.length === migrations.length && functions !== null) {
      await replaceFunctions(client, functions);
    }
    await client.query('COMMIT');
    return step;
  } catch (error) {
    await client.query('ROLLBACK').catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    // Whoever asked for another version than the newest hears what may not be done.
    throw (target === migrations.length ? notAllowed(error) : undefined) ?? error;
  } finally {
    client.release(broken);
  }
}

// A role with fewer rights, as fetchers have, meets a database that is older than its program.
function notAllowed(error: unknown): AppError | undefined {
  if (!isForbidden(error)) return undefined;
  return new AppError(
    'db_migration_rights',
    'The schema is older than this program, and this role may not change it.',
    {
      exitCode: EXIT.database,
      advice:
        'Run "outrider migrate" once with the role that owns the tables, or start serve or schedule first.',
      cause: error,
    },
  );
}

async function applyStep(db: Queryable, { direction, migration }: Step): Promise<void> {
  try {
    // Tables in use are waited for, but not for ever: a queue behind our lock would stop every reader.
    await db.query(`SET LOCAL lock_timeout = '30s'`);
    await db.query(migration[direction]);
  } catch (cause) {
    throw new AppError(
      'db_migration_failed',
      `Migration ${migration.version} (${migration.name}, ${direction}) failed: ${messageOf(cause)}`,
      {
        exitCode: EXIT.database,
        advice: 'Nothing of it was kept. Run it again, or report the message.',
        cause,
      },
    );
  }
  if (direction === 'down')
    await db.query('DELETE FROM schema_migrations WHERE version = $1', [migration.version]);
  else
    await db.query('INSERT INTO schema_migrations (version, name, checksum) VALUES ($1, $2, $3)', [
      migration.version,
      migration.name,
      migration.checksum,
    ]);
}

type Installed = { checksum: string; functions: string[]; types: string[] };

async function loadInstalled(db: Queryable): Promise<Installed | undefined> {
  const { rows: exists } = await db.query<{ found: boolean }>(
    `SELECT to_regclass('schema_functions') IS NOT NULL AS found`,
  );
  if (!exists[0]?.found) return undefined;
  return (await db.query<Installed>('SELECT checksum, functions, types FROM schema_functions')).rows[0];
}

// By the names that were written down when they were made: a function that is no longer in the files goes too.
async function dropFunctions(db: Queryable): Promise<void> {
  const installed = await loadInstalled(db);
  if (installed === undefined) return;
  if (installed.functions.length > 0)
    await db.query(`DROP FUNCTION IF EXISTS ${installed.functions.join(', ')}`);
  if (installed.types.length > 0) await db.query(`DROP TYPE IF EXISTS ${installed.types.join(', ')}`);
  await db.query('DROP TABLE schema_functions');
}

async function replaceFunctions(db: Queryable, set: FunctionSet): Promise<void> {
  if ((await loadInstalled(db))?.checksum === set.checksum) return;
  await dropFunctions(db);
  // The files stand in any order: bodies are checked when all are there, by the first call and by the tests.
  await db.query(`SET LOCAL check_function_bodies = off; ${set.sql}`);
  await db.query(
    `CREATE TABLE schema_functions AS SELECT $1::text AS checksum, $2::text[] AS functions, $3::text[] AS types, now() AS applied_at`,
    [set.checksum, set.functions, set.types],
  );
  // Roles with fewer rights look whether the schema is theirs, and get what is new in it.
  await db.query('GRANT SELECT ON schema_functions TO PUBLIC');
  await db.query(
    `DO $$ BEGIN IF to_regprocedure('fetcher_regrant()') IS NOT NULL THEN PERFORM fetcher_regrant(); END IF; END $$`,
  );
}
