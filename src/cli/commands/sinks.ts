import type { Command } from 'commander';
import { AppError, EXIT } from '../../errors/index.ts';
import {
  askReplay,
  enableSink,
  listDeadLetters,
  listReplays,
  listSinks,
  removeSink,
  requireAsked,
  retryDeadLetters,
  type SinkStatus,
} from '../../outbox/index.ts';
import { requireSource } from '../../sources/index.ts';
import { saveAudit } from '../../switches/index.ts';
import { urlId } from '../../url/index.ts';
import { type Context, loadContext, withDatabase } from '../context.ts';
import { dateFlag } from '../dates.ts';
import { wholeNumber } from '../numbers.ts';
import { operatorName } from '../operator.ts';
import { printJson, printTable, relativeTime } from '../output.ts';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** `sinks status|dead|retry|replay|pause|resume|remove`. */
export function addSinksCommands(program: Command): void {
  const sinks = program.command('sinks').description('where documents are delivered, and how that is going');
  sinks
    .command('status', { isDefault: true })
    .description('sinks with what waits for them and what they met')
    .action(async (_flags: object, command: Command) => {
      const context = loadContext(command);
      const { items, replays } = await withDatabase(context, async ({ pool }) => ({
        items: await listSinks(pool),
        replays: await listReplays(pool),
      }));
      if (context.flags.json) return printJson({ items, replays });
      printTable(items, [
        { title: 'SINK', value: (row) => row.name },
        { title: 'STATE', value: stateOf },
        { title: 'WAITING', value: (row) => String(row.waiting), align: 'right' },
        { title: 'SINCE', value: (row) => relativeTime(row.waitingSince) },
        { title: 'DELIVERED', value: (row) => String(row.delivered), align: 'right' },
        { title: 'DEAD', value: (row) => String(row.deadLetters), align: 'right' },
        { title: 'LAST ERROR', value: (row) => row.error ?? '', flexible: true },
      ]);
      for (const { sink, enqueued, askedAt } of replays)
        say(`Replay to ${sink}, asked ${relativeTime(askedAt)}: ${enqueued} documents so far.`);
    });
  sinks
    .command('dead <sink>')
    .description('what a sink would not take, and why')
    .option('--limit <n>', 'how many', '20')
    .action(async (name: string, flags: { limit: string }, command: Command) => {
      const limit = wholeNumber('--limit', flags.limit, { least: 1, most: 10_000 });
      const context = loadContext(command);
      const letters = await withSink(context, name, ({ pool }) =>
        listDeadLetters(pool, { sink: name, limit }),
      );
      if (context.flags.json)
        return printJson(
          letters.map(({ domainKey, hash, ...rest }) => ({ id: urlId(domainKey, hash), ...rest })),
        );
      if (letters.length === 0) return say(`${name} has taken everything.`);
      printTable(letters, [
        { title: 'URL', value: (row) => row.url ?? '(deleted)', flexible: true },
        { title: 'VERSION', value: (row) => String(row.version), align: 'right' },
        { title: 'WHEN', value: (row) => relativeTime(row.deadAt) },
        { title: 'WHY', value: (row) => row.error, flexible: true },
      ]);
      say(`Try them again, once the reason is gone: outrider sinks retry ${name}`);
    });
  sinks
    .command('retry <sink>')
    .description('try what a sink would not take again')
    .action(async (name: string, _flags: object, command: Command) => {
      const context = loadContext(command);
      const retried = await withSink(context, name, async ({ pool }) => {
        const count = await retryDeadLetters(pool, name);
        await saveAudit(pool, {
          actor: operatorName(),
          action: 'sink_retry',
          subject: name,
          detail: { retried: count },
        });
        return count;
      });
      if (context.flags.json) return printJson({ retried });
      say(
        retried === 0 ? `${name} has no dead letters.` : `${counted(retried)} on the way to ${name} again.`,
      );
    });
  sinks
    .command('replay <sink>')
    .description('give a sink its documents again, from what is stored')
    .option('--source <slug>', 'only those of a source')
    .option('--since <date>', 'only those crawled since')
    .action(async (name: string, flags: { source?: string; since?: string }, command: Command) => {
      const since = flags.since === undefined ? undefined : dateFlag('--since', flags.since);
      const context = loadContext(command);
      await withSink(context, name, async ({ pool }) => {
        const wish = {
          sink: name,
          ...(flags.source === undefined ? {} : { sourceId: (await requireSource(pool, flags.source)).id }),
          ...(since === undefined ? {} : { since }),
        };
        requireAsked(await askReplay(pool, wish), name);
        await saveAudit(pool, { actor: operatorName(), action: 'sink_replay', subject: name, detail: flags });
      });
      if (context.flags.json) return printJson({ sink: name, replay: 'under way' });
      say(
        `${name} is given its documents again by the schedule role; see how far it is with: outrider sinks`,
      );
    });
  for (const [word, enabled, description, done] of [
    [
      'pause',
      false,
      'deliver nothing to a sink, and keep nothing for it',
      'is paused; what comes now will not reach it unless it is replayed later.',
    ],
    [
      'resume',
      true,
      'let a paused sink go on',
      'goes on. What came meanwhile was not kept for it: outrider sinks replay brings it.',
    ],
  ] as const)
    sinks
      .command(`${word} <sink>`)
      .description(description)
      .action(async (name: string, _flags: object, command: Command) => {
        const context = loadContext(command);
        await withSink(context, name, async ({ pool }) => {
          await enableSink(pool, name, enabled);
          await saveAudit(pool, { actor: operatorName(), action: `sink_${word}`, subject: name, detail: {} });
        });
        if (context.flags.json) return printJson({ sink: name, enabled });
        say(`${name} ${done}`);
      });
  sinks
    .command('remove <sink>')
    .description('forget a sink that is configured no more, with what waits for it')
    .action(async (name: string, _flags: object, command: Command) => {
      if (name === 'index')
        throw new AppError('usage', 'the built-in index cannot be removed', {
          exitCode: EXIT.usage,
          advice: 'Pause it with: outrider sinks pause index',
        });
      const context = loadContext(command);
      await withSink(context, name, async ({ pool }) => {
        await removeSink(pool, name);
        await saveAudit(pool, { actor: operatorName(), action: 'sink_remove', subject: name, detail: {} });
      });
      if (context.flags.json) return printJson({ sink: name, removed: true });
      say(
        `${name} is forgotten. While it is configured, the next start of the schedule role brings it back.`,
      );
    });
}

const counted = (count: number): string => (count === 1 ? '1 document is' : `${count} documents are`);

function stateOf(sink: SinkStatus): string {
  if (!sink.enabled) return 'paused';
  if (sink.failingSince !== null) return `failing for ${relativeTime(sink.failingSince).replace(' ago', '')}`;
  // The index has no lease of this kind: whoever schedules writes it.
  if (sink.deliverer === null && sink.name !== 'index') return 'nobody delivers';
  return 'ok';
}

async function withSink<T>(
  context: Context,
  name: string,
  work: Parameters<typeof withDatabase<T>>[1],
): Promise<T> {
  return withDatabase(context, async (database) => {
    const known = await listSinks(database.pool);
    if (!known.some((sink) => sink.name === name))
      throw new AppError('sink_unknown', `there is no sink "${name}"`, {
        exitCode: EXIT.usage,
        advice: `There are: ${known.map((sink) => sink.name).join(', ')}. Others are made by settings, such as elasticsearch.url, files.dir or webhook.url.`,
      });
    return work(database);
  });
}
