import type { Queryable } from '../db/index.ts';
import { SIGNATURE_BANDS, signatureBands } from '../extract/index.ts';

/** What names a document. */
export type DocumentKey = { domainKey: bigint; hash: Buffer };

/** A document with a signature: who it is, since when it is known, and the cluster it is in. */
export type Signed = DocumentKey & {
  signature: Buffer;
  /** Microseconds since 1970: dates of JavaScript would make equals of what PostgreSQL tells apart. */
  firstSeenUs: bigint;
  cluster: DocumentKey | null;
};

type SignedRow = {
  domain_key: bigint;
  url_hash: Buffer;
  signature: Buffer;
  first_seen_us: bigint;
  cluster_domain_key: bigint | null;
  cluster_url_hash: Buffer | null;
};

// A band that thousands of texts share (boilerplate, a wire report printed everywhere) costs no more than any other:
// of each band the nearest in age are taken, and of all of them those that share the most bands are compared.
const elderPerBand = 12;
const youngerPerBand = 8;
const comparedPerDocument = 32;

const signedColumns = `s.domain_key, s.url_hash, s.signature, s.cluster_domain_key, s.cluster_url_hash,
            (extract(epoch FROM s.first_seen_at) * 1000000)::bigint AS first_seen_us`;

/** Text that names a document, for maps. */
export const keyText = (key: DocumentKey): string => `${key.domainKey} ${key.hash.toString('hex')}`;

/** The bucket of a domain: its last byte, as it is of a band. */
export const bucketOf = (key: bigint): number => Number(BigInt.asUintN(8, key));

/** Keys as the arrays that unnest() takes: bucket, domain_key, url_hash. */
export const keyArrays = (keys: readonly DocumentKey[]): [number[], string[], Buffer[]] => [
  keys.map((key) => bucketOf(key.domainKey)),
  keys.map((key) => key.domainKey.toString()),
  keys.map((key) => key.hash),
];

/** Loads the signatures of documents that have one; one probe of the primary key each. */
export async function loadSignatures(db: Queryable, keys: readonly DocumentKey[]): Promise<Signed[]> {
  const result = await db.query<SignedRow>(
    `SELECT ${signedColumns}
       FROM unnest($1::smallint[], $2::bigint[], $3::bytea[]) AS k(bucket, domain_key, url_hash)
       JOIN document_signatures s ON s.bucket = k.bucket AND s.domain_key = k.domain_key AND s.url_hash = k.url_hash`,
    keyArrays(keys),
  );
  return result.rows.map(readSigned);
}

/** Writes signatures; the age is the document's, and a cluster that is known stays. */
export async function saveSignatures(
  tx: Queryable,
  documents: readonly (DocumentKey & { signature: Buffer })[],
): Promise<void> {
  await tx.query(
    `INSERT INTO document_signatures (bucket, domain_key, url_hash, first_seen_at, signature)
     SELECT d.bucket, d.domain_key, d.url_hash, d.first_seen_at, k.signature
       FROM unnest($1::smallint[], $2::bigint[], $3::bytea[], $4::bytea[]) AS k(bucket, domain_key, url_hash, signature)
       JOIN documents d ON d.bucket = k.bucket AND d.domain_key = k.domain_key AND d.url_hash = k.url_hash
     ON CONFLICT (bucket, domain_key, url_hash) DO UPDATE SET signature = excluded.signature`,
    [...keyArrays(documents), documents.map((document) => document.signature)],
  );
  await tx.query(
    `INSERT INTO document_bands (bucket, band, first_seen_at, domain_key, url_hash)
     SELECT b.bucket, b.band, s.first_seen_at, s.domain_key, s.url_hash ${bandsOfDocuments}
     ON CONFLICT DO NOTHING`,
    bandArrays(documents),
  );
}

/** Takes signatures out of the bands, before they change or go. */
export async function removeBands(tx: Queryable, documents: readonly Signed[]): Promise<void> {
  await tx.query(
    `DELETE FROM document_bands x USING (SELECT b.bucket, b.band, s.first_seen_at, s.domain_key, s.url_hash ${bandsOfDocuments}) o
      WHERE x.bucket = o.bucket AND x.band = o.band AND x.first_seen_at = o.first_seen_at
        AND x.domain_key = o.domain_key AND x.url_hash = o.url_hash`,
    bandArrays(documents),
  );
}

/** Forgets the signatures of documents that are in no band and no cluster any more. */
export async function removeSignatures(tx: Queryable, keys: readonly DocumentKey[]): Promise<void> {
  await tx.query(
    `DELETE FROM document_signatures s
      USING unnest($1::smallint[], $2::bigint[], $3::bytea[]) AS k(bucket, domain_key, url_hash)
      WHERE s.bucket = k.bucket AND s.domain_key = k.domain_key AND s.url_hash = k.url_hash`,
    keyArrays(keys),
  );
}

/**
 * For each document those that share a band with it, at most 32. Two walks of the bands' key per band, one to either
 * side of the document's age, and one probe of the signatures per candidate: flat in the number of documents.
 */
export async function loadCandidates(
  db: Queryable,
  documents: readonly (DocumentKey & { signature: Buffer })[],
): Promise<Map<string, Signed[]>> {
  const near = (side: '<' | '>', order: 'ASC' | 'DESC', most: number) =>
    `(SELECT n.first_seen_at, n.domain_key, n.url_hash FROM document_bands n
       WHERE n.bucket = b.bucket AND n.band = b.band
         AND (n.first_seen_at, n.domain_key, n.url_hash) ${side} (s.first_seen_at, s.domain_key, s.url_hash)
       ORDER BY n.first_seen_at ${order}, n.domain_key ${order}, n.url_hash ${order} LIMIT ${most})`;
  const result = await db.query<SignedRow & { of_key: bigint; of_hash: Buffer }>(
    `WITH shared AS (
       SELECT s.domain_key AS of_key, s.url_hash AS of_hash, c.domain_key, c.url_hash,
              row_number() OVER (PARTITION BY s.domain_key, s.url_hash ORDER BY count(*) DESC, max(c.first_seen_at) DESC) AS place
         ${bandsOfDocuments}
        CROSS JOIN LATERAL (${near('<', 'DESC', elderPerBand)} UNION ALL ${near('>', 'ASC', youngerPerBand)}) c
        GROUP BY 1, 2, 3, 4)
     SELECT c.of_key, c.of_hash, ${signedColumns}
       FROM shared c
      CROSS JOIN LATERAL (SELECT * FROM document_signatures x
                           WHERE x.bucket = (c.domain_key & 255)::smallint AND x.domain_key = c.domain_key AND x.url_hash = c.url_hash OFFSET 0) s
      WHERE c.place <= ${comparedPerDocument}`,
    bandArrays(documents),
  );
  const candidates = new Map<string, Signed[]>();
  for (const row of result.rows) {
    const of = keyText({ domainKey: row.of_key, hash: row.of_hash });
    const known = candidates.get(of);
    if (known === undefined) candidates.set(of, [readSigned(row)]);
    else known.push(readSigned(row));
  }
  return candidates;
}

// Each document's row of signatures and its bands. OFFSET 0 keeps the planner from reading a whole table instead of one
// row per document: it takes every batch for a large one (measured: a sequential scan for 200 of 10,000 documents).
const bandsOfDocuments = `
         FROM unnest($1::smallint[], $2::bigint[], $3::bytea[]) WITH ORDINALITY AS k(bucket, domain_key, url_hash, nr)
        CROSS JOIN LATERAL (SELECT x.domain_key, x.url_hash, x.first_seen_at FROM document_signatures x
                             WHERE x.bucket = k.bucket AND x.domain_key = k.domain_key AND x.url_hash = k.url_hash OFFSET 0) s
        CROSS JOIN LATERAL (SELECT v.band, (v.band & 255)::smallint AS bucket
                              FROM (SELECT ($4::bigint[])[(k.nr - 1) * ${SIGNATURE_BANDS} + i] AS band
                                      FROM generate_series(1, ${SIGNATURE_BANDS}) i) v) b`;

const bandArrays = (documents: readonly (DocumentKey & { signature: Buffer })[]): unknown[] => [
  ...keyArrays(documents),
  documents.flatMap((document) => signatureBands(document.signature)).map(String),
];

function readSigned(row: SignedRow): Signed {
  const { cluster_domain_key: domainKey, cluster_url_hash: hash } = row;
  return {
    domainKey: row.domain_key,
    hash: row.url_hash,
    signature: row.signature,
    firstSeenUs: row.first_seen_us,
    cluster: domainKey === null || hash === null ? null : { domainKey, hash },
  };
}
