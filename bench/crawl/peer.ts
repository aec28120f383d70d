import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { peerPath } from '../peer-packages.ts';
import { readCpuMs, readRssMb } from './proc.ts';

/** What reading some pages cost somebody else. */
export type PeerRound = { pages: number; cpuMs: number; elapsedMs: number };

/** Another reader in a process of its own. */
export type CrawlPeer = {
  crawl(from: number, to: number): Promise<PeerRound>;
  peakRssMb(): number;
  stop(): Promise<void>;
};

export type PeerName = 'crawlee' | 'crawlee-list' | 'fetch-only';

/** Starts one; `pagesFile` is what crawlers.mjs reads. */
export async function startPeer(
  name: PeerName,
  options: { pagesFile: string; concurrency: number; profileDir: string | null },
): Promise<CrawlPeer> {
  const { pagesFile, concurrency, profileDir } = options;
  const profiling = profileDir === null ? [] : ['--cpu-prof', '--cpu-prof-dir', profileDir];
  // On our own Node: between 20 and 24 Crawlee's CPU differs by a quarter, and ours by a twentieth.
  const child = spawn(
    process.execPath,
    [...profiling, peerPath('crawlers.mjs'), name, pagesFile, String(concurrency)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const pid = child.pid!;
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async <T>(): Promise<T> => {
    const { value, done } = await answers.next();
    if (done === true) throw new Error(`${name} ended before it answered`);
    return JSON.parse(value) as T;
  };
  await next();
  let peakMb = 0;
  return {
    peakRssMb: () => peakMb,
    crawl: async (from, to) => {
      const before = readCpuMs(pid);
      child.stdin.write(`${from} ${to}\n`);
      const { pages, elapsedMs } = await next<{ pages: number; elapsedMs: number }>();
      peakMb = readRssMb(pid).peakMb;
      return { pages, cpuMs: readCpuMs(pid) - before, elapsedMs };
    },
    stop: async () => {
      const ended = once(child, 'exit');
      child.stdin.end();
      await ended;
    },
  };
}
