import { type Channel, findChannel, findNamedChannel } from '../channels/index.ts';
import type { Queryable } from '../db/index.ts';
import { identifyKnown } from '../frontier/index.ts';
import { withScheme } from '../source-lists/index.ts';
import { canonicalDomain, domainIdentity, parseUrlId, urlId } from '../url/index.ts';
import type { Screen } from './attention.ts';

/** What can be found; `search` leads to a search for the words in all documents. */
export const foundKinds = ['url', 'domain', 'source', 'channel', 'document', 'search'] as const;
export type FoundKind = (typeof foundKinds)[number];

/** Something that a text may mean, and where it is shown. */
export type Found = {
  kind: FoundKind;
  label: string;
  detail: string;
  /** One thing by its id; for a search, what to search for. */
  target: { screen: Screen; id: string | null; query: string | null };
};

type UrlKey = { bucket: number; domainKey: bigint; hash: Buffer };

const mostFound = 10;
const mostOfKind = 4;

/**
 * What a text that somebody typed or pasted may mean: a URL, a domain, a source's name or address, a channel's number
 * or address, an id. Everything is looked up by a key or the beginning of one. The last one is a search for the words.
 */
export async function find(db: Queryable, given: string): Promise<Found[]> {
  const text = given.trim();
  if (text === '') return [];
  const isOneWord = !/\s/.test(text);
  const found: Found[] = [];
  if (isOneWord) {
    found.push(...(await findById(db, text)));
    found.push(...(await findByNumber(db, text)));
    found.push(...(await findByAddress(db, text)));
    found.push(...(await findDomains(db, text)));
  }
  found.push(...(await findSources(db, text)));
  const words = text.slice(0, 200);
  return [
    ...distinct(found).slice(0, mostFound - 1),
    {
      kind: 'search',
      label: `Search documents for “${words.length < text.length ? `${words}…` : words}”`,
      detail: 'in titles and texts',
      target: { screen: 'documents', id: null, query: text },
    },
  ];
}

function distinct(found: readonly Found[]): Found[] {
  const byTarget = new Map<string, Found>();
  for (const one of found) {
    const key = `${one.kind} ${one.target.id}`;
    if (!byTarget.has(key)) byTarget.set(key, one);
  }
  return [...byTarget.values()];
}

async function findById(db: Queryable, text: string): Promise<Found[]> {
  const key = parseUrlId(text);
  return key === null ? [] : findByKey(db, key);
}

/** The row of a URL and its document, which share a key. Indexes: url_frontier_pkey, documents_pkey. */
async function findByKey(db: Queryable, key: UrlKey): Promise<Found[]> {
  const id = urlId(key.domainKey, key.hash);
  const values = [key.bucket, key.domainKey.toString(), key.hash];
  const documents = await db.query<{ url: string; title: string | null; version: number; crawledAt: Date }>(
    `SELECT url, title, version, crawled_at AS "crawledAt" FROM documents WHERE bucket = $1 AND domain_key = $2 AND url_hash = $3`,
    values,
  );
  const rows = await db.query<{ url: string; kind: string; status: string; errorCode: string | null }>(
    `SELECT url, kind, status, error_code AS "errorCode" FROM url_frontier WHERE bucket = $1 AND domain_key = $2 AND url_hash = $3`,
    values,
  );
  return [
    ...documents.rows.map(
      ({ url, title, version, crawledAt }): Found => ({
        kind: 'document',
        label: title ?? url,
        detail: `version ${version}, ${crawledAt.toISOString().slice(0, 10)}`,
        target: { screen: 'documents', id, query: null },
      }),
    ),
    ...rows.rows.map(
      ({ url, kind, status, errorCode }): Found => ({
        kind: 'url',
        label: url,
        detail: `${kind}, ${errorCode === null ? status : `${status} (${errorCode})`}`,
        target: { screen: 'frontier', id, query: null },
      }),
    ),
  ];
}

async function findByNumber(db: Queryable, text: string): Promise<Found[]> {
  const number = /^#?(\d{1,9})$/.exec(text)?.[1];
  const channel = number === undefined ? null : await findChannel(db, Number(number));
  return channel === null ? [] : [foundChannel(channel)];
}

const foundChannel = (channel: Channel): Found => ({
  kind: 'channel',
  label: channel.title ?? channel.url,
  detail: `${channel.kind} ${channel.id}${!channel.enabled ? ', disabled' : channel.errorsInRow > 0 ? ', failing' : ''}`,
  target: { screen: 'channels', id: String(channel.id), query: null },
});

/** What is known of a web address: its channel, its document, its row, its source and its domain. */
async function findByAddress(db: Queryable, text: string): Promise<Found[]> {
  if (!text.includes('/')) return [];
  const url = withScheme(text);
  const identified = await identifyKnown(db, url);
  if (identified.outcome === 'rejected') return [];
  const { identity } = identified;
  const channel = await findNamedChannel(db, url);
  return [
    ...(channel === null ? [] : [foundChannel(channel)]),
    ...(await findByKey(db, identity)),
    ...(await loadFoundSources(db, 'SELECT slug, name, url, enabled FROM sources WHERE url = $1', [
      identity.fetchUrl,
    ])),
    ...(await loadFoundDomains(db, 'bucket = $1 AND domain_key = $2', [
      identity.bucket,
      identity.domainKey.toString(),
    ])),
  ];
}

/** The domain of this name, and those whose names begin so. Indexes: domains_pkey, domains_name. */
async function findDomains(db: Queryable, text: string): Promise<Found[]> {
  const domain = canonicalDomain(text);
  const exact = domain === null ? null : domainIdentity(domain);
  // The last character there is ends the range, since names are sorted by their bytes.
  const prefix = text.toLowerCase();
  return [
    ...(exact === null
      ? []
      : await loadFoundDomains(db, 'bucket = $1 AND domain_key = $2', [
          exact.bucket,
          exact.domainKey.toString(),
        ])),
    ...(await loadFoundDomains(db, 'name COLLATE "C" >= $1::text AND name COLLATE "C" < $2::text', [
      prefix,
      `${prefix}\u{10ffff}`,
    ])),
  ];
}

async function loadFoundDomains(db: Queryable, where: string, values: unknown[]): Promise<Found[]> {
  const result = await db.query<{ name: string; status: string }>(
    `SELECT name, status FROM domains WHERE ${where} ORDER BY name COLLATE "C", domain_key LIMIT ${mostOfKind}`,
    values,
  );
  return result.rows.map(({ name, status }) => ({
    kind: 'domain',
    label: name,
    detail: `domain, ${status}`,
    target: { screen: 'domains', id: name, query: null },
  }));
}

/**
 * Sources whose short name or name begin so, however they are written. A list of sources looks for words inside of
 * names, which no index serves. Indexes: sources_slug_prefix, sources_name_prefix.
 */
async function findSources(db: Queryable, text: string): Promise<Found[]> {
  const beginning = (words: string): string => `${words.replace(/[\\%_]/g, '\\$&')}%`;
  const slug = text.toLowerCase().replace(/[^a-z0-9]+/g, '_');
  const bySlug = await loadFoundSources(
    db,
    `SELECT slug, name, url, enabled FROM sources WHERE slug LIKE $1 ORDER BY slug <> $2, slug LIMIT ${mostOfKind}`,
    // What has no letter or digit we know would be the beginning of every name.
    [/[a-z0-9]/.test(slug) ? beginning(slug) : '', slug],
  );
  const byName = await loadFoundSources(
    db,
    `SELECT slug, name, url, enabled FROM sources WHERE lower(name) LIKE lower($1) ORDER BY lower(name), id LIMIT ${mostOfKind}`,
    [beginning(text)],
  );
  return [...bySlug, ...byName];
}

async function loadFoundSources(db: Queryable, query: string, values: unknown[]): Promise<Found[]> {
  const result = await db.query<{ slug: string; name: string; url: string; enabled: boolean }>(query, values);
  return result.rows.map(({ slug, name, url, enabled }) => ({
    kind: 'source',
    label: name,
    detail: enabled ? url : `${url}, disabled`,
    target: { screen: 'sources', id: slug, query: null },
  }));
}
