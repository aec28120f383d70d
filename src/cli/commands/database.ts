import type { Command } from 'commander';
import { databaseOptions } from '../../config/index.ts';
import {
  checkStepBack,
  countWorking,
  databaseInUse,
  exportDatabase,
  grantFetcher,
  importDatabase,
  migrate,
  migrationStatus,
  openDatabase,
} from '../../db/index.ts';
import { AppError, EXIT } from '../../errors/index.ts';
import { type Context, loadContext, withDatabase } from '../context.ts';
import { count } from '../numbers.ts';
import { operatorName } from '../operator.ts';
import { printJson, printTable, relativeTime } from '../output.ts';

/** `db export|import|grant-fetcher`, `migrate`. */
export function addDatabaseCommands(program: Command): void {
  const db = program.command('db').description('move everything to another PostgreSQL and back');
  db.command('export <file>')
    .description('write everything into one file, while the engine goes on working')
    .action(async (file: string, _flags: object, command: Command) => {
      const context = loadContext(command);
      const result = await withDatabase(context, ({ pool }) =>
        exportDatabase(pool, file, { onTable: progress(context) }),
      );
      if (context.flags.json) return printJson(result);
      process.stdout.write(
        `Exported ${count(result.rows, 'row')} of ${count(result.tables, 'table')} to ${file}.\n`,
      );
    });
  db.command('import <file>')
    .description('read an export into this database, all or nothing')
    .option('--force', 'replace what the database holds')
    .action(async (file: string, flags: { force?: boolean }, command: Command) => {
      const context = loadContext(command);
      // The export brings its own schema version, so nothing is migrated before it is read.
      const database = await openDatabase({
        ...databaseOptions(context.loaded.config),
        maxConnections: 2,
        migrate: false,
        applicationName: 'outrider import',
      });
      try {
        const working = await countWorking(database.pool);
        if (working > 0) throw databaseInUse(working);
        const result = await importDatabase(database.pool, file, {
          force: flags.force,
          onTable: progress(context),
        });
        if (context.flags.json) return printJson(result);
        process.stdout.write(
          `Imported ${count(result.rows, 'row')} of ${count(result.tables, 'table')} from ${file}.\n`,
        );
      } finally {
        await database.close();
      }
    });
  db.command('grant-fetcher <role>')
    .description(
      'make a role of the database for fetchers: it sees no tokens or secrets and changes no settings',
    )
    .action(async (role: string, _flags: object, command: Command) => {
      const context = loadContext(command);
      const isNew = await withDatabase(context, (database) => grantFetcher(database, role, operatorName()));
      if (context.flags.json) return printJson({ role, created: isNew });
      process.stdout.write(
        isNew
          ? `Made the role ${role}. Give it a password (ALTER ROLE … PASSWORD '…') and fetchers an address with it.\n`
          : `The role ${role} has what a fetcher needs and nothing else.\n`,
      );
    });
  program
    .command('migrate')
    .description('bring the schema of the database up to date (every start does this by itself)')
    .option('--status', 'list migrations and when they were applied')
    .option('--dry-run', 'say what would be done')
    .option('--to <n>', 'go to this version, up or down; down only while no role runs')
    .option('--force', 'go down also where that drops documents, URLs or sources')
    .action(async (flags: MigrateFlags, command: Command) => runMigrate(loadContext(command), flags));
}

const progress =
  (context: Context) =>
  (table: string, rows: number): void => {
    if (process.stderr.isTTY && !context.flags.json && rows > 0)
      process.stderr.write(`${table}: ${rows} rows\n`);
  };

type MigrateFlags = { status?: boolean; dryRun?: boolean; to?: string; force?: boolean };

async function runMigrate(context: Context, flags: MigrateFlags): Promise<void> {
  // In digits: an empty word, as of a variable of a script that is not set, is no wish for version 0.
  if (flags.to !== undefined && !/^\d{1,9}$/.test(flags.to))
    throw new AppError('usage', `--to takes a version number, not "${flags.to}"`, { exitCode: EXIT.usage });
  const to = flags.to === undefined ? undefined : Number(flags.to);
  const beside = (['dryRun', 'to', 'force'] as const).find(
    (name) => flags.status && flags[name] !== undefined,
  );
  if (beside !== undefined)
    throw new AppError(
      'usage',
      `--status only looks, and takes no --${beside === 'dryRun' ? 'dry-run' : beside}`,
      {
        exitCode: EXIT.usage,
        advice: 'What a step would do says: outrider migrate --dry-run --to N',
      },
    );
  const database = await openDatabase({
    ...databaseOptions(context.loaded.config),
    maxConnections: 2,
    migrate: false,
    applicationName: 'outrider migrate',
  });
  try {
    if (flags.status) {
      const status = await migrationStatus(database.pool);
      if (context.flags.json) return printJson(status);
      printTable(status, [
        { title: 'VERSION', value: (row) => String(row.version), align: 'right' },
        { title: 'NAME', value: (row) => row.name },
        {
          title: 'APPLIED',
          value: (row) => (row.appliedAt ? relativeTime(row.appliedAt) : 'not yet'),
        },
      ]);
      return;
    }
    if (to !== undefined && !flags.dryRun)
      await checkStepBack(database.pool, { to, force: flags.force ?? false });
    const result = await migrate(database.pool, {
      ...(to === undefined ? {} : { to }),
      dryRun: flags.dryRun ?? false,
    });
    if (context.flags.json) return printJson(result);
    const steps = [
      ...result.applied.map((one) => `+${one}`),
      ...result.reverted.map((one) => `-${one}`),
    ].join(' ');
    process.stdout.write(
      steps === ''
        ? `The schema is at version ${result.to}; nothing to do.\n`
        : `${result.dryRun ? 'Would apply' : 'Applied'}: ${steps}\n`,
    );
  } finally {
    await database.close();
  }
}
