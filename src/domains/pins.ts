import type { Queryable } from '../db/index.ts';
import { findSourceGroup, loadSources, type Source } from '../sources/index.ts';
import { saveAudit } from '../switches/index.ts';
import { identifyUrl, type UrlIdentity } from '../url/index.ts';
import { loadDomain } from './load.ts';
import type { DomainKey } from './operate.ts';

/** Where a domain lies, as its addresses say. */
type Place = Pick<UrlIdentity, 'bucket' | 'domainKey' | 'domain' | 'registrableDomain'>;

/** A pin of another source that a later one overrules. */
export type Overruled = { domain: string; source: string; group: string };

/** A source that pins a domain. */
export type DomainPin = { source: string; group: string; pinnedAt: Date };

// Only what the domain has of its own is asked of it here.
const anyDelayMs = 0;
const ownGroup = async (db: Queryable, key: DomainKey): Promise<string> =>
  (await loadDomain(db, key, anyDelayMs))?.pool ?? 'default';

/**
 * Pins domains that a source comes to lie in, where it belongs to a group of fetchers: called before anything of it can
 * be leased there. Of a source without a group it costs one read by key.
 */
export async function followGroup(db: Queryable, sourceId: number, places: readonly Place[]): Promise<void> {
  if (places.length === 0) return;
  const group = await findSourceGroup(db, sourceId);
  if (group === null) return;
  const held = new Set((await loadPinned(db, sourceId)).map(({ domainKey }) => domainKey));
  for (const place of distinct(places))
    if (!held.has(place.domainKey)) await pin(db, { sourceId, group, actor: 'engine' }, place);
}

/**
 * Makes domains follow what a source's group is now: those of its address and its channels are pinned, others that it
 * pinned before are given back. Answers which pins of other sources are overruled: the later wins.
 */
export async function applyGroup(
  db: Queryable,
  source: Pick<Source, 'id' | 'url' | 'settings'>,
  actor: string,
): Promise<Overruled[]> {
  const { group } = source.settings;
  const places = group === undefined ? [] : await loadPlaces(db, source);
  const wanted = new Set(places.map(({ domainKey }) => domainKey));
  for (const key of await loadPinned(db, source.id))
    if (!wanted.has(key.domainKey)) await unpin(db, source.id, key);
  const overruled: Overruled[] = [];
  for (const place of places)
    overruled.push(...(await pin(db, { sourceId: source.id, group: group!, actor }, place)));
  return overruled;
}

/** Makes domains follow the groups of sources that a list brought, by their addresses. Index: sources_url_key. */
export async function applyGroups(db: Queryable, urls: readonly string[], actor: string): Promise<void> {
  const grouped = await db.query<{ id: number }>(
    `SELECT id FROM sources s WHERE url = ANY ($1)
        AND (settings ? 'group' OR EXISTS (SELECT FROM domain_pins p WHERE p.source_id = s.id))`,
    [urls],
  );
  const sources = await loadSources(
    db,
    grouped.rows.map(({ id }) => id),
  );
  for (const source of sources) await applyGroup(db, source, actor);
}

/** Gives back every domain that a source has pinned; before it is deleted. */
export async function releaseGroup(db: Queryable, sourceId: number): Promise<void> {
  for (const key of await loadPinned(db, sourceId)) await unpin(db, sourceId, key);
}

/** Sources that pin a domain, the one that holds first. Index: domain_pins_pkey. */
export async function listDomainPins(db: Queryable, key: DomainKey): Promise<DomainPin[]> {
  const result = await db.query<DomainPin>(
    `SELECT s.slug AS source, p.pool AS "group", p.pinned_at AS "pinnedAt" FROM domain_pins p JOIN sources s ON s.id = p.source_id
      WHERE p.bucket = $1 AND p.domain_key = $2 ORDER BY p.pinned_at DESC LIMIT 20`,
    [key.bucket, key.domainKey.toString()],
  );
  return result.rows;
}

type Wish = { sourceId: number; group: string; actor: string };

async function pin(db: Queryable, { sourceId, group, actor }: Wish, place: Place): Promise<Overruled[]> {
  const { bucket, domainKey, domain, registrableDomain } = place;
  const now = await ownGroup(db, place);
  const result = await db.query<{ source_id: number; pool: string }>(
    'SELECT source_id, pool FROM domain_pin($1::smallint, $2, $3, $4, $5, $6, $7)',
    [
      bucket,
      domainKey.toString(),
      domain,
      registrableDomain,
      sourceId,
      group,
      now === 'default' ? null : now,
    ],
  );
  const others = await loadSources(
    db,
    result.rows.map((row) => row.source_id),
  );
  const overruled = result.rows.flatMap((row) => {
    const other = others.find((one) => one.id === row.source_id);
    return other === undefined ? [] : [{ domain, source: other.slug, group: row.pool }];
  });
  const detail = { pool: group, sourceId, ...(overruled.length === 0 ? {} : { overruled }) };
  await saveAudit(db, { actor, action: 'domain_pin', subject: domain, detail });
  return overruled;
}

async function unpin(db: Queryable, sourceId: number, key: DomainKey): Promise<void> {
  await db.query('SELECT domain_unpin($1::smallint, $2, $3, $4)', [
    key.bucket,
    key.domainKey.toString(),
    sourceId,
    await ownGroup(db, key),
  ]);
}

/** Domains that a source has pinned. Index: domain_pins_source. */
async function loadPinned(db: Queryable, sourceId: number): Promise<DomainKey[]> {
  const result = await db.query<DomainKey>(
    'SELECT bucket, domain_key AS "domainKey" FROM domain_pins WHERE source_id = $1',
    [sourceId],
  );
  return result.rows;
}

// One address of each domain: a source with a thousand channels lies in a handful. Index: channels_source.
async function loadPlaces(db: Queryable, { id, url }: Pick<Source, 'id' | 'url'>): Promise<Place[]> {
  const result = await db.query<{ url: string }>(
    'SELECT DISTINCT ON (bucket, domain_key) url FROM channels WHERE source_id = $1 ORDER BY bucket, domain_key',
    [id],
  );
  return distinct(
    [url, ...result.rows.map((row) => row.url)].flatMap((one) => {
      const identified = identifyUrl(one);
      return identified.outcome === 'rejected' ? [] : [identified.identity];
    }),
  );
}

const distinct = (places: readonly Place[]): Place[] => [
  ...new Map(places.map((place) => [place.domainKey, place])).values(),
];
