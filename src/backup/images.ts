import { dirname, join } from 'node:path';
import { type BlobStore, openFolderStore } from '../blobs/index.ts';
import type { Queryable } from '../db/index.ts';
import { AppError } from '../errors/index.ts';
import { pageStoredImages } from '../images/index.ts';

/** What became of the images: copied now, there already, and not to be had. */
export type CopiedImages = { copied: number; there: number; missing: number };

const portion = 500;

/** The images that lie beside the backups of a folder. All backups share them: each has its SHA-256 for a name. */
export const imagesOfBackup = (file: string): BlobStore => openFolderStore(join(dirname(file), 'blobs'));

/**
 * Copies the stored images of a database from one store to another. Only those that the other lacks: a name is a sum, so
 * what is there is right. What was swept away meanwhile, or was never in the backup, is counted and no failure.
 */
export async function copyImages(
  db: Queryable,
  stores: { from: BlobStore; to: BlobStore; kind: 'folder' | 's3' },
): Promise<CopiedImages> {
  const counts: CopiedImages = { copied: 0, there: 0, missing: 0 };
  for (let after: { bucket: number; sha256: Buffer } | null = null; ; ) {
    const page = await pageStoredImages(db, stores.kind, after, portion);
    for (const { sha256, format } of page) {
      const known = await stores.to.has(sha256);
      if (known.outcome === 'found') counts.there += 1;
      else if (await copyOne(stores, sha256, format)) counts.copied += 1;
      else counts.missing += 1;
    }
    after = page.at(-1) ?? null;
    if (after === null) return counts;
  }
}

async function copyOne(
  { from, to }: { from: BlobStore; to: BlobStore },
  sha256: Buffer,
  format: string,
): Promise<boolean> {
  const found = await from.get(sha256);
  if (found.outcome === 'failed') throw failed('read', found.detail);
  // A damaged one is not worth keeping; whoever shows it still has the address.
  if (found.outcome !== 'found') return false;
  const put = await to.put(sha256, found.body, `image/${format}`);
  if (put.outcome === 'failed') throw failed('written', put.detail);
  return true;
}

const failed = (what: string, detail: string): AppError =>
  new AppError('image_unreadable', `an image could not be ${what}: ${detail}`, {
    advice:
      'Check the disk and blobs.*; what is copied already is not copied again. --no-images leaves them out.',
  });
