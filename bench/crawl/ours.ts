import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { destroyServer } from '../../src/db/embedded/index.ts';
import { type Database, openDatabase } from '../../src/db/index.ts';
import { ensurePartitions, submit } from '../../src/frontier/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { readCpuMs, readParent, readRssMb, readServerCpuMs } from './proc.ts';
import type { BenchPage, BenchWeb } from './web.ts';

/** What reading some pages cost us. */
export type OurRound = { pages: number; nodeCpuMs: number; pgCpuMs: number; elapsedMs: number };

/** The product: a durable server of its own, and one fetcher process. */
export type Ours = {
  crawl(pages: readonly BenchPage[]): Promise<OurRound>;
  peakRssMb(): number;
  /** Resident memory of the fetcher, a reading every half second while it works. */
  rssMb: number[];
  stop(): Promise<void>;
};

/** Starts both. `profileDir`: where the fetcher leaves its CPU profile when it ends. */
export async function startOurs(web: BenchWeb, options: { profileDir: string | null }): Promise<Ours> {
  const dataDir = realpathSync(mkdtempSync(join(tmpdir(), 'outrider-bench-')));
  const database = await openDatabase({ dataDir, durable: true, applicationName: 'bench' });
  const close = async (): Promise<void> => {
    await database.close();
    await destroyServer(dataDir);
  };
  try {
    return await start(web, { ...options, database, dataDir, close });
  } catch (error) {
    await close();
    throw error;
  }
}

type StartOptions = {
  profileDir: string | null;
  database: Database;
  dataDir: string;
  close: () => Promise<void>;
};

async function start(web: BenchWeb, { profileDir, database, dataDir, close }: StartOptions): Promise<Ours> {
  await ensurePartitions(database.pool, 'crawl_log');
  await ensurePartitions(database.pool, 'raw_pages');
  const sources = new Map<string, number>();
  for (const host of Object.keys(web.addresses))
    sources.set(host, (await createSource(database.pool, { url: `http://${host}/` })).source.id);
  const { rows } = await database.pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const postmaster = readParent(rows[0]!.pid);
  const fetcher = await startFetcher(web, dataDir, profileDir);
  const rssMb: number[] = [];
  const cpu = () => ({
    fetcher: readCpuMs(fetcher.pid!),
    own: process.cpuUsage(),
    server: readServerCpuMs(postmaster),
  });
  return {
    rssMb,
    peakRssMb: () => readRssMb(fetcher.pid!).peakMb,
    crawl: async (pages) => {
      const before = cpu();
      const startedAt = performance.now();
      const seen = await web.countRequests();
      await submit(
        database.pool,
        pages.map(({ url, host }) => ({
          url,
          kind: 'article',
          origin: 'feed',
          sourceId: sources.get(host)!,
          priority: 5,
          own: true,
        })),
      );
      // Submitting is part of the work; what follows here only waits.
      const { user, system } = process.cpuUsage(before.own);
      while ((await web.countRequests()) < seen + pages.length) {
        if (fetcher.exitCode !== null) throw new Error('the fetcher ended');
        rssMb.push(readRssMb(fetcher.pid!).nowMb);
        await wait(500);
      }
      while (await isWaiting(database)) await wait(50);
      const elapsedMs = performance.now() - startedAt;
      const after = cpu();
      return {
        pages: pages.length,
        nodeCpuMs: after.fetcher - before.fetcher + (user + system) / 1000,
        pgCpuMs: after.server - before.server,
        elapsedMs,
      };
    },
    stop: async () => {
      fetcher.kill('SIGTERM');
      if (fetcher.exitCode === null) await once(fetcher, 'exit');
      await checkResult(database).finally(close);
    },
  };
}

async function isWaiting(database: Database): Promise<boolean> {
  const { rows } = await database.pool.query<{ waiting: boolean }>(
    `SELECT EXISTS (SELECT FROM url_frontier WHERE status = 'pending') AS waiting`,
  );
  return rows[0]!.waiting;
}

/** A crawl that failed cheaply is no figure; some publishers of this web print the same text twice. */
async function checkResult(database: Database): Promise<void> {
  const { rows } = await database.pool.query<{ status: string; error_code: string | null; count: number }>(
    'SELECT status, error_code, count(*)::integer AS count FROM url_frontier GROUP BY 1, 2',
  );
  const bad = rows.filter(({ status }) => status !== 'fetched' && status !== 'duplicate');
  if (bad.length > 0) throw new Error(`not every page was fetched: ${JSON.stringify(bad)}`);
  const { rows: documents } = await database.pool.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM documents',
  );
  if (documents[0]!.count === 0) throw new Error('no document was made');
}

async function startFetcher(
  web: BenchWeb,
  dataDir: string,
  profileDir: string | null,
): Promise<ChildProcess> {
  const entry = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
  const profiling = profileDir === null ? [] : ['--cpu-prof', '--cpu-prof-dir', profileDir];
  const child = spawn(process.execPath, [...profiling, entry, 'fetch'], {
    env: {
      PATH: process.env.PATH ?? '',
      HOME: dataDir,
      OUTRIDER_DATA_DIR: dataDir,
      OUTRIDER_RENDER_ENABLED: 'off',
      OUTRIDER_FETCH_DEFAULT_DELAY_MS: '0',
      OUTRIDER_FETCH_NETWORK_GAP_MS: '0',
      OUTRIDER_FETCH_NETWORK_CONCURRENCY: '0',
      OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${web.port}`,
      OUTRIDER_FETCH_HOSTS_FILE: web.hostsFile,
      LOG_FORMAT: 'json',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) {
    const lines = createInterface({ input: stream });
    lines.on('line', (line) => {
      if (line.includes('fetch is running')) child.emit('running');
      else if (!/"level":(?:30|"info")/.test(line)) console.error(`crawl: fetcher: ${line.slice(0, 500)}`);
    });
  }
  await Promise.race([once(child, 'running'), once(child, 'exit')]);
  if (child.exitCode !== null) throw new Error('the fetcher did not start');
  return child;
}
