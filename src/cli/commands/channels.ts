import { type Command, Option } from 'commander';
import type { DiscoveryDelay } from '../../channels/index.ts';
import { isHeld } from '../../explain/index.ts';
import { type Api, listItems, withApi } from '../api.ts';
import { findChannel, type ShownChannel } from '../channel-path.ts';
import { loadContext } from '../context.ts';
import { wholeNumber } from '../numbers.ts';
import { printJson, printTable, relativeTime } from '../output.ts';
import { addChannelChanges, kinds } from './channel-changes.ts';
import { addChannelRetries } from './channel-retries.ts';

type ListFlags = {
  source?: string;
  kind?: (typeof kinds)[number];
  failing?: boolean;
  pushed?: boolean;
  files?: boolean;
  limit: string;
};

/** `channels` and what operators do with one. */
export function addChannelCommands(program: Command): void {
  const channels = program
    .command('channels')
    .description('list feeds and sitemaps with how their polls went, and change them');
  channels
    .command('list', { isDefault: true })
    .description('feeds and sitemaps with how their polls went, trouble first')
    .option('--source <slug>', 'only those of a source')
    .addOption(new Option('--kind <kind>', 'only those of a kind').choices(kinds))
    .option('--failing', 'only those whose polls fail')
    .option('--pushed', 'only those that a hub pushes')
    .option('--files', 'also the files that sitemap indexes name')
    .option('--limit <n>', 'most lines', '1000')
    .action(async (flags: ListFlags, command: Command) => {
      const limit = wholeNumber('--limit', flags.limit, { least: 1, most: 100_000 });
      const context = loadContext(command);
      const { limit: _limit, ...query } = flags;
      const { list, delay } = await withApi(context, async (api) => ({
        list: await listItems<ShownChannel>(api, '/api/v1/channels', query, limit),
        delay: await api.get<DiscoveryDelay>('/api/v1/channels/delay'),
      }));
      const { items: listed, isMore } = list;
      if (context.flags.json) return printJson(listed);
      if (listed.length === 0)
        return say(
          (flags.source ?? flags.kind ?? flags.failing ?? flags.pushed)
            ? 'No channel matches.'
            : 'No channels yet. "outrider add <url>" finds them.',
        );
      printChannels(listed);
      if (isMore) say(`The first ${limit}; --limit shows more.`);
      say(delayText(delay));
    });
  addChannelChanges(channels);
  addChannelRetries(channels);
  channels
    .command('wake <id|url>')
    .description('poll a channel as soon as its domain may be asked, and forget its errors')
    .action((which: string, _flags: object, command: Command) =>
      operate(which, command, 'wake', async (api, { id, url }) => {
        await api.post(`/api/v1/channels/${id}/reset`);
        return `${url} is polled as soon as its domain may be asked.`;
      }),
    );
  for (const [word, description, text] of [
    ['disable', 'do not poll a channel for now', 'is not polled until it is enabled again.'],
    ['enable', 'poll a channel again', 'is polled as soon as its domain may be asked.'],
  ] as const)
    channels
      .command(`${word} <id|url>`)
      .description(description)
      .action((which: string, _flags: object, command: Command) =>
        operate(which, command, word, async (api, { id, url }) => {
          await api.post(`/api/v1/channels/${id}/${word}`);
          return `${url} ${text}`;
        }),
      );
  channels
    .command('remove <id|url>')
    .description('stop polling a channel for good')
    .action((which: string, _flags: object, command: Command) =>
      operate(which, command, 'remove', async (api, { id, url }) => {
        await api.delete(`/api/v1/channels/${id}`);
        return `${url} is no longer polled; what it brought stays.`;
      }),
    );
}

function printChannels(channels: readonly ShownChannel[]): void {
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
    {
      title: 'NEXT',
      value: (row) =>
        row.dueAt !== null && isHeld(new Date(row.dueAt), new Date()) ? 'held' : relativeTime(row.dueAt),
    },
    { title: 'PUSH', value: (row) => row.push?.state ?? '–', spare: 1 },
  ]);
}

function troubleOf(row: ShownChannel): string {
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
  return `\n${items === 1 ? '1 item was' : `${items} items were`} found ${spanOf(meanSeconds)} after their publication on average; ${late}.`;
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Does something to one channel. */
async function operate(
  which: string,
  command: Command,
  action: string,
  act: (api: Api, channel: ShownChannel) => Promise<string>,
): Promise<void> {
  const context = loadContext(command);
  const { channel, message } = await withApi(context, async (api) => {
    const channel = await findChannel(api, which);
    return { channel, message: await act(api, channel) };
  });
  if (context.flags.json) return printJson({ id: channel.id, url: channel.url, done: action });
  say(message);
}
