import {
  type ArchiveDomain,
  type ArchiveEnd,
  type ArchiveKey,
  type ArchivePlace,
  type ArchiveTry,
  decideLook,
  enterArchiveDomains,
  type HashedPlace,
  judgeKnown,
  judgePage,
  judgeUnasked,
  leaveArchiveDomain,
  listArchiveTries,
  loadArchiveDomain,
  loadPageRows,
  loadPlaceHash,
  mostPlacesPerDay,
  type Remembered,
  sampleArticles,
  saveEnds,
  saveNextLook,
  takeDueArchives,
  takePlaces,
  thinkOfPlaces,
} from '../archives/index.ts';
import { createChannel, loadChannels, removeChannel } from '../channels/index.ts';
import type { Queryable } from '../db/index.ts';
import { loadRobotsOfDomain } from '../domains/index.ts';
import { messageOf } from '../errors/index.ts';
import { submit } from '../frontier/index.ts';
import { sitemapsNamed } from '../robots/index.ts';
import { loadSources, type Source } from '../sources/index.ts';
import type { Log } from '../telemetry/index.ts';
import { originOf } from '../url/index.ts';
import { judgeSitemaps } from './judge-sitemaps.ts';

export type ArchiveDeps = { db: Queryable; log: Log; sitemapIntervalSeconds: number };

/** What a look at a domain's archives came to. */
export type ArchiveLook = {
  /** Places that are asked now. */
  asked: ArchivePlace[];
  /** Places that were asked before and whose answer is known now. */
  ended: { url: string; state: ArchiveEnd['state']; detail: string | null }[];
  /** Why nothing is asked; null: something is, or there is nothing left to ask. */
  because: string | null;
};

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const domainsAtOnce = 20;
// Looked through for what may be asked: most were tried before.
const mostThought = 200;

/** Looks for archives of the domains whose time has come; answers how many were looked at. */
export async function discoverDueArchives(deps: ArchiveDeps): Promise<number> {
  const due = await takeDueArchives(deps.db, domainsAtOnce);
  for (const domain of due) {
    try {
      await look(deps, domain, decideLook(domain));
    } catch (error) {
      // Taken for ten minutes, after which it is tried again; the others must not wait for that.
      deps.log.error(
        { domain: domain.name, error, detail: messageOf(error) },
        'looking for archives of a domain failed',
      );
    }
  }
  return due.length;
}

/**
 * Looks for archives of one domain now, whatever waits there; the day's limit and what was tried before still hold. For
 * an operator's wish. null: the domain is not known.
 */
export async function discoverArchives(
  deps: ArchiveDeps,
  key: ArchiveKey & { sourceId?: number },
): Promise<ArchiveLook | null> {
  if (key.sourceId !== undefined)
    await enterArchiveDomains(deps.db, [{ ...key, sourceId: key.sourceId }], dayMs);
  const domain = await loadArchiveDomain(deps.db, key);
  return domain === null ? null : look(deps, domain, { look: true });
}

async function look(
  deps: ArchiveDeps,
  domain: ArchiveDomain,
  decision: ReturnType<typeof decideLook>,
): Promise<ArchiveLook> {
  const { db, log } = deps;
  const source = await loadOwner(db, domain);
  if (source === null && domain.sourceId !== null) {
    await leaveArchiveDomain(db, domain);
    if (!domain.isSeeded) return { asked: [], ended: [], because: 'no spidered source has it' };
  }
  const tries = await listArchiveTries(db, domain);
  const ended = await judge(deps, { domain, source }, tries);
  const open = tries.some((one) => one.state === 'asked');
  if (!decision.look) {
    const inMs = open ? Math.min(decision.inMs, hourMs) : decision.inMs;
    await saveNextLook(db, domain, { inMs, looked: false });
    return { asked: [], ended, because: decision.because };
  }
  const places = await findPlaces(deps, { domain, source }, tries);
  const asked = await takePlaces(db, domain, places, mostPlacesPerDay);
  // Written down first: what a crash leaves without a row is submitted by the next look.
  for (const place of asked) await ask(deps, { domain, source }, place);
  if (asked.length > 0)
    log.info({ domain: domain.name, places: asked.map(({ url }) => url) }, 'looking for archives');
  await saveNextLook(db, domain, { inMs: nextLookMs({ asked, open, left: places.length }), looked: true });
  return { asked: asked.map(({ hash: _hash, ...place }) => place), ended, because: null };
}

type At = { domain: ArchiveDomain; source: Source | null };

/** The answers are looked for soon; a used day and an exhausted list wait for the next. */
function nextLookMs(seen: { asked: readonly unknown[]; open: boolean; left: number }): number {
  if (seen.asked.length > 0) return 15 * minuteMs;
  if (seen.open) return hourMs;
  // Places are left and none was asked: the day's are used. The first of them leave the day within hours.
  return seen.left > 0 ? 3 * hourMs : dayMs;
}

/** The source whose pages they are, while it is enabled and followed by links. */
async function loadOwner(db: Queryable, { sourceId }: ArchiveDomain): Promise<Source | null> {
  const [source] = sourceId === null ? [] : await loadSources(db, [sourceId]);
  return source === undefined || !source.enabled || source.ingestionMode === 'feed' ? null : source;
}

/** Learns from rows and channels how places that were asked ended; what has no row yet gets it. */
async function judge(
  deps: ArchiveDeps,
  at: At,
  tries: ArchiveTry[],
): Promise<{ url: string; state: ArchiveEnd['state']; detail: string | null }[]> {
  const { db } = deps;
  const { domain } = at;
  const open = tries.filter((one) => one.state === 'asked');
  const pages = open.filter((one) => one.kind === 'page');
  const rows = await loadPageRows(
    db,
    domain,
    pages.map(({ hash }) => hash),
  );
  const polls = await judgeSitemaps(
    db,
    open.filter((one) => one.kind === 'sitemap'),
    domain.now,
  );
  const ends: { place: ArchiveTry; end: ArchiveEnd }[] = [];
  for (const place of open) {
    const key = place.hash.toString('hex');
    const row = rows.get(key);
    const poll = polls.get(key);
    const ageMs = domain.now.getTime() - place.askedAt.getTime();
    const isAsked = row !== undefined || poll !== undefined;
    const end = isAsked
      ? (poll?.end ?? (row && judgePage(row, ageMs)))
      : judgeUnasked(place.kind, at.source !== null, ageMs);
    if (end == null) {
      if (!isAsked) await ask(deps, at, place);
      continue;
    }
    // A guess that is no sitemap is not polled for ever.
    if (end.state === 'failed' && poll?.removes != null) await removeChannel(db, poll.removes);
    ends.push({ place, end });
    place.state = end.state;
  }
  await saveEnds(db, domain, ends);
  return ends.map(({ place, end }) => ({ url: place.url, state: end.state, detail: end.detail }));
}

/** Places to ask, the likeliest first; those that have a row or a channel already are only remembered. */
async function findPlaces(
  deps: ArchiveDeps,
  { domain, source }: At,
  tries: readonly ArchiveTry[],
): Promise<HashedPlace[]> {
  const { db } = deps;
  const known = new Map(tries.map((one) => [one.hash.toString('hex'), one]));
  const hashed = await loadPlaceHash(db, domain);
  // Of a domain without a source a sitemap is read once, as a page is: channels belong to sources.
  const placed = (place: ArchivePlace): HashedPlace | null =>
    hashed(source === null ? { ...place, kind: 'page' } : place);
  const remembered = (place: ArchivePlace): Remembered => {
    const fitting = placed(place);
    if (fitting === null) return 'failed';
    const one = known.get(fitting.hash.toString('hex'));
    if (one === undefined) return 'new';
    return one.state !== 'asked' && one.againAt !== null && one.againAt <= domain.now ? 'due' : one.state;
  };
  const robots = await loadRobotsOfDomain(db, domain.bucket, domain.domainKey);
  const clues = {
    origin: originOf(domain.entryUrl ?? source?.url ?? `https://${domain.name}/`),
    sitemaps: robots.flatMap(({ rules, origin }) => (rules === null ? [] : sitemapsNamed(rules, origin))),
    seen: await sampleArticles(db, domain),
    now: domain.now,
    remembered,
  };
  const found = new Map<string, HashedPlace>();
  for (const place of thinkOfPlaces(clues)) {
    const fitting = placed(place);
    if (fitting !== null) found.set(fitting.hash.toString('hex'), fitting);
    if (found.size >= mostThought) break;
  }
  return leaveOutKnown(db, domain, [...found.values()], known);
}

async function leaveOutKnown(
  db: Queryable,
  domain: ArchiveDomain,
  places: readonly HashedPlace[],
  tried: ReadonlyMap<string, ArchiveTry>,
): Promise<HashedPlace[]> {
  const rows = await loadPageRows(
    db,
    domain,
    places.filter(({ kind }) => kind === 'page').map(({ hash }) => hash),
  );
  const channels = await loadChannels(
    db,
    places.filter(({ kind }) => kind === 'sitemap').map(({ hash }) => hash),
  );
  const followed = new Set(channels.map(({ hash }) => hash.toString('hex')));
  const ends: { place: HashedPlace; end: ArchiveEnd }[] = [];
  const open: HashedPlace[] = [];
  for (const place of places) {
    const key = place.hash.toString('hex');
    const row = rows.get(key);
    // What was tried here and may be tried again has a row too.
    if (row !== undefined && !tried.has(key)) ends.push({ place, end: judgeKnown(row) });
    else if (followed.has(key)) ends.push({ place, end: { state: 'known', detail: null, againMs: null } });
    else open.push(place);
  }
  await saveEnds(db, domain, ends);
  return open;
}

/** Lets a place be fetched: a sitemap as a channel of its source, everything else as a listing that waits for better work. */
async function ask(deps: ArchiveDeps, { source }: At, place: HashedPlace): Promise<void> {
  const { db } = deps;
  if (place.kind === 'sitemap' && source !== null) {
    await createChannel(db, {
      sourceId: source.id,
      kind: 'sitemap',
      url: place.url,
      intervalSeconds: deps.sitemapIntervalSeconds,
      foundBy: 'archive',
      takesAll: true,
    });
    return;
  }
  await submit(db, [
    {
      url: place.url,
      kind: 'listing',
      origin: 'archive',
      sourceId: source?.id ?? null,
      priority: 1,
      depth: 0,
      // One that was read long ago is read again.
      modifiedAt: new Date(),
      own: true,
    },
  ]);
}
