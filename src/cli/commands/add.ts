import type { Command } from 'commander';
import type { Overruled } from '../../domains/index.ts';
import { AppError, EXIT } from '../../errors/index.ts';
import { isWordAlone, withScheme } from '../../source-lists/index.ts';
import { checkSourceUrl, type Source } from '../../sources/index.ts';
import { systemClock } from '../../telemetry/index.ts';
import {
  type AddedFacts,
  describeAdded,
  headlineOf,
  isWorthHttp,
  type ShownDiscovery,
} from '../added-words.ts';
import { type Api, type Json, listItems, withApi } from '../api.ts';
import type { ShownChannel } from '../channel-path.ts';
import { type Context, loadContext } from '../context.ts';
import { isCrawling } from '../crawling.ts';
import { wholeNumber } from '../numbers.ts';
import { overruledLines, poolName } from '../operator.ts';
import { printJson } from '../output.ts';
import { sourcePath } from '../source-path.ts';

type Flags = { name?: string; every: string; group?: string; wait: boolean };

/** `add`. */
export function addAddCommand(program: Command): void {
  program
    .command('add <url...>')
    .description('follow publishers: a site, a feed or a sitemap; finds their feeds, or follows their links')
    .option('--name <name>', 'name of the source; its domain unless said')
    .option('--every <minutes>', 'minutes between polls', '15')
    .option('--group <name>', 'group of fetchers that alone asks its domains')
    .option('--no-wait', 'do not wait for the feeds to be found')
    .action(async (urls: string[], flags: Flags, command: Command) => {
      const intervalMinutes = wholeNumber('--every', flags.every, { least: 1, most: 43_200 });
      const group = flags.group === undefined ? undefined : poolName(flags.group, '--group');
      // All of them before the first is added, and before a database is started for nothing.
      const addresses = urls.map(addressOf);
      const context = loadContext(command);
      await withApi(context, (api) =>
        addAll(context, api, addresses, {
          wait: flags.wait,
          intervalMinutes,
          ...(flags.name === undefined ? {} : { name: flags.name }),
          ...(group === undefined ? {} : { group }),
        }),
      );
    });
}

type Address = { url: string; hasScheme: boolean };
type AddOptions = { name?: string; group?: string; intervalMinutes: number; wait: boolean };

function addressOf(typed: string): Address {
  const url = withScheme(typed);
  const hasScheme = url === typed.trim();
  if (isWordAlone(typed))
    throw new AppError('source_url_invalid', `"${typed}" is not an address that can be crawled`, {
      exitCode: EXIT.usage,
      advice: /^[a-z0-9-]+$/i.test(typed.trim())
        ? `Give a web address, as ${typed.trim()}.com or https://${typed.trim()}/`
        : 'Give a web address, as example.com or https://example.com/',
    });
  checkSourceUrl(url);
  return { url, hasScheme };
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const waitMs = 20_000;
const askAgainMs = 400;

async function addAll(
  context: Context,
  api: Api,
  addresses: readonly Address[],
  options: AddOptions,
): Promise<void> {
  const isJson = context.flags.json === true;
  const running = await isCrawling(api);
  // All searches begin before the first is waited for.
  const begun: Begun[] = [];
  let failure: unknown = null;
  for (const address of addresses) {
    try {
      begun.push(await begin(api, address, options));
    } catch (error) {
      // Those before it are added; whoever gave them wants to hear of them first.
      failure = error;
      break;
    }
  }
  const results: object[] = [];
  for (const one of begun) {
    const found = await finish(api, one, { ...options, wait: options.wait && running, isJson });
    const facts = { ...found, running };
    if (isJson) results.push(jsonOf(facts));
    else
      for (const line of [
        headlineOf(facts, one.address.url),
        ...describeAdded(facts),
        ...overruledLines(one.overruled),
      ])
        say(line);
  }
  if (isJson && (failure === null || results.length > 0)) printJson(results);
  if (failure !== null) throw failure;
}

type Begun = {
  address: Address;
  source: Json<Source>;
  created: boolean;
  /** The address is that of a feed which is polled already. */
  known: boolean;
  /** Groups of other sources that its group takes the place of. */
  overruled: Overruled[];
};

async function begin(api: Api, address: Address, options: AddOptions): Promise<Begun> {
  const { created, channelId, overruled, ...source } = await api.post<
    Json<Source> & { created: boolean; channelId: number | null; overruled: Overruled[] }
  >('/api/v1/sources', {
    url: address.url,
    name: options.name,
    feedPollIntervalMinutes: options.intervalMinutes,
    ...(options.group === undefined ? {} : { settings: { group: options.group } }),
  });
  const known = channelId !== null;
  if (!created && !known && source.enabled) await api.post(`${sourcePath(source.slug)}/discover`);
  return { address, source, created, known, overruled };
}

type Finishing = AddOptions & { isJson: boolean };

async function finish(api: Api, begun: Begun, options: Finishing): Promise<AddedFacts> {
  if (options.wait && !begun.known) await waitForDiscovery(api, begun.source);
  const facts = await loadFacts(api, begun);
  if (!options.wait || !begun.created) return facts;
  const discard = `${sourcePath(begun.source.slug)}/discard`;
  if (!begun.address.hasScheme && isWorthHttp(facts) && begun.address.url.startsWith('https:')) {
    const plain: Address = { url: begun.source.url.replace(/^https:/, 'http:'), hasScheme: true };
    if (!options.isJson) say(`${begun.source.url} does not answer; trying ${plain.url}`);
    await api.post(discard);
    return finish(api, await begin(api, plain, options), options);
  }
  // Everything it has is followed already: an empty source would only be in the way.
  if (facts.discovery?.state === 'found' && facts.channels.length === 0 && facts.elsewhere.length > 0) {
    await api.post(discard);
    return { ...facts, removed: true };
  }
  return facts;
}

type ShownSource = Json<Source> & { discovery: ShownDiscovery | null };

async function loadFacts(api: Api, { source, known, created }: Begun): Promise<AddedFacts> {
  // Read again: a source without channels has become a spidered one meanwhile.
  const { discovery, ...now } = await api.get<ShownSource>(sourcePath(source.slug));
  const { items: channels } = await listItems<ShownChannel>(
    api,
    '/api/v1/channels',
    { source: source.slug },
    mostChannels,
  );
  const own = new Set(channels.map((one) => one.url));
  const found = known ? [] : (discovery?.found ?? []);
  const elsewhere: AddedFacts['elsewhere'] = [];
  let leftOut = 0;
  for (const { kind, url, owner } of found.filter((one) => !own.has(one.url))) {
    if (owner === null || owner.slug === source.slug) leftOut += 1;
    else elsewhere.push({ kind, url, ...owner });
  }
  return {
    source: now,
    discovery: known ? null : discovery,
    channels: channels.map((one) => ({
      ...one,
      entries: found.find((candidate) => candidate.url === one.url)?.entries ?? null,
    })),
    elsewhere,
    leftOut,
    created,
    known,
    removed: false,
    running: true,
  };
}

// More than any search brings; a list of them would help nobody.
const mostChannels = 1000;

function jsonOf({ source, discovery, elsewhere, removed, channels }: AddedFacts): object {
  return { ...source, removed, discovery, elsewhere, channels };
}

async function waitForDiscovery(api: Api, source: Json<Source>): Promise<void> {
  const until = systemClock.monotonic() + waitMs;
  const { stderr } = process;
  if (stderr.isTTY) stderr.write(`looking for the feeds of ${source.name} …`);
  while (systemClock.monotonic() < until) {
    const { discovery } = await api.get<ShownSource>(sourcePath(source.slug));
    if (discovery === null || discovery.state === 'found' || discovery.state === 'nothing') break;
    await systemClock.wait(askAgainMs);
  }
  if (stderr.isTTY) stderr.write('\r\u001b[K');
}
