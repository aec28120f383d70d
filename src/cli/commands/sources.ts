import { type Command, Option } from 'commander';
import { listSourceStatus, type SourceFilter, type SourceStatus } from '../../channels/index.ts';
import { AppError, EXIT } from '../../errors/index.ts';
import { type SourceChange, saveRespectRobots, updateSource } from '../../sources/index.ts';
import { loadContext, withDatabase } from '../context.ts';
import { wholeNumber } from '../numbers.ts';
import { onOff, operatorName } from '../operator.ts';
import { printJson, printTable, relativeTime } from '../output.ts';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

type ListFlags = {
  mode?: 'feed' | 'spider' | 'both';
  disabled?: boolean;
  failing?: boolean;
  search?: string;
  limit: string;
};

/** `sources`. */
export function addSourceCommands(program: Command): void {
  const sources = program
    .command('sources')
    .description('list publishers')
    .addOption(
      new Option('--mode <mode>', 'only those that are followed so').choices(['feed', 'spider', 'both']),
    )
    .option('--disabled', 'only disabled ones')
    .option('--failing', 'only those with a channel whose polls fail')
    .option('--search <words>', 'only those with these words in name, slug or address')
    .option('--limit <n>', 'most lines', '1000')
    .action(async (flags: ListFlags, command: Command) => {
      const filter = sourceFilterOf(flags);
      const context = loadContext(command);
      const listed = await withDatabase(context, ({ pool }) => listSourceStatus(pool, filter));
      if (context.flags.json) return printJson(listed);
      if (listed.length === 0)
        return say(
          Object.keys(filter).length > 1
            ? 'No source matches.'
            : 'No sources yet. Add one with: outrider add https://example.com',
        );
      printTable(listed, [
        { title: 'SLUG', value: (row) => row.slug, flexible: true },
        { title: 'NAME', value: (row) => row.name, flexible: true },
        { title: 'URL', value: (row) => row.url, flexible: true },
        { title: 'MODE', value: (row) => row.ingestionMode },
        { title: 'CHANNELS', value: channelsOf, align: 'right' },
        { title: 'LAST ITEM', value: (row) => relativeTime(row.lastItemAt) },
        { title: 'STATE', value: (row) => (row.enabled ? 'enabled' : 'disabled') },
        {
          title: 'ROBOTS',
          value: (row) => (row.settings.respectRobots === false ? 'ignored' : 'respected'),
        },
        { title: 'ADDED', value: (row) => relativeTime(row.createdAt) },
      ]);
    });
  sources
    .command('set <slug>')
    .description('give a source its own delay, priority or proxies; "default" takes it back')
    .option('--delay <ms>', 'least milliseconds between two requests for its URLs')
    .option('--priority <n>', '1 to 10')
    .option('--proxies <list>', 'comma-separated proxy addresses, or "none"')
    .action(async (slug: string, flags: SetFlags, command: Command) => {
      const change = sourceChangeOf(flags);
      const context = loadContext(command);
      const source = await withDatabase(context, ({ pool }) =>
        updateSource(pool, slug, change, operatorName()),
      );
      if (source === null) throw unknownSource(slug);
      if (context.flags.json) return printJson(source);
      say(`${source.name} is changed; every fetcher follows within seconds.`);
    });
  sources
    .command('robots <slug> <on|off>')
    .description('whether Disallow lines of robots.txt hold for a source; the reason is kept for good')
    .requiredOption('--reason <words>', 'why')
    .action(async (slug: string, state: string, flags: { reason: string }, command: Command) => {
      const respects = onOff(state);
      const context = loadContext(command);
      const source = await withDatabase(context, ({ pool }) =>
        saveRespectRobots(pool, slug, respects, { reason: flags.reason, actor: operatorName() }),
      );
      if (source === null) throw unknownSource(slug);
      if (context.flags.json) return printJson(source);
      say(
        respects
          ? `robots.txt holds for ${source.name} again.`
          : `Disallow lines no longer hold for ${source.name}; fetchers follow within seconds.`,
      );
    });
}

function sourceFilterOf(flags: ListFlags): SourceFilter {
  return {
    ...(flags.mode === undefined ? {} : { mode: flags.mode }),
    ...(flags.disabled === undefined ? {} : { enabled: false }),
    ...(flags.failing === undefined ? {} : { failing: true }),
    ...(flags.search === undefined ? {} : { search: flags.search }),
    limit: wholeNumber('--limit', flags.limit, { least: 1, most: 100_000 }),
  };
}

function channelsOf(row: SourceStatus): string {
  if (row.channels === 0 && row.searching) return 'looking';
  return row.failing === 0 ? String(row.channels) : `${row.channels} (${row.failing} failing)`;
}

/** The complaint about a short name that no source has. */
export const unknownSource = (slug: string): AppError =>
  new AppError('source_unknown', `there is no source "${slug}"`, {
    exitCode: EXIT.usage,
    httpStatus: 404,
    advice: 'The SLUG column of "outrider sources" lists them.',
  });

type SetFlags = { delay?: string; priority?: string; proxies?: string };

function sourceChangeOf(flags: SetFlags): SourceChange {
  const orNull = <T>(text: string, read: (text: string) => T): T | null =>
    text === 'default' ? null : read(text);
  const change: SourceChange = {
    ...(flags.delay === undefined
      ? {}
      : {
          rateLimitMs: orNull(flags.delay, (text) =>
            wholeNumber('--delay', text, { least: 0, most: 86_400_000 }),
          ),
        }),
    ...(flags.priority === undefined
      ? {}
      : { priority: wholeNumber('--priority', flags.priority, { least: 1, most: 10 }) }),
    ...(flags.proxies === undefined ? {} : { proxies: orNull(flags.proxies, proxyList) }),
  };
  if (Object.keys(change).length === 0)
    throw new AppError('usage', 'nothing to set', {
      exitCode: EXIT.usage,
      advice: 'Give at least one of --delay, --priority and --proxies.',
    });
  return change;
}

function proxyList(text: string): string[] {
  if (text === 'none') return [];
  const list = text.split(',').map((one) => one.trim());
  const wrong = list.find((one) => !/^(https?|socks5h?):\/\/\S+$/.test(one));
  if (wrong !== undefined)
    throw new AppError('usage', `"${wrong}" is no proxy address`, {
      exitCode: EXIT.usage,
      advice: 'Write it like http://host:3128, https://user:password@host or socks5://host:1080.',
    });
  return list;
}
