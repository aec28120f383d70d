import { chownSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { AppError, EXIT } from '../../errors/index.ts';
import { ensureCluster, roleName } from './cluster.ts';
import { namedFailure } from './failures.ts';
import { withLock } from './lock.ts';
import { capLog } from './log.ts';
import { loadState, type Places, preparePlaces } from './places.ts';
import { findBinaries } from './platform.ts';
import { prepareRuntime } from './runtime.ts';
import { findServer, joinServer, socketPort, startServer, stopServer } from './server.ts';
import { decideServerUser } from './server-user.ts';
import { countUsers, enterUser, leaveUser } from './users.ts';

export { roleName } from './cluster.ts';
export { defaultDataDir, hasCluster, makeDirs } from './places.ts';

/** How often each process looks after the server and its log. */
const watchMs = 5_000;
const startAttempts = 5;

/** This process's share in the server of a data directory. */
export type EmbeddedServer = {
  /** Where to connect; it may change when the server is started again. */
  address(): { host: string; port: number; user: string };
  /** Starts the server if it is not running and waits until it answers; true when this call started it. */
  ensureRunning(): Promise<boolean>;
  /** Gives up the share; the last one stops the server. */
  release(): Promise<void>;
};

/**
 * Takes a share in the server of a data directory. Nothing is started yet: whoever calls ensureRunning first starts
 * it, under a lock all processes of the directory share.
 */
export function attachServer(options: { dataDir: string; durable: boolean }): EmbeddedServer {
  const places = preparePlaces(options.dataDir);
  prepareUsersDir(places);
  const entry = enterUser(places.users);
  let pending: Promise<boolean> | undefined;
  let released: Promise<void> | undefined;

  const ensureRunning = async (): Promise<boolean> => {
    if (released) return false;
    pending ??= ensureServer(places, options.durable).finally(() => {
      pending = undefined;
    });
    return pending;
  };
  return {
    address: () => ({ host: loadState(places)?.socketDir ?? places.dir, port: socketPort, user: roleName }),
    ensureRunning,
    release: () => {
      released ??= release(places, entry);
      return released;
    },
  };
}

/** Looks after a server until stopped: starts it again when it died, keeps its log small. */
export function watchServer(
  server: EmbeddedServer,
  options: { dataDir: string; onError: (error: unknown) => void },
): () => void {
  const places = preparePlaces(options.dataDir);
  const timer = setInterval(() => {
    try {
      capLog(places.log);
      if (findServer(places) === undefined) server.ensureRunning().catch(options.onError);
    } catch (error) {
      options.onError(error);
    }
  }, watchMs);
  timer.unref();
  return () => clearInterval(timer);
}

function prepareUsersDir(places: Places): void {
  if (existsSync(places.users)) return;
  mkdirSync(places.users, { recursive: true, mode: 0o700 });
  // Root working in a directory of somebody else: the owner must be able to come back.
  const user = decideServerUser(places.dir, places.cluster);
  if (user.switches && user.uid === user.initUid) chownSync(places.users, user.uid, user.uid);
}

async function ensureServer(places: Places, durable: boolean): Promise<boolean> {
  try {
    return await withLock(places.lock, async () => {
      if (await joinServer(places)) return false;
      const { nativeDir, version } = findBinaries();
      const user = decideServerUser(places.dir, places.cluster);
      const runtime = prepareRuntime({ nativeDir, version, uid: user.uid });
      await ensureCluster(places, runtime, { user, durable });
      for (let attempt = 1; attempt <= startAttempts; attempt += 1)
        if ((await startServer(places, runtime, user)) === 'ready') return true;
      throw new AppError('db_start_failed', 'The embedded PostgreSQL was killed each time it was started.', {
        exitCode: EXIT.database,
        advice: 'Usually the machine has no memory left: the server needs about 200 MB.',
      });
    });
  } catch (error) {
    throw namedFailure(error);
  }
}

async function release(places: Places, entry: string): Promise<void> {
  // The directory may be gone (a test's temporary one); then so is the server.
  if (!existsSync(places.dir)) return;
  await withLock(places.lock, async () => {
    leaveUser(entry);
    if (countUsers(places.users) > 0) return;
    await stopServer(places);
    removeOuterSocketDir(places);
  });
}

// A socket directory outside the data directory would be left behind for every temporary database.
function removeOuterSocketDir(places: Places): void {
  const socketDir = loadState(places)?.socketDir;
  if (socketDir === undefined || socketDir.startsWith(places.dir)) return;
  rmSync(socketDir, { recursive: true, force: true });
}

/** Stops a server whoever uses it and removes its directory; for the end of a test run. */
export async function destroyServer(dataDir: string): Promise<void> {
  if (!existsSync(dataDir)) return;
  const places = preparePlaces(dataDir);
  await withLock(places.lock, () => stopServer(places));
  removeOuterSocketDir(places);
  rmSync(places.dir, { recursive: true, force: true });
}
