import {
  type Channel,
  createChannel,
  type Discovery,
  endRow,
  findChannel,
  findReplacement,
  forgetAddress,
  listAddresses,
  loadChannels,
  mergeChannel,
  moveChannel,
  returnChannel,
  wakeChannel,
} from '../channels/index.ts';
import type { Source } from '../sources/index.ts';
import { channelHash, identifyUrl } from '../url/index.ts';
import type { DiscoverDeps, Found } from './discover-channels.ts';

/** What a search for a failing channel came to. */
export type Replacement = 'woken' | 'added' | 'moved' | 'merged' | 'nothing';

/**
 * Ends a search for what became of a channel. Its own address works: it is polled again. One that it has left works: it
 * goes back. Another one of its kind was
 * found: the channel moves there, or, while it may only have hiccuped (a page came once), that one is followed beside it
 * and takes its place if it falls asleep. Nothing found: it stays and goes on sleeping, polling never gives up.
 */
export async function replaceChannel(
  { database: { pool }, log }: DiscoverDeps,
  discovery: Discovery,
  source: Source,
  found: readonly Found[],
): Promise<Replacement> {
  const channel = discovery.channelId === null ? null : await findChannel(pool, discovery.channelId);
  if (channel === null) return 'nothing';
  const say = (outcome: Replacement, to: string | null): Replacement => {
    const facts = { source: source.name, channel: channel.id, from: channel.url, to, outcome };
    log.info(facts, 'looked for a channel that fails');
    return outcome;
  };
  const places = found.filter((one) => one.kind === channel.kind).flatMap(placeOf);
  if (places.some((one) => one.hash.equals(channel.hash))) {
    await wakeChannel(pool, channel.id);
    return say('woken', channel.url);
  }
  const left = new Set((await listAddresses(pool, channel.id)).map((one) => one.url));
  const [home, ...others] = places.filter((one) => left.has(one.url));
  if (home !== undefined && (await returnChannel(pool, channel, home.identity)) === 'moved') {
    await wakeChannel(pool, channel.id);
    await endRow(pool, channel.url, 'moved', home.url);
    // Channels that were led to one place became one there, and are as many again.
    for (const { url, title, identity } of others) {
      await forgetAddress(pool, channel, identity);
      const { sourceId, kind, intervalSeconds } = channel;
      await createChannel(pool, { sourceId, kind, url, intervalSeconds, foundBy: 'link', title });
    }
    return say('moved', home.url);
  }
  const followed = await loadChannels(
    pool,
    places.map((one) => one.hash),
  );
  const free = places.filter((one) => !followed.some((other) => other.hash.equals(one.hash)));
  if (discovery.reason === 'page') {
    const [first] = free;
    if (first === undefined || (await findReplacement(pool, channel.id)) !== null)
      return say('nothing', null);
    const { intervalSeconds, sourceId, kind } = channel;
    const added = {
      sourceId,
      kind,
      url: first.url,
      intervalSeconds,
      foundBy: 'link',
      title: first.title,
    } as const;
    await createChannel(pool, { ...added, replacesId: channel.id });
    return say('added', first.url);
  }
  const stand = standIn(followed, await findReplacement(pool, channel.id));
  if (stand !== null) {
    await mergeChannel(pool, channel.id, stand.id);
    await endRow(pool, channel.url, 'moved', stand.url);
    return say('merged', stand.url);
  }
  for (const one of free) {
    const outcome = await moveChannel(pool, channel, one.identity);
    if (outcome !== 'moved') continue;
    await wakeChannel(pool, channel.id);
    await endRow(pool, channel.url, 'moved', one.url);
    return say('moved', one.url);
  }
  return say('nothing', null);
}

/** The channel that was added when this one began to fail, if the site still names it. */
const standIn = (followed: readonly Channel[], added: Channel | null): Channel | null =>
  followed.find((one) => one.id === added?.id) ?? null;

function placeOf(found: Found) {
  const identified = identifyUrl(found.url);
  if (identified.outcome === 'rejected') return [];
  const { identity } = identified;
  return [{ ...found, url: identity.fetchUrl, identity, hash: channelHash(identity.fetchUrl) }];
}
