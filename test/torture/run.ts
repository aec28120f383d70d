import { setTimeout as sleep } from 'node:timers/promises';
import { startDiscovery } from '../../src/channels/index.ts';
import type { Queryable } from '../../src/db/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { makeDue } from '../e2e/crawl-state.ts';
import { waitUntil } from '../e2e/wait.ts';
import { keepEvidence } from './evidence.ts';
import { type Blow, type Fault, faults } from './faults.ts';
import { type Ground, judge, type Verdict } from './invariants/index.ts';
import { makePlan, type Strike } from './plan.ts';
import { Producer } from './producer.ts';
import { type Stage, setStage } from './stage.ts';
import { isCalm, patient, Watcher } from './watcher.ts';

export type TortureOptions = {
  seed: number;
  seconds: number;
  publishers: number;
  fetchers: number;
  everyMs: number;
  /** Only these faults; all unless said. */
  only: readonly string[];
  keep: boolean;
  say(words: string): void;
};

export type TortureResult = {
  seed: number;
  seconds: number;
  faults: Record<string, number>;
  leftOut: Record<string, string>;
  requests: number;
  documents: number;
  submittedByApi: number;
  staleSettles: number;
  kills: { leases: number; longestMs: number; mostMs: number };
  /** Share of the time in which somebody could have taken over a lease. */
  ableShare: number;
  verdicts: Verdict[];
  ok: boolean;
  home: string | null;
};

// The slowest publisher answers once a second and has some hundreds of articles.
const calmMs = 600_000;

/** Storms for some seconds, waits until all is quiet, and holds every promise against the ground truth. */
export async function torture(options: TortureOptions): Promise<TortureResult> {
  const { seed, seconds, say } = options;
  const stage = await setStage(options);
  let ok = false;
  try {
    const able: Fault[] = [];
    const leftOut: Record<string, string> = {};
    for (const fault of faults) {
      const missing = fault.missing?.(stage) ?? null;
      if (options.only.length > 0 && !options.only.includes(fault.name)) continue;
      if (missing === null) able.push(fault);
      else leftOut[fault.name] = missing;
    }
    const plan = makePlan({ seed, seconds, faults: able, everyMs: options.everyMs });
    say(
      `${options.publishers} publishers, ${stage.members.length} processes, ${plan.length} faults in ${seconds} s`,
    );
    for (const [name, why] of Object.entries(leftOut)) say(`left out: ${name}, because ${why}`);
    const watcher = new Watcher(stage);
    const producer = new Producer(stage, seed);
    const baseline = await begin(stage);
    watcher.start();
    producer.start();
    await storm({ stage, watcher, plan, seconds, say });
    await producer.stop();
    const { calmSince, quietMs } = await calm(stage, say);
    await watcher.stop();
    const log = stage.web.log.read().filter((request) => request.startedAtMs < quietMs);
    const truth = stage.web.groundTruth();
    const ground = { stage, watcher, producer, log, truth, calmSince, baseline };
    const verdicts = await atOneMoment(stage, (db) => judge({ ...ground, db }));
    verdicts.push(await stopAll(stage));
    ok = verdicts.every((verdict) => verdict.problems.length === 0);
    // The verdicts must be told whatever becomes of it.
    if (!ok)
      await keepEvidence(ground).catch((error) => say(`what they were found from is not kept: ${error}`));
    return {
      ...(await describe(ground)),
      seed,
      seconds,
      leftOut,
      verdicts,
      ok,
      home: ok ? null : stage.home,
    };
  } finally {
    await stage.close({ keep: options.keep || !ok });
  }
}

/** Starts everybody, waits until all have said that they live, and gives them publishers to follow. */
async function begin(stage: Stage): Promise<Map<string, number>> {
  const { pool } = stage.database;
  for (const member of stage.members) member.start();
  const missing = async (): Promise<true | string> => {
    const { rows } = await pool.query<{ pid: number }>('SELECT pid FROM workers');
    const known = new Set(rows.map((row) => row.pid));
    const late = stage.members.filter((one) => one.pid === null || !known.has(one.pid));
    return late.length === 0 || late.map((one) => one.name).join();
  };
  await waitUntil('every process has begun', missing, calmMs);
  const baseline = new Map<string, number>();
  for (const member of stage.members)
    baseline.set(member.role, Math.max(baseline.get(member.role) ?? 0, member.usage()?.files ?? 0));
  for (const { host } of stage.web.publishers) {
    const { source } = await createSource(pool, { url: `http://${host}/`, intervalMinutes: 1 });
    await startDiscovery(pool, source.id);
  }
  return baseline;
}

/** Strikes as planned; faults overlap as they like. */
async function storm(options: {
  stage: Stage;
  watcher: Watcher;
  plan: readonly Strike[];
  seconds: number;
  say: (words: string) => void;
}): Promise<void> {
  const { stage, watcher, say } = options;
  const startedAt = performance.now();
  const byName = new Map(faults.map((fault) => [fault.name, fault]));
  const wait = (ms: number): Promise<void> => sleep(ms);
  const under: Promise<void>[] = [];
  for (const strike of options.plan) {
    await wait(Math.max(0, startedAt + strike.atMs - performance.now()));
    const blow: Blow = { stage, watcher, forMs: strike.forMs, pick: strike.pick, wait };
    const second = Math.round(strike.atMs / 1000);
    stage.ledger.count(strike.fault);
    under.push(
      byName
        .get(strike.fault)!
        .strike(blow)
        .then((whom) =>
          say(`${String(second).padStart(5)} s  ${strike.fault} (${whom}, ${strike.forMs} ms)`),
        ),
    );
  }
  await wait(Math.max(0, startedAt + options.seconds * 1000 - performance.now()));
  await Promise.all(under);
}

/** Looks at the database as it is now, however long it takes. */
async function atOneMoment<T>({ database }: Stage, look: (db: Queryable) => Promise<T>): Promise<T> {
  const client = await database.pool.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await client.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    return await look(client as Queryable);
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

/** Waits until what is due is done. Polls and retries are made due once more, so that nobody has to wait for their time. */
async function calm(
  stage: Stage,
  say: (words: string) => void,
): Promise<{ calmSince: Date; quietMs: number }> {
  const { database } = stage;
  const ensure = (): Promise<void> => database.ensureRunning();
  say('the storm is over; waiting until all is quiet');
  await patient(() => waitQuiet(stage, say), ensure);
  const { rows } = await patient(() => database.pool.query<{ now: Date }>('SELECT now()'), ensure);
  await patient(() => makeDue(database.pool, 'polls', 'retries'), ensure);
  const quietMs = await waitQuiet(stage, say);
  return { calmSince: rows[0]!.now, quietMs };
}

/** The moment at which nothing was left, by this process's monotonic clock. */
async function waitQuiet(stage: Stage, say: (words: string) => void): Promise<number> {
  let toldAt = performance.now();
  let askedMs = 0;
  await waitUntil(
    'all is quiet',
    async () => {
      askedMs = performance.now();
      const left = await isCalm(stage.database.pool);
      if (left !== true && performance.now() > toldAt + 10_000) {
        toldAt = performance.now();
        say(`      left: ${left}`);
      }
      return left;
    },
    calmMs,
  );
  return askedMs;
}

/** Asks everybody to stop, as an operator would at the end of the day. */
async function stopAll(stage: Stage): Promise<Verdict> {
  const problems: string[] = [];
  await Promise.all(
    stage.members.map(async (member) => {
      const end = await member.end('SIGTERM');
      if (end?.code !== 0)
        problems.push(`${member.life} ended with ${end?.code ?? end?.signal} when asked to stop`);
    }),
  );
  const { rows } = await stage.database.pool.query<{ leased: number }>(
    'SELECT count(*)::integer AS leased FROM domain_slots WHERE lease_owner IS NOT NULL',
  );
  if (rows[0]!.leased > 0) problems.push(`${rows[0]!.leased} domains are still leased`);
  return { number: 0, promise: 'everybody stops when asked and gives back what he held', problems };
}

async function describe(
  ground: Omit<Ground, 'db'>,
): Promise<
  Pick<
    TortureResult,
    'faults' | 'requests' | 'documents' | 'submittedByApi' | 'staleSettles' | 'kills' | 'ableShare'
  >
> {
  const { stage, watcher, producer, log } = ground;
  const { rows } = await stage.database.pool.query<{ documents: number; stale: number }>(
    `SELECT (SELECT count(*)::integer FROM documents) AS documents,
            (SELECT count(*)::integer FROM crawl_log WHERE stale) AS stale`,
  );
  const slowest = watcher.recoveries.reduce<{ tookMs: number; mostMs: number }>(
    (worst, one) => (one.tookMs > worst.tookMs ? one : worst),
    { tookMs: 0, mostMs: 0 },
  );
  return {
    faults: Object.fromEntries([...stage.ledger.struck].sort()),
    requests: log.length,
    documents: rows[0]!.documents,
    submittedByApi: producer.accepted.size,
    staleSettles: rows[0]!.stale,
    kills: { leases: watcher.recoveries.length, longestMs: slowest.tookMs, mostMs: slowest.mostMs },
    ableShare: Math.round(watcher.ableShare * 100) / 100,
  };
}
