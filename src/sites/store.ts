import type { Queryable } from '../db/index.ts';
import type { ShapeCounts } from './kinds.ts';
import type { PagerEnd } from './pagination.ts';
import { Site, type SiteChanges } from './site.ts';

/** A domain by its key. */
export type SiteKey = { bucket: number; domainKey: bigint };

type Row = {
  shapes: ({ shape: string; level: number } & ShapeCounts)[];
  prefixes: {
    prefix: string;
    pages: number;
    content: number;
    barren: number;
    shapes: Record<string, number>;
    reason: string | null;
    ageMs: number | null;
  }[];
  rules: {
    base: string;
    form: string;
    evidence: number;
    highest: number;
    reached: number;
    pages: number;
    wanted: number | null;
    reason: PagerEnd | null;
    ageMs: number | null;
    first: string[];
  }[];
};

/** What is remembered of a domain: three ranges of the tables' keys, a thousand rows at most. */
export async function loadSite(db: Queryable, key: SiteKey, nowMs: number): Promise<Site> {
  const result = await db.query<Row>(
    `SELECT coalesce((SELECT json_agg(json_build_object('shape', shape, 'level', level, 'article', articles,
                'listing', listings, 'other', others, 'sampled', sampled))
              FROM site_shapes WHERE bucket = $1 AND domain_key = $2), '[]') AS shapes,
            coalesce((SELECT json_agg(json_build_object('prefix', prefix, 'pages', pages, 'content', content,
                'barren', barren, 'shapes', shapes, 'reason', cap_reason,
                'ageMs', extract(epoch FROM now() - capped_at) * 1000))
              FROM site_prefixes WHERE bucket = $1 AND domain_key = $2), '[]') AS prefixes,
            coalesce((SELECT json_agg(json_build_object('base', base, 'form', form, 'evidence', evidence,
                'highest', highest, 'reached', reached, 'pages', pages, 'wanted', wanted, 'reason', end_reason,
                'ageMs', extract(epoch FROM now() - ended_at) * 1000, 'first', first_entries))
              FROM pagination_rules WHERE bucket = $1 AND domain_key = $2), '[]') AS rules`,
    [key.bucket, key.domainKey.toString()],
  );
  const { shapes, prefixes, rules } = result.rows[0]!;
  const since = (ageMs: number | null): number => nowMs - (ageMs ?? 0);
  return new Site({
    shapes: shapes.map(({ shape, ...counts }) => [shape, counts]),
    prefixes: prefixes.map(({ prefix, reason, ageMs, ...given }) => [
      prefix,
      { ...given, cap: reason === null ? null : { reason, atMs: since(ageMs) } },
    ]),
    rules: rules.map(({ reason, ageMs, ...rule }) => ({
      ...rule,
      ended: reason === null ? null : { reason, atMs: since(ageMs) },
    })),
  });
}

// Beside the tables' keys nothing may be longer than a page of an index takes.
const mostChars = 600;

/**
 * Saves what has changed of a site, in one statement: counts are added, the rest is replaced. Times are the database's;
 * from here come ages.
 */
export async function saveSite(
  db: Queryable,
  key: SiteKey,
  changes: SiteChanges,
  nowMs: number,
): Promise<void> {
  const isShort = (text: string): boolean => text.length <= mostChars;
  await db.query(saveQuery, [
    key.bucket,
    key.domainKey.toString(),
    JSON.stringify(
      changes.shapes
        .filter(([shape]) => isShort(shape))
        .map(([shape, { level, article, listing, other, sampled }]) => ({
          shape,
          level,
          articles: article,
          listings: listing,
          others: other,
          sampled,
        })),
    ),
    JSON.stringify(
      changes.prefixes
        .filter(([prefix]) => isShort(prefix))
        .map(([prefix, { cap, ...given }]) => ({
          prefix,
          ...given,
          cap_reason: cap?.reason,
          age_ms: cap === null ? undefined : nowMs - cap.atMs,
        })),
    ),
    JSON.stringify(
      changes.rules
        .filter((rule) => isShort(rule.base))
        .map(({ ended, first, ...rule }) => ({
          ...rule,
          end_reason: ended?.reason,
          age_ms: ended === null ? undefined : nowMs - ended.atMs,
          first_entries: first,
        })),
    ),
    JSON.stringify(changes.refused.map(([reason, links]) => ({ reason, links }))),
  ]);
}

// Upserts by the tables' keys. Rows of a domain come from its lease's holder alone, so nobody waits for them.
const saveQuery = `
  WITH shape AS (
    INSERT INTO site_shapes AS s (bucket, domain_key, shape, level, articles, listings, others, sampled)
    SELECT $1::smallint, $2::bigint, x.shape, x.level, x.articles, x.listings, x.others, x.sampled
      FROM json_to_recordset($3::json) x(shape text, level smallint, articles integer, listings integer, others integer,
           sampled integer)
    ON CONFLICT (bucket, domain_key, shape) DO UPDATE SET
      articles = s.articles + excluded.articles, listings = s.listings + excluded.listings,
      others = s.others + excluded.others, sampled = s.sampled + excluded.sampled
  ), prefix AS (
    INSERT INTO site_prefixes (bucket, domain_key, prefix, pages, content, barren, shapes, cap_reason, capped_at)
    SELECT $1::smallint, $2::bigint, x.prefix, x.pages, x.content, x.barren, x.shapes, x.cap_reason, now() - ms(x.age_ms)
      FROM json_to_recordset($4::json) x(prefix text, pages integer, content integer, barren integer, shapes jsonb,
           cap_reason text, age_ms float8)
    ON CONFLICT (bucket, domain_key, prefix) DO UPDATE SET
      pages = excluded.pages, content = excluded.content, barren = excluded.barren, shapes = excluded.shapes,
      cap_reason = excluded.cap_reason, capped_at = excluded.capped_at
  ), rule AS (
    INSERT INTO pagination_rules (bucket, domain_key, base, form, evidence, highest, reached, pages, wanted, end_reason,
                                  ended_at, first_entries, seen_at)
    SELECT $1::smallint, $2::bigint, x.base, x.form, x.evidence, x.highest, x.reached, x.pages, x.wanted, x.end_reason,
           now() - ms(x.age_ms), x.first_entries, now()
      FROM json_to_recordset($5::json) x(base text, form text, evidence integer, highest integer, reached integer,
           pages integer, wanted integer, end_reason text, age_ms float8, first_entries text[])
    ON CONFLICT (bucket, domain_key, base, form) DO UPDATE SET
      evidence = excluded.evidence, highest = excluded.highest, reached = excluded.reached, pages = excluded.pages,
      wanted = excluded.wanted, end_reason = excluded.end_reason, ended_at = excluded.ended_at,
      first_entries = excluded.first_entries, seen_at = excluded.seen_at
  )
  INSERT INTO site_refusals AS r (bucket, domain_key, reason, links)
  SELECT $1::smallint, $2::bigint, x.reason, x.links FROM json_to_recordset($6::json) x(reason text, links bigint)
  ON CONFLICT (bucket, domain_key, reason) DO UPDATE SET links = r.links + excluded.links`;

/** What operators see of a site. */
export type SiteView = {
  /** Paths under which nothing is fetched any more. */
  traps: { prefix: string; reason: string; pages: number; cappedAt: Date }[];
  pagination: {
    base: string;
    form: string;
    evidence: number;
    highest: number;
    reached: number;
    pages: number;
    endReason: string | null;
    endedAt: Date | null;
    seenAt: Date;
  }[];
  /** Shapes of addresses with what their pages were, the best known first. */
  shapes: { shape: string; articles: number; listings: number; others: number }[];
  /** Links that were not followed, by reason. */
  refusedLinks: { reason: string; links: number }[];
};

const mostShown = 50;

/** A site as operators see it: by the tables' keys, at most fifty of each. */
export async function loadSiteView(db: Queryable, key: SiteKey): Promise<SiteView> {
  const values = [key.bucket, key.domainKey.toString(), mostShown];
  const traps = await db.query<SiteView['traps'][number]>(
    `SELECT prefix, cap_reason AS reason, pages, capped_at AS "cappedAt" FROM site_prefixes
      WHERE bucket = $1 AND domain_key = $2 AND capped_at IS NOT NULL ORDER BY prefix LIMIT $3`,
    values,
  );
  const pagination = await db.query<SiteView['pagination'][number]>(
    `SELECT base, form, evidence, highest, reached, pages, end_reason AS "endReason", ended_at AS "endedAt", seen_at AS "seenAt"
       FROM pagination_rules WHERE bucket = $1 AND domain_key = $2 ORDER BY pages DESC, base, form LIMIT $3`,
    values,
  );
  const shapes = await db.query<SiteView['shapes'][number]>(
    `SELECT shape, articles, listings, others FROM site_shapes
      WHERE bucket = $1 AND domain_key = $2 AND articles + listings + others > 0
      ORDER BY articles + listings + others DESC, shape LIMIT $3`,
    values,
  );
  const refused = await db.query<{ reason: string; links: number }>(
    `SELECT reason, links::float8 AS links FROM site_refusals
      WHERE bucket = $1 AND domain_key = $2 ORDER BY links DESC, reason LIMIT $3`,
    values,
  );
  return {
    traps: traps.rows,
    pagination: pagination.rows,
    shapes: shapes.rows,
    refusedLinks: refused.rows,
  };
}

/** The cap that one of these prefixes is under. */
export async function loadCap(
  db: Queryable,
  key: SiteKey,
  prefixes: readonly string[],
): Promise<{ prefix: string; reason: string } | null> {
  if (prefixes.length === 0) return null;
  const result = await db.query<{ prefix: string; reason: string }>(
    `SELECT prefix, cap_reason AS reason FROM site_prefixes
      WHERE bucket = $1 AND domain_key = $2 AND prefix = ANY ($3) AND capped_at IS NOT NULL LIMIT 1`,
    [key.bucket, key.domainKey.toString(), prefixes],
  );
  return result.rows[0] ?? null;
}
