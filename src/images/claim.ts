import type { Queryable } from '../db/index.ts';
import type { ImageFacts } from '../image-formats/index.ts';

/** An image that is about to be put into the store. */
export type NewImage = ImageFacts & { sha256: Buffer; bytes: number; storedIn: 'folder' | 's3' };

/**
 * Announces an image before its bytes go into the store; the settle of its URL makes it a stored one. Two things follow
 * from the order: a crash in between leaves a row that the sweep finds, and not bytes that nobody knows of; and the
 * sweep, which holds the row while it deletes the bytes, cannot delete those that are being put.
 */
export async function claimImage(db: Queryable, image: NewImage): Promise<void> {
  await db.query(
    `INSERT INTO images AS i (bucket, sha256, width, height, bytes, format, perceptual_hash, stored_in, first_seen_at,
                              last_seen_at, idle_since)
     VALUES (image_bucket($1), $1, $2, $3, $4, $5, $6, $7, now(), now(), now())
     ON CONFLICT (bucket, sha256) DO UPDATE
       SET last_seen_at = now(), idle_since = CASE WHEN i.idle_since IS NULL THEN NULL ELSE now() END`,
    [
      image.sha256,
      image.width,
      image.height,
      image.bytes,
      image.format,
      image.perceptualHash === null ? null : BigInt.asIntN(64, image.perceptualHash).toString(),
      image.storedIn,
    ],
  );
}
