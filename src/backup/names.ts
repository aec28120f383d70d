import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, EXIT } from '../errors/index.ts';

const pattern = /^outrider-\d{8}T\d{6}\.\d{3}Z\.outrider$/;
const unfinished = /^outrider-\d{8}T\d{6}\.\d{3}Z\.outrider\.partial$/;
// No backup takes so long: its process was killed.
const staleMs = 86_400_000;

/** The file of a backup: names sort as times do. */
export function nameOfBackup(at: Date): string {
  return `outrider-${at.toISOString().replace(/[-:]/g, '')}.outrider`;
}

/** The backups of a folder, oldest first. Other files are none of our business. */
export async function listBackups(dir: string): Promise<string[]> {
  return (await readdir(dir))
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => join(dir, name));
}

/** The backup that a person means: a file, or the newest of a folder. */
export async function findBackup(path: string): Promise<string> {
  const found = await stat(path).catch((cause: NodeJS.ErrnoException) => {
    throw unusable(`${path} cannot be read: ${cause.code ?? cause.message}`, cause);
  });
  if (!found.isDirectory()) return path;
  const newest = (await listBackups(path)).at(-1);
  if (newest === undefined) throw unusable(`there is no backup in ${path}`);
  return newest;
}

function unusable(message: string, cause?: unknown): AppError {
  return new AppError('backup_missing', message, {
    exitCode: EXIT.usage,
    advice: 'Name the folder that "outrider backup" wrote to, or one file of it.',
    cause,
  });
}

/** Removes all but the newest, and what killed backups have left; answers the names of those that are gone. */
export async function removeOldBackups(dir: string, keep: number): Promise<string[]> {
  const old = (await listBackups(dir)).slice(0, -keep);
  for (const path of old) await rm(path);
  for (const name of await readdir(dir)) {
    const path = join(dir, name);
    if (unfinished.test(name) && Date.now() - (await stat(path)).mtimeMs > staleMs) await rm(path);
  }
  return old;
}
