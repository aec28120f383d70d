import {
  type Channel,
  isAstray,
  loadNames,
  loadSeen,
  type MultiplierReader,
  moveChannel,
  saveFiles,
  saveSeen,
  startRediscovery,
} from '../channels/index.ts';
import type { Queryable } from '../db/index.ts';
import { loadRobotsOfDomain } from '../domains/index.ts';
import type { Lease, LeasedUrl, SettleItem, SubmitItem } from '../frontier/index.ts';
import { type IngestSettings, readSitemapChannel, SeenAddresses, siteTest } from '../ingest/index.ts';
import { sitemapsNamed } from '../robots/index.ts';
import type { Clock, Log } from '../telemetry/index.ts';
import { identifyUrl } from '../url/index.ts';
import type { PollEnd } from './conclude/index.ts';
import type { BodyReader } from './exchange.ts';
import { schedulePoll } from './poll-schedule.ts';

/** What following a poll up needs. */
export type PollDeps = { db: Queryable; clock: Clock; log: Log; multipliers: MultiplierReader };

const failuresToAlert = 10;
// Whoever led a channel there may have meant a login or a notice, and meant it for a while.
const meansLost = new Set(['403', '404', 'http', 'moved']);

/** Everything a poll means beyond its row, in the order that a crash may interrupt; answers the items to settle. */
export async function endPoll(
  deps: PollDeps,
  channel: Channel,
  poll: PollEnd,
  facts: { items: SettleItem[]; newUndated: number; newItems: number; adaptive: boolean },
): Promise<SettleItem[]> {
  const { db, log, clock } = deps;
  const { move, rediscover, trouble, news, files } = poll;
  if (files !== undefined) await saveFiles(db, channel, files);
  if (news !== undefined)
    schedulePoll(facts.items[0]!, news, {
      channel,
      nowMs: clock.now(),
      newUndated: facts.newUndated,
      newItems: facts.newItems,
      adaptive: facts.adaptive,
      multiplier: await deps.multipliers.of(channel.intervalSeconds),
    });
  if (move !== undefined) {
    const dueAt = move.dueInMs > 0 ? new Date(clock.now() + move.dueInMs) : undefined;
    const outcome = await moveChannel(db, channel, move.to, dueAt);
    const words = { channel: channel.id, from: channel.url, to: move.to.fetchUrl, outcome };
    log.warn(words, 'a channel leads to another address');
    if (outcome === 'moved' || outcome === 'merged') return move.items;
  }
  if (trouble !== undefined) {
    // One line to be woken by, when nothing has helped for ten polls; the others are the web as it is.
    const level = trouble.failures === failuresToAlert ? 'error' : 'warn';
    log[level]({ channel: channel.id, url: channel.url, ...trouble }, 'a poll failed');
  }
  // A place that was only thought of has not gone elsewhere.
  if (channel.foundBy === 'archive') return facts.items;
  const isLost = trouble !== undefined && meansLost.has(trouble.error) && (await isAstray(db, channel));
  const reason = rediscover ?? (isLost ? 'page' : undefined);
  if (reason !== undefined) await startRediscovery(db, channel, reason);
  return facts.items;
}

/** Reads a sitemap as it comes and submits what is new in it; the settle comes later, as with everything found. */
export function sitemapReader(
  { db }: Pick<PollDeps, 'db'>,
  at: { lease: Lease; row: LeasedUrl; channel: Channel; settings: IngestSettings },
  submit: (links: SubmitItem[]) => Promise<unknown>,
): BodyReader {
  const { lease, row, channel, settings } = at;
  return async (body, { url, headers }) => {
    const seen = new SeenAddresses(await loadSeen(db, lease.bucket, channel.id));
    const namedBy = await loadNamedBy(db, channel, settings);
    const response = { row, finalUrl: url, headers };
    const ingested = await readSitemapChannel(body, response, { ...settings, namedBy }, { submit, seen });
    if (ingested.outcome === 'channel' && ingested.reading.error === null) {
      const packed = seen.pack(ingested.reading.isWhole);
      if (packed !== null) await saveSeen(db, lease.bucket, channel.id, packed);
    }
    return ingested;
  };
}

/** The site of the source, where its robots.txt names a sitemap that lies elsewhere, or the index of it. */
async function loadNamedBy(
  db: Queryable,
  channel: Channel,
  { source }: IngestSettings,
): Promise<readonly string[]> {
  const home = source === null ? null : identifyUrl(source.url);
  if (home === null || home.outcome === 'rejected') return [];
  const { fetchUrl, bucket, domainKey } = home.identity;
  if (siteTest([fetchUrl])(new URL(channel.url).hostname)) return [];
  const robots = await loadRobotsOfDomain(db, bucket, domainKey);
  const named = new Set(
    robots.flatMap(({ rules, origin }) => (rules === null ? [] : sitemapsNamed(rules, origin))),
  );
  if (named.size === 0) return [];
  // robots.txt names the index and not its files, and it may name it where it was before it moved.
  const addresses = await loadNames(db, channel.id);
  return addresses.some((url) => named.has(url)) ? [fetchUrl] : [];
}
