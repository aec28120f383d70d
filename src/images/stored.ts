import type { Queryable } from '../db/index.ts';

/** A stored image: where its bytes are to be found, and what they are. */
export type StoredImage = { bucket: number; sha256: Buffer; format: string };

/** The stored images behind a place, in the order of the key; the primary key serves it. */
export async function pageStoredImages(
  db: Queryable,
  kind: 'folder' | 's3',
  after: { bucket: number; sha256: Buffer } | null,
  limit: number,
): Promise<StoredImage[]> {
  const { rows } = await db.query<StoredImage>(
    `SELECT bucket, sha256, format FROM images
      WHERE (bucket, sha256) > ($1::smallint, $2::bytea) AND stored_at IS NOT NULL AND stored_in = $3
      ORDER BY bucket, sha256 LIMIT $4`,
    [after?.bucket ?? -1, after?.sha256 ?? Buffer.alloc(0), kind, limit],
  );
  return rows;
}
