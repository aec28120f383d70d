import type { Command } from 'commander';
import { databaseOptions, type LoadedConfig, loadConfig } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import { AppError, EXIT } from '../errors/index.ts';
import { createLog, type Log } from '../telemetry/index.ts';
import { packageVersion } from './version.ts';

/** Flags every command has. */
export type GlobalFlags = {
  config?: string;
  data?: string;
  json?: boolean;
  logLevel?: string;
  server?: string;
  token?: string;
};

/** What a command works with. */
export type Context = {
  loaded: LoadedConfig;
  flags: GlobalFlags;
  log: Log;
  version: string;
  /** The command as a person types it, without its arguments. */
  name: string;
  /** The API that commands work with; null: the database. */
  server: string | null;
};

// Its processes, its files, its database: that some other command works with a server does not concern these.
const ownMachine = new Set(['up', 'serve', 'fetch', 'schedule', 'demo', 'run', 'extract', 'db', 'migrate']);
for (const name of ['scale', 'config', 'doctor', 'health', 'completion', 'backup', 'restore'])
  ownMachine.add(name);

/** Whether a command is about this machine and can be sent to no server. */
export const isAboutThisMachine = (command: Command): boolean =>
  ownMachine.has(nameOf(command).split(' ')[1] ?? '');

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
  'cli.server': '--server',
  'cli.token': '--token',
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
      ...(flags.server === undefined ? {} : { 'cli.server': flags.server }),
      ...(flags.token === undefined ? {} : { 'cli.token': flags.token }),
      ...given,
    },
  });
  const { level, format } = loaded.config.log;
  const log = createLog({ level, format, ...(role === undefined ? {} : { base: { role } }) });
  return {
    loaded,
    flags,
    log,
    version: packageVersion(),
    name: nameOf(command),
    server: isAboutThisMachine(command) ? null : loaded.config.cli.server,
  };
}

/** "outrider docs list": a command with those it belongs to. */
export function nameOf(command: Command): string {
  const words: string[] = [];
  for (let one: Command | null = command; one !== null; one = one.parent) words.unshift(one.name());
  return words.join(' ');
}

/**
 * Runs a short command against the database and closes it again. Its log is quiet: the command speaks for itself. Where
 * an API is named it refuses: the command would silently work on another database than the one that was meant.
 */
export async function withDatabase<T>(
  context: Context,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  if (context.server !== null) throw localOnly(context.name, context.server);
  const database = await openQuietly(context);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Opens the database for a short command. Loaded when it is needed: work with a server needs no driver. */
export async function openQuietly(context: Context): Promise<Database> {
  const { config } = context.loaded;
  const { openDatabase } = await import('../db/index.ts');
  return openDatabase({
    ...databaseOptions(config),
    maxConnections: 2,
    applicationName: 'outrider cli',
    log: quietLog(context),
  });
}

/** A log for what must not be missed. */
export const quietLog = ({ flags, loaded }: Context): Log =>
  createLog({ level: flags.logLevel ?? 'warn', format: loaded.config.log.format });

/** What is said of a command that works on this machine only. */
export function localOnly(name: string, server: string): AppError {
  return new AppError('local_only', `"${name}" works on this machine and cannot be sent to ${server}`, {
    exitCode: EXIT.usage,
    advice: `Leave out --server and unset OUTRIDER_SERVER, or run it on the machine of that server.`,
  });
}
