import type { Queryable } from '../db/index.ts';
import { type DocumentKey, keyArrays } from './signatures.ts';
import {
  type ClassificationStatus,
  type DocumentRecord,
  documentRecord,
  type StoredDocument,
  storedColumns,
} from './stored.ts';

/** A place in the change feed: whoever has seen it has seen everything before it. */
export type ChangePlace = bigint;

/** A document that is new, has changed or got its verdict, as it is now. */
export type DocumentChange = { place: ChangePlace; document: DocumentRecord };

/**
 * Numbers documents for the change feed, in the index consumer's transaction: one at a time, so numbers are committed
 * in their order. A sequence would be handed out before the commit, and a reader would pass the later of two by.
 */
export async function saveChanges(tx: Queryable, keys: readonly DocumentKey[]): Promise<void> {
  await tx.query(
    `INSERT INTO document_changes (seq, at, domain_key, url_hash, version)
     SELECT (SELECT coalesce(max(seq), 0) FROM document_changes) + row_number() OVER (ORDER BY d.crawled_at, d.domain_key, d.url_hash),
            now(), d.domain_key, d.url_hash, d.version
       FROM unnest($1::smallint[], $2::bigint[], $3::bytea[]) AS k(bucket, domain_key, url_hash)
       JOIN documents d ON d.bucket = k.bucket AND d.domain_key = k.domain_key AND d.url_hash = k.url_hash`,
    keyArrays(keys),
  );
}

/** Which changes a reader wants. */
export type ChangeFilter = {
  sourceId?: number;
  status?: ClassificationStatus;
  limit: number;
};

// Texts that are read at once; a publisher may have a hundred of ten megabytes.
const mostTextBytes = 16 * 1024 * 1024;

/**
 * The changes after a place, in order, and the place to go on from: it moves on past changes that the filter leaves out
 * or whose document is gone. A document that changed twice comes where it changed last. Fewer than asked for come where
 * their texts are long, one at least. Index: the key.
 */
export async function loadChanges(
  db: Queryable,
  after: ChangePlace,
  filter: ChangeFilter,
): Promise<{ changes: DocumentChange[]; place: ChangePlace }> {
  const result = await db.query<StoredDocument & { seq: bigint; last: bigint; wanted: boolean }>(
    `WITH next AS MATERIALIZED (
       SELECT c.* FROM document_changes c WHERE c.seq > $1 ORDER BY c.seq LIMIT $2
     ), weighed AS MATERIALIZED (
       SELECT c.*, coalesce(sum(octet_length(d.text)) OVER (ORDER BY c.seq), 0) - coalesce(octet_length(d.text), 0) AS before
         FROM next c
         LEFT JOIN documents d ON d.bucket = (c.domain_key & 255)::smallint AND d.domain_key = c.domain_key AND d.url_hash = c.url_hash
     ), looked AS MATERIALIZED (
       SELECT * FROM weighed WHERE before < ${mostTextBytes}
     )
     SELECT ${storedColumns}, c.seq, (SELECT max(seq) FROM looked) AS last, d.url IS NOT NULL AS wanted
       FROM looked c
       LEFT JOIN documents d ON d.bucket = (c.domain_key & 255)::smallint AND d.domain_key = c.domain_key AND d.url_hash = c.url_hash
        AND ($3::integer IS NULL OR d.source_id = $3) AND ($4::text IS NULL OR d.classification_status = $4)
        AND NOT EXISTS (SELECT FROM looked n WHERE n.seq > c.seq AND n.domain_key = c.domain_key AND n.url_hash = c.url_hash)
       LEFT JOIN sources s ON s.id = d.source_id
      ORDER BY c.seq`,
    [after.toString(), filter.limit, filter.sourceId ?? null, filter.status ?? null],
  );
  const changes = result.rows
    .filter((row) => row.wanted)
    .map((row) => ({ place: row.seq, document: documentRecord(row) }));
  return { changes, place: result.rows[0]?.last ?? after };
}

/** The newest place: whoever begins here hears only of what is still to come. */
export async function loadLastPlace(db: Queryable): Promise<ChangePlace> {
  const result = await db.query<{ seq: bigint | null }>('SELECT max(seq) AS seq FROM document_changes');
  return result.rows[0]!.seq ?? 0n;
}

/**
 * Whether everything after a place is still kept; a reader who was away too long must begin anew, and so must one whose
 * place has not been reached: it is of before a restore, or of another database, and he would wait for it in silence.
 */
export async function hasChangesSince(db: Queryable, place: ChangePlace): Promise<boolean> {
  if (place === 0n) return true;
  const result = await db.query<{ first: bigint | null; last: bigint | null }>(
    'SELECT min(seq) AS first, max(seq) AS last FROM document_changes',
  );
  const { first, last } = result.rows[0]!;
  return first !== null && last !== null && place >= first - 1n && place <= last;
}

/** Forgets changes older than the retention. The newest stays: the numbers go on from it. */
export async function pruneChanges(db: Queryable, days: number): Promise<number> {
  const result = await db.query(
    `DELETE FROM document_changes WHERE at < now() - $1 * interval '1 day'
        AND seq < (SELECT max(seq) FROM document_changes)`,
    [days],
  );
  return result.rowCount ?? 0;
}
