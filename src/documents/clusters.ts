import type { Queryable } from '../db/index.ts';
import { parseUrlId, urlId } from '../url/index.ts';
import { bucketOf, type DocumentKey, keyArrays, keyText, loadSignatures, type Signed } from './signatures.ts';

/** A member of a cluster; `first` marks who published it first. */
export type ClusterMember = {
  id: string;
  url: string;
  title: string | null;
  sourceId: number | null;
  /** The slug and the name of the source. */
  source: string | null;
  sourceName: string | null;
  publishedAt: Date | null;
  firstSeenAt: Date;
  first: boolean;
  /** Its text is the same to the letter, and not only much alike. */
  exact: boolean;
};

/** Documents that are copies of each other; `size` counts to 1000 at most, and as many members are listed as asked for. */
export type Cluster = { id: string; size: number; members: ClusterMember[] };

const mostMembers = 100;
/** Copies are counted no further: a text that spam repeats a million times must not slow a list down. */
export const mostCounted = 1000;
// A changed text is compared with so many of its cluster; they resemble each other.
const comparedOnChange = 16;

/** Puts documents into clusters, each pair a member and the document the cluster is named after. */
export async function joinClusters(
  tx: Queryable,
  joins: readonly { member: DocumentKey; cluster: DocumentKey }[],
): Promise<void> {
  if (joins.length === 0) return;
  await tx.query(
    `WITH joined AS (
       UPDATE document_signatures s SET cluster_domain_key = j.cluster_domain_key, cluster_url_hash = j.cluster_url_hash
         FROM unnest($1::smallint[], $2::bigint[], $3::bytea[], $4::smallint[], $5::bigint[], $6::bytea[])
              AS j(bucket, domain_key, url_hash, cluster_bucket, cluster_domain_key, cluster_url_hash)
        WHERE s.bucket = j.bucket AND s.domain_key = j.domain_key AND s.url_hash = j.url_hash
       RETURNING j.cluster_bucket, j.cluster_domain_key, j.cluster_url_hash, s.first_seen_at, s.domain_key, s.url_hash)
     INSERT INTO document_copies (bucket, cluster_domain_key, cluster_url_hash, first_seen_at, domain_key, url_hash)
     SELECT * FROM joined ON CONFLICT DO NOTHING`,
    [...keyArrays(joins.map((join) => join.member)), ...keyArrays(joins.map((join) => join.cluster))],
  );
}

/** The eldest members of a cluster, with what they are compared by. */
export async function loadMembers(db: Queryable, cluster: DocumentKey): Promise<Signed[]> {
  return loadSignatures(db, await loadEldest(db, cluster, comparedOnChange));
}

/** Takes a document out of its cluster. One that is left alone is in none; a cluster never keeps a leaver's name. */
export async function leaveCluster(tx: Queryable, member: DocumentKey, cluster: DocumentKey): Promise<void> {
  await removeMembers(tx, cluster, member);
  const [eldest, next] = await loadEldest(tx, cluster, 2);
  if (eldest === undefined) return;
  if (next === undefined) return removeMembers(tx, cluster, eldest);
  if (keyText(member) !== keyText(cluster)) return;
  const rest = await loadEldest(tx, cluster, null);
  await removeMembers(tx, cluster, null);
  await joinClusters(
    tx,
    rest.map((other) => ({ member: other, cluster: eldest })),
  );
}

async function removeMembers(tx: Queryable, cluster: DocumentKey, only: DocumentKey | null): Promise<void> {
  await tx.query(
    `WITH gone AS (
       DELETE FROM document_copies c
        WHERE c.bucket = $1 AND c.cluster_domain_key = $2 AND c.cluster_url_hash = $3
          AND ($4::bigint IS NULL OR c.domain_key = $4 AND c.url_hash = $5::bytea)
       RETURNING c.domain_key, c.url_hash)
     UPDATE document_signatures s SET cluster_domain_key = NULL, cluster_url_hash = NULL FROM gone g
      WHERE s.bucket = (g.domain_key & 255)::smallint AND s.domain_key = g.domain_key AND s.url_hash = g.url_hash`,
    [...clusterArguments(cluster), only?.domainKey.toString() ?? null, only?.hash ?? null],
  );
}

async function loadEldest(db: Queryable, cluster: DocumentKey, limit: number | null): Promise<DocumentKey[]> {
  const result = await db.query<DocumentKey>(
    `SELECT domain_key AS "domainKey", url_hash AS hash FROM document_copies
      WHERE bucket = $1 AND cluster_domain_key = $2 AND cluster_url_hash = $3
      ORDER BY first_seen_at, domain_key, url_hash LIMIT $4`,
    [...clusterArguments(cluster), limit],
  );
  return result.rows;
}

const clusterArguments = (cluster: DocumentKey) => [
  bucketOf(cluster.domainKey),
  cluster.domainKey.toString(),
  cluster.hash,
];

/** The cluster that a document is in, eldest members first; null where it has no copies or is not known. */
export async function loadCluster(
  db: Queryable,
  id: string,
  options: { limit?: number } = {},
): Promise<Cluster | null> {
  const parsed = parseUrlId(id);
  if (parsed === null) return null;
  const [own] = await loadSignatures(db, [{ domainKey: parsed.domainKey, hash: parsed.hash }]);
  if (own === undefined || own.cluster === null) return null;
  const result = await db.query<Omit<ClusterMember, 'id'> & DocumentKey & { size: number }>(
    `WITH members AS (
       SELECT c.domain_key, c.url_hash, c.first_seen_at FROM document_copies c
        WHERE c.bucket = $1 AND c.cluster_domain_key = $2 AND c.cluster_url_hash = $3
        ORDER BY c.first_seen_at, c.domain_key, c.url_hash LIMIT ${mostCounted}),
     known AS (
       SELECT d.domain_key, d.url_hash, d.url, d.title, d.source_id, d.published_at, d.first_seen_at, d.content_hash,
              -- A date after we saw the page is a mistake or a lie.
              row_number() OVER (ORDER BY least(d.published_at, d.first_seen_at), d.first_seen_at, d.domain_key, d.url_hash) = 1 AS first
         FROM members m
         JOIN documents d ON d.bucket = (m.domain_key & 255)::smallint AND d.domain_key = m.domain_key AND d.url_hash = m.url_hash)
     SELECT k.domain_key AS "domainKey", k.url_hash AS hash, k.url, k.title, k.source_id AS "sourceId", s.slug AS source,
            s.name AS "sourceName", k.published_at AS "publishedAt", k.first_seen_at AS "firstSeenAt", k.first,
            coalesce(k.content_hash = (SELECT content_hash FROM documents WHERE bucket = $5 AND domain_key = $6 AND url_hash = $7), false) AS exact,
            (SELECT count(*)::integer FROM members) AS size
       FROM known k LEFT JOIN sources s ON s.id = k.source_id
      ORDER BY k.first_seen_at, k.domain_key, k.url_hash LIMIT $4`,
    [...clusterArguments(own.cluster), options.limit ?? mostMembers, ...clusterArguments(own)],
  );
  return {
    id: urlId(own.cluster.domainKey, own.cluster.hash),
    size: result.rows[0]?.size ?? 0,
    members: result.rows.map(({ domainKey, hash, size: _size, ...rest }) => ({
      id: urlId(domainKey, hash),
      ...rest,
    })),
  };
}
