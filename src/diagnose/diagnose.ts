import type { Config } from '../config/index.ts';
import { type Database, isForbidden } from '../db/index.ts';
import { type AppError, messageOf } from '../errors/index.ts';
import { checkBrowser } from './browser.ts';
import { type Check, type CheckResult, type Finding, fail, ok, runCheck } from './check.ts';
import {
  checkLoops,
  checkOutage,
  checkRestarts,
  checkSinks,
  checkSwitches,
  checkWorkers,
} from './engine-state.ts';
import { checkJobs } from './jobs.ts';
import { checkContact, checkFolder, checkNames, checkNode, checkPort, foldersOf } from './machine.ts';
import { checkScale } from './scale.ts';
import { checkSelectors } from './selectors.ts';
import {
  checkClock,
  checkCollation,
  checkConnections,
  checkPartitions,
  checkPooler,
  checkSchema,
  checkServer,
  checkServerSettings,
} from './server.ts';

/** All findings, and the worst of them. */
export type Diagnosis = { state: 'ok' | 'warn' | 'fail'; findings: Finding[] };

export type DiagnoseOptions = {
  config: Config;
  version: string;
  /** What is wrong with the settings, where they could not be read; `config` is then what could be saved of them. */
  configError?: AppError | null;
  /** Opens the database; null: there is none yet. Left open for the caller to close. */
  open: () => Promise<Database | null>;
  /** Whether the API's port is looked at; a server that asks itself has it. */
  withPort?: boolean;
  /** What a check may take. */
  timeoutMs?: number;
  /** What opening may take: an embedded server that was killed recovers first. */
  openTimeoutMs?: number;
};

/** Looks at everything, each thing by itself and bounded in time. Never throws. */
export async function diagnose(options: DiagnoseOptions): Promise<Diagnosis> {
  const { config, version, timeoutMs = 5000, openTimeoutMs = 30_000 } = options;
  const run = (checks: readonly Check[]): Promise<Finding[][]> =>
    Promise.all(checks.map((check) => runCheck(check, timeoutMs)));
  let database: Database | null = null;
  const opening: Check = {
    name: 'database',
    look: async () => {
      database = await options.open();
      return database === null
        ? ok('There is no database yet; the first start makes one.')
        : await checkServer(database);
    },
  };
  const [machine, opened] = await Promise.all([
    run(machineChecks(options)),
    runCheck(opening, openTimeoutMs),
  ]);
  const schema = database === null ? [] : await runCheck(schemaCheck(database), timeoutMs);
  const rest = database === null ? [] : await run(serverChecks(database));
  // In tables that are not there, or not yet as we know them, there is nothing to look for.
  const isKnown = schema.every((one) => one.state === 'ok');
  const engine = database === null || !isKnown ? [] : await run(await asFarAsSeen(database, config, version));
  const findings = [...machine, opened, schema, ...rest, ...engine].flat();
  const has = (state: 'warn' | 'fail'): boolean => findings.some((one) => one.state === state);
  return { state: has('fail') ? 'fail' : has('warn') ? 'warn' : 'ok', findings };
}

function machineChecks({ config, configError, withPort = true }: DiagnoseOptions): Check[] {
  return [
    { name: 'node', look: async () => checkNode() },
    { name: 'settings', look: async () => settingsResult(configError ?? null) },
    ...foldersOf(config).map(({ what, path }) => ({
      name: 'disk',
      look: () => checkFolder(what, path),
    })),
    { name: 'contact', look: async () => checkContact(config) },
    { name: 'dns', look: () => checkNames(config) },
    ...(withPort ? [{ name: 'api', look: () => checkPort(config) }] : []),
  ];
}

function settingsResult(error: AppError | null): CheckResult {
  return error === null
    ? ok('The settings are valid.')
    : fail(messageOf(error), error.advice ?? 'See docs/reference/configuration.md');
}

const schemaCheck = (database: Database): Check => ({ name: 'schema', look: () => checkSchema(database) });

function serverChecks(database: Database): Check[] {
  return [
    { name: 'pooler', look: () => checkPooler(database) },
    { name: 'clock', look: () => checkClock(database) },
    { name: 'collation', look: () => checkCollation(database) },
    { name: 'server', look: () => checkServerSettings(database) },
  ];
}

// A fetcher's own role is kept from tables that some checks read: on its machine that is as it should be.
async function asFarAsSeen(database: Database, config: Config, version: string): Promise<Check[]> {
  const checks = engineChecks(database, config, version);
  if (!(await isFetcherRole(database).catch(() => false))) return checks;
  return checks.map(({ name, look }) => ({
    name,
    look: async () => {
      try {
        return await look();
      } catch (error) {
        if (!isForbidden(error)) throw error;
        return ok("Not looked at: this is a fetcher's role of the database, which does not see it.");
      }
    },
  }));
}

async function isFetcherRole({ pool }: Database): Promise<boolean> {
  const { rowCount } = await pool.query(
    `SELECT FROM settings WHERE name = 'fetcher_roles' AND value ? current_user::text`,
  );
  return rowCount === 1;
}

function engineChecks(database: Database, config: Config, version: string): Check[] {
  return [
    { name: 'connections', look: () => checkConnections(database, config.database.connections) },
    { name: 'scale', look: () => checkScale(database) },
    { name: 'partitions', look: () => checkPartitions(database) },
    { name: 'workers', look: () => checkWorkers(database, version) },
    { name: 'loops', look: () => checkLoops(database) },
    { name: 'restarts', look: () => checkRestarts(database) },
    { name: 'network', look: () => checkOutage(database) },
    { name: 'switches', look: () => checkSwitches(database) },
    { name: 'browser', look: () => checkBrowser(database) },
    { name: 'sinks', look: () => checkSinks(database) },
    { name: 'jobs', look: () => checkJobs(database) },
    { name: 'selectors', look: () => checkSelectors(database) },
  ];
}
