import type { Command } from 'commander';
import type { Queryable } from '../../db/index.ts';
import {
  blockDomain,
  changeDomain,
  type DomainChoice,
  type DomainDetails,
  requireDomain,
  resetDomain,
  takeDomain,
} from '../../domains/index.ts';
import { AppError, EXIT } from '../../errors/index.ts';
import { type Context, loadContext, withDatabase } from '../context.ts';
import { wholeNumber } from '../numbers.ts';
import { operatorName, poolName } from '../operator.ts';
import { printJson } from '../output.ts';

/** `domain reset|block|set|release`. */
export function addDomainActions(domain: Command): void {
  domain
    .command('reset <domain>')
    .description('end a block or rest and forget what led to it; its entry page and listings are due again')
    .requiredOption('--reason <words>', 'why, for the list of events')
    .option('--all', 'known articles are due again too')
    .action(async (name: string, flags: { reason: string; all?: boolean }, command: Command) => {
      const all = flags.all ?? false;
      await act(loadContext(command), name, async (db, known) => {
        const requeued = await resetDomain(db, known, { reason: flags.reason, actor: operatorName(), all });
        const text = `${known.name} was ${known.status} and begins anew; ${requeued === 1 ? '1 URL is' : `${requeued ?? 0} URLs are`} due again.`;
        return { answer: { reset: true, requeued: requeued ?? 0 }, text };
      });
    });
  domain
    .command('block <domain>')
    .description('ask nothing of a domain until it is reset')
    .requiredOption('--reason <words>', 'why, for the list of events')
    .action(async (name: string, flags: { reason: string }, command: Command) => {
      await act(loadContext(command), name, async (db, known) => {
        await blockDomain(db, known, { reason: flags.reason, actor: operatorName() });
        return { answer: { blocked: true }, text: `${known.name} is blocked until "outrider domain reset".` };
      });
    });
  domain
    .command('release <domain>')
    .description('take a domain from the worker that holds it; the gap to its last request stays')
    .action(async (name: string, _flags: object, command: Command) => {
      await act(loadContext(command), name, async (db, known) => {
        const owner = await takeDomain(db, known, operatorName());
        const text =
          owner === null ? `Nobody holds ${known.name}.` : `${known.name} was taken from ${owner}.`;
        return { answer: { released: owner !== null, owner }, text };
      });
    });
  domain
    .command('set <domain>')
    .description('give a domain its own delay, budget or group of fetchers; "default" takes it back')
    .option('--delay <ms>', 'least milliseconds between two requests')
    .option('--budget <n>', 'pages a run of a day may fetch by spider, archive and refresh; 0 holds them all')
    .option('--pool <name>', 'group of fetchers')
    .action(async (name: string, flags: SetFlags, command: Command) => {
      const change = changeOf(flags);
      const context = loadContext(command);
      await act(context, name, (db, known) => configure(context, db, known, change));
    });
}

type SetFlags = { delay?: string; budget?: string; pool?: string };
type Change = Partial<DomainChoice>;

function changeOf(flags: SetFlags): Change {
  const number = (flag: string, text: string, most: number): number | null =>
    text === 'default' ? null : wholeNumber(flag, text, { least: 0, most });
  const change: Change = {
    ...(flags.delay === undefined ? {} : { delayMs: number('--delay', flags.delay, 86_400_000) }),
    ...(flags.budget === undefined ? {} : { budget: number('--budget', flags.budget, 10_000_000) }),
    ...(flags.pool === undefined ? {} : { pool: flags.pool === 'default' ? null : poolName(flags.pool) }),
  };
  if (Object.keys(change).length === 0)
    throw new AppError('usage', 'nothing to set', {
      exitCode: EXIT.usage,
      advice: 'Give at least one of --delay, --budget and --pool; "default" takes a value back.',
    });
  return change;
}

async function configure(
  context: Context,
  db: Queryable,
  known: DomainDetails,
  change: Change,
): Promise<Answer> {
  const choice = await changeDomain(db, known, change, {
    actor: operatorName(),
    defaultBudget: context.loaded.config.domains.maxPagesPerRun,
  });
  const words = [
    `delay ${choice.delayMs === null ? 'default' : `${choice.delayMs} ms`}`,
    `budget ${choice.budget ?? 'default'}`,
    `fetchers ${choice.pool ?? 'default'}`,
  ];
  return { answer: choice, text: `${known.name}: ${words.join(', ')}.` };
}

type Answer = { answer: object; text: string };

/** Finds the domain, does the work and says what was done. */
async function act(
  context: Context,
  name: string,
  work: (db: Queryable, known: DomainDetails) => Promise<Answer>,
): Promise<void> {
  const {
    name: found,
    answer,
    text,
  } = await withDatabase(context, async ({ pool }) => {
    const known = await requireDomain(pool, name, context.loaded.config.fetch.defaultDelayMs);
    return { name: known.name, ...(await work(pool, known)) };
  });
  if (context.flags.json) printJson({ domain: found, ...answer });
  else process.stdout.write(`${text}\n`);
}
