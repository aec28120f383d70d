import type { Command } from 'commander';
import {
  type Channel,
  type ChannelStatus,
  type DiscoveryDelay,
  findChannel,
  findChannelByUrl,
  listChannels,
  loadDiscoveryDelay,
  removeChannel,
  setChannelEnabled,
  wakeChannel,
} from '../../channels/index.ts';
import type { Queryable } from '../../db/index.ts';
import { AppError, EXIT } from '../../errors/index.ts';
import { isHeld } from '../../explain/index.ts';
import { saveAudit } from '../../switches/index.ts';
import { loadContext, withDatabase } from '../context.ts';
import { operatorName } from '../operator.ts';
import { printJson, printTable, relativeTime } from '../output.ts';

/** `channels` and what operators do with one. */
export function addChannelCommands(program: Command): void {
  const channels = program
    .command('channels')
    .description('list feeds and sitemaps with how their polls went, trouble first')
    .option('--files', 'also the files that sitemap indexes name')
    .action(async (flags: { files?: boolean }, command: Command) => {
      const context = loadContext(command);
      const { channels, delay } = await withDatabase(context, async ({ pool }) => ({
        channels: await listChannels(pool, { files: flags.files === true }),
        delay: await loadDiscoveryDelay(pool),
      }));
      if (context.flags.json)
        return printJson(channels.map(({ hash: _hash, rhythm: _rhythm, ...rest }) => rest));
      if (channels.length === 0) return say('No channels yet. "outrider add <url>" finds them.');
      printChannels(channels);
      say(delayText(delay));
    });
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

function printChannels(channels: readonly ChannelStatus[]): void {
  printTable(channels, [
    { title: 'ID', value: (row) => String(row.id), align: 'right' },
    { title: 'KIND', value: (row) => row.kind },
    { title: 'URL', value: (row) => row.url, flexible: true },
    { title: 'POLLS', value: (row) => String(row.polls), align: 'right' },
    { title: '304', value: (row) => String(row.notModified), align: 'right' },
    { title: 'NEW/SEEN', value: (row) => `${row.itemsNew}/${row.itemsSeen}`, align: 'right' },
    { title: 'DELAY', value: (row) => spanOf(row.delaySeconds), align: 'right' },
    { title: 'LATE', value: (row) => spanOf(row.lateSeconds), align: 'right' },
    { title: 'ERRORS', value: troubleOf },
    { title: 'LAST GOOD', value: (row) => relativeTime(row.lastSuccessAt) },
    { title: 'NEXT', value: (row) => (isHeld(row.dueAt, new Date()) ? 'held' : relativeTime(row.dueAt)) },
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
  const late = `polls are ${spanOf(lateSeconds)} late`;
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
    const channel = /^\d{1,9}$/.test(which)
      ? await findChannel(pool, Number(which))
      : await findChannelByUrl(pool, which);
    if (channel === null)
      throw new AppError('channel_unknown', `there is no channel "${which}"`, {
        exitCode: EXIT.usage,
        httpStatus: 404,
        advice: 'The ID column of "outrider channels" lists them.',
      });
    const message = await act(pool, channel);
    const entry = { actor: operatorName(), action: `channel_${action}`, subject: String(channel.id) };
    await saveAudit(pool, { ...entry, detail: { url: channel.url } });
    return { channel, message };
  });
  if (context.flags.json) return printJson({ id: channel.id, url: channel.url, done: action });
  say(message);
}
