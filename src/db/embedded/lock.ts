import { readlinkSync, symlinkSync, unlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError, EXIT } from '../../errors/index.ts';
import { isAlive, nonceOf, ticketOfSelf } from './process-identity.ts';

// Node has no flock. The lock is a symbolic link whose target is the holder's ticket: making it is atomic, fails if
// it exists, and shows holder and lock in one step (a lock file would be seen empty between open and write).

/** Longest wait for a living holder: crash recovery after a kill may honestly take minutes. */
const patienceMs = 600_000;

export function isErrno(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

function readHolder(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function acquire(path: string): Promise<string> {
  const ticket = ticketOfSelf();
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      symlinkSync(ticket, path);
      return ticket;
    } catch (error) {
      if (!isErrno(error, 'EEXIST')) throw error;
    }
    const holder = readHolder(path);
    if (holder === undefined) continue;
    if (!isAlive(holder)) {
      await clearDeadHolder(path, holder);
      continue;
    }
    if (performance.now() > deadline)
      throw new AppError('db_start_failed', `Process ${holder.split('/')[0]} holds ${path} for too long.`, {
        exitCode: EXIT.database,
        advice: 'Look at that process; if it hangs, end it and start again.',
      });
    await delay(10 + Math.random() * 20);
  }
}

// Two processes may see the same dead holder; were each simply to remove the link, the slower would remove the new
// lock of the faster. So a dead holder's link is removed only under a lock named after that holder: while we hold
// that one and the link still names the dead, nobody else may change it. The same rule clears that inner lock.
async function clearDeadHolder(path: string, holder: string): Promise<void> {
  const inner = `${path}.${nonceOf(holder)}`;
  await acquire(inner);
  try {
    if (readHolder(path) === holder) unlinkSync(path);
  } finally {
    unlinkSync(inner);
  }
}

/** Runs alone among all processes (and callers of this one) that use the same path; a killed holder blocks nobody. */
export async function withLock<T>(path: string, run: () => Promise<T>): Promise<T> {
  await acquire(path);
  try {
    return await run();
  } finally {
    unlinkSync(path);
  }
}
