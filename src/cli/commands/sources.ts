import { type Command, Option } from 'commander';
import type { SourceStatus } from '../../channels/index.ts';
import type { SelectorRate } from '../../documents/index.ts';
import type { Overruled } from '../../domains/index.ts';
import { AppError, EXIT } from '../../errors/index.ts';
import {
  type ImageMode,
  type IngestionMode,
  type RenderMode,
  renderModes,
  type Source,
} from '../../sources/index.ts';
import { type Json, listItems, patiently, type Query, withApi } from '../api.ts';
import { loadContext } from '../context.ts';
import { count, wholeNumber } from '../numbers.ts';
import { onOff, overruledLines, poolName } from '../operator.ts';
import { printJson, printTable, relativeTime } from '../output.ts';
import { sourcePath } from '../source-path.ts';

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
    .description('list publishers, change, disable, enable and delete them');
  // A command of its own: options of the group would be taken from all that stand beside it, --mode from "set" too.
  sources
    .command('list', { isDefault: true })
    .description('publishers with their channels and how they are followed')
    .addOption(
      new Option('--mode <mode>', 'only those that are followed so').choices(['feed', 'spider', 'both']),
    )
    .option('--disabled', 'only disabled ones')
    .option('--failing', 'only those with a channel whose polls fail')
    .option('--search <words>', 'only those with these words in name, slug or address')
    .option('--limit <n>', 'most lines', '1000')
    .action(async (flags: ListFlags, command: Command) => {
      const limit = wholeNumber('--limit', flags.limit, { least: 1, most: 100_000 });
      const query = queryOf(flags);
      const context = loadContext(command);
      const { items: listed, isMore } = await withApi(context, (api) =>
        listItems<Json<SourceStatus & { status: string }>>(api, '/api/v1/sources', query, limit),
      );
      if (context.flags.json) return printJson(listed);
      if (listed.length === 0)
        return say(
          Object.values(query).some((one) => one !== undefined)
            ? 'No source matches.'
            : 'No sources yet. Add one with: outrider add https://example.com',
        );
      printTable(listed, [
        // Never cut: it is what the other commands take.
        { title: 'SLUG', value: (row) => row.slug },
        { title: 'NAME', value: (row) => row.name, flexible: true, spare: 1 },
        { title: 'URL', value: (row) => row.url, flexible: true },
        { title: 'MODE', value: (row) => row.ingestionMode, spare: 2 },
        { title: 'CHANNELS', value: channelsOf, align: 'right' },
        { title: 'LAST ITEM', value: (row) => relativeTime(row.lastItemAt), spare: 1 },
        {
          title: 'STATE',
          // Enabled, and nothing of it is polled: whoever looks for what is missing must see it here.
          value: (row) => (row.status === 'empty' ? 'empty' : row.enabled ? 'enabled' : 'disabled'),
        },
        {
          title: 'ROBOTS',
          value: (row) => (row.settings.respectRobots === false ? 'ignored' : 'respected'),
          spare: 3,
        },
        { title: 'ADDED', value: (row) => relativeTime(row.createdAt), spare: 4 },
      ]);
      if (isMore) say(`The first ${limit}; --limit shows more.`);
    });
  sources
    .command('set <slug>')
    .description(
      'change a source: its polls, mode, depth, delay, priority, images, rendering, copies, pages, group or proxies; "default" takes a value back',
    )
    .option('--mode <mode>', 'feed, spider or both')
    .option('--every <minutes>', 'minutes between polls of its feeds')
    .option('--fixed <on|off>', 'whether its feeds keep to that interval, whatever is learnt of them')
    .option('--depth <n>', 'links from its front page that are followed; 0: three, -1: without end')
    .option('--delay <ms>', 'least milliseconds between two requests for its URLs')
    .option('--priority <n>', '1 to 10')
    .option('--images <mode>', 'off, reference or store: what is done with images of its articles')
    .option('--render <mode>', 'auto, always or never: which of its pages run in a browser')
    .option('--copies <deliver|hold>', 'hold: what others printed first is kept, but goes to no sink')
    .option('--pages <all|first>', 'first: articles that continue on other pages are read no further')
    .option('--group <name>', 'group of fetchers that alone asks its domains')
    .option('--proxies <list>', 'comma-separated proxy addresses, or "none"')
    .action(async (slug: string, flags: SetFlags, command: Command) => {
      const change = sourceChangeOf(flags);
      const context = loadContext(command);
      const source = await withApi(context, (api) =>
        api.patch<Json<Source & { overruled: Overruled[]; warnings: string[] }>>(
          sourcePath(slug),
          change,
          patiently,
        ),
      );
      if (context.flags.json) return printJson(source);
      say(`${source.name} is changed; every fetcher follows within seconds.`);
      for (const line of overruledLines(source.overruled)) say(line);
      for (const warning of source.warnings) say(`warning: ${warning}.`);
    });
  for (const [word, enabled] of [
    ['disable', false],
    ['enable', true],
  ] as const)
    sources
      .command(`${word} <slug>`)
      .description(
        enabled ? 'go on with a source where it stood' : 'poll and fetch nothing of a source for now',
      )
      .option('--reason <words>', 'why')
      .action(async (slug: string, flags: { reason?: string }, command: Command) => {
        const context = loadContext(command);
        // The API wants a reason for what it stops; at a terminal none has to be given.
        const reason = flags.reason ?? (enabled ? undefined : 'no reason given');
        const source = await withApi(context, (api) =>
          api.post<Json<Source>>(`${sourcePath(slug)}/${word}`, { reason }, patiently),
        );
        if (context.flags.json) return printJson(source);
        say(
          enabled
            ? `${source.name} is followed again; what waited is due.`
            : `${source.name} is disabled; its channels are not polled and its URLs are held.`,
        );
      });
  sources
    .command('delete <slug>')
    .description('forget a source and its channels; its documents stay unless said otherwise')
    .option('--documents <keep|delete>', 'what becomes of its documents', 'keep')
    .action(async (slug: string, flags: { documents: string }, command: Command) => {
      if (flags.documents !== 'keep' && flags.documents !== 'delete')
        throw new AppError('usage', `--documents ${flags.documents} is neither keep nor delete`, {
          exitCode: EXIT.usage,
        });
      const context = loadContext(command);
      const { documents } = flags;
      const answer = await withApi(context, (api) =>
        api.delete<{ slug: string; deleted: true; documents: number }>(
          sourcePath(slug),
          { documents },
          patiently,
        ),
      );
      if (context.flags.json) return printJson(answer);
      say(
        `${slug} is deleted${documents === 'delete' ? ` with ${count(answer.documents, 'document')}` : '; its documents stay'}.`,
      );
    });
  sources
    .command('robots <slug> <on|off>')
    .description('whether Disallow lines of robots.txt hold for a source; the reason is kept for good')
    .requiredOption('--reason <words>', 'why')
    .action(async (slug: string, state: string, flags: { reason: string }, command: Command) => {
      const respects = onOff(state);
      const context = loadContext(command);
      const source = await withApi(context, (api) =>
        api.patch<Json<Source>>(sourcePath(slug), { respectRobots: respects, reason: flags.reason }),
      );
      if (context.flags.json) return printJson(source);
      say(
        respects
          ? `robots.txt holds for ${source.name} again.`
          : `Disallow lines no longer hold for ${source.name}; fetchers follow within seconds.`,
      );
    });
  sources
    .command('selectors <slug>')
    .description("how often a source's selectors matched on its newest documents; a redesign shows here")
    .option('--last <n>', 'documents to count', '1000')
    .action(async (slug: string, flags: { last: string }, command: Command) => {
      const last = wholeNumber('--last', flags.last, { least: 1, most: 100_000 });
      const context = loadContext(command);
      const { items: rates } = await withApi(context, (api) =>
        api.get<{ items: Json<SelectorRate>[] }>(`${sourcePath(slug)}/selectors`, { last }),
      );
      if (context.flags.json) return printJson(rates);
      if (rates.length === 0) return say('None of its documents was read with selectors yet.');
      printTable(rates, [
        { title: 'FIELD', value: (row) => row.field },
        { title: 'MATCHED', value: (row) => `${row.matched}/${row.documents}`, align: 'right' },
        {
          title: 'SHARE',
          value: (row) => `${((100 * row.matched) / row.documents).toFixed(1)} %`,
          align: 'right',
        },
        { title: 'LAST MATCH', value: (row) => relativeTime(row.lastMatchAt) },
        { title: 'NEWEST PAGE', value: (row) => row.latest, flexible: true },
      ]);
    });
}

const queryOf = (flags: ListFlags): Query => ({
  mode: flags.mode,
  enabled: flags.disabled ? false : undefined,
  failing: flags.failing,
  q: flags.search,
});

function channelsOf(row: Json<SourceStatus>): string {
  if (row.channels === 0 && row.searching) return 'looking';
  return row.failing === 0 ? String(row.channels) : `${row.channels} (${row.failing} failing)`;
}

type SetFlags = {
  delay?: string;
  priority?: string;
  proxies?: string;
  mode?: string;
  every?: string;
  fixed?: string;
  depth?: string;
  images?: string;
  render?: string;
  copies?: string;
  pages?: string;
  group?: string;
};

/** What `sources set` asks of the API: null takes a value back. */
type Change = {
  ingestionMode?: IngestionMode;
  feedPollIntervalMinutes?: number;
  priority?: number;
  rateLimitMs?: number | null;
  settings?: {
    proxies?: string[] | null;
    images?: ImageMode | null;
    render?: RenderMode | null;
    copies?: 'deliver' | 'hold' | null;
    pages?: 'all' | 'first' | null;
    group?: string | null;
    fixedInterval?: true | null;
    maxDepth?: number | null;
  };
};

function sourceChangeOf(flags: SetFlags): Change {
  const orNull = <T>(text: string, read: (text: string) => T): T | null =>
    text === 'default' ? null : read(text);
  const settings: NonNullable<Change['settings']> = {
    ...(flags.proxies === undefined ? {} : { proxies: orNull(flags.proxies, proxyList) }),
    ...(flags.images === undefined ? {} : { images: orNull(flags.images, imageMode) }),
    ...(flags.render === undefined ? {} : { render: orNull(flags.render, renderMode) }),
    ...(flags.copies === undefined ? {} : { copies: orNull(flags.copies, copyMode) }),
    ...(flags.pages === undefined ? {} : { pages: orNull(flags.pages, pageMode) }),
    ...(flags.group === undefined ? {} : { group: orNull(flags.group, (text) => poolName(text, '--group')) }),
    ...(flags.fixed === undefined ? {} : { fixedInterval: onOff(flags.fixed) ? true : null }),
    ...(flags.depth === undefined
      ? {}
      : {
          maxDepth: orNull(flags.depth, (text) => wholeNumber('--depth', text, { least: -1, most: 1000 })),
        }),
  };
  const change: Change = {
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
    ...(flags.mode === undefined ? {} : { ingestionMode: ingestionMode(flags.mode) }),
    ...(flags.every === undefined
      ? {}
      : { feedPollIntervalMinutes: wholeNumber('--every', flags.every, { least: 1, most: 43_200 }) }),
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
  };
  if (Object.keys(change).length === 0)
    throw new AppError('usage', 'nothing to set', {
      exitCode: EXIT.usage,
      advice:
        'Give at least one of --mode, --every, --fixed, --depth, --delay, --priority, --images, --render, --copies, --pages, --group and --proxies.',
    });
  return change;
}

function pageMode(text: string): 'all' | 'first' {
  if (text === 'all' || text === 'first') return text;
  throw new AppError('usage', `"${text}" is no way to read an article`, {
    exitCode: EXIT.usage,
    advice: 'An article that continues on other pages is read to its end (all) or not (first).',
  });
}

function ingestionMode(text: string): IngestionMode {
  if (text === 'feed' || text === 'spider' || text === 'both') return text;
  throw new AppError('usage', `"${text}" is no mode`, {
    exitCode: EXIT.usage,
    advice: 'A source is followed by feed, spider or both.',
  });
}

function imageMode(text: string): ImageMode {
  if (text === 'off' || text === 'reference' || text === 'store') return text;
  throw new AppError('usage', `"${text}" is nothing that can be done with images`, {
    exitCode: EXIT.usage,
    advice: 'Images are off, kept by reference, or stored: off, reference or store.',
  });
}

function renderMode(text: string): RenderMode {
  const mode = renderModes.find((one) => one === text);
  if (mode !== undefined) return mode;
  throw new AppError('usage', `"${text}" is no way of rendering`, {
    exitCode: EXIT.usage,
    advice: 'Pages run in a browser when they need it, always or never: auto, always or never.',
  });
}

function copyMode(text: string): 'deliver' | 'hold' {
  if (text === 'deliver' || text === 'hold') return text;
  throw new AppError('usage', `"${text}" is nothing that can be done with copies`, {
    exitCode: EXIT.usage,
    advice: 'Copies of what others printed are delivered or held back: deliver or hold.',
  });
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
