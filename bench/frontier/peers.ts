import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type pg from 'pg';
import { peerNode, peerPath } from '../peer-packages.ts';
import { type Figures, figures, readMeter } from './meter.ts';

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
    peerNode(),
    [peerPath('queues.mjs'), name, options.connectionString, String(options.waiting)],
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
