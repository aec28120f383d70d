import { randomUUID } from 'node:crypto';
import {
  type Candidate,
  createChannel,
  type Discovery,
  type FoundBy,
  findChannel,
  hasFallenBack,
  isOutOfReach,
  listAddresses,
  lockOpenDiscoveries,
  saveDiscovery,
  submitFrontPage,
} from '../channels/index.ts';
import type { Database, Queryable } from '../db/index.ts';
import { followGroup, loadRobots } from '../domains/index.ts';
import { submit } from '../frontier/index.ts';
import { sitemapsNamed } from '../robots/index.ts';
import { applyHolds, loadSources, type Source, saveIngestionMode } from '../sources/index.ts';
import type { Log } from '../telemetry/index.ts';
import { identifyUrl, originOf, parseUrlId, urlId } from '../url/index.ts';
import { replaceChannel } from './replace-channel.ts';

// Well-known places, tried only when the page itself names nothing that works.
const feedPaths = ['/feed', '/rss', '/atom.xml', '/feed.xml', '/rss.xml', '/index.xml', '/feed.json'];
const sitemapPaths = ['/sitemap.xml', '/news-sitemap.xml', '/sitemap_index.xml'];
const mostLinks = 10;
const mostChannels = 5;
const mostLeft = 10;
// Redirects that lead on and on end here.
const mostCandidates = 60;

const noAnswer = 'no answer in time';

type Probed = {
  kind: string;
  url: string;
  format?: string;
  title?: string | null;
  feeds?: { url: string }[];
  entries?: number;
  links?: string;
  reason?: string;
};

export type DiscoverDeps = { database: Database; log: Log; sitemapIntervalSeconds: number };

/** Moves every open search one step; answers how many moved. */
export async function discoverChannels(deps: DiscoverDeps): Promise<number> {
  return deps.database.withTransaction(async (tx) => {
    let moved = 0;
    for (const discovery of await lockOpenDiscoveries(tx, 50)) {
      const [source] = await loadSources(tx, [discovery.sourceId]);
      if (source !== undefined && (await step(deps, tx, discovery, source))) moved += 1;
    }
    return moved;
  });
}

async function step(
  deps: DiscoverDeps,
  tx: Queryable,
  discovery: Discovery,
  source: Source,
): Promise<boolean> {
  if (discovery.state === 'pending') {
    // Who added it may have died before its domain was pinned, and the first question is already its group's.
    const home = identifyUrl(source.url);
    if (home.outcome === 'ok') await followGroup(deps.database.pool, source.id, [home.identity]);
    const first = [untried(source.url, 'page'), ...(await loadKnownPlaces(tx, discovery))];
    const probed: Candidate[] = [];
    for (const one of first) probed.push(await probe(deps, source, one));
    await saveDiscovery(tx, discovery.id, 'page', probed);
    return true;
  }
  let results = await loadResults(tx, discovery.candidates);
  const waiting = discovery.candidates.filter((one) => one.outcome === null && !results.has(one.probe ?? ''));
  if (waiting.length > 0) {
    if (!(await mayGoOn(tx, discovery, waiting, results))) return false;
    // What was asked a moment ago may have been answered meanwhile.
    results = await loadResults(tx, discovery.candidates);
  }
  const candidates = discovery.candidates.map((one) => ({
    ...one,
    outcome: one.outcome ?? outcomeOf(results.get(one.probe ?? '')),
  }));

  const pages = candidates
    .filter((one) => one.by === 'page' || one.url === frontOf(source))
    .flatMap((one) => results.get(one.probe ?? '') ?? []);
  const page = pages.find((one) => one.kind === 'page') ?? pages[0];
  const elsewhere = redirected(candidates, results);
  if (elsewhere.length > 0) {
    // Feeds often lie with a service, and a site under another name: looked at there, under that domain's politeness.
    const probed: Candidate[] = [];
    for (const one of elsewhere) probed.push(await probe(deps, source, one));
    const left = candidates.map((one) =>
      one.by === 'page' && results.get(one.probe ?? '')?.kind === 'redirect'
        ? { ...one, by: 'link' as const }
        : one,
    );
    await saveDiscovery(tx, discovery.id, discovery.state, [...left, ...probed]);
    return true;
  }
  const found = candidates.flatMap((one) => asChannel(one, results.get(one.probe ?? '')));
  if (found.length > 0) return finish(deps, tx, discovery, source, candidates, found);
  const unanswered = candidates.find((one) => one.by === 'page' && one.outcome === noAnswer);
  const reason = page === undefined ? unanswered?.outcome : page.kind === 'failed' ? page.reason : null;
  if (reason != null && isOutOfReach(reason)) {
    // Nothing of the site answers: guessing further addresses would only repeat the same failure.
    await saveDiscovery(tx, discovery.id, 'nothing', candidates);
    deps.log.warn(
      { source: source.name, reason },
      discovery.channelId === null
        ? 'the source cannot be reached; its channels are looked for again later'
        : 'the source cannot be reached; its channel stays where it was',
    );
    return true;
  }
  const lines = await loadSitemapLines(tx, page?.url ?? source.url);
  const next = nextCandidates(source, pages, candidates, lines);
  if (next.length > 0) {
    const probed: Candidate[] = [];
    for (const one of next) probed.push(await probe(deps, source, one));
    await saveDiscovery(tx, discovery.id, 'candidates', [...candidates, ...probed]);
    return true;
  }
  return finish(deps, tx, discovery, source, candidates, []);
}

/**
 * Whether a search goes on without the answers that are missing. A paused fetcher, a laptop that slept or a domain that
 * rests is no answer: what is still to be asked is waited for, unless something was found without it.
 */
async function mayGoOn(
  tx: Queryable,
  discovery: Discovery,
  waiting: readonly Candidate[],
  results: ReadonlyMap<string, Probed>,
): Promise<boolean> {
  if (!discovery.overdue) return false;
  if (discovery.isStale) return true;
  if ([...results.values()].some(({ kind }) => kind === 'feed' || kind === 'sitemap')) return true;
  const ids = waiting.flatMap((one) => (one.probe === null ? [] : [parseUrlId(one.probe)!]));
  const asked = await tx.query(
    `SELECT FROM url_frontier WHERE (bucket, domain_key, url_hash) IN (SELECT * FROM unnest($1::smallint[], $2::bigint[], $3::bytea[]))
        AND status IN ('pending', 'failed', 'needs_render') LIMIT 1`,
    [ids.map((id) => id.bucket), ids.map((id) => id.domainKey.toString()), ids.map((id) => id.hash)],
  );
  return asked.rowCount === 0;
}

const frontOf = (source: Source): string => new URL('/', source.url).href;

const untried = (url: string, by: Candidate['by']): Candidate => ({ url, by, probe: null, outcome: null });

/** Where a failing channel was and is: what works again there needs no search. */
async function loadKnownPlaces(tx: Queryable, { channelId }: Discovery): Promise<Candidate[]> {
  const channel = channelId === null ? null : await findChannel(tx, channelId);
  if (channel === null) return [];
  const left = await listAddresses(tx, channel.id);
  return [channel.url, ...left.slice(0, mostLeft).map((one) => one.url)].map((url) => untried(url, 'known'));
}

/** Places in other domains that candidates lead to and that nobody has looked at. */
function redirected(candidates: readonly Candidate[], results: ReadonlyMap<string, Probed>): Candidate[] {
  const known = new Set(candidates.map((one) => one.url));
  if (known.size > mostCandidates) return [];
  const next = new Map<string, Candidate>();
  for (const one of candidates) {
    const result = results.get(one.probe ?? '');
    if (result?.kind === 'redirect' && !known.has(result.url))
      next.set(result.url, untried(result.url, one.by));
  }
  return [...next.values()].slice(0, mostLinks);
}

export type Found = {
  url: string;
  kind: 'feed' | 'sitemap';
  by: Candidate['by'];
  title: string | null;
  /** What it lists; null: nothing, or nobody knows. */
  links: string | null;
};

function asChannel(candidate: Candidate, result: Probed | undefined): Found[] {
  if (result?.kind !== 'feed' && result?.kind !== 'sitemap') return [];
  // A text file of addresses could be anything; robots.txt must have called it a sitemap.
  if (result.format === 'text' && candidate.by !== 'robots') return [];
  const links = (result.entries ?? 0) > 0 ? (result.links ?? null) : null;
  return [{ url: result.url, kind: result.kind, by: candidate.by, title: result.title ?? null, links }];
}

function nextCandidates(
  source: Source,
  pages: readonly Probed[],
  tried: readonly Candidate[],
  sitemapLines: readonly string[],
): Candidate[] {
  const known = new Set(tried.map((one) => one.url));
  const fresh = (urls: readonly string[], by: Candidate['by']): Candidate[] =>
    [...new Set(urls)].filter((url) => !known.has(url)).map((url) => untried(url, by));
  const named = pages.flatMap(({ feeds = [] }) => feeds.slice(0, mostLinks));
  const linked = fresh(
    named.map((feed) => feed.url),
    'link',
  );
  if (linked.length > 0) return linked;
  // What stands for the source may be nothing but the address of a feed that is gone: its site has a front page.
  const isLost = tried.some((one) => one.by === 'known' && one.url === source.url);
  const page = pages.find((one) => one.kind === 'page');
  const front = isLost || page === undefined ? fresh([frontOf(source)], 'link') : [];
  if (front.length > 0) return front;
  const base = page?.url ?? source.url;
  const at = (paths: readonly string[]) => paths.map((path) => new URL(path, base).href);
  const feeds = fresh(at(feedPaths), 'path');
  if (feeds.length > 0) return feeds;
  const maps = fresh(sitemapLines.slice(0, mostLinks), 'robots');
  return maps.length > 0 ? maps : fresh(at(sitemapPaths), 'path');
}

async function finish(
  deps: DiscoverDeps,
  tx: Queryable,
  discovery: Discovery,
  source: Source,
  candidates: Candidate[],
  found: Found[],
): Promise<boolean> {
  if (discovery.channelId !== null) {
    const outcome = await replaceChannel(deps, discovery, source, distinct(found));
    await saveDiscovery(tx, discovery.id, outcome === 'nothing' ? 'nothing' : 'found', candidates);
    return true;
  }
  // Nobody chose links: what turned up since is polled, and the links go on bringing what it does not name.
  const returns =
    found.length > 0 &&
    source.ingestionMode === 'spider' &&
    (await hasFallenBack(deps.database.pool, source));
  if (returns) {
    await saveIngestionMode(deps.database.pool, source.id, 'both');
    await applyHolds(deps.database.pool, { ...source, ingestionMode: 'both' });
  }
  for (const one of distinct(found).slice(0, mostChannels)) {
    await createChannel(deps.database.pool, {
      sourceId: source.id,
      kind: one.kind,
      url: one.url,
      intervalSeconds:
        one.kind === 'feed' ? source.feedPollIntervalMinutes * 60 : deps.sitemapIntervalSeconds,
      foundBy: foundBy(one.by),
      title: one.title,
    });
  }
  const fallsBack = found.length === 0 && source.ingestionMode === 'feed';
  if (found.length === 0) {
    // Committed before its front page is submitted: a fetcher may read the page before this transaction ends.
    if (fallsBack) await saveIngestionMode(deps.database.pool, source.id, 'spider');
  }
  if (found.length === 0 || source.ingestionMode !== 'feed')
    await submitFrontPage(deps.database.pool, source);
  await saveDiscovery(
    tx,
    discovery.id,
    found.length > 0 ? 'found' : 'nothing',
    candidates,
    fallsBack ? 'fell_back' : undefined,
  );
  const message =
    found.length === 0
      ? 'no feed or sitemap found; following links instead'
      : returns
        ? 'channels found; they are polled beside the links'
        : 'channels found';
  deps.log.info(
    { source: source.name, channels: found.map((one) => one.url), tried: candidates.length },
    message,
  );
  return true;
}

const foundBy = (by: Candidate['by']): FoundBy => (by === 'page' || by === 'known' ? 'manual' : by);

/** One of each address, and one of those that list the very same articles: sites offer a feed in several formats. */
function distinct(found: readonly Found[]): Found[] {
  const kept: Found[] = [];
  for (const one of found)
    if (!kept.some((other) => other.url === one.url || (one.links !== null && other.links === one.links)))
      kept.push(one);
  return kept;
}

async function probe(deps: DiscoverDeps, source: Source, candidate: Candidate): Promise<Candidate> {
  // Outside the transaction: it would keep the slots of several domains locked. A crash leaves one needless probe.
  const [result] = await submit(deps.database.pool, [
    {
      url: candidate.url,
      kind: 'probe',
      origin: 'manual',
      sourceId: source.id,
      priority: 10,
      own: true,
      probeId: randomUUID(),
    },
  ]);
  const { identity, hash, answer } = result!;
  if (identity === null || hash === null) return { ...candidate, outcome: answer };
  return { ...candidate, probe: urlId(identity.domainKey, hash) };
}

/** `Sitemap:` lines of the origin's robots.txt, which the page's probe has read by now. */
async function loadSitemapLines(db: Queryable, url: string): Promise<string[]> {
  const identified = identifyUrl(url);
  if (identified.outcome === 'rejected') return [];
  const { bucket, domainKey, fetchUrl } = identified.identity;
  const origin = originOf(fetchUrl);
  const rules = (await loadRobots(db, bucket, domainKey, origin))?.rules ?? null;
  return rules === null ? [] : sitemapsNamed(rules, origin);
}

async function loadResults(tx: Queryable, candidates: readonly Candidate[]): Promise<Map<string, Probed>> {
  const ids = candidates.flatMap((one) => (one.probe === null ? [] : [parseUrlId(one.probe)!]));
  const result = await tx.query<{ domain_key: bigint; url_hash: Buffer; result: Probed }>(
    `SELECT domain_key, url_hash, result FROM probe_results
      WHERE (bucket, domain_key, url_hash) IN (SELECT * FROM unnest($1::smallint[], $2::bigint[], $3::bytea[]))`,
    [ids.map((id) => id.bucket), ids.map((id) => id.domainKey.toString()), ids.map((id) => id.hash)],
  );
  return new Map(result.rows.map((row) => [urlId(row.domain_key, row.url_hash), row.result]));
}

function outcomeOf(result: Probed | undefined): string {
  if (result === undefined) return noAnswer;
  return result.kind === 'failed' ? (result.reason ?? 'failed') : result.kind;
}
