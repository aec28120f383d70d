import { AppError, EXIT, messageOf } from '../../errors/index.ts';
import { isErrno } from './lock.ts';

const fullDisk = /No space left on device|Disk quota exceeded/i;

function diskFull(message: string, cause?: unknown): AppError {
  return new AppError('db_disk_full', message, {
    exitCode: EXIT.diskFull,
    retry: true,
    advice:
      'Free some space (a new database needs about 100 MB) or name another disk with --data DIR. Nothing is lost.',
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Turns what initdb or the server wrote before it gave up into an error with advice. */
export function startFailure(what: string, output: string): AppError {
  const lines = output
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-12);
  if (lines.some((line) => fullDisk.test(line))) return diskFull(`${what}: the disk is full.`);
  const text = lines.join('\n');
  return new AppError('db_start_failed', `${what}:\n${text || '(it said nothing)'}`, {
    exitCode: EXIT.database,
    advice: adviceFor(text),
  });
}

function adviceFor(text: string): string {
  if (/could not look up effective user ID/.test(text))
    return 'This user id has no account: add a line for it to /etc/passwd, run as root, or set DATABASE_URL.';
  if (/initialized by PostgreSQL version/.test(text))
    return 'The data is of another PostgreSQL version: export it with the Outrider that made it, then import it here.';
  if (/error while loading shared libraries|cannot open shared object/.test(text))
    return 'A system library is missing: use a Debian-based image such as node:20-slim, or set DATABASE_URL.';
  if (
    /could not create shared memory|Cannot allocate memory|could not map anonymous shared memory/.test(text)
  )
    return 'There is not enough memory: the server needs about 200 MB.';
  return 'The whole log is server.log in the data directory; or set DATABASE_URL to another PostgreSQL.';
}

/** Names errors of the file system that a person can do something about; others pass unchanged. */
export function namedFailure(error: unknown): unknown {
  if (error instanceof AppError) return error;
  if (isErrno(error, 'ENOSPC', 'EDQUOT'))
    return diskFull(`The embedded database cannot start, the disk is full: ${messageOf(error)}`, error);
  if (isErrno(error, 'EACCES', 'EPERM', 'EROFS'))
    return new AppError('db_start_failed', `The embedded database cannot start: ${messageOf(error)}`, {
      exitCode: EXIT.database,
      advice: 'The data directory must be writable and belong to the user who runs Outrider; see --data DIR.',
      cause: error,
    });
  return error;
}
