import { type Command, Option } from 'commander';
import {
  type Channel,
  type ChannelChange,
  createChannel,
  loadNamedChannel,
  updateChannel,
} from '../../channels/index.ts';
import { AppError, EXIT } from '../../errors/index.ts';
import { withScheme } from '../../source-lists/index.ts';
import { requireSource } from '../../sources/index.ts';
import { loadContext, withDatabase } from '../context.ts';
import { wholeNumber } from '../numbers.ts';
import { operatorName } from '../operator.ts';
import { printJson } from '../output.ts';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** What a channel may be read as. */
export const kinds = ['feed', 'sitemap', 'page'] as const;
type Kind = (typeof kinds)[number];

/** `channels add|set`. */
export function addChannelChanges(channels: Command): void {
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
        const source = await requireSource(pool, slug);
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
    .description('change how often an address is polled, or what it is called')
    .option('--every <minutes>', 'minutes between polls')
    .option('--title <words>', 'what it is called')
    .action(async (name: string, flags: { every?: string; title?: string }, command: Command) => {
      const change: ChannelChange = {
        ...(flags.every === undefined ? {} : { intervalSeconds: everyOf(flags.every) * 60 }),
        ...(flags.title === undefined ? {} : { title: flags.title === '' ? null : flags.title }),
      };
      if (Object.keys(change).length === 0)
        throw new AppError('usage', 'nothing to set', {
          exitCode: EXIT.usage,
          advice: 'Give --every or --title; "channels disable" stops its polls.',
        });
      const context = loadContext(command);
      const channel = await withDatabase(context, async ({ pool }) =>
        updateChannel(pool, await loadNamedChannel(pool, name), change, operatorName()),
      );
      if (context.flags.json) return printJson(shown(channel));
      say(`${channel.url} is changed; every fetcher follows within seconds.`);
    });
}

const everyOf = (text: string): number => wholeNumber('--every', text, { least: 1, most: 43_200 });
const shown = ({ hash: _hash, ...rest }: Channel): object => rest;
