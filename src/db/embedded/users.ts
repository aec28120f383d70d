import { mkdirSync, readdirSync, readlinkSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno } from './lock.ts';
import { isAlive, nonceOf, ticketOfSelf } from './process-identity.ts';

// Who uses the server: one symbolic link per open database, its target the process's ticket. A killed process leaves
// its link behind and the link names nobody, so it neither keeps the server up nor takes it down.

/** Enters this process as a user of the server; the answer is the entry to remove. */
export function enterUser(usersDir: string): string {
  mkdirSync(usersDir, { recursive: true, mode: 0o700 });
  const ticket = ticketOfSelf();
  const path = join(usersDir, nonceOf(ticket));
  symlinkSync(ticket, path);
  return path;
}

/** Removes an entry; removing it twice is fine. */
export function leaveUser(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
}

/** Living users; entries of the dead are cleared on the way. Call it under the lock. */
export function countUsers(usersDir: string): number {
  let living = 0;
  for (const name of readdirSync(usersDir)) {
    const path = join(usersDir, name);
    if (isAlive(readlinkSync(path))) living += 1;
    else leaveUser(path);
  }
  return living;
}
