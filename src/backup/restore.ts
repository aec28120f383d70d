import type { BlobStore } from '../blobs/index.ts';
import {
  countWorking,
  type Database,
  databaseInUse,
  importDatabase,
  type TransferResult,
} from '../db/index.ts';
import { type CopiedImages, copyImages, imagesOfBackup } from './images.ts';

/** What was brought back. */
export type RestoreResult = TransferResult & { images: CopiedImages | null };

/**
 * Brings a backup into a database that is empty, or over what it holds when forced: all or nothing, every sum checked.
 * Nobody may work with it meanwhile, because a role would go on with leases and counts of before.
 */
export async function restoreBackup(
  database: Database,
  options: {
    file: string;
    force: boolean;
    /** Where images belong; null leaves them out. */
    images: BlobStore | null;
    onTable?: (table: string, rows: number) => void;
  },
): Promise<RestoreResult> {
  const { file, force, images } = options;
  const working = await countWorking(database.pool);
  if (working > 0) throw databaseInUse(working);
  const result = await importDatabase(database.pool, file, { force, onTable: options.onTable });
  // Those who wrote down their heartbeat in the backup work elsewhere, or no more.
  await database.pool.query('DELETE FROM workers');
  // Files went on after the backup: what the position of that time calls unsaved was delivered, and may be nowhere else.
  await database.pool.query('UPDATE sink_states SET position = NULL');
  if (images === null) return { ...result, images: null };
  const copied = await copyImages(database.pool, { from: imagesOfBackup(file), to: images, kind: 'folder' });
  return { ...result, images: copied };
}
