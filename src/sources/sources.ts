import type { Queryable } from '../db/index.ts';
import { AppError } from '../errors/index.ts';
import type { Selectors } from '../extract/index.ts';
import { identifyUrl, type UrlIdentity } from '../url/index.ts';

/** How a source's articles are found. */
export type IngestionMode = 'feed' | 'spider' | 'both';

/** What is done with the images of a source's articles. */
export type ImageMode = 'off' | 'reference' | 'store';

/** Whether the pages of a source are rendered in a browser. */
export const renderModes = ['auto', 'always', 'never'] as const;
export type RenderMode = (typeof renderModes)[number];

/** Settings that are read as a whole and seldom changed. */
export type SourceSettings = {
  articleUrlPatterns?: string[];
  include?: string[];
  exclude?: string[];
  allowLeaving?: boolean;
  maxDepth?: number;
  /** Its channels are polled at their interval, whatever is learnt of them. */
  fixedInterval?: boolean;
  /** false: Disallow lines do not hold for this source. Set only by an operator, and written down. */
  respectRobots?: boolean;
  /** Whether pages are rendered in a browser: those that need it (auto, unless said), all of them, or none. */
  render?: RenderMode;
  /** Proxies for its requests instead of the configured ones; an empty list means none. */
  proxies?: string[];
  /** `hold`: what others printed first is kept, but not delivered to sinks. */
  copies?: 'deliver' | 'hold';
  /** `first`: an article that continues on other pages is read no further. */
  pages?: 'all' | 'first';
  /** What is done with images of its articles instead of what is configured. */
  images?: ImageMode;
  /** Group of fetchers that alone asks its domains. */
  group?: string;
  /** CSS selectors that are tried before any other evidence on its pages. */
  selectors?: Selectors;
};

/** A publisher. */
export type Source = {
  id: number;
  slug: string;
  name: string;
  url: string;
  enabled: boolean;
  disabledAt: Date | null;
  disableReason: string | null;
  ingestionMode: IngestionMode;
  feedPollIntervalMinutes: number;
  priority: number;
  rateLimitMs: number | null;
  settings: SourceSettings;
  createdAt: Date;
};

const columns = `id, slug, name, url, enabled, disabled_at AS "disabledAt", disable_reason AS "disableReason",
  ingestion_mode AS "ingestionMode",
  feed_poll_interval_minutes AS "feedPollIntervalMinutes", priority, rate_limit_ms AS "rateLimitMs", settings,
  created_at AS "createdAt"`;

// The API has lists at the places of these, the dashboard a form.
const ownWords: ReadonlySet<string> = new Set(['activity', 'add', 'export']);

/** Whether a slug would stand in the place of something else. */
export const isOwnWord = (slug: string): boolean => ownWords.has(slug);

/** Stable name of a source in indexes and paths: lower case, everything else an underscore. */
export function slugOf(name: string): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  return isOwnWord(slug) ? `${slug}_source` : slug || 'source';
}

export type NewSource = {
  url: string;
  name?: string;
  mode?: IngestionMode;
  intervalMinutes?: number;
  priority?: number;
  rateLimitMs?: number | null;
  settings?: SourceSettings;
};

/** The address of a source as it is stored; throws when it cannot be crawled. */
export function checkSourceUrl(url: string): UrlIdentity {
  const identified = identifyUrl(url);
  if (identified.outcome === 'ok') return identified.identity;
  throw new AppError(
    'source_url_invalid',
    `"${url}" is not an address that can be crawled (${identified.reason.replaceAll('_', ' ')})`,
    {
      httpStatus: 422,
      exitCode: 2,
      advice: 'Give a web address with its scheme, as https://example.com/',
    },
  );
}

/** Adds a publisher by its address, or finds it when it is known. The slug gets a number when another source has it. */
export async function createSource(
  db: Queryable,
  input: NewSource,
): Promise<{ source: Source; created: boolean }> {
  const { fetchUrl, domain } = checkSourceUrl(input.url);
  const known = await findSourceByUrl(db, fetchUrl);
  if (known !== null) return { source: known, created: false };
  const name = input.name ?? domain;
  const base = slugOf(name);
  for (let number = 1; number < 1000; number += 1) {
    const slug = number === 1 ? base : `${base}_${number}`;
    const inserted = await db.query<Source>(
      `INSERT INTO sources (slug, name, url, ingestion_mode, feed_poll_interval_minutes, priority, rate_limit_ms, settings)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING ${columns}`,
      [
        slug,
        name,
        fetchUrl,
        input.mode ?? 'feed',
        input.intervalMinutes ?? 15,
        input.priority ?? 5,
        input.rateLimitMs ?? null,
        JSON.stringify(input.settings ?? {}),
      ],
    );
    if (inserted.rows[0] !== undefined) return { source: inserted.rows[0], created: true };
    // Either the slug is taken, or somebody added the same address a moment ago.
    const raced = await findSourceByUrl(db, fetchUrl);
    if (raced !== null) return { source: raced, created: false };
  }
  throw new AppError('source_slug_taken', `no free short name is left for "${name}"`, {
    httpStatus: 409,
    advice: 'Give the source another name.',
  });
}

/** The source with this address. */
export async function findSourceByUrl(db: Queryable, url: string): Promise<Source | null> {
  const result = await db.query<Source>(`SELECT ${columns} FROM sources WHERE url = $1`, [url]);
  return result.rows[0] ?? null;
}

/** The numbers of sources by their names; those that are none are left out. Index: sources_slug_key. */
export async function findSourceIds(db: Queryable, slugs: readonly string[]): Promise<Map<string, number>> {
  const result = await db.query<{ id: number; slug: string }>(
    'SELECT id, slug FROM sources WHERE slug = ANY ($1::text[])',
    [slugs],
  );
  return new Map(result.rows.map(({ slug, id }) => [slug, id]));
}

/** The source of a name as people type it. Index: sources_slug_key. */
export async function findSourceBySlug(db: Queryable, slug: string): Promise<Source | null> {
  const result = await db.query<Source>(`SELECT ${columns} FROM sources WHERE slug = $1`, [slug]);
  return result.rows[0] ?? null;
}

/** Takes back a source that was added a moment ago and has no channel; false: it has one, or is gone. */
export async function removeEmptySource(db: Queryable, id: number): Promise<boolean> {
  const result = await db.query(
    `DELETE FROM sources WHERE id = $1 AND created_at > now() - interval '1 hour'
        AND NOT EXISTS (SELECT FROM channels WHERE source_id = $1)`,
    [id],
  );
  return result.rowCount === 1;
}

/** All sources, by name. A few hundred thousand at most, so callers page by name. */
export async function listSources(
  db: Queryable,
  options: { limit?: number; afterId?: number } = {},
): Promise<Source[]> {
  const result = await db.query<Source>(`SELECT ${columns} FROM sources WHERE id > $1 ORDER BY id LIMIT $2`, [
    options.afterId ?? 0,
    options.limit ?? 1000,
  ]);
  return result.rows;
}

/** Enabled sources with selectors of their own, those changed last first; a walk through all, for who asks seldom. */
export async function listSelectingSources(db: Queryable, limit: number): Promise<Source[]> {
  const result = await db.query<Source>(
    `SELECT ${columns} FROM sources
      WHERE enabled AND jsonb_typeof(settings -> 'selectors') = 'object' AND settings -> 'selectors' <> '{}'
      ORDER BY updated_at DESC LIMIT $1`,
    [limit],
  );
  return result.rows;
}

/** Sources by id, for a worker's short-lived cache. */
export async function loadSources(db: Queryable, ids: readonly number[]): Promise<Source[]> {
  const result = await db.query<Source>(`SELECT ${columns} FROM sources WHERE id = ANY ($1)`, [ids]);
  return result.rows;
}

/** The group of fetchers a source belongs to; null: any may ask. Index: sources_pkey. */
export async function findSourceGroup(db: Queryable, id: number): Promise<string | null> {
  const result = await db.query<{ group: string | null }>(
    `SELECT settings ->> 'group' AS "group" FROM sources WHERE id = $1`,
    [id],
  );
  return result.rows[0]?.group ?? null;
}

/** Where a walk through spidered sources stands; the time as the database writes it, to its last digit. */
export type SpideredPlace = { changedAt: string; id: number };

/** Enabled sources that are followed by links, by their last change. Index: sources_spidered. */
export async function loadSpidered(
  db: Queryable,
  after: SpideredPlace | null,
  limit: number,
): Promise<(SpideredPlace & { url: string; ageMs: number })[]> {
  const result = await db.query<SpideredPlace & { url: string; ageMs: number }>(
    `SELECT id, url, updated_at::text AS "changedAt", extract(epoch FROM now() - updated_at)::float8 * 1000 AS "ageMs"
       FROM sources WHERE enabled AND ingestion_mode <> 'feed' AND (updated_at, id) > ($1::timestamptz, $2)
      ORDER BY updated_at, id LIMIT $3`,
    [after?.changedAt ?? '-infinity', after?.id ?? 0, limit],
  );
  return result.rows;
}

/** What an operator decides of a source; what is left out stays, null takes a value back. */
export type SourceChange = {
  /** What it is called; its short name stays. */
  name?: string;
  rateLimitMs?: number | null;
  priority?: number;
  mode?: IngestionMode;
  /** Minutes between polls of its feeds; what was given to a sitemap stays. */
  intervalMinutes?: number;
} & SettingsChange;

// Whether robots.txt holds is another act, with a reason.
type SettingsChange = {
  [Name in Exclude<keyof SourceSettings, 'respectRobots'>]?: SourceSettings[Name] | null;
};

/** Changes a source and writes down who did it; null when there is none of that name. */
export async function updateSource(
  db: Queryable,
  slug: string,
  change: SourceChange,
  actor: string,
): Promise<Source | null> {
  const { name, rateLimitMs, priority, mode, intervalMinutes, ...settings } = change;
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  const set = Object.fromEntries(given.filter(([, value]) => value !== null));
  const unset = given.filter(([, value]) => value === null).map(([name]) => name);
  const result = await db.query<Source>(
    `WITH changed AS (
       UPDATE sources SET updated_at = now(), settings = (settings || $2::jsonb) - $3::text[],
              rate_limit_ms = CASE WHEN $4::boolean THEN $5 ELSE rate_limit_ms END, priority = coalesce($6, priority),
              name = coalesce($11, name), ingestion_mode = coalesce($9, ingestion_mode), feed_poll_interval_minutes = coalesce($10, feed_poll_interval_minutes)
        WHERE slug = $1 RETURNING ${columns}
     ), polled AS (
       UPDATE channels c SET interval_seconds = $10 * 60 FROM changed x
        WHERE c.source_id = x.id AND c.kind <> 'sitemap' AND $10::integer IS NOT NULL
     ), noted AS (
       INSERT INTO audit (actor, action, subject, detail) SELECT $7, 'source', c.slug, $8::jsonb FROM changed c)
     SELECT * FROM changed`,
    [
      slug,
      JSON.stringify(set),
      unset,
      rateLimitMs !== undefined,
      rateLimitMs ?? null,
      priority ?? null,
      actor,
      // Proxies may carry a password.
      JSON.stringify(change.proxies ? { ...change, proxies: change.proxies.length } : change),
      mode ?? null,
      intervalMinutes ?? null,
      name ?? null,
    ],
  );
  return result.rows[0] ?? null;
}

/** What a search for channels makes of a source's mode: links where there is no feed, both when one turns up later. */
export async function saveIngestionMode(db: Queryable, id: number, mode: IngestionMode): Promise<void> {
  await db.query('UPDATE sources SET ingestion_mode = $2, updated_at = now() WHERE id = $1', [id, mode]);
}

/**
 * Says whether Disallow lines hold for a source; only an operator may, and the reason is written down with it. null:
 * there is no such source.
 */
export async function saveRespectRobots(
  db: Queryable,
  slug: string,
  respects: boolean,
  by: { reason: string; actor: string },
): Promise<Source | null> {
  const result = await db.query<Source>(
    `WITH changed AS (
       UPDATE sources SET updated_at = now(),
              settings = CASE WHEN $2::boolean THEN settings - 'respectRobots' ELSE settings || '{"respectRobots": false}' END
        WHERE slug = $1 RETURNING ${columns}
     ), noted AS (
       INSERT INTO audit (actor, action, subject, detail)
       SELECT $3, 'respect_robots', c.slug, jsonb_build_object('on', $2::boolean, 'reason', $4::text) FROM changed c)
     SELECT * FROM changed`,
    [slug, respects, by.actor, by.reason],
  );
  return result.rows[0] ?? null;
}
