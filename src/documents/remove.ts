import type { Database, Queryable } from '../db/index.ts';
import { releaseGroup } from '../domains/index.ts';
import { removeSightings, removeSourceSightings } from '../images/index.ts';
import { deleteSource, requireSource, setSourceEnabled } from '../sources/index.ts';
import { leaveCluster } from './clusters.ts';
import { keyArrays, loadSignatures, removeBands, removeSignatures } from './signatures.ts';

const portion = 200;
const tables = [
  'document_search',
  'document_versions',
  'raw_pages',
  'outbox',
  'dead_letters',
  'documents',
] as const;

/**
 * Forgets a source and its channels, and its documents where that is wished; answers how many of those. It is disabled
 * first, so that nothing comes while its documents go.
 */
export async function removeSource(
  database: Database,
  slug: string,
  wish: { documents: 'keep' | 'delete'; actor: string },
): Promise<number> {
  const { id } = await requireSource(database.pool, slug);
  const { actor } = wish;
  await setSourceEnabled(database.pool, slug, false, { actor, reason: 'it is being deleted' });
  const removed = wish.documents === 'delete' ? await removeDocuments(database, id) : 0;
  await releaseGroup(database.pool, id);
  await deleteSource(database.pool, slug, { actor });
  return removed;
}

/** Deletes every document of a source, with its history, its raw pages and its place among copies; answers how many. */
export async function removeDocuments(database: Database, sourceId: number): Promise<number> {
  let removed = 0;
  for (;;) {
    const count = await removePortion(database, sourceId);
    removed += count;
    if (count < portion) break;
  }
  await removeSourceSightings(database, sourceId);
  return removed;
}

async function removePortion(database: Database, sourceId: number): Promise<number> {
  return database.withTransaction(async (tx) => {
    // Clusters are changed by one at a time: whoever has this row.
    await tx.query(`SELECT FROM sinks WHERE name = 'index' FOR UPDATE`);
    const found = await tx.query<{ domain_key: bigint; url_hash: Buffer }>(
      'SELECT domain_key, url_hash FROM documents WHERE source_id = $1 LIMIT $2',
      [sourceId, portion],
    );
    if (found.rows.length === 0) return 0;
    const keys = found.rows.map((row) => ({ domainKey: row.domain_key, hash: row.url_hash }));
    const signed = await loadSignatures(tx, keys);
    for (const key of keys) {
      // Read anew each time: a cluster takes another name when its first member leaves.
      const [now] = await loadSignatures(tx, [key]);
      if (now != null && now.cluster !== null) await leaveCluster(tx, now, now.cluster);
    }
    await removeBands(tx, signed);
    await removeSignatures(tx, keys);
    await removeSightings(tx, keys);
    await tx.query(
      `UPDATE domains d SET documents = d.documents - x.documents
         FROM (SELECT k.bucket, k.domain_key, count(*) AS documents
                 FROM unnest($1::smallint[], $2::bigint[], $3::bytea[]) AS k(bucket, domain_key, url_hash) GROUP BY 1, 2) x
        WHERE d.bucket = x.bucket AND d.domain_key = x.domain_key`,
      keyArrays(keys),
    );
    for (const table of tables)
      await tx.query(
        `DELETE FROM ${table} t USING unnest($1::smallint[], $2::bigint[], $3::bytea[]) AS k(bucket, domain_key, url_hash)
          WHERE t.bucket = k.bucket AND t.domain_key = k.domain_key AND t.url_hash = k.url_hash`,
        keyArrays(keys),
      );
    return keys.length;
  });
}

/** Deletes raw pages that no sink waits for any more, where they are kept for the archive only; answers how many. */
export async function removeArchivedPages(db: Queryable): Promise<number> {
  const result = await db.query(
    `DELETE FROM raw_pages r
      WHERE NOT EXISTS (SELECT FROM sinks s JOIN outbox o ON o.bucket = r.bucket AND o.sink = s.name AND o.domain_key = r.domain_key
                          AND o.url_hash = r.url_hash)
        AND NOT EXISTS (SELECT FROM sinks s JOIN dead_letters l ON l.bucket = r.bucket AND l.sink = s.name
                          AND l.domain_key = r.domain_key AND l.url_hash = r.url_hash)`,
  );
  return result.rowCount ?? 0;
}
