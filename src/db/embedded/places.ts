import { createHash, randomBytes } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { AppError, EXIT, messageOf } from '../../errors/index.ts';
import { isErrno } from './lock.ts';
import { canReach, type ServerUser } from './server-user.ts';

/** The files of one data directory. */
export type Places = {
  dir: string;
  cluster: string;
  log: string;
  lock: string;
  users: string;
  state: string;
  /** Marks a cluster made for tests: without fsync, so a power cut may lose it. */
  notDurable: string;
  /** Name of the cluster in its processes' command lines: it tells our server from any other. */
  clusterName: string;
};

/** What the data directory remembers of its server between processes. */
export type ServerState = { socketDir: string };

/** The data directory when none is named: per user, or the system's for root. */
export function defaultDataDir(): string {
  if (process.geteuid?.() === 0 && isWritable('/var/lib/outrider')) return '/var/lib/outrider';
  return userDataDir(process.env.XDG_DATA_HOME);
}

/** Where a user's data lies: below XDG_DATA_HOME where that is set, else below the home. */
export function userDataDir(xdg: string | undefined, readHome = homedir): string {
  if (xdg && isAbsolute(xdg)) return join(xdg, 'outrider');
  const home = homeOf(readHome);
  if (home !== null) return join(home, '.local', 'share', 'outrider');
  throw new AppError('db_start_failed', 'There is no data directory: this user has no home directory.', {
    exitCode: EXIT.database,
    advice:
      'Name a directory you may write to with --data DIR or OUTRIDER_DATA_DIR, or set HOME or DATABASE_URL.',
  });
}

/** The home of this user; null for a number that no account has, as containers give it, unless HOME is set. */
export function homeOf(readHome = homedir): string | null {
  try {
    return readHome();
  } catch {
    return null;
  }
}

/** Whether a data directory holds a database of ours; looks only, and makes nothing. */
export const hasCluster = (dataDir: string): boolean => existsSync(join(resolve(dataDir), 'pg'));

function isWritable(path: string): boolean {
  for (let dir = path; ; dir = dirname(dir)) {
    try {
      accessSync(dir, constants.W_OK | constants.X_OK);
      return true;
    } catch (error) {
      if (!isErrno(error, 'ENOENT') || dir === dirname(dir)) return false;
    }
  }
}

/** Makes a directory and those above it. */
// Node's recursive mkdir never returns where making a directory answers ENOENT (below /proc, on some network mounts).
export function makeDirs(path: string, mode: number): void {
  if (existsSync(path)) return;
  makeDirs(dirname(path), 0o755);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
  }
}

/** Makes the data directory and names its files. */
export function preparePlaces(dataDir: string): Places {
  const asked = resolve(dataDir);
  try {
    // As root the server's own user must pass through; the cluster inside is closed to everyone else.
    makeDirs(asked, process.geteuid?.() === 0 ? 0o711 : 0o700);
    accessSync(asked, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    if (isErrno(cause, 'ENOSPC', 'EDQUOT')) throw cause;
    throw new AppError('db_start_failed', `The data directory ${asked} cannot be used: ${messageOf(cause)}`, {
      exitCode: EXIT.database,
      advice: 'Name a directory you may write to with --data DIR.',
      cause,
    });
  }
  const dir = realpathSync(asked);
  return {
    dir,
    cluster: join(dir, 'pg'),
    log: join(dir, 'server.log'),
    lock: join(dir, 'lock'),
    users: join(dir, 'users'),
    state: join(dir, 'server.json'),
    notDurable: join(dir, 'not-durable'),
    clusterName: `outrider-${createHash('sha256').update(dir).digest('hex').slice(0, 12)}`,
  };
}

/** Reads what the directory remembers; nothing if it never had a server. */
export function loadState(places: Places): ServerState | undefined {
  try {
    return JSON.parse(readFileSync(places.state, 'utf8')) as ServerState;
  } catch (error) {
    // A torn file cannot be (it is renamed into place), but a person's editor may have touched it.
    if (isErrno(error, 'ENOENT') || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Writes it in one step. */
export function saveState(places: Places, state: ServerState): void {
  const temporary = `${places.state}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(state)}\n`, { mode: 0o644 });
  renameSync(temporary, places.state);
}

/** sun_path holds 108 bytes on Linux and 104 on macOS, the closing NUL included. */
const socketPathLimit = 103;

function fits(dir: string): boolean {
  return Buffer.byteLength(join(dir, '.s.PGSQL.5432')) <= socketPathLimit;
}

/**
 * A directory for the socket that only the server's user (and root) may enter: inside the data directory if that
 * is short enough, because a private /tmp (systemd) would hide it from the next command; else a temporary one.
 */
export function prepareSocketDir(places: Places, user: ServerUser): string {
  const remembered = loadState(places)?.socketDir;
  const inside = join(places.dir, 'run');
  const name = `${places.clusterName.replace('outrider-', `outrider-${user.uid}-`)}`;
  const candidates = [
    // First where it was: a server that is started again must be found by everybody who still knows the old place.
    ...(remembered === undefined ? [] : [remembered]),
    ...(canReach(places.dir, user.uid) ? [inside] : []),
    join(tmpdir(), name),
    join('/tmp', name),
    // Somebody may have taken the name above; a fresh one is remembered in the data directory.
    join('/tmp', `outrider-${randomBytes(6).toString('hex')}`),
  ].filter((dir) => fits(dir) && canReach(dirname(dir), user.uid));
  for (const dir of candidates) if (takeDir(dir, user)) return dir;
  throw new AppError('db_start_failed', 'No directory for the server socket could be made.', {
    exitCode: EXIT.database,
    advice: `Check that ${tmpdir()} can be written to.`,
  });
}

function takeDir(dir: string, user: ServerUser): boolean {
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    if (isErrno(error, 'EACCES', 'ENOENT', 'EROFS', 'EPERM')) return false;
    if (!isErrno(error, 'EEXIST')) throw error;
  }
  // Also when it existed: we may have been killed between the two steps.
  if (user.switches && lstatSync(dir).uid === 0) lchownSync(dir, user.uid, user.uid);
  const stat = lstatSync(dir);
  return stat.isDirectory() && stat.uid === user.uid && (stat.mode & 0o777) === 0o700;
}
