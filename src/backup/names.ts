import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { AppError, EXIT } from '../errors/index.ts';

const pattern = /^outrider-\d{8}T\d{6}\.\d{3}Z\.outrider$/;
const unfinished = /^outrider-\d{8}T\d{6}\.\d{3}Z\.outrider\.partial$/;
// No backup takes so long: its process was killed.
const dayMs = 86_400_000;
const staleMs = dayMs;

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
  const backups = await listBackups(path);
  const newest = backups.at(-1);
  if (newest === undefined) throw unusable(`there is no backup in ${path}`);
  // Made while a clock was wrong: which one is the newest then, only a person knows.
  const tomorrow = nameOfBackup(new Date(Date.now() + dayMs));
  if (backups.length > 1 && basename(newest) > tomorrow)
    throw unusable(`which backup of ${path} is the newest cannot be told: ${newest} is dated in the future`);
  return newest;
}

function unusable(message: string, cause?: unknown): AppError {
  return new AppError('backup_missing', message, {
    exitCode: EXIT.usage,
    advice: 'Name the folder that "outrider backup" wrote to, or one file of it.',
    cause,
  });
}

/**
 * Removes all but the newest, and what killed backups have left; answers the names of those that are gone. The one that
 * was just made stays, also beside such as a wrong clock has dated in the future.
 */
export async function removeOldBackups(dir: string, keep: number, made?: string): Promise<string[]> {
  const backups = await listBackups(dir);
  const others = backups.filter((path) => path !== made);
  const kept = keep - (backups.length - others.length);
  const old = others.slice(0, Math.max(0, others.length - kept));
  for (const path of old) await rm(path);
  for (const name of await readdir(dir)) {
    const path = join(dir, name);
    if (unfinished.test(name) && Date.now() - (await stat(path)).mtimeMs > staleMs) await rm(path);
  }
  return old;
}
