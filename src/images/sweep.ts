import type { BlobStore } from '../blobs/index.ts';
import type { Database, Queryable } from '../db/index.ts';

/** Forgets that documents show images; those that nobody shows any more are swept after a grace. */
export async function removeSightings(
  tx: Queryable,
  pages: readonly { domainKey: bigint; hash: Buffer }[],
): Promise<void> {
  const keys = [pages.map((page) => page.domainKey.toString()), pages.map((page) => page.hash)];
  // Images before sightings, as settle and sight do, so that nobody waits for each other.
  await tx.query(
    `SELECT FROM images m
       JOIN (SELECT DISTINCT s.sha256 FROM image_sightings s
               JOIN unnest($1::bigint[], $2::bytea[]) AS p(domain_key, url_hash)
                 ON s.page_domain_key = p.domain_key AND s.page_hash = p.url_hash
              WHERE s.sha256 IS NOT NULL) h ON m.bucket = image_bucket(h.sha256) AND m.sha256 = h.sha256
      ORDER BY m.bucket, m.sha256 FOR UPDATE OF m`,
    keys,
  );
  const gone = await tx.query<{ sha256: Buffer | null }>(
    `DELETE FROM image_sightings s USING unnest($1::bigint[], $2::bytea[]) AS p(domain_key, url_hash)
      WHERE s.page_domain_key = p.domain_key AND s.page_hash = p.url_hash RETURNING s.sha256`,
    keys,
  );
  await tx.query(
    `UPDATE images m SET idle_since = now() FROM (SELECT DISTINCT h.sha256 FROM unnest($1::bytea[]) AS h(sha256)) h
      WHERE m.bucket = image_bucket(h.sha256) AND m.sha256 = h.sha256 AND m.idle_since IS NULL
        AND NOT EXISTS (SELECT FROM image_sightings s WHERE s.sha256 = h.sha256)`,
    [gone.rows.flatMap((row) => (row.sha256 === null ? [] : [row.sha256]))],
  );
}

const portion = 500;

/** Forgets what pages of a source show, also of those that never became documents (copies of another page). */
export async function removeSourceSightings(database: Database, sourceId: number): Promise<void> {
  for (;;) {
    const count = await database.withTransaction(async (tx) => {
      const found = await tx.query<{ domainKey: bigint; hash: Buffer }>(
        `SELECT DISTINCT page_domain_key AS "domainKey", page_hash AS hash
           FROM (SELECT page_domain_key, page_hash FROM image_sightings WHERE source_id = $1 LIMIT ${portion}) s`,
        [sourceId],
      );
      if (found.rows.length > 0) await removeSightings(tx, found.rows);
      return found.rows.length;
    });
    if (count === 0) return;
  }
}

export type SweepResult = { swept: number; failed: string | null };

// Failures with nothing deleted, after which it is the store that deletes nothing now.
const mostFailures = 5;

/**
 * Deletes up to `limit` images that no page has shown for the grace, bytes first. The row is locked meanwhile: whoever
 * claims the same image waits and then puts its bytes anew. Several may sweep; each takes what nobody else holds. What
 * the store will not delete is asked of it again after the grace: the eldest come first, and it would stand before all.
 */
export async function sweepImages(
  database: Database,
  blobs: BlobStore,
  options: { graceDays: number; limit?: number },
): Promise<SweepResult> {
  return database.withTransaction(async (tx) => {
    const found = await tx.query<{ sha256: Buffer; isShown: boolean }>(
      `SELECT m.sha256, EXISTS (SELECT FROM image_sightings s WHERE s.sha256 = m.sha256) AS "isShown"
         FROM images m
        WHERE m.idle_since < now() - $1 * interval '1 day' AND m.stored_in = $2
        ORDER BY m.idle_since LIMIT $3 FOR UPDATE OF m SKIP LOCKED`,
      [options.graceDays, blobs.kind, options.limit ?? 50],
    );
    const shown: Buffer[] = [];
    const deleted: Buffer[] = [];
    const undeleted: Buffer[] = [];
    let failed: string | null = null;
    for (const { sha256, isShown } of found.rows) {
      if (isShown) shown.push(sha256);
      else {
        const result = await blobs.delete(sha256);
        if (result.outcome === 'deleted') deleted.push(sha256);
        else {
          failed = result.detail;
          undeleted.push(sha256);
          if (deleted.length === 0 && undeleted.length === mostFailures) break;
        }
      }
    }
    await tx.query(
      `WITH kept AS (
         UPDATE images m SET idle_since = NULL FROM unnest($1::bytea[]) AS h(sha256)
          WHERE m.bucket = image_bucket(h.sha256) AND m.sha256 = h.sha256),
       postponed AS (
         UPDATE images m SET idle_since = now() FROM unnest($3::bytea[]) AS h(sha256)
          WHERE m.bucket = image_bucket(h.sha256) AND m.sha256 = h.sha256)
       DELETE FROM images m USING unnest($2::bytea[]) AS h(sha256)
        WHERE m.bucket = image_bucket(h.sha256) AND m.sha256 = h.sha256`,
      [shown, deleted, undeleted],
    );
    return { swept: deleted.length, failed };
  });
}
