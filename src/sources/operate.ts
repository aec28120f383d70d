import type { Queryable } from '../db/index.ts';
import { AppError } from '../errors/index.ts';
import { findSourceBySlug, type Source } from './sources.ts';

/** Who does something to a source, and why. */
export type SourceAct = { actor: string; reason?: string | null };

const allKinds = ['article', 'listing', 'channel', 'image', 'probe'] as const;
const portion = 2000;

/**
 * Enables or disables a source. Its channels are no longer polled and its waiting rows are held with their due times,
 * which enabling gives back; its jobs rest and return with it. null: there is no such source.
 */
export async function setSourceEnabled(
  db: Queryable,
  slug: string,
  enabled: boolean,
  { actor, reason = null }: SourceAct,
): Promise<Source | null> {
  await db.query(
    `WITH changed AS (
       UPDATE sources SET enabled = $2, disabled_at = CASE WHEN $2 THEN NULL ELSE coalesce(disabled_at, now()) END,
              disable_reason = CASE WHEN $2 THEN NULL ELSE $4 END, updated_at = now()
        WHERE slug = $1 AND enabled <> $2 RETURNING slug)
     INSERT INTO audit (actor, action, subject, detail)
     SELECT $3, CASE WHEN $2 THEN 'source_enable' ELSE 'source_disable' END, slug, jsonb_build_object('reason', $4::text) FROM changed`,
    [slug, enabled, actor, reason],
  );
  const source = await findSourceBySlug(db, slug);
  if (source === null) return null;
  // Its runs end before its rows are held, and begin again when they are free.
  if (!enabled) await db.query('SELECT job_follow_source($1, false, $2)', [source.id, actor]);
  await applyHolds(db, source);
  if (enabled) await db.query('SELECT job_follow_source($1, true, $2)', [source.id, actor]);
  return source;
}

/** Makes a source's rows follow what was decided of it: held when it is disabled, its polls when it is spidered. */
export async function applyHolds(
  db: Queryable,
  source: Pick<Source, 'id' | 'enabled' | 'ingestionMode'>,
): Promise<number> {
  if (!source.enabled) return moveRows(db, source.id, 'hold');
  const spidered = source.ingestionMode === 'spider';
  const freed = await moveRows(db, source.id, 'free', spidered);
  return spidered ? freed + (await moveRows(db, source.id, 'hold', true)) : freed;
}

/**
 * Holds rows that came while a source was being disabled: found by a page that was in flight, or settled after the
 * sweep before. Only sources disabled lately have any.
 */
export async function sweepDisabled(db: Queryable): Promise<number> {
  const lately = await db.query<{ id: number }>(
    `SELECT id FROM sources WHERE NOT enabled AND disabled_at > now() - interval '10 minutes'`,
  );
  let held = 0;
  for (const { id } of lately.rows) held += await moveRows(db, id, 'hold');
  return held;
}

/**
 * Deletes a source with its channels. What waits for it ends as `source_deleted`; documents stay unless they were
 * deleted before. False: there is no such source.
 */
export async function deleteSource(db: Queryable, slug: string, { actor }: SourceAct): Promise<boolean> {
  const source = await findSourceBySlug(db, slug);
  if (source === null) return false;
  // Disabled first, so that fetchers let go of it while its rows end.
  if (source.enabled) await setSourceEnabled(db, slug, false, { actor, reason: 'it is being deleted' });
  await moveRows(db, source.id, 'end');
  const deleted = await db.query(
    `WITH gone AS (DELETE FROM sources WHERE id = $1 RETURNING id, slug, name, url),
     -- Documents that stay are given to sinks under the name they have there.
     known AS (INSERT INTO former_sources (id, slug, name) SELECT id, slug, name FROM gone)
     INSERT INTO audit (actor, action, subject, detail)
     SELECT $2, 'source_delete', slug, jsonb_build_object('url', url) FROM gone`,
    [source.id, actor],
  );
  return deleted.rowCount === 1;
}

/** The source of this short name, or the error that says so. */
export async function requireSource(db: Queryable, slug: string): Promise<Source> {
  const source = await findSourceBySlug(db, slug);
  if (source === null) throw unknownSource(slug);
  return source;
}

/** The complaint about a short name that no source has. */
export const unknownSource = (slug: string): AppError =>
  new AppError('source_unknown', `there is no source "${slug}"`, {
    exitCode: 2,
    httpStatus: 404,
    advice: 'The SLUG column of "outrider sources" lists them.',
  });

/** Domain by domain, in key order and in portions: each is a short transaction of its own. */
async function moveRows(
  db: Queryable,
  sourceId: number,
  what: 'hold' | 'free' | 'end',
  /** Followed by links only: its polls are held, and freed they are not. */
  spidered = false,
): Promise<number> {
  const domains = await db.query<{ bucket: number; domain_key: bigint }>(
    'SELECT DISTINCT bucket, domain_key FROM url_frontier WHERE source_id = $1 ORDER BY bucket, domain_key',
    [sourceId],
  );
  let moved = 0;
  for (const { bucket, domain_key } of domains.rows) {
    for (;;) {
      const result = await db.query<{ moved: number }>(
        'SELECT source_hold($1, $2::smallint, $3, $4, $5::url_kind[], $6, p_spidered => $7) AS moved',
        [sourceId, bucket, domain_key.toString(), what, allKinds, portion, spidered],
      );
      const rows = result.rows[0]?.moved ?? 0;
      moved += rows;
      if (rows < portion) break;
    }
  }
  return moved;
}
