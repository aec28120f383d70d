import type { Queryable } from '../db/index.ts';
import type { ListedSource } from '../source-lists/index.ts';
import { isOwnWord, slugOf } from './sources.ts';

/** A source as a list brings it; what is left out gets the usual value. */
export type NewListedSource = Omit<ListedSource, 'channels'> & {
  /** What it is called when the list gives no name. */
  domain: string;
};

type Known = { id: number; url: string };

/** Which of these addresses are sources already. */
export async function loadSourcesByUrl(db: Queryable, urls: readonly string[]): Promise<Known[]> {
  return (await db.query<Known>('SELECT id, url FROM sources WHERE url = ANY ($1)', [urls])).rows;
}

const mostRounds = 20;

/**
 * Adds many sources with one statement a round; more rounds are needed only for short names that are taken. Answers
 * those that were added: an address that somebody else added meanwhile is not among them.
 */
export async function insertSources(
  tx: Queryable,
  sources: readonly NewListedSource[],
  actor: string,
): Promise<Known[]> {
  const added: Known[] = [];
  let waiting = sources.map((source) => ({ source, slug: baseOf(source) }));
  for (let round = 0; waiting.length > 0 && round < mostRounds; round += 1) {
    const rows = waiting.map(({ source, slug }, ord) => ({
      ord,
      ...rowOf(source),
      name: nameOf(source),
      slug,
    }));
    const inserted = await tx.query<Known>(
      `WITH made AS (
         INSERT INTO sources (slug, name, url, enabled, disabled_at, disable_reason, ingestion_mode,
                              feed_poll_interval_minutes, priority, rate_limit_ms, settings)
         SELECT i.slug, i.name, i.url, coalesce(i.enabled, true), CASE WHEN NOT i.enabled THEN now() END,
                CASE WHEN NOT i.enabled THEN i.disable_reason END, coalesce(i.ingestion_mode, 'feed'),
                coalesce(i.feed_poll_interval_minutes, 15), coalesce(i.priority, 5), i.rate_limit_ms,
                coalesce(i.settings, '{}')
           FROM json_to_recordset($1) AS i(ord integer, ${recordColumns}) ORDER BY i.ord
         ON CONFLICT DO NOTHING RETURNING id, slug, url, settings
       ), noted AS (
         INSERT INTO audit (actor, action, subject, detail)
         SELECT $2, 'respect_robots', slug, '{"on": false, "reason": "imported so"}' FROM made
          WHERE settings -> 'respectRobots' = 'false')
       SELECT id, url FROM made`,
      [JSON.stringify(rows), actor],
    );
    added.push(...inserted.rows);
    const done = new Set(inserted.rows.map((row) => row.url));
    const left = waiting.filter(({ source }) => !done.has(source.url));
    const known = new Set(
      (
        await loadSourcesByUrl(
          tx,
          left.map(({ source }) => source.url),
        )
      ).map((one) => one.url),
    );
    waiting = await renumber(
      tx,
      left.filter(({ source }) => !known.has(source.url)),
    );
  }
  if (waiting.length > 0) throw new Error(`no free short name was found for "${nameOf(waiting[0]!.source)}"`);
  return added;
}

type Waiting = { source: NewListedSource; slug: string };

// The first twenty in a row, then ever wider steps: a gap in the numbers costs nobody anything, and asking for a few
// exact names uses the index, where the largest number would need a look at every slug.
const numbersTried = [
  ...Array.from({ length: 19 }, (_, index) => index + 2),
  ...Array.from({ length: 16 }, (_, index) => 32 * 2 ** index),
];

/** Gives each a number behind its short name that nobody has. */
async function renumber(tx: Queryable, waiting: readonly Waiting[]): Promise<Waiting[]> {
  if (waiting.length === 0) return [];
  const bases = [...new Set(waiting.map(({ source }) => baseOf(source)))];
  const taken = await tx.query<{ slug: string }>('SELECT slug FROM sources WHERE slug = ANY ($1)', [
    bases.flatMap((base) => numbersTried.map((number) => `${base}_${number}`)),
  ]);
  const known = new Set(taken.rows.map((row) => row.slug));
  const next = new Map<string, number>();
  return waiting.map(({ source }) => {
    const base = baseOf(source);
    const number = next.get(base) ?? numbersTried.find((one) => !known.has(`${base}_${one}`)) ?? 2 ** 21;
    next.set(base, number + 1);
    return { source, slug: `${base}_${number}` };
  });
}

/** Lets known sources take over what a list says; what it leaves out stays. Answers how many changed. */
export async function updateListedSources(
  tx: Queryable,
  sources: readonly NewListedSource[],
  actor: string,
): Promise<number> {
  if (sources.length === 0) return 0;
  const result = await tx.query<{ changed: number }>(
    `WITH changed AS (
       UPDATE sources s
          SET name = n.name, ingestion_mode = n.ingestion_mode, feed_poll_interval_minutes = n.feed_poll_interval_minutes, priority = n.priority,
              rate_limit_ms = n.rate_limit_ms, settings = n.settings, updated_at = now()
         FROM (SELECT o.id, coalesce(i.name, o.name) AS name,
                      coalesce(i.ingestion_mode, o.ingestion_mode) AS ingestion_mode,
                      coalesce(i.feed_poll_interval_minutes, o.feed_poll_interval_minutes) AS feed_poll_interval_minutes,
                      coalesce(i.priority, o.priority) AS priority, coalesce(i.rate_limit_ms, o.rate_limit_ms) AS rate_limit_ms,
                      coalesce(i.settings, o.settings) AS settings
                 FROM json_to_recordset($1) AS i(${recordColumns}) JOIN sources o ON o.url = i.url) n
        WHERE s.id = n.id AND (s.name, s.ingestion_mode, s.feed_poll_interval_minutes, s.priority, s.rate_limit_ms, s.settings)
              IS DISTINCT FROM (n.name, n.ingestion_mode, n.feed_poll_interval_minutes, n.priority, n.rate_limit_ms, n.settings)
       RETURNING s.slug, s.settings -> 'respectRobots' = 'false' AS ignores_robots
     ), noted AS (
       INSERT INTO audit (actor, action, subject, detail)
       SELECT $2, 'source', slug, jsonb_build_object('imported', true, 'respectRobots', ignores_robots IS NOT TRUE) FROM changed)
     SELECT count(*)::integer AS changed FROM changed`,
    [JSON.stringify(sources.map(rowOf)), actor],
  );
  return result.rows[0]!.changed;
}

const recordColumns = `slug text, name text, url text, enabled boolean, disable_reason text, ingestion_mode text,
  feed_poll_interval_minutes integer, priority smallint, rate_limit_ms integer, settings jsonb`;

const baseOf = (source: NewListedSource): string =>
  source.slug === undefined || isOwnWord(source.slug) ? slugOf(nameOf(source)) : source.slug;
const nameOf = (source: NewListedSource): string => source.name ?? source.domain;

const rowOf = (source: NewListedSource) => ({
  name: source.name,
  url: source.url,
  enabled: source.enabled,
  disable_reason: source.disableReason,
  ingestion_mode: source.ingestionMode,
  feed_poll_interval_minutes: source.feedPollIntervalMinutes,
  priority: source.priority,
  rate_limit_ms: source.rateLimitMs,
  settings: source.settings,
});
