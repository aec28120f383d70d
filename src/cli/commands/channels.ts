import { type Command, Option } from 'commander';
import {
  type Channel,
  type ChannelChange,
  createChannel,
  findChannel,
  findChannelIds,
  listChannels,
  loadPushStates,
  removeChannel,
  updateChannel,
} from '../../channels/index.ts';
import type { Queryable } from '../../db/index.ts';
import { AppError, EXIT } from '../../errors/index.ts';
import { withScheme } from '../../source-lists/index.ts';
import { loadSourceBySlug } from '../../sources/index.ts';
import { loadContext, withDatabase } from '../context.ts';
import { wholeNumber } from '../numbers.ts';
import { onOff, operatorName } from '../operator.ts';
import { printJson, printTable, relativeTime } from '../output.ts';
import { unknownSource } from './sources.ts';

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const kinds = ['feed', 'sitemap', 'page'] as const;
type Kind = (typeof kinds)[number];

type ListFlags = { source?: string; kind?: Kind; failing?: boolean; pushed?: boolean; limit: string };

/** `channels`, `channels add|set|remove`. */
export function addChannelCommands(program: Command): void {
  const channels = program
    .command('channels')
    .description('list feeds and sitemaps with how their polls went, trouble first')
    .option('--source <slug>', 'only those of a source')
    .addOption(new Option('--kind <kind>', 'only those of a kind').choices(kinds))
    .option('--failing', 'only those whose polls fail')
    .option('--pushed', 'only those that a hub pushes')
    .option('--limit <n>', 'most lines', '1000')
    .action(async (flags: ListFlags, command: Command) => {
      const limit = wholeNumber('--limit', flags.limit, { least: 1, most: 100_000 });
      const context = loadContext(command);
      const listed = await withDatabase(context, ({ pool }) => loadListed(pool, { ...flags, limit }));
      if (context.flags.json) return printJson(listed.map(({ hash: _hash, ...rest }) => rest));
      if (listed.length === 0)
        return say(
          (flags.source ?? flags.kind ?? flags.failing ?? flags.pushed)
            ? 'No channel matches.'
            : 'No channels yet. "outrider add <url>" finds them.',
        );
      printTable(listed, [
        { title: 'ID', value: (row) => String(row.id), align: 'right' },
        { title: 'KIND', value: (row) => (row.enabled ? row.kind : `${row.kind} (off)`) },
        { title: 'URL', value: (row) => row.url, flexible: true },
        { title: 'POLLS', value: (row) => String(row.polls), align: 'right' },
        { title: '304', value: (row) => String(row.notModified), align: 'right' },
        { title: 'NEW/SEEN', value: (row) => `${row.itemsNew}/${row.itemsSeen}`, align: 'right' },
        {
          title: 'ERRORS',
          value: (row) => (row.errorsInRow === 0 ? '–' : `${row.errorsInRow} × ${row.errorKind}`),
        },
        { title: 'LAST GOOD', value: (row) => relativeTime(row.lastSuccessAt) },
        { title: 'NEXT', value: (row) => (row.enabled ? relativeTime(row.dueAt) : '–') },
        { title: 'PUSH', value: (row) => row.push?.state ?? '–' },
      ]);
    });
  addChangeCommands(channels);
}

async function loadListed(db: Queryable, filter: Omit<ListFlags, 'limit'> & { limit: number }) {
  if (filter.source !== undefined && (await loadSourceBySlug(db, filter.source)) === null)
    throw unknownSource(filter.source);
  const ids = await findChannelIds(db, filter);
  const listed = await listChannels(db, { ids, limit: filter.limit });
  const pushes = await loadPushStates(db, ids);
  return listed.map((one) => ({ ...one, push: pushes.get(one.id) ?? null }));
}

function addChangeCommands(channels: Command): void {
  channels
    .command('add <slug> <url>')
    .description('poll an address for a source')
    // Not --kind: that is the list's own, which would take it.
    .addOption(new Option('--as <kind>', 'what it is').choices(kinds).default('feed'))
    .option('--every <minutes>', 'minutes between polls; as the source has it unless said')
    .action(async (slug: string, url: string, flags: { as: Kind; every?: string }, command: Command) => {
      const context = loadContext(command);
      const { polling } = context.loaded.config;
      const { channel, created } = await withDatabase(context, async ({ pool }) => {
        const source = await loadSourceBySlug(pool, slug);
        if (source === null) throw unknownSource(slug);
        const usual =
          flags.as === 'sitemap' ? polling.sitemapIntervalMinutes : source.feedPollIntervalMinutes;
        return createChannel(pool, {
          sourceId: source.id,
          kind: flags.as,
          url: withScheme(url),
          intervalSeconds: (flags.every === undefined ? usual : everyOf(flags.every)) * 60,
          foundBy: 'manual',
        });
      });
      if (context.flags.json) return printJson(shown(channel));
      say(
        created
          ? `${channel.url} is polled as a ${channel.kind} from now on.`
          : `${channel.url} is polled already, as channel ${channel.id}.`,
      );
    });
  channels
    .command('set <id|url>')
    .description('change how often an address is polled, or whether it is')
    .option('--every <minutes>', 'minutes between polls')
    .option('--enabled <on|off>', 'whether it is polled')
    .option('--title <words>', 'what it is called')
    .action(
      async (name: string, flags: { every?: string; enabled?: string; title?: string }, command: Command) => {
        const change: ChannelChange = {
          ...(flags.every === undefined ? {} : { intervalSeconds: everyOf(flags.every) * 60 }),
          ...(flags.enabled === undefined ? {} : { enabled: onOff(flags.enabled) }),
          ...(flags.title === undefined ? {} : { title: flags.title === '' ? null : flags.title }),
        };
        if (Object.keys(change).length === 0)
          throw new AppError('usage', 'nothing to set', {
            exitCode: EXIT.usage,
            advice: 'Give at least one of --every, --enabled and --title.',
          });
        const context = loadContext(command);
        const channel = await withDatabase(context, async ({ pool }) =>
          updateChannel(pool, await loadNamed(pool, name), change, operatorName()),
        );
        if (context.flags.json) return printJson(shown(channel));
        say(`${channel.url} is changed; every fetcher follows within seconds.`);
      },
    );
  channels
    .command('remove <id|url>')
    .description('stop polling an address for good; what it brought stays')
    .action(async (name: string, _flags: object, command: Command) => {
      const context = loadContext(command);
      const channel = await withDatabase(context, async ({ pool }) => {
        const found = await loadNamed(pool, name);
        await removeChannel(pool, found, operatorName());
        return found;
      });
      if (context.flags.json) return printJson(shown(channel));
      say(`${channel.url} is no longer polled; what it brought stays.`);
    });
}

const everyOf = (text: string): number => wholeNumber('--every', text, { least: 1, most: 43_200 });
const shown = ({ hash: _hash, ...rest }: Channel): object => rest;

async function loadNamed(db: Queryable, name: string): Promise<Channel> {
  const channel = (await findChannel(db, name)) ?? (await findChannel(db, withScheme(name)));
  if (channel !== null) return channel;
  throw new AppError('channel_unknown', `there is no channel "${name}"`, {
    exitCode: EXIT.usage,
    httpStatus: 404,
    advice: 'The ID and URL columns of "outrider channels" list them.',
  });
}
