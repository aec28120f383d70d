import type { Queryable } from '../db/index.ts';
import { loadSourceBySlug, type Source, saveSourceEnabled } from '../sources/index.ts';
import { startDiscovery } from './discoveries.ts';

// Under its domain's lock: a portion takes some milliseconds.
const portion = 2000;

type DomainRef = { bucket: number; domain_key: bigint };

/**
 * Stops following a source: fetchers see it within seconds and put its rows off as they meet them. Nothing is forgotten.
 * null: there is no such source.
 */
export async function disableSource(
  db: Queryable,
  slug: string,
  by: { reason: string; actor: string },
): Promise<Source | null> {
  return saveSourceEnabled(db, slug, { enabled: false, ...by });
}

/** Follows a source again: whatever was put off meanwhile is due. null: there is no such source. */
export async function enableSource(
  db: Queryable,
  slug: string,
  by: { actor: string },
): Promise<{ source: Source; resumed: number } | null> {
  const source = await saveSourceEnabled(db, slug, { enabled: true, reason: null, actor: by.actor });
  if (source === null) return null;
  let resumed = 0;
  for (const domain of await loadDomains(db, source.id)) {
    const result = await db.query<{ n: number }>('SELECT source_resume($1, $2, $3) AS n', [
      domain.bucket,
      domain.domain_key.toString(),
      source.id,
    ]);
    resumed += result.rows[0]!.n;
  }
  // It may have been disabled before anybody looked, or imported so.
  if (source.ingestionMode !== 'spider') {
    const channels = await db.query('SELECT FROM channels WHERE source_id = $1 LIMIT 1', [source.id]);
    if (channels.rowCount === 0) await startDiscovery(db, source.id);
  }
  return { source, resumed };
}

/**
 * Forgets a source and its channels: what waits is given up, documents stay. An interrupted deletion is finished by
 * deleting again. null: there is no such source.
 */
export async function deleteSource(
  db: Queryable,
  slug: string,
  by: { actor: string },
): Promise<{ source: Source; dropped: number } | null> {
  const found = await loadSourceBySlug(db, slug);
  if (found === null) return null;
  // First of all nobody fetches for it any more; the rows of a big source take a while.
  const source = found.enabled
    ? ((await disableSource(db, slug, { reason: 'being deleted', actor: by.actor })) ?? found)
    : found;
  let dropped = 0;
  for (const domain of await loadDomains(db, source.id))
    for (let count = portion; count === portion; ) {
      const result = await db.query<{ n: number }>(
        `SELECT source_drop($1, $2, $3, $4, 'source_deleted') AS n`,
        [domain.bucket, domain.domain_key.toString(), source.id, portion],
      );
      count = result.rows[0]!.n;
      dropped += count;
    }
  await db.query(
    `WITH gone AS (
       DELETE FROM channel_state st USING channels c
        WHERE c.source_id = $1 AND st.bucket = c.bucket AND st.channel_id = c.id
     ), noted AS (
       INSERT INTO audit (actor, action, subject, detail) VALUES ($2, 'source_deleted', $3, $4))
     DELETE FROM sources WHERE id = $1`,
    [source.id, by.actor, source.slug, JSON.stringify({ url: source.url, name: source.name })],
  );
  return { source, dropped };
}

/** The domains in which a source has rows, in the order in which slots are locked. */
async function loadDomains(db: Queryable, sourceId: number): Promise<DomainRef[]> {
  const result = await db.query<DomainRef>(
    `SELECT DISTINCT bucket, domain_key FROM url_frontier WHERE source_id = $1 ORDER BY bucket, domain_key`,
    [sourceId],
  );
  return result.rows;
}
