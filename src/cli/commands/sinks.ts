import type { Command } from 'commander';
import { AppError, EXIT } from '../../errors/index.ts';
import type { DeadLetter, Replay, SinkStatus } from '../../outbox/index.ts';
import { type Api, type Json, pathOf, withApi } from '../api.ts';
import { type Context, loadContext } from '../context.ts';
import { dateFlag } from '../dates.ts';
import { wholeNumber } from '../numbers.ts';
import { printJson, printTable, relativeTime, terminalWidth, wrapText } from '../output.ts';

// Below this a column for errors would show their first word; they stand below the table then.
const roomForErrors = 130;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** `sinks status|dead|retry|replay|pause|resume|remove`. */
export function addSinksCommands(program: Command): void {
  const sinks = program.command('sinks').description('where documents are delivered, and how that is going');
  sinks
    .command('status', { isDefault: true })
    .description('sinks with what waits for them and what they met')
    .action(async (_flags: object, command: Command) => {
      const context = loadContext(command);
      const { items, replays } = await withApi(context, loadSinks);
      if (context.flags.json) return printJson({ items, replays });
      printTable(items, [
        { title: 'SINK', value: (row) => row.name },
        { title: 'STATE', value: stateOf },
        { title: 'WAITING', value: (row) => String(row.waiting), align: 'right' },
        { title: 'SINCE', value: (row) => relativeTime(row.waitingSince), spare: 1 },
        { title: 'DELIVERED', value: (row) => String(row.delivered), align: 'right' },
        { title: 'DEAD', value: (row) => String(row.deadLetters), align: 'right' },
        ...(terminalWidth() < roomForErrors
          ? []
          : [{ title: 'LAST ERROR', value: (row: Json<SinkStatus>) => row.error ?? '', flexible: true }]),
      ]);
      if (terminalWidth() < roomForErrors)
        for (const { name, error } of items)
          if (error !== null) say(wrapText(`${name}: ${error}`, terminalWidth()).join('\n  '));
      for (const { sink, enqueued, askedAt } of replays)
        say(`Replay to ${sink}, asked ${relativeTime(askedAt)}: ${enqueued} documents so far.`);
    });
  sinks
    .command('dead <sink>')
    .description('what a sink would not take, and why')
    .option('--limit <n>', 'how many', '20')
    .action(async (name: string, flags: { limit: string }, command: Command) => {
      const limit = wholeNumber('--limit', flags.limit, { least: 1, most: 1000 });
      const context = loadContext(command);
      const { items: letters } = await askSink(context, (api) =>
        api.get<{ items: Json<Omit<DeadLetter, 'domainKey' | 'hash' | 'deadMicros'>>[] }>(
          pathOf`/api/v1/sinks/${name}/dead-letters`,
          { limit },
        ),
      );
      if (context.flags.json) return printJson(letters);
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
      const { retried } = await askSink(context, (api) =>
        api.post<{ retried: number }>(pathOf`/api/v1/sinks/${name}/retry`),
      );
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
      const wish = {
        ...(flags.source === undefined ? {} : { source: flags.source }),
        ...(since === undefined ? {} : { since: since.toISOString() }),
      };
      await askSink(context, (api) => api.post(pathOf`/api/v1/sinks/${name}/replay`, wish));
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
      'let a paused sink go on, and a failing one be tried at once',
      'goes on at once. If it was paused, what came meanwhile was not kept for it: outrider sinks replay brings it.',
    ],
  ] as const)
    sinks
      .command(`${word} <sink>`)
      .description(description)
      .action(async (name: string, _flags: object, command: Command) => {
        const context = loadContext(command);
        await askSink(context, (api) => api.post(`${pathOf`/api/v1/sinks/${name}`}/${word}`));
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
      await askSink(context, (api) => api.delete(pathOf`/api/v1/sinks/${name}`));
      if (context.flags.json) return printJson({ sink: name, removed: true });
      say(
        `${name} is forgotten. While it is configured, the next start of the schedule role brings it back.`,
      );
    });
}

const counted = (count: number): string => (count === 1 ? '1 document is' : `${count} documents are`);

function stateOf(sink: Json<SinkStatus>): string {
  if (!sink.enabled) return 'paused';
  if (sink.failingSince !== null) return `failing for ${relativeTime(sink.failingSince).replace(' ago', '')}`;
  // The index has no lease of this kind: whoever schedules writes it.
  if (sink.deliverer === null && sink.name !== 'index') return 'nobody delivers';
  return 'ok';
}

type SinkList = { items: Json<SinkStatus>[]; replays: Json<Replay>[] };

const loadSinks = (api: Api): Promise<SinkList> => api.get<SinkList>('/api/v1/sinks');

/** Asks something of a sink; a name that there is not is answered with those that there are. */
function askSink<T>(context: Context, ask: (api: Api) => Promise<T>): Promise<T> {
  return withApi(context, async (api) => {
    try {
      return await ask(api);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'sink_unknown') throw error;
      throw unknownSink(error.message, (await loadSinks(api)).items);
    }
  });
}

function unknownSink(message: string, known: readonly { name: string }[]): AppError {
  return new AppError('sink_unknown', message, {
    exitCode: EXIT.usage,
    advice: `There are: ${known.map((sink) => sink.name).join(', ')}. Others are made by settings, such as elasticsearch.url, files.dir or webhook.url.`,
  });
}
