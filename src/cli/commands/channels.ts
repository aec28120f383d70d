import { type Command, Option } from 'commander';
import {
  type Channel,
  type ChannelStatus,
  type DiscoveryDelay,
  findChannelIds,
  listChannels,
  loadDiscoveryDelay,
  loadNamedChannel,
  loadPushStates,
  type PushState,
  removeChannel,
  setChannelEnabled,
  wakeChannel,
} from '../../channels/index.ts';
import type { Queryable } from '../../db/index.ts';
import { AppError, EXIT } from '../../errors/index.ts';
import { isHeld } from '../../explain/index.ts';
import { requireSource } from '../../sources/index.ts';
import { saveAudit } from '../../switches/index.ts';
import { loadContext, withDatabase } from '../context.ts';
import { wholeNumber } from '../numbers.ts';
import { operatorName } from '../operator.ts';
import { printJson, printTable, relativeTime } from '../output.ts';
import { addChannelChanges, kinds } from './channel-changes.ts';

type ListFlags = {
  source?: string;
  kind?: (typeof kinds)[number];
  failing?: boolean;
  pushed?: boolean;
  files?: boolean;
  limit: string;
};

/** A channel with how its subscription stands. */
type Listed = ChannelStatus & { push: PushState | null };

/** `channels` and what operators do with one. */
export function addChannelCommands(program: Command): void {
  const channels = program
    .command('channels')
    .description('list feeds and sitemaps with how their polls went, trouble first')
    .option('--source <slug>', 'only those of a source')
    .addOption(new Option('--kind <kind>', 'only those of a kind').choices(kinds))
    .option('--failing', 'only those whose polls fail')
    .option('--pushed', 'only those that a hub pushes')
    .option('--files', 'also the files that sitemap indexes name')
    .option('--limit <n>', 'most lines', '1000')
    .action(async (flags: ListFlags, command: Command) => {
      const limit = wholeNumber('--limit', flags.limit, { least: 1, most: 100_000 });
      const context = loadContext(command);
      const { listed, delay } = await withDatabase(context, async ({ pool }) => ({
        listed: await loadListed(pool, { ...flags, limit }),
        delay: await loadDiscoveryDelay(pool),
      }));
      if (context.flags.json)
        return printJson(listed.map(({ hash: _hash, rhythm: _rhythm, ...rest }) => rest));
      if (listed.length === 0)
        return say(
          (flags.source ?? flags.kind ?? flags.failing ?? flags.pushed)
            ? 'No channel matches.'
            : 'No channels yet. "outrider add <url>" finds them.',
        );
      printChannels(listed);
      say(delayText(delay));
    });
  addChannelChanges(channels);
  channels
    .command('wake <id|url>')
    .description('poll a channel as soon as its domain may be asked, and forget its errors')
    .action((which: string, _flags: object, command: Command) =>
      operate(which, command, 'wake', async (db, channel) => {
        if (!(await wakeChannel(db, channel.id)))
          throw new AppError('channel_busy', `${channel.url} has no row to wake`, {
            exitCode: EXIT.failed,
            httpStatus: 409,
            advice: 'Add the channel again.',
          });
        return `${channel.url} is polled as soon as its domain may be asked.`;
      }),
    );
  for (const [word, enabled, text] of [
    ['disable', false, 'is not polled until it is enabled again.'],
    ['enable', true, 'is polled as soon as its domain may be asked.'],
  ] as const)
    channels
      .command(`${word} <id|url>`)
      .description(enabled ? 'poll a channel again' : 'do not poll a channel for now')
      .action((which: string, _flags: object, command: Command) =>
        operate(which, command, word, async (db, channel) => {
          await setChannelEnabled(db, channel.id, enabled);
          return `${channel.url} ${text}`;
        }),
      );
  channels
    .command('remove <id|url>')
    .description('stop polling a channel for good')
    .action((which: string, _flags: object, command: Command) =>
      operate(which, command, 'remove', async (db, channel) => {
        await removeChannel(db, channel.id);
        return `${channel.url} is no longer polled; what it brought stays.`;
      }),
    );
}

async function loadListed(
  db: Queryable,
  filter: Omit<ListFlags, 'limit'> & { limit: number },
): Promise<Listed[]> {
  if (filter.source !== undefined) await requireSource(db, filter.source);
  const ids = await findChannelIds(db, filter);
  const listed = await listChannels(db, { ids, limit: filter.limit, files: filter.files === true });
  const pushes = await loadPushStates(db, ids);
  return listed.map((one) => ({ ...one, push: pushes.get(one.id) ?? null }));
}

function printChannels(channels: readonly Listed[]): void {
  printTable(channels, [
    { title: 'ID', value: (row) => String(row.id), align: 'right' },
    { title: 'KIND', value: (row) => (row.enabled ? row.kind : `${row.kind} (off)`) },
    { title: 'URL', value: (row) => row.url, flexible: true },
    { title: 'POLLS', value: (row) => String(row.polls), align: 'right', spare: 4 },
    { title: '304', value: (row) => String(row.notModified), align: 'right', spare: 5 },
    { title: 'NEW/SEEN', value: (row) => `${row.itemsNew}/${row.itemsSeen}`, align: 'right' },
    { title: 'DELAY', value: (row) => spanOf(row.delaySeconds), align: 'right', spare: 2 },
    { title: 'LATE', value: (row) => spanOf(row.lateSeconds), align: 'right', spare: 3 },
    { title: 'ERRORS', value: troubleOf },
    { title: 'LAST GOOD', value: (row) => relativeTime(row.lastSuccessAt) },
    { title: 'NEXT', value: (row) => (isHeld(row.dueAt, new Date()) ? 'held' : relativeTime(row.dueAt)) },
    { title: 'PUSH', value: (row) => row.push?.state ?? '–', spare: 1 },
  ]);
}

function troubleOf(row: ChannelStatus): string {
  if (row.errorsInRow === 0) return '–';
  return `${row.errorsInRow} × ${row.errorKind}${row.asleep ? ', asleep' : ''}`;
}

/** A stretch of time in a column. */
function spanOf(seconds: number | null): string {
  if (seconds === null) return '–';
  if (seconds < 90) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

function delayText({ items, meanSeconds, lateSeconds }: DiscoveryDelay): string {
  const late = lateSeconds === null ? 'nothing has been polled' : `polls are ${spanOf(lateSeconds)} late`;
  if (meanSeconds === null) return `\nNo item has appeared between two polls yet; ${late}.`;
  return `\n${items} items were found ${spanOf(meanSeconds)} after their publication on average; ${late}.`;
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Does something to one channel, and writes down who did it. */
async function operate(
  which: string,
  command: Command,
  action: string,
  act: (db: Queryable, channel: Channel) => Promise<string>,
): Promise<void> {
  const context = loadContext(command);
  const { channel, message } = await withDatabase(context, async ({ pool }) => {
    const channel = await loadNamedChannel(pool, which);
    const message = await act(pool, channel);
    const entry = { actor: operatorName(), action: `channel_${action}`, subject: String(channel.id) };
    await saveAudit(pool, { ...entry, detail: { url: channel.url } });
    return { channel, message };
  });
  if (context.flags.json) return printJson({ id: channel.id, url: channel.url, done: action });
  say(message);
}
