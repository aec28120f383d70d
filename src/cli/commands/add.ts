import type { Command } from 'commander';
import {
  type Channel,
  findDiscovery,
  findNamedChannel,
  listChannels,
  loadProbedChannels,
  startDiscovery,
} from '../../channels/index.ts';
import type { Database, Queryable } from '../../db/index.ts';
import { AppError, EXIT } from '../../errors/index.ts';
import { withScheme } from '../../source-lists/index.ts';
import {
  checkSourceUrl,
  createSource,
  loadSources,
  removeEmptySource,
  type Source,
} from '../../sources/index.ts';
import { systemClock } from '../../telemetry/index.ts';
import { type AddedFacts, describeAdded, headlineOf, isWorthHttp } from '../added-words.ts';
import { type Context, loadContext, withDatabase } from '../context.ts';
import { wholeNumber } from '../numbers.ts';
import { printJson } from '../output.ts';

type Flags = { name?: string; every: string; wait: boolean };

/** `add`. */
export function addAddCommand(program: Command): void {
  program
    .command('add <url...>')
    .description('follow publishers: a site, a feed or a sitemap; finds their feeds, or follows their links')
    .option('--name <name>', 'name of the source; its domain unless said')
    .option('--every <minutes>', 'minutes between polls', '15')
    .option('--no-wait', 'do not wait for the feeds to be found')
    .action(async (urls: string[], flags: Flags, command: Command) => {
      const intervalMinutes = wholeNumber('--every', flags.every, { least: 1, most: 43_200 });
      // All of them before the first is added, and before a database is started for nothing.
      const addresses = urls.map(addressOf);
      const context = loadContext(command);
      await withDatabase(context, (database) =>
        addAll(context, database, addresses, {
          wait: flags.wait,
          intervalMinutes,
          ...(flags.name === undefined ? {} : { name: flags.name }),
        }),
      );
    });
}

type Address = { url: string; hasScheme: boolean };
type AddOptions = { name?: string; intervalMinutes: number; wait: boolean };

function addressOf(typed: string): Address {
  const url = withScheme(typed);
  const hasScheme = url === typed.trim();
  if (!hasScheme && !/[.:/[]/.test(typed))
    throw new AppError('source_url_invalid', `"${typed}" is not an address that can be crawled`, {
      exitCode: EXIT.usage,
      advice: `Give a web address, as ${typed}.com or https://${typed}/`,
    });
  checkSourceUrl(url);
  return { url, hasScheme };
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const waitMs = 20_000;

async function addAll(
  context: Context,
  database: Database,
  addresses: readonly Address[],
  options: AddOptions,
): Promise<void> {
  const { pool } = database;
  const isJson = context.flags.json === true;
  const running = await isCrawling(pool);
  // All searches begin before the first is waited for.
  const begun: Begun[] = [];
  for (const address of addresses) begun.push(await begin(pool, address, options));
  const results: object[] = [];
  for (const one of begun) {
    const found = await finish(pool, one, { ...options, wait: options.wait && running, isJson });
    const facts = { ...found, running };
    if (isJson) results.push(await jsonOf(pool, facts));
    else for (const line of [headlineOf(facts, one.address.url), ...describeAdded(facts)]) say(line);
  }
  if (isJson) printJson(results);
}

type Begun = { address: Address; source: Source; created: boolean; known: Channel | null };

async function begin(db: Queryable, address: Address, options: AddOptions): Promise<Begun> {
  // A feed that is polled already belongs to somebody: a second source for it would stay empty.
  const known = await findNamedChannel(db, address.url);
  const owner = known === null ? undefined : (await loadSources(db, [known.sourceId]))[0];
  if (known !== null && owner !== undefined) return { address, source: owner, created: false, known };
  const { source, created } = await createSource(db, {
    url: address.url,
    ...(options.name === undefined ? {} : { name: options.name }),
    intervalMinutes: options.intervalMinutes,
  });
  if (source.enabled) await startDiscovery(db, source.id);
  return { address, source, created, known: null };
}

type Finishing = AddOptions & { isJson: boolean };

async function finish(db: Queryable, begun: Begun, options: Finishing): Promise<AddedFacts> {
  if (options.wait && begun.known === null) await waitForDiscovery(db, begun.source);
  const facts = await loadFacts(db, begun);
  if (!options.wait || !begun.created) return facts;
  if (!begun.address.hasScheme && isWorthHttp(facts) && begun.address.url.startsWith('https:')) {
    const plain: Address = { url: begun.source.url.replace(/^https:/, 'http:'), hasScheme: true };
    if (!options.isJson) say(`${begun.source.url} does not answer; trying ${plain.url}`);
    await removeEmptySource(db, begun.source.id);
    return finish(db, await begin(db, plain, options), options);
  }
  // Everything it has is followed already: an empty source would only be in the way.
  if (facts.discovery?.state === 'found' && facts.channels.length === 0 && facts.elsewhere.length > 0) {
    await removeEmptySource(db, begun.source.id);
    return { ...facts, removed: true };
  }
  return facts;
}

async function loadFacts(db: Queryable, { source, known, created }: Begun): Promise<AddedFacts> {
  // Read again: a source without channels has become a spidered one meanwhile.
  const now = (await loadSources(db, [source.id]))[0] ?? source;
  const discovery = known === null ? await findDiscovery(db, source.id) : null;
  const channels = await listChannels(db, { sourceId: source.id });
  const probed = await loadProbedChannels(db, discovery?.candidates ?? []);
  const own = new Set(channels.map((one) => one.url));
  const elsewhere: AddedFacts['elsewhere'] = [];
  let leftOut = 0;
  for (const one of probed.filter((candidate) => !own.has(candidate.url))) {
    const channel = await findNamedChannel(db, one.url);
    const [owner] = channel === null ? [] : await loadSources(db, [channel.sourceId]);
    if (owner === undefined || owner.id === source.id) leftOut += 1;
    else elsewhere.push({ kind: one.kind, url: one.url, slug: owner.slug, name: owner.name });
  }
  return {
    source: now,
    discovery,
    channels: channels.map((one) => ({
      ...one,
      entries: probed.find((candidate) => candidate.url === one.url)?.entries ?? null,
    })),
    elsewhere,
    leftOut,
    created,
    known: known !== null,
    removed: false,
    running: true,
  };
}

async function jsonOf(db: Queryable, facts: AddedFacts): Promise<object> {
  const { source, discovery, elsewhere, removed } = facts;
  const channels = await listChannels(db, { sourceId: source.id });
  return {
    ...source,
    removed,
    discovery,
    elsewhere,
    channels: channels.map(({ hash: _hash, ...rest }) => rest),
  };
}

async function waitForDiscovery(db: Queryable, source: Source): Promise<void> {
  const until = systemClock.monotonic() + waitMs;
  const { stderr } = process;
  if (stderr.isTTY) stderr.write(`looking for the feeds of ${source.name} …`);
  while (systemClock.monotonic() < until) {
    const discovery = await findDiscovery(db, source.id);
    if (discovery === null || discovery.state === 'found' || discovery.state === 'nothing') break;
    await systemClock.wait(300);
  }
  if (stderr.isTTY) stderr.write('\r\u001b[K');
}

async function isCrawling(db: Queryable): Promise<boolean> {
  const alive = await db.query<{ alive: boolean }>(
    `SELECT count(DISTINCT role) FILTER (WHERE role IN ('fetch', 'schedule')) = 2 OR bool_or(role = 'run') AS alive
       FROM workers WHERE heartbeat_at > now() - interval '30 seconds'`,
  );
  return alive.rows[0]?.alive === true;
}
