import { access, constants, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobStore } from '../blobs/index.ts';
import {
  checkExport,
  type Database,
  type ExportSummary,
  exportDatabase,
  makeDirs,
  refuseUnknownSchema,
} from '../db/index.ts';
import { unwritable } from '../errors/index.ts';
import { type CopiedImages, copyImages, imagesOfBackup } from './images.ts';
import { nameOfBackup, removeOldBackups } from './names.ts';

/** What a backup holds, and what it replaced. */
export type SavedBackup = {
  file: string;
  bytes: number;
  summary: ExportSummary;
  /** null: they were left out, or lie in a store of their own. */
  images: CopiedImages | null;
  removed: string[];
};

/**
 * Writes a backup into a folder while the engine goes on: first the database, as of one moment, then the images that
 * moment knows. In the other order an image could be missing that the database speaks of. The file is read again before
 * an older one goes.
 */
export async function saveBackup(
  database: Database,
  options: {
    dir: string;
    images: BlobStore | null;
    keep: number | null;
    onTable?: (table: string, rows: number) => void;
  },
): Promise<SavedBackup> {
  const { dir, keep } = options;
  // A program left behind by an upgrade would write a file that it cannot check, and each night another one.
  await refuseUnknownSchema(database.pool);
  try {
    makeDirs(dir, 0o700);
    await access(dir, constants.W_OK | constants.X_OK);
    if (!(await stat(dir)).isDirectory()) throw new Error('it is no folder');
  } catch (error) {
    throw unwritable(`the folder ${dir}`, error);
  }
  const file = join(dir, nameOfBackup(new Date()));
  await exportDatabase(
    database.pool,
    file,
    options.onTable === undefined ? {} : { onTable: options.onTable },
  );
  const summary = await checkExport(file);
  const images =
    options.images === null
      ? null
      : await copyImages(database.pool, { from: options.images, to: imagesOfBackup(file), kind: 'folder' });
  const removed = keep === null ? [] : await removeOldBackups(dir, keep, file);
  return { file, bytes: (await stat(file)).size, summary, images, removed };
}
