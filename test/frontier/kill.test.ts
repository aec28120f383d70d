import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { destroyServer } from '../../src/db/embedded/index.ts';
import { type Database, openDatabase } from '../../src/db/index.ts';
import { findSlotProblems, releaseDomain, saveLeaseMode, submit } from '../../src/frontier/index.ts';
import { domainIdentity } from '../../src/url/index.ts';
import { item } from './fixtures.ts';

// Real worker processes and a real server, killed, frozen and robbed of their leases at random points.
const seed = Number(process.env.OUTRIDER_SEED ?? Math.floor(Math.random() * 1e9));
const rounds = Number(process.env.OUTRIDER_ROUNDS ?? 8);
const leaseMs = 600;
const delayMs = 20;
const domains = 25;

type Event = {
  owner: string;
  at: number;
  event: string;
  domain: string;
  epoch: number;
  urls: string[];
  askedAt: number;
  outcome: string;
  settled: number;
  ended: string[];
  message: string;
};

let dataDir: string;
let database: Database;
const events: Event[] = [];
const workers = new Set<ChildProcess>();

beforeAll(async () => {
  console.log(`frontier kill seed ${seed} (repeat with OUTRIDER_SEED=${seed})`);
  dataDir = realpathSync(mkdtempSync(join(tmpdir(), 'outrider-kill-')));
  database = await openDatabase({ dataDir, maxConnections: 4 });
});
afterAll(async () => {
  for (const worker of workers) worker.kill('SIGKILL');
  await database.close();
  await destroyServer(dataDir);
});

let state = seed >>> 0;
function random(): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 4294967296;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
let started = 0;

function startWorker(): void {
  started += 1;
  const entry = join(import.meta.dirname, '../../dist/test/frontier/worker-process.js');
  const child = spawn(process.execPath, [entry, dataDir, `w${started}`, String(leaseMs), String(delayMs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  workers.add(child);
  child.on('exit', () => workers.delete(child));
  createInterface({ input: child.stdout! }).on('line', (line) => {
    try {
      events.push(JSON.parse(line) as Event);
    } catch {
      // The last line of a killed worker may be cut in half; what it did is in the database.
      events.push({ event: 'cut' } as Event);
    }
  });
}

/** One unfriendly act. */
async function disturb(): Promise<string> {
  const victims = [...workers];
  const victim = victims[Math.floor(random() * victims.length)];
  const kind = random();
  if (kind < 0.45 && victim !== undefined) {
    victim.kill('SIGKILL');
    startWorker();
    return 'kill -9 of a worker';
  }
  if (kind < 0.65 && victim !== undefined) {
    victim.kill('SIGSTOP');
    await pause(leaseMs * 2);
    victim.kill('SIGCONT');
    return 'a worker frozen for twice its lease';
  }
  if (kind < 0.85) {
    for (let domain = 0; domain < domains; domain += 1)
      await releaseDomain(database.pool, domainIdentity(`d${domain}.test`));
    return 'operator release of every domain';
  }
  const pid = Number(readFileSync(join(dataDir, 'pg', 'postmaster.pid'), 'utf8').split('\n')[0]);
  process.kill(pid, 'SIGKILL');
  await database.ensureRunning();
  return 'kill -9 of the server';
}

it.each(['single', 'bucket'] as const)(
  'loses and repeats nothing through kills, freezes and releases in %s mode',
  { timeout: 120_000 },
  async (mode) => {
    await database.pool.query(
      'TRUNCATE url_frontier, domain_slots, domains, domain_events, counter_deltas, crawl_log',
    );
    await saveLeaseMode(database.pool, mode, 'test');
    events.length = 0;
    for (let n = 0; n < 4; n += 1) startWorker();
    const submitted = new Set<string>();
    const done: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const batch = Array.from({ length: 120 }, (_, n) =>
        item(Math.floor(random() * domains), `r${round}-${n}`, { priority: 1 + Math.floor(random() * 10) }),
      );
      const results = await retried(() => submit(database.pool, batch));
      for (const { hash } of results) submitted.add(hash!.toString('hex'));
      await pause(random() * 250);
      done.push(await disturb());
    }
    const open = async () =>
      (
        await retried(() =>
          database.pool.query<{ n: number }>(
            `SELECT count(*)::int AS n FROM url_frontier WHERE status IN ('pending', 'failed')`,
          ),
        )
      ).rows[0]!.n;
    const deadline = Date.now() + 60_000;
    while ((await open()) > 0 && Date.now() < deadline) await pause(200);
    for (const worker of workers) worker.kill('SIGTERM');
    while (workers.size > 0) await pause(20);

    const context = `after ${done.join(', ')}`;
    const rows = await database.pool.query<{ hash: Buffer; status: string }>(
      'SELECT url_hash AS hash, status FROM url_frontier',
    );
    expect(rows.rows.length, context).toBe(submitted.size);
    expect(rows.rows.filter((row) => row.status !== 'fetched' && row.status !== 'dead')).toEqual([]);
    expect(await findSlotProblems(database.pool), context).toEqual([]);
    expect(events.filter((event) => event.event === 'error')).toEqual([]);
    checkHandouts(context);
  },
);

function checkHandouts(context: string): void {
  const epochs = new Map<string, string>();
  const highest = new Map<string, number>();
  const endedAt = new Map<string, number>();
  const problems: string[] = [];
  for (const event of [...events].sort((a, b) => a.at - b.at)) {
    if (event.event === 'settled') {
      if (event.outcome === 'stale' && event.settled !== 0)
        problems.push(`a stale settle changed ${event.settled} rows`);
      for (const url of event.ended) endedAt.set(url, event.at);
    }
    if (event.event !== 'handed') continue;
    const key = `${event.domain}/${event.epoch}`;
    if (epochs.has(key)) problems.push(`${key} went to ${epochs.get(key)} and to ${event.owner}`);
    epochs.set(key, event.owner);
    // Two answers of one moment may be read in either order; epochs of one domain never go back by more than that.
    highest.set(event.domain, Math.max(event.epoch, highest.get(event.domain) ?? 0));
    for (const url of event.urls)
      if ((endedAt.get(url) ?? Number.POSITIVE_INFINITY) < event.askedAt)
        problems.push(`${url} was handed out after it was settled`);
  }
  expect(problems, context).toEqual([]);
  expect(highest.size).toBeGreaterThan(0);
}

async function retried<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (attempt > 100) throw error;
      await pause(100);
    }
  }
}
