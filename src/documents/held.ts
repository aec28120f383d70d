import type { Queryable } from '../db/index.ts';
import { type DocumentKey, keyArrays } from './signatures.ts';

/**
 * Whether another publisher printed a document first, by the key that the row of an alias has. A publisher's own weekly
 * column resembles the last one and is no copy of it. Two probes, and those of the cluster that are elder.
 */
export const isCopyOf = (alias: string): string => `EXISTS (
                SELECT FROM document_signatures g
                  JOIN document_copies c ON c.bucket = (g.cluster_domain_key & 255)::smallint
                   AND c.cluster_domain_key = g.cluster_domain_key AND c.cluster_url_hash = g.cluster_url_hash
                 WHERE g.bucket = ${alias}.bucket AND g.domain_key = ${alias}.domain_key AND g.url_hash = ${alias}.url_hash
                   AND (c.first_seen_at, c.domain_key, c.url_hash) < (g.first_seen_at, g.domain_key, g.url_hash)
                   AND c.domain_key <> g.domain_key)`;

/**
 * Lets go the deliveries that waited until it was known whether their documents are copies, and drops those of copies.
 * In the index consumer's transaction; the first of a cluster is no copy, whoever else prints it later.
 */
export async function releaseHeld(tx: Queryable, keys: readonly DocumentKey[]): Promise<void> {
  await tx.query(
    `WITH waiting AS (
       SELECT o.ctid AS row_at, o.bucket, ${isCopyOf('k')} AS is_copy
         FROM unnest($1::smallint[], $2::bigint[], $3::bytea[]) AS k(bucket, domain_key, url_hash)
         CROSS JOIN sinks s
         JOIN outbox o ON o.bucket = k.bucket AND o.sink = s.name AND o.domain_key = k.domain_key AND o.url_hash = k.url_hash
        WHERE o.held AND s.name <> 'index' FOR UPDATE OF o
     ), dropped AS (
       DELETE FROM outbox o USING waiting w WHERE w.is_copy AND o.bucket = w.bucket AND o.ctid = w.row_at)
     UPDATE outbox o SET held = false FROM waiting w WHERE NOT w.is_copy AND o.bucket = w.bucket AND o.ctid = w.row_at`,
    keyArrays(keys),
  );
}
