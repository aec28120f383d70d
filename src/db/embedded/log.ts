import { constants, copyFileSync, openSync, rmSync, statSync, truncateSync } from 'node:fs';
import { isErrno } from './lock.ts';

const limitBytes = 8_000_000;

/** Opens the server's log for appending. */
export function openLog(path: string): number {
  capLog(path);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND;
  try {
    return openSync(path, flags, 0o600);
  } catch (error) {
    // Left by another user of the same directory (root, once): the directory is ours, so start a new one.
    if (!isErrno(error, 'EACCES')) throw error;
    rmSync(path);
    return openSync(path, flags, 0o600);
  }
}

/**
 * Keeps the log and one older one below a size. The server holds the file open, so it is emptied in place: it
 * appends, and goes on at the start. (Its own collector rotates by name and time but never limits the total.)
 */
export function capLog(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size < limitBytes) return;
  copyFileSync(path, `${path}.1`);
  truncateSync(path);
}
