import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Database } from '../../db/index.ts';
import { AppError, EXIT } from '../../errors/index.ts';
import {
  findCitusObstacles,
  loadScale,
  planCitus,
  type Refusal,
  type ScaleState,
  saveLeaseMode,
  tryHotPath,
} from '../../frontier/index.ts';
import { type Context, loadContext, withDatabase } from '../context.ts';
import { operatorName } from '../operator.ts';
import { printJson } from '../output.ts';

const modes = ['single', 'buckets', 'citus'] as const;
type Flags = { dryRun?: boolean; shards: number };

/** `scale`. */
export function addScaleCommand(program: Command): void {
  program
    .command('scale [mode]')
    .description('how leases are taken: single (all domains), buckets (one of 256 at a time), citus (spread)')
    .option('--dry-run', 'say what would be done and what would be refused')
    .addOption(
      new Option('--shards <n>', 'parts a hot table is spread over').default(32).argParser((text) => {
        const shards = Number(text);
        if (Number.isInteger(shards) && shards >= 1 && shards <= 256) return shards;
        throw new InvalidArgumentError('It is a number from 1 to 256.');
      }),
    )
    .action(async (mode: string | undefined, flags: Flags, command: Command) => {
      const context = loadContext(command);
      await withDatabase(context, (database) => run(context, database, mode, flags));
    });
}

async function run(
  context: Context,
  database: Database,
  mode: string | undefined,
  flags: Flags,
): Promise<void> {
  const state = await loadScale(database.pool);
  if (mode === undefined) {
    if (context.flags.json) return printJson(state);
    process.stdout.write(`${describeScale(state)}\n`);
    return;
  }
  if (!isMode(mode))
    throw new AppError('usage', `There is no mode "${mode}".`, {
      exitCode: EXIT.usage,
      advice: `Modes are ${modes.join(', ')}.`,
    });
  if (mode === 'citus') return scaleOut(context, database, state, flags);
  if (state.mode === 'citus')
    throw new AppError('scale_distributed', 'The hot tables are spread over a cluster.', {
      exitCode: EXIT.failed,
      advice: 'Move everything to another database with "outrider db export" and "outrider db import".',
    });
  const isNew = state.mode !== mode || state.missingIndexes.length > 0;
  if (isNew && flags.dryRun !== true)
    await database.withTransaction((tx) =>
      saveLeaseMode(tx, mode === 'single' ? 'single' : 'bucket', operatorName()),
    );
  if (context.flags.json) return printJson({ mode, changed: isNew, dryRun: flags.dryRun === true });
  process.stdout.write(
    !isNew
      ? `Nothing to do. ${describeScale(state)}\n`
      : flags.dryRun === true
        ? `Would change the two indexes of the slots and take leases ${how[mode]}.\n`
        : `Leases are taken ${how[mode]}; running fetchers follow within a minute.\n`,
  );
}

const isMode = (text: string): text is (typeof modes)[number] => (modes as readonly string[]).includes(text);

const how = { single: 'over all domains', buckets: 'bucket by bucket' } as const;

/** The state in words. */
export function describeScale(state: ScaleState): string {
  const missing =
    state.missingIndexes.length === 0
      ? ''
      : ` The indexes ${state.missingIndexes.join(' and ')} are missing.`;
  if (state.mode === 'single')
    return `Leases are taken over all domains, in exact order, from one PostgreSQL.${missing}`;
  if (state.mode === 'buckets')
    return `Leases are taken bucket by bucket, in exact order within each, from one PostgreSQL.${missing}`;
  return `${state.distributed} of ${state.tables} hot tables are spread over ${state.nodes} servers by Citus ${state.citus}; leases are taken bucket by bucket.${missing}`;
}

// All or nothing: tables, indexes and the trial are one transaction, so a refusal or a lost connection leaves what was.
async function scaleOut(
  context: Context,
  database: Database,
  state: ScaleState,
  flags: Flags,
): Promise<void> {
  const obstacles = await findCitusObstacles(database.pool);
  const statements = await planCitus(database.pool, flags.shards);
  const isThere =
    (await database.pool.query(`SELECT FROM pg_available_extensions WHERE name = 'citus'`)).rowCount === 1;
  let refusals: Refusal[] = [];
  const isDone = state.mode === 'citus' && state.distributed === state.tables;
  if (isThere && obstacles.length === 0 && !isDone)
    refusals = await trySpreading(database, statements, flags.dryRun === true);
  if (context.flags.json)
    printJson({
      statements,
      citusInstalled: isThere,
      obstacles,
      refusals,
      done: isDone,
      dryRun: flags.dryRun === true,
    });
  else if (isDone) process.stdout.write(`Nothing to do. ${describeScale(state)}\n`);
  else if (flags.dryRun === true) process.stdout.write(`${statements.map((one) => `${one};`).join('\n')}\n`);
  if (isDone) return;
  const reasons = [
    ...(isThere ? [] : ['the server has no Citus (extension "citus")']),
    ...obstacles,
    ...refusals.map(({ call, said }) => `${call}: ${said}`),
  ];
  if (reasons.length > 0)
    throw new AppError('scale_refused', `The hot tables cannot be spread:\n  ${reasons.join('\n  ')}`, {
      exitCode: EXIT.failed,
      advice: 'Nothing was changed. "outrider scale buckets" takes leases the same way on one PostgreSQL.',
    });
  if (!context.flags.json && flags.dryRun !== true)
    process.stdout.write(`${describeScale(await loadScale(database.pool))}\n`);
}

/** Answers what was refused; only without a refusal, and when it is meant, is anything kept. */
async function trySpreading(
  database: Database,
  statements: readonly string[],
  dryRun: boolean,
): Promise<Refusal[]> {
  const undone = new Error('undone');
  let refusals: Refusal[] = [];
  try {
    await database.withTransaction(async (tx) => {
      await tx.query(`SET LOCAL lock_timeout = '30s'; SET LOCAL idle_in_transaction_session_timeout = 0`);
      for (const one of statements) await tx.query(one);
      refusals = await tryHotPath(tx);
      if (refusals.length > 0 || dryRun) throw undone;
      await saveLeaseMode(tx, 'bucket', operatorName());
    });
  } catch (error) {
    if (error !== undone) throw error;
  }
  return refusals;
}
