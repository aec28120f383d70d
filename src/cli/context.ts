import type { Command } from 'commander';
import { databaseOptions, type LoadedConfig, loadConfig } from '../config/index.ts';
import { type Database, openDatabase } from '../db/index.ts';
import { createLog, type Log } from '../telemetry/index.ts';
import { packageVersion } from './version.ts';

/** Flags every command has. */
export type GlobalFlags = { config?: string; data?: string; json?: boolean; logLevel?: string };

/** What a command works with. */
export type Context = { loaded: LoadedConfig; flags: GlobalFlags; log: Log; version: string };

// What a person typed, so that a complaint about a value names the flag and not a key of a file that may not exist.
const flagNames: Readonly<Record<string, string>> = {
  'data.dir': '--data',
  'log.level': '--log-level',
  'api.port': '--port',
  'up.fetchers': '--fetchers',
  'fetch.pool': '--pool',
  'fetch.domains_at_once': '--concurrency',
  'fetch.default_delay_ms': '--delay-ms',
  'fetch.allow_networks': '--allow-network',
};

/** Reads the configuration with the command's flags on top. */
export function loadContext(
  command: Command,
  overrides: Record<string, unknown> = {},
  role?: string,
): Context {
  const flags = command.optsWithGlobals<GlobalFlags>();
  const given = Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined));
  const loaded = loadConfig({
    ...(flags.config === undefined ? {} : { file: flags.config }),
    flagNames,
    overrides: {
      ...(flags.data === undefined ? {} : { 'data.dir': flags.data }),
      ...(flags.logLevel === undefined ? {} : { 'log.level': flags.logLevel }),
      ...given,
    },
  });
  const { level, format } = loaded.config.log;
  const log = createLog({ level, format, ...(role === undefined ? {} : { base: { role } }) });
  return { loaded, flags, log, version: packageVersion() };
}

/** Runs a short command against the database and closes it again. Its log is quiet: the command speaks for itself. */
export async function withDatabase<T>(
  context: Context,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const quiet = createLog({
    level: context.flags.logLevel ?? 'warn',
    format: context.loaded.config.log.format,
  });
  const database = await openDatabase({
    ...databaseOptions(context.loaded.config),
    maxConnections: 2,
    applicationName: 'outrider cli',
    log: quiet,
  });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
