import type { Database, Queryable } from '../db/index.ts';
import { applyGroups } from '../domains/index.ts';
import { type SubmitItem, submit } from '../frontier/index.ts';
import { type ListEntry, type ListedSource, warnOfSettings } from '../source-lists/index.ts';
import {
  insertSources,
  loadSourcesByUrl,
  type NewListedSource,
  type Source,
  updateListedSources,
} from '../sources/index.ts';
import { channelHash, channelTwin, identifyUrl } from '../url/index.ts';
import { type Channel, type ChannelKind, loadTwins, pollRow } from './channels.ts';
import { frontPageRow } from './front-page.ts';

/** What became of a list of publishers. */
export type ImportReport = {
  /** Last line that was read. */
  lines: number;
  /** Sources that are new. */
  added: number;
  /** Sources that were there before. */
  known: number;
  /** Of those, how many took over what the list says. */
  updated: number;
  channelsAdded: number;
  channelsKnown: number;
  /** Sources whose feeds are looked for. */
  searches: number;
  /** Sources whose links are followed deeper than is wise. */
  deep: number;
  bad: number;
  /** The first hundred entries nobody can use. */
  badLines: BadLine[];
};
export type BadLine = { line: number; reason: string; text: string };

export type ImportOptions = {
  actor: string;
  sitemapIntervalSeconds: number;
  /** Known sources take over what the list says, except whether they are enabled; otherwise they keep what they have and only get missing channels. */
  update?: boolean;
  /** Everything is tried and taken back again: the report says what would have been. */
  dryRun?: boolean;
  /** Called for every entry nobody can use, however many there are. */
  onBad?: (bad: BadLine) => void;
};

// A batch is one transaction of a few statements: 500 keep it under 100 ms and an interrupted import loses as many lines.
const batchSize = 500;
const mostBadLines = 100;

type Entry = { line: number; source: NewListedSource; channels: PreparedChannel[] };
type PreparedChannel = {
  kind: ChannelKind;
  url: string;
  bucket: number;
  domainKey: bigint;
  hash: Buffer;
  enabled: boolean;
  intervalSeconds: number;
  foundBy: string;
  title: string | null;
};

/** A report that nothing stands in yet, and what adds an entry nobody can use to it. */
export function startReport(onBad?: (bad: BadLine) => void): {
  report: ImportReport;
  refuse: (bad: BadLine) => void;
} {
  const report: ImportReport = {
    lines: 0,
    added: 0,
    known: 0,
    updated: 0,
    channelsAdded: 0,
    channelsKnown: 0,
    searches: 0,
    deep: 0,
    bad: 0,
    badLines: [],
  };
  const refuse = (bad: BadLine): void => {
    report.bad += 1;
    if (report.badLines.length < mostBadLines) report.badLines.push(bad);
    onBad?.(bad);
  };
  return { report, refuse };
}

/**
 * Follows the publishers of a list, any number in bounded memory. Sources and channels are known by their addresses, so
 * an interrupted import is finished by running it again, and a second run adds nothing.
 */
export async function importSources(
  database: Database,
  entries: AsyncIterable<ListEntry> | Iterable<ListEntry>,
  options: ImportOptions,
): Promise<ImportReport> {
  const { report, refuse } = startReport(options.onBad);
  let batch = new Map<string, Entry>();
  // Addresses are remembered over the whole file, so that a source of many lines is counted once; some 100 bytes each.
  const seen: Seen = { sources: new Set(), channels: new Set() };
  const flush = async (): Promise<void> => {
    if (batch.size > 0) await importBatch(database, [...batch.values()], seen, options, report);
    batch = new Map();
  };
  for await (const entry of entries) {
    report.lines = Math.max(report.lines, entry.line);
    if (entry.outcome === 'bad') {
      refuse({ line: entry.line, reason: entry.reason, text: entry.text });
      continue;
    }
    const prepared = prepare(entry.source, entry.line, options);
    if (warnOfSettings(entry.source.settings ?? {}).length > 0) report.deep += 1;
    if ('reason' in prepared) {
      refuse({ line: entry.line, reason: prepared.reason, text: entry.source.url });
      continue;
    }
    const other = batch.get(prepared.source.url) ?? batch.get(twinOf(prepared) ?? '');
    if (other === undefined) batch.set(prepared.source.url, prepared);
    else other.channels.push(...prepared.channels);
    if (batch.size >= batchSize) await flush();
  }
  await flush();
  return report;
}

/** The other spelling of what is nothing but the address of a feed. */
const twinOf = ({ source: { url, slug }, channels }: Entry): string | null =>
  slug === undefined && channels.some((one) => one.url === url) ? channelTwin(url) : null;

/** What the batches before have had; a dry run has nothing else that remembers it. */
type Seen = { sources: Set<string>; channels: Set<string> };

function prepare(listed: ListedSource, line: number, options: ImportOptions): Entry | { reason: string } {
  const identified = identifyUrl(listed.url);
  if (identified.outcome === 'rejected')
    return {
      reason: `"${listed.url.slice(0, 100)}" cannot be crawled (${identified.reason.replaceAll('_', ' ')})`,
    };
  const { fetchUrl, domain } = identified.identity;
  const minutes = listed.feedPollIntervalMinutes ?? 15;
  const channels: PreparedChannel[] = [];
  for (const channel of listed.channels) {
    const at = identifyUrl(channel.url);
    if (at.outcome === 'rejected')
      return {
        reason: `"${channel.url.slice(0, 100)}" cannot be polled (${at.reason.replaceAll('_', ' ')})`,
      };
    const usualSeconds = channel.kind === 'sitemap' ? options.sitemapIntervalSeconds : minutes * 60;
    channels.push({
      kind: channel.kind,
      url: at.identity.fetchUrl,
      bucket: at.identity.bucket,
      domainKey: at.identity.domainKey,
      hash: channelHash(at.identity.fetchUrl),
      enabled: channel.enabled ?? true,
      intervalSeconds: channel.intervalSeconds ?? Math.max(30, Math.min(2_592_000, usualSeconds)),
      foundBy: channel.foundBy ?? 'manual',
      title: channel.title ?? null,
    });
  }
  const { channels: _channels, ...given } = listed;
  return { line, channels, source: { ...given, url: fetchUrl, domain } };
}

/** Ends a transaction that was only a trial. */
class TrialOver extends Error {}

async function importBatch(
  database: Database,
  entries: readonly Entry[],
  seen: Seen,
  options: ImportOptions,
  report: ImportReport,
): Promise<void> {
  let follow: SubmitItem[] = [];
  const ended = database.withTransaction(async (tx) => {
    follow = await saveBatch(tx, entries, seen, options, report);
    if (options.dryRun) throw new TrialOver();
  });
  await ended.catch((error: unknown) => {
    if (!(error instanceof TrialOver)) throw error;
  });
  for (const { source, channels } of entries) {
    seen.sources.add(source.url);
    // A trial leaves nothing behind that the next batch would find.
    if (options.dryRun) for (const { url } of channels) seen.channels.add(url).add(channelTwin(url) ?? url);
  }
  // After the commit, and for known ones too: a crash in between is healed by importing again.
  if (options.dryRun) return;
  await applyGroups(
    database.pool,
    entries.map(({ source }) => source.url),
    options.actor,
  );
  await submit(database.pool, follow);
}

async function saveBatch(
  tx: Queryable,
  entries: readonly Entry[],
  seen: Seen,
  options: ImportOptions,
  report: ImportReport,
): Promise<SubmitItem[]> {
  const ids = new Map<string, number>();
  const isNew = (url: string): boolean => !seen.sources.has(url);
  // Two imports of one list would wait for each other's addresses in turn: one batch at a time instead.
  await tx.query('SELECT pg_advisory_xact_lock(7102)');
  for (const known of await loadSourcesByUrl(
    tx,
    entries.map((one) => one.source.url),
  ))
    ids.set(known.url, known.id);
  for (const known of await loadOwners(tx, entries, ids)) ids.set(known.url, known.sourceId);
  const fresh = entries.filter((one) => !ids.has(one.source.url)).map((one) => one.source);
  const added = await insertSources(tx, fresh, options.actor);
  const old = entries.filter((one) => ids.has(one.source.url) && isNew(one.source.url));
  if (options.update)
    report.updated += await updateListedSources(
      tx,
      old.map((one) => one.source),
      options.actor,
    );
  for (const { id, url } of added) ids.set(url, id);
  report.added += added.filter(({ url }) => isNew(url)).length;
  report.known += old.length;
  const channels = entries.flatMap((one) =>
    one.channels.map((channel) => ({
      ...channel,
      sourceId: ids.get(one.source.url)!,
      isExported: one.source.slug !== undefined,
    })),
  );
  const inserted = await insertChannels(
    tx,
    await withoutTwins(
      tx,
      channels.filter((one) => !seen.channels.has(one.url)),
    ),
  );
  report.channelsAdded += inserted;
  report.channelsKnown += new Set(channels.map((one) => one.url)).size - inserted;
  const bare = entries.filter(
    ({ channels, source }) => channels.length === 0 && (isNew(source.url) || !options.dryRun),
  );
  report.searches += await startDiscoveries(
    tx,
    bare.map((one) => ids.get(one.source.url)!),
  );
  return loadFollowed(
    tx,
    { all: [...ids.values()], added: added.map(({ id }) => id) },
    channels.map((one) => one.hash),
  );
}

/**
 * The sources that poll these addresses already: lists often name nothing but a feed, which would become a second source
 * without a channel of its own. An entry with a short name is one of an export, where a source is what it is.
 */
async function loadOwners(
  tx: Queryable,
  entries: readonly Entry[],
  known: ReadonlyMap<string, number>,
): Promise<{ url: string; sourceId: number }[]> {
  const urls = entries.flatMap(({ source: { url, slug } }) =>
    known.has(url) || slug !== undefined ? [] : [url],
  );
  if (urls.length === 0) return [];
  const result = await tx.query<{ url: string; sourceId: number }>(
    `WITH named AS (SELECT * FROM unnest($1::text[], $2::bytea[]) n (url, hash))
     SELECT n.url, c.source_id AS "sourceId" FROM named n
       JOIN channel_addresses a ON a.url_hash = n.hash JOIN channels c ON c.id = a.channel_id
      UNION ALL
     SELECT n.url, c.source_id FROM named n JOIN channels c ON c.url_hash = n.hash`,
    [urls, urls.map(channelHash)],
  );
  const twins = [...(await loadTwins(tx, urls))].map(([url, { sourceId }]) => ({ url, sourceId }));
  return [...twins, ...result.rows];
}

/** Lists have many a feed twice, with http and with https: it is polled once. An export is brought back as it was. */
async function withoutTwins<T extends Pick<PreparedChannel, 'url'> & { isExported: boolean }>(
  tx: Queryable,
  channels: readonly T[],
): Promise<T[]> {
  const twins = await loadTwins(
    tx,
    channels.map((one) => one.url),
  );
  const taken = new Set<string>();
  return channels.filter(({ url, isExported }) => {
    if (isExported) return true;
    if (twins.has(url) || taken.has(channelTwin(url) ?? '')) return false;
    taken.add(url);
    return true;
  });
}

async function insertChannels(
  tx: Queryable,
  channels: readonly (PreparedChannel & { sourceId: number })[],
): Promise<number> {
  if (channels.length === 0) return 0;
  const rows = channels.map((one) => ({
    source_id: one.sourceId,
    kind: one.kind,
    url: one.url,
    bucket: one.bucket,
    domain_key: one.domainKey.toString(),
    url_hash: `\\x${one.hash.toString('hex')}`,
    enabled: one.enabled,
    interval_seconds: one.intervalSeconds,
    found_by: one.foundBy,
    title: one.title,
  }));
  const result = await tx.query(
    `INSERT INTO channels (source_id, kind, url, bucket, domain_key, url_hash, enabled, interval_seconds, found_by, title)
     SELECT source_id, kind, url, bucket, domain_key, url_hash, enabled, interval_seconds, found_by, title
       FROM json_populate_recordset(NULL::channels, $1) WITH ORDINALITY n
      -- An address that a channel has left leads to that channel.
      WHERE NOT EXISTS (SELECT FROM channel_addresses a WHERE a.url_hash = n.url_hash)
      ORDER BY n.ordinality
     ON CONFLICT (url_hash) DO NOTHING`,
    [JSON.stringify(rows)],
  );
  return result.rowCount ?? 0;
}

/** Looks for the channels of sources that have none and were never searched. */
async function startDiscoveries(tx: Queryable, ids: readonly number[]): Promise<number> {
  if (ids.length === 0) return 0;
  const result = await tx.query(
    `INSERT INTO discoveries (source_id)
     SELECT s.id FROM sources s
      WHERE s.id = ANY ($1) AND s.enabled AND s.ingestion_mode <> 'spider'
        AND NOT EXISTS (SELECT FROM channels c WHERE c.source_id = s.id)
        AND NOT EXISTS (SELECT FROM discoveries d WHERE d.source_id = s.id)
      ORDER BY s.id`,
    [ids],
  );
  return result.rowCount ?? 0;
}

/** The rows that make enabled channels polled and spidered sources crawled. */
async function loadFollowed(
  tx: Queryable,
  sources: { all: readonly number[]; added: readonly number[] },
  hashes: readonly Buffer[],
): Promise<SubmitItem[]> {
  const polled = await tx.query<Pick<Channel, 'url' | 'sourceId'>>(
    `SELECT c.url, c.source_id AS "sourceId"
       FROM channels c JOIN sources s ON s.id = c.source_id
      WHERE c.url_hash = ANY ($1) AND c.enabled AND s.enabled AND s.ingestion_mode <> 'spider'`,
    [hashes],
  );
  const spidered = await tx.query<Pick<Source, 'id' | 'url' | 'priority'>>(
    `SELECT s.id, s.url, s.priority FROM sources s WHERE s.id = ANY ($1) AND s.enabled AND s.ingestion_mode <> 'feed'`,
    [sources.all],
  );
  const added = new Set(sources.added);
  return [...polled.rows.map(pollRow), ...spidered.rows.map((one) => frontPageRow(one, added.has(one.id)))];
}
