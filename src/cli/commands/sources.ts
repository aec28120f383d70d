import type { Command } from 'commander';
import { findDiscovery, listChannels, loadPushStates, startDiscovery } from '../../channels/index.ts';
import type { Database, Queryable } from '../../db/index.ts';
import { AppError, EXIT } from '../../errors/index.ts';
import {
  checkSourceUrl,
  createSource,
  listSources,
  loadSources,
  type Source,
  type SourceChange,
  saveRespectRobots,
  updateSource,
} from '../../sources/index.ts';
import { systemClock } from '../../telemetry/index.ts';
import { type Context, loadContext, withDatabase } from '../context.ts';
import { wholeNumber } from '../numbers.ts';
import { onOff, operatorName } from '../operator.ts';
import { printJson, printTable, relativeTime } from '../output.ts';

/** `add`, `sources`, `channels`. */
export function addSourceCommands(program: Command): void {
  program
    .command('add <url...>')
    .description('follow publishers: finds their feeds and sitemaps, or follows their links')
    .option('--name <name>', 'name of the source; its domain unless said')
    .option('--every <minutes>', 'minutes between polls', '15')
    .option('--no-wait', 'do not wait for the feeds to be found')
    .action(
      async (urls: string[], flags: { name?: string; every: string; wait: boolean }, command: Command) => {
        const intervalMinutes = wholeNumber('--every', flags.every, { least: 1, most: 43_200 });
        // All of them before the first is added, and before a database is started for nothing.
        const addresses = urls.map(withScheme);
        for (const url of addresses) checkSourceUrl(url);
        const context = loadContext(command);
        await withDatabase(context, (database) =>
          addSources(context, database, addresses, { ...flags, intervalMinutes }),
        );
      },
    );
  const sources = program
    .command('sources')
    .description('list publishers')
    .action(async (_flags: object, command: Command) => {
      const context = loadContext(command);
      const sources = await withDatabase(context, ({ pool }) => listSources(pool));
      if (context.flags.json) return printJson(sources);
      if (sources.length === 0) return say('No sources yet. Add one with: outrider add https://example.com');
      printTable(sources, [
        { title: 'ID', value: (row) => String(row.id), align: 'right' },
        { title: 'SLUG', value: (row) => row.slug, flexible: true },
        { title: 'NAME', value: (row) => row.name, flexible: true },
        { title: 'URL', value: (row) => row.url, flexible: true },
        { title: 'MODE', value: (row) => row.ingestionMode },
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
  program
    .command('channels')
    .description('list feeds and sitemaps with how their polls went, trouble first')
    .action(async (_flags: object, command: Command) => {
      const context = loadContext(command);
      const channels = await withDatabase(context, async ({ pool }) => {
        const listed = await listChannels(pool);
        const pushes = await loadPushStates(
          pool,
          listed.map((one) => one.id),
        );
        return listed.map((one) => ({ ...one, push: pushes.get(one.id) ?? null }));
      });
      if (context.flags.json) return printJson(channels.map(({ hash: _hash, ...rest }) => rest));
      if (channels.length === 0) return say('No channels yet. "outrider add <url>" finds them.');
      printTable(channels, [
        { title: 'KIND', value: (row) => row.kind },
        { title: 'URL', value: (row) => row.url, flexible: true },
        { title: 'POLLS', value: (row) => String(row.polls), align: 'right' },
        { title: '304', value: (row) => String(row.notModified), align: 'right' },
        { title: 'NEW/SEEN', value: (row) => `${row.itemsNew}/${row.itemsSeen}`, align: 'right' },
        {
          title: 'ERRORS',
          value: (row) => (row.errorsInRow === 0 ? '–' : `${row.errorsInRow} × ${row.errorKind}`),
        },
        { title: 'LAST GOOD', value: (row) => relativeTime(row.lastSuccessAt) },
        { title: 'NEXT', value: (row) => relativeTime(row.dueAt) },
        { title: 'PUSH', value: (row) => row.push?.state ?? '–' },
      ]);
    });
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const waitMs = 20_000;

// People type example.com, and example.com:8080, which a URL parser takes for a scheme.
const withScheme = (url: string): string => (/^[a-z][a-z0-9+.-]*:(?!\d)/i.test(url) ? url : `https://${url}`);

async function addSources(
  context: Context,
  database: Database,
  urls: readonly string[],
  flags: { name?: string; intervalMinutes: number; wait: boolean },
): Promise<void> {
  const added: Source[] = [];
  for (const url of urls) {
    const { source, created } = await createSource(database.pool, {
      url,
      ...(flags.name === undefined ? {} : { name: flags.name }),
      intervalMinutes: flags.intervalMinutes,
    });
    await startDiscovery(database.pool, source.id);
    added.push(source);
    if (!context.flags.json)
      say(
        created
          ? `Added ${source.name} (${source.url}).`
          : `${source.name} is followed already; looking for its channels again.`,
      );
  }
  const running = await isCrawling(database.pool);
  if (flags.wait && running) await waitForDiscoveries(database.pool, added);
  if (context.flags.json) {
    printJson(
      await Promise.all(
        added.map(async (source) => ({
          ...source,
          discovery: await findDiscovery(database.pool, source.id),
        })),
      ),
    );
    return;
  }
  if (!running) {
    say('Nothing is crawling right now: its feeds are looked for as soon as "outrider up" runs.');
    return;
  }
  // Read again: a source without channels has become a spidered one meanwhile.
  for (const source of await loadSources(
    database.pool,
    added.map((one) => one.id),
  ))
    await sayFound(database.pool, source);
}

async function sayFound(db: Queryable, source: Source): Promise<void> {
  const discovery = await findDiscovery(db, source.id);
  const channels = await listChannels(db, { sourceId: source.id });
  if (channels.length > 0) {
    for (const channel of channels)
      say(`  ${channel.kind}: ${channel.url}${channel.title === null ? '' : ` (${channel.title})`}`);
  } else if (discovery?.state === 'nothing' && source.ingestionMode === 'feed') {
    const reason = discovery.candidates.at(-1)?.outcome ?? 'no answer';
    say(
      `  It cannot be reached (${reason}). Check the address, then run "outrider add ${source.url}" again.`,
    );
  } else if (discovery?.state === 'nothing') {
    const page = discovery.candidates.findLast((one) => one.by === 'page');
    if (page !== undefined && page.outcome !== 'page') {
      say(`  ${page.url} cannot be read (${page.outcome}): is the address right?`);
      return;
    }
    say(
      `  No feed or sitemap found after ${discovery.candidates.length} addresses; its links are followed instead.`,
    );
  } else {
    say('  Still looking for its feeds; "outrider channels" shows them when they are found.');
  }
}

async function waitForDiscoveries(db: Queryable, sources: readonly Source[]): Promise<void> {
  const until = systemClock.monotonic() + waitMs;
  for (const source of sources) {
    while (systemClock.monotonic() < until) {
      const discovery = await findDiscovery(db, source.id);
      if (discovery === null || discovery.state === 'found' || discovery.state === 'nothing') break;
      await systemClock.wait(300);
    }
  }
}

async function isCrawling(db: Queryable): Promise<boolean> {
  const alive = await db.query<{ alive: boolean }>(
    `SELECT count(DISTINCT role) FILTER (WHERE role IN ('fetch', 'schedule')) = 2 OR bool_or(role = 'run') AS alive
       FROM workers WHERE heartbeat_at > now() - interval '30 seconds'`,
  );
  return alive.rows[0]?.alive === true;
}

const unknownSource = (slug: string): AppError =>
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
