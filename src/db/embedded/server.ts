import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, readSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { pathFor, roleName, serverEnv, writeSettings } from './cluster.ts';
import { startFailure } from './failures.ts';
import { isErrno } from './lock.ts';
import { openLog } from './log.ts';
import { loadState, type Places, prepareSocketDir, saveState } from './places.ts';
import { commandOf, findProcesses, isAlive, ticketOf } from './process-identity.ts';
import type { ServerUser } from './server-user.ts';

/** The socket's number; it is only part of a file name. */
export const socketPort = 5432;

function loadPostmasterPid(places: Places): number | undefined {
  try {
    const pid = Number(readFileSync(join(places.cluster, 'postmaster.pid'), 'utf8').split('\n')[0]);
    return Number.isInteger(pid) && pid > 1 ? pid : undefined;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** The running server of this directory, if there is one; a pid file of the dead or of a stranger does not count. */
export function findServer(places: Places): number | undefined {
  const pid = loadPostmasterPid(places);
  if (pid === undefined) return undefined;
  return commandOf(pid).includes(`cluster_name=${places.clusterName}`) ? pid : undefined;
}

/** A server that was started a moment ago by a process since killed, and has not yet written its pid file. */
function findNewborn(places: Places): number | undefined {
  return findProcesses(
    (command) =>
      command.includes(`cluster_name=${places.clusterName}`) && /\/bin\/postgres -D /.test(command),
  )[0];
}

/** Joins the server that runs already; false if there is none (any more). Call it under the lock. */
export async function joinServer(places: Places): Promise<boolean> {
  const running = findServer(places) ?? findNewborn(places);
  const socketDir = loadState(places)?.socketDir;
  if (running === undefined || socketDir === undefined) return false;
  const ticket = ticketOf(running);
  const startedAt = performance.now();
  let usable = true;
  await waitUntilReady(socketDir, () => {
    const waitedMs = performance.now() - startedAt;
    // Somebody cleaned the temporary directory: the server lives and nobody can ever reach it again.
    const unreachable = waitedMs > 10_000 && !existsSync(join(socketDir, `.s.PGSQL.${socketPort}`));
    usable = isAlive(ticket) && !unreachable;
    return usable;
  });
  if (!usable) await stopServer(places);
  return usable;
}

// After kill -9 of the server its sessions notice within moments. While one lives it may still write to the files,
// so a new server must wait; PostgreSQL's own guard against this needs the pid file that we are about to remove.
async function clearLeftovers(places: Places, socketDir: string): Promise<void> {
  const findSessions = (): number[] =>
    findProcesses((command) => command.startsWith(`postgres: ${places.clusterName}: `));
  const startedAt = performance.now();
  for (let left = findSessions(); left.length > 0; left = findSessions()) {
    const waitedMs = performance.now() - startedAt;
    if (waitedMs > 2_000) for (const pid of left) signal(pid, waitedMs > 5_000 ? 'SIGKILL' : 'SIGQUIT');
    await delay(25);
  }
  rmSync(join(places.cluster, 'postmaster.pid'), { force: true });
  for (const name of [`.s.PGSQL.${socketPort}`, `.s.PGSQL.${socketPort}.lock`])
    rmSync(join(socketDir, name), { force: true });
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!isErrno(error, 'ESRCH')) throw error;
  }
}

/**
 * Starts the server and waits until it answers; `killed` if somebody (a person, the kernel short of memory) ended it
 * meanwhile. Call it under the lock, when joinServer found none.
 */
export async function startServer(
  places: Places,
  runtime: string,
  user: ServerUser,
): Promise<'ready' | 'killed'> {
  const socketDir = prepareSocketDir(places, user);
  await clearLeftovers(places, socketDir);
  writeSettings(places, user);
  saveState(places, { socketDir });
  const log = openLog(places.log);
  const from = statSync(places.log).size;
  const child = spawn(
    join(runtime, 'bin', 'postgres'),
    [
      ...['-D', pathFor(places.cluster, user)],
      ...['-c', `cluster_name=${places.clusterName}`],
      ...['-c', 'listen_addresses='],
      ...['-c', `port=${socketPort}`],
      ...['-c', `unix_socket_directories="${socketDir.replaceAll('"', '""')}"`],
      ...['-c', 'unix_socket_permissions=0700'],
    ],
    {
      cwd: places.cluster,
      // A session of its own: Ctrl-C at the terminal must reach us, who stop the server in order, and not the server.
      detached: true,
      env: serverEnv,
      stdio: ['ignore', log, log],
      ...(user.switches ? { uid: user.uid, gid: user.uid } : {}),
    },
  );
  closeSync(log);
  let gone: { reason: string; killed: boolean } | undefined;
  child.once('error', (error) => {
    gone = { reason: error.message, killed: false };
  });
  child.once('exit', (code, by) => {
    gone = { reason: `it ended with ${code ?? by}`, killed: by !== null };
  });
  child.unref();
  await waitUntilReady(socketDir, () => gone === undefined);
  return decideOutcome(gone, () => readFrom(places.log, from));
}

function decideOutcome(
  gone: { reason: string; killed: boolean } | undefined,
  readOutput: () => string,
): 'ready' | 'killed' {
  if (gone === undefined) return 'ready';
  if (gone.killed) return 'killed';
  throw startFailure('The embedded PostgreSQL could not start', readOutput() || gone.reason);
}

function readFrom(path: string, from: number): string {
  if (!existsSync(path)) return '';
  const size = statSync(path).size;
  const start = Math.max(from > size ? 0 : from, size - 16_000);
  const buffer = Buffer.alloc(size - start);
  const file = openSync(path, 'r');
  try {
    return buffer.toString('utf8', 0, readSync(file, buffer, 0, buffer.length, start));
  } finally {
    closeSync(file);
  }
}

// Waits until the server takes connections: recovery after a kill may take a while, so only the caller gives up.
async function waitUntilReady(socketDir: string, mayStillCome: () => boolean): Promise<void> {
  do {
    const client = new pg.Client({
      host: socketDir,
      port: socketPort,
      user: roleName,
      database: 'postgres',
      connectionTimeoutMillis: 5_000,
    });
    // A server that dies between connect and end reports it here as well.
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await delay(15); // still starting, or gone: the caller knows
    }
  } while (mayStillCome());
}

/** Stops the server in order (fast shutdown): sessions are ended, everything is written, no recovery next time. */
export async function stopServer(places: Places): Promise<void> {
  const pid = findServer(places);
  if (pid === undefined) return;
  const ticket = ticketOf(pid);
  signal(pid, 'SIGINT');
  const startedAt = performance.now();
  let insisted = false;
  while (isAlive(ticket)) {
    // An immediate stop loses nothing that was committed; the next start recovers.
    if (!insisted && performance.now() - startedAt > 30_000) {
      signal(pid, 'SIGQUIT');
      insisted = true;
    }
    await delay(10);
  }
}
