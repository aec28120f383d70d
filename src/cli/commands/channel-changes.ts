import { type Command, Option } from 'commander';
import { AppError, EXIT } from '../../errors/index.ts';
import type { Source } from '../../sources/index.ts';
import { linksOnlyText } from '../added-words.ts';
import { type Json, withApi } from '../api.ts';
import { findChannel, type ShownChannel } from '../channel-path.ts';
import { loadContext } from '../context.ts';
import { wholeNumber } from '../numbers.ts';
import { printJson } from '../output.ts';
import { sourcePath } from '../source-path.ts';

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
      const intervalSeconds = flags.every === undefined ? undefined : everyOf(flags.every) * 60;
      sourcePath(slug);
      const context = loadContext(command);
      const { created, owner, ...channel } = await withApi(context, async (api) => ({
        ...(await api.post<ShownChannel & { created: boolean }>('/api/v1/channels', {
          source: slug,
          url,
          kind: flags.as,
          intervalSeconds,
        })),
        owner: await api.get<Json<Source>>(sourcePath(slug)),
      }));
      if (context.flags.json) return printJson(channel);
      say(
        created ? addedText(channel, owner) : `${channel.url} is polled already, as channel ${channel.id}.`,
      );
    });
  channels
    .command('set <id|url>')
    .description('change how often an address is polled, or what it is called')
    .option('--every <minutes>', 'minutes between polls')
    .option('--title <words>', 'what it is called')
    .action(async (name: string, flags: { every?: string; title?: string }, command: Command) => {
      const change = {
        ...(flags.every === undefined ? {} : { intervalSeconds: everyOf(flags.every) * 60 }),
        ...(flags.title === undefined ? {} : { title: flags.title === '' ? null : flags.title }),
      };
      if (Object.keys(change).length === 0)
        throw new AppError('usage', 'nothing to set', {
          exitCode: EXIT.usage,
          advice: 'Give --every or --title; "channels disable" stops its polls.',
        });
      const context = loadContext(command);
      const channel = await withApi(context, async (api) => {
        const { id } = await findChannel(api, name);
        return api.patch<ShownChannel>(`/api/v1/channels/${id}`, change);
      });
      if (context.flags.json) return printJson(channel);
      say(`${channel.url} is changed; every fetcher follows within seconds.`);
    });
}

function addedText({ url, kind }: Pick<ShownChannel, 'url' | 'kind'>, source: Json<Source>): string {
  if (!source.enabled)
    return `${url} is a channel now, and polled as a ${kind} when "outrider sources enable ${source.slug}" has enabled its source.`;
  return source.ingestionMode === 'spider'
    ? `${url} is a channel now, and not polled: ${linksOnlyText(source)}`
    : `${url} is polled as a ${kind} from now on.`;
}

const everyOf = (text: string): number => wholeNumber('--every', text, { least: 1, most: 43_200 });
