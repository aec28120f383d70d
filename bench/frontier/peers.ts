import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type pg from 'pg';
import { type Figures, figures, readMeter } from './meter.ts';

// The sources may be run or the build of them: bench/peers is found from either.
const here = dirname(fileURLToPath(import.meta.url));
const peersDir = [join(here, '../peers'), join(here, '../../../bench/peers')].find((dir) =>
  existsSync(join(dir, 'queues.mjs')),
);

/** Whether the alternatives can be run; installs them when asked to. */
export async function preparePeers(install: boolean): Promise<boolean> {
  if (peersDir === undefined) return false;
  if (existsSync(nodePath(peersDir))) return true;
  if (!install) return false;
  console.error('frontier: installing the alternatives (bench/peers)');
  // The pinned Node comes by an install script, which package.json there allows.
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock'], {
    cwd: peersDir,
  });
  return existsSync(nodePath(peersDir));
}

const nodePath = (dir: string): string => join(dir, 'node_modules/node/bin/node');

/** A queue in a process of its own, loaded and waiting. */
export type Peer = {
  /** Lets it do so many jobs and measures its connections. */
  measure(admin: pg.Client, jobs: number): Promise<Figures>;
  stop(): Promise<void>;
};

/** Starts one and loads its jobs. */
export async function startPeer(
  name: 'graphile-worker' | 'graphile-worker-batched' | 'pg-boss',
  options: { connectionString: string; waiting: number },
): Promise<Peer> {
  console.error(`frontier: loading ${options.waiting} jobs into ${name}`);
  const child = spawn(
    nodePath(peersDir!),
    [join(peersDir!, 'queues.mjs'), name, options.connectionString, String(options.waiting)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async <T>(): Promise<T> => {
    const { value, done } = await answers.next();
    if (done === true) throw new Error(`${name} ended before it answered`);
    return JSON.parse(value) as T;
  };
  const { pids } = await next<{ pids: number[] }>();
  return {
    measure: async (admin, jobs) => {
      const before = await readMeter(admin, pids);
      child.stdin.write(`${jobs}\n`);
      const done = await next<{ urls: number; calls?: number; elapsedMs: number }>();
      return figures(before, await readMeter(admin, pids), done);
    },
    stop: () => ended(child),
  };
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null) return resolve();
    child.on('close', () => resolve());
    child.stdin?.end();
  });
}
