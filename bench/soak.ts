import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, openSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startDiscovery } from '../src/channels/index.ts';
import { destroyServer } from '../src/db/embedded/index.ts';
import { type Database, loadDatabaseFacts, openDatabase } from '../src/db/index.ts';
import { createSource } from '../src/sources/index.ts';
import { demoPublishers, startWeb, type Web } from '../test/web/index.ts';
import { childrenOf, readRssMb } from './crawl/proc.ts';
import { readOptions } from './options.ts';

const program = join(fileURLToPath(import.meta.url), '../../../dist/src/cli/main.js');
const sampleMs = 60_000;

/** What is measured once a minute. */
type Sample = {
  minute: number;
  /** By role; the eldest process where there are several. */
  rssMb: Record<string, number>;
  files: Record<string, number>;
  urls: number;
  documents: number;
  /** Kilobytes with indexes, of the tables that should not grow once every page is known. */
  tablesKb: Record<string, number>;
  databaseMb: number;
  /** Bytes of rows and of indexes for each URL and each document. */
  bytesPerUrl: number;
  bytesPerDocument: number;
};

// What grows with what is known is told per row; what does not must stay as it is.
const steadyTables = [
  'domain_slots',
  'domains',
  'channel_state',
  'robots',
  'outbox',
  'counter_deltas',
  'workers',
  'settings',
  'discoveries',
  'probe_results',
];

/**
 * `outrider up` on many publishers for a long time, with faults: every tenth minute a fetcher is killed, and a part of the
 * publishers is slow, refuses or lies. After the warm-up, in which what the publishers have is fetched, memory, open
 * files and tables should stay as they are.
 */
export async function run(args: string[]): Promise<object> {
  const {
    minutes,
    warm,
    publishers: count,
    seed,
  } = readOptions(args, {
    minutes: ['how long', 60],
    warm: ['minutes before anything is compared', 20],
    publishers: ['publishers', 500],
    seed: ['of the publishers', 7],
  });
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'outrider-soak-')));
  console.error(
    `soak: ${count} publishers, ${minutes} minutes, the first ${warm} to warm up; log in ${home}/up.log`,
  );
  const web = await startWeb({ seed, publishers: manyPublishers(count, seed), speed: 1 });
  await web.writeHostsFile(join(home, 'hosts'));
  const dataDir = join(home, 'data');
  const database = await openDatabase({ dataDir, maxConnections: 3, applicationName: 'soak' });
  let up: ChildProcess | undefined;
  try {
    for (const { host } of web.publishers) {
      const { source } = await createSource(database.pool, { url: `http://${host}/` });
      await startDiscovery(database.pool, source.id);
    }
    up = startUp({ home, dataDir, web });
    const samples = await watch({ up, database, minutes });
    return conclude({ samples, warm, web, count, minutes });
  } finally {
    if (up !== undefined && up.exitCode === null) {
      up.kill('SIGTERM');
      await new Promise((resolve) => up!.once('exit', resolve));
    }
    await web.close();
    await database.close();
    await destroyServer(dataDir);
    rmSync(home, { recursive: true, force: true });
  }
}

/** The demo's mix of problems again and again, at the rates publishers have. */
function manyPublishers(count: number, seed: number): ReturnType<typeof demoPublishers> {
  return demoPublishers(count, seed, { backlog: 20 }).map((one, index) =>
    // Every fortieth is what the demo makes of that position, the others are well.
    index < 40
      ? one
      : { ...one, faults: index % 13 === 0 ? [{ name: 'flaky', options: { status: 503, rate: 0.1 } }] : [] },
  );
}

function startUp({ home, dataDir, web }: { home: string; dataDir: string; web: Web }): ChildProcess {
  const log = openSync(join(home, 'up.log'), 'a');
  return spawn(process.execPath, [program, 'up', '--data', dataDir, '--port', '0', '--fetchers', '2'], {
    cwd: home,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home,
      LOG_FORMAT: 'json',
      OUTRIDER_RENDER_ENABLED: 'off',
      OUTRIDER_FETCH_HOSTS_FILE: join(home, 'hosts'),
      OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${web.port}`,
      OUTRIDER_POLLING_SITEMAP_MAX_AGE_HOURS: '87600',
      OUTRIDER_FILES_DIR: join(home, 'documents'),
    },
    stdio: ['ignore', log, log],
  });
}

async function watch(options: { up: ChildProcess; database: Database; minutes: number }): Promise<Sample[]> {
  const { up, database, minutes } = options;
  const startedAt = performance.now();
  const samples: Sample[] = [];
  for (let minute = 1; minute <= minutes; minute += 1) {
    await sleep(Math.max(0, startedAt + minute * sampleMs - performance.now()));
    if (up.exitCode !== null) throw new Error(`outrider up ended with ${up.exitCode}`);
    const sample = await measure(up.pid!, database, minute);
    samples.push(sample);
    console.error(
      `${minute} min: ${sample.urls} URLs, ${sample.documents} documents, memory ${JSON.stringify(sample.rssMb)}, files ${JSON.stringify(sample.files)}`,
    );
    // The younger fetcher suffers, the elder shows what time does to it.
    if (minute % 10 === 5) {
      const victim = childrenOf(up.pid!)
        .filter((one) => one.args.includes('fetch'))
        .at(-1);
      if (victim !== undefined) process.kill(victim.pid, 'SIGKILL');
    }
  }
  return samples;
}

async function measure(parent: number, { pool }: Database, minute: number): Promise<Sample> {
  const roles: Record<string, number> = { up: parent };
  for (const { pid, args } of childrenOf(parent)) {
    const role = ['serve', 'schedule', 'fetch'].find((name) => args.includes(name));
    if (role !== undefined) roles[role] ??= pid;
  }
  const facts = await loadDatabaseFacts(pool, 200);
  const { rows } = await pool.query<{ urls: number; documents: number }>(
    `SELECT (SELECT count(*)::integer FROM url_frontier) AS urls, (SELECT count(*)::integer FROM documents) AS documents`,
  );
  const { urls, documents } = rows[0]!;
  const sizeOf = (name: string): number => facts.tables.find((one) => one.name === name)?.totalBytes ?? 0;
  return {
    minute,
    rssMb: mapValues(roles, (pid) => Math.round(readRssMb(pid).nowMb)),
    files: mapValues(roles, (pid) => readdirSync(`/proc/${pid}/fd`).length),
    urls,
    documents,
    tablesKb: Object.fromEntries(steadyTables.map((name) => [name, Math.round(sizeOf(name) / 1024)])),
    databaseMb: Math.round(facts.sizeBytes / 1e6),
    bytesPerUrl: Math.round(sizeOf('url_frontier') / Math.max(1, urls)),
    bytesPerDocument: Math.round(sizeOf('documents') / Math.max(1, documents)),
  };
}

function mapValues(of: Record<string, number>, map: (value: number) => number): Record<string, number> {
  return Object.fromEntries(Object.entries(of).map(([key, value]) => [key, map(value)]));
}

/** Means of the first and of the last third after the warm-up, side by side. */
function conclude(options: {
  samples: Sample[];
  warm: number;
  web: Web;
  count: number;
  minutes: number;
}): object {
  const { samples, warm, web } = options;
  const after = samples.filter((one) => one.minute > warm);
  const third = Math.max(1, Math.floor(after.length / 3));
  const [first, last] = [after.slice(0, third), after.slice(-third)];
  const compare = (read: (sample: Sample) => number): { first: number; last: number } => {
    const mean = (some: Sample[]): number =>
      Math.round(some.reduce((sum, one) => sum + read(one), 0) / Math.max(1, some.length));
    return { first: mean(first), last: mean(last) };
  };
  const compareAll = (read: (sample: Sample) => Record<string, number>): Record<string, object> =>
    Object.fromEntries(
      Object.keys(read(samples.at(-1)!)).map((name) => [name, compare((sample) => read(sample)[name] ?? 0)]),
    );
  return {
    publishers: options.count,
    minutes: options.minutes,
    load: loadavg(),
    requests: web.log.nextSeq,
    rssMb: compareAll((one) => one.rssMb),
    files: compareAll((one) => one.files),
    tablesKb: compareAll((one) => one.tablesKb),
    urls: compare((one) => one.urls),
    documents: compare((one) => one.documents),
    bytesPerUrl: compare((one) => one.bytesPerUrl),
    bytesPerDocument: compare((one) => one.bytesPerDocument),
    databaseMb: compare((one) => one.databaseMb),
  };
}
