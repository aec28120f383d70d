import { chownSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError, EXIT } from '../../errors/index.ts';
import { isErrno } from './lock.ts';

// PostgreSQL refuses to run as root. The server then runs under a user id of its own that needs no account: only
// initdb looks itself up in the password file, and does so under `nobody`; the files change hands afterwards.
const dedicatedUid = 54_329;

/** Who runs initdb and who runs the server; undefined where we are not root and need no change. */
export type ServerUser = { uid: number; initUid: number; switches: boolean };

function loadAccounts(): Map<number, string> {
  const accounts = new Map<number, string>();
  let text = '';
  try {
    text = readFileSync('/etc/passwd', 'utf8');
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
  for (const line of text.split('\n')) {
    const [name, , uid] = line.split(':');
    if (name && uid && /^\d+$/.test(uid) && !accounts.has(Number(uid))) accounts.set(Number(uid), name);
  }
  return accounts;
}

/** Chooses the user of the server from who owns the data: its owner, or our own id when that is root. */
export function decideServerUser(dataDir: string, clusterDir: string): ServerUser {
  const self = process.geteuid?.() ?? 0;
  if (self !== 0) return { uid: self, initUid: self, switches: false };
  const accounts = loadAccounts();
  const owner = [clusterDir, dataDir]
    .map((path) => statSync(path, { throwIfNoEntry: false })?.uid ?? 0)
    .find((uid) => uid !== 0);
  let uid = owner ?? dedicatedUid;
  if (owner === undefined) while (accounts.has(uid)) uid += 1;
  return { uid, initUid: accounts.has(uid) ? uid : decideInitUid(accounts), switches: true };
}

function decideInitUid(accounts: Map<number, string>): number {
  for (const [uid, name] of accounts) if (name === 'nobody') return uid;
  const other = [...accounts.keys()].find((uid) => uid !== 0);
  if (other !== undefined) return other;
  throw new AppError(
    'db_start_failed',
    'PostgreSQL may not run as root and this system has no other account.',
    {
      exitCode: EXIT.database,
      advice: 'Add a line for the user nobody to /etc/passwd, run as another user, or set DATABASE_URL.',
    },
  );
}

/** Whether the user may pass through every directory on the way to the path (the part of it that exists). */
export function canReach(path: string, uid: number): boolean {
  if (uid === 0) return true;
  for (let dir = path; ; dir = dirname(dir)) {
    const stat = statSync(dir, { throwIfNoEntry: false });
    // The group's bit counts only for members; the server has no groups, so others' bit decides.
    if (stat?.isDirectory() && !(stat.uid === uid ? stat.mode & 0o100 : stat.mode & 0o001)) return false;
    if (dir === dirname(dir)) return true;
  }
}

/** Gives a tree to the server's user. */
export function giveTo(path: string, uid: number): void {
  const pending = [path];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const stat = lstatSync(next);
    if (stat.isSymbolicLink()) continue;
    chownSync(next, uid, uid);
    if (stat.isDirectory()) for (const name of readdirSync(next)) pending.push(join(next, name));
  }
}
