import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  findSlotProblems,
  type Lease,
  Leaser,
  renew,
  saveLeaseMode,
  submit,
} from '../../src/frontier/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { done, finish, item } from './fixtures.ts';

// Many leasers and submitters in one process against a real server. Everything random comes from a printed seed.
const seed = Number(process.env.OUTRIDER_SEED ?? Math.floor(Math.random() * 1e9));
const delayMs = 40;
const leaseMs = 400;
// It takes some twenty seconds alone, and several times that beside other work.
const patienceMs = 120_000;

let test: TestDatabase;
beforeAll(async () => {
  console.log(`frontier concurrency seed ${seed} (repeat with OUTRIDER_SEED=${seed})`);
  test = await createTestDatabase({ maxConnections: 24 });
});
afterEach(async () => {
  await test.pool.query(
    'TRUNCATE url_frontier, domain_slots, domains, domain_events, counter_deltas, crawl_log, foreign_hosts',
  );
});
afterAll(() => test.drop());

/** Small deterministic generator; each worker has its own. */
function randomOf(number: number): () => number {
  let state = (seed ^ (number * 0x9e3779b9)) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

type Record = {
  /** URLs handed out, by domain and epoch. */
  handed: Map<string, Set<string>>;
  /** URLs that ended for good, with the time their settle had returned. */
  ended: Map<string, number>;
  /** Earliest next lease of a domain by what this test did to it. */
  notBefore: Map<bigint, { epoch: bigint; at: number }>;
  submitted: Set<string>;
  problems: string[];
  stale: number;
};

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function runLeaser(number: number, record: Record, until: () => boolean): Promise<void> {
  const random = randomOf(number);
  const owner = `w${number}`;
  const leaser = new Leaser({ db: test.pool, monotonic: () => performance.now() });
  while (!until()) {
    const askedAt = performance.now();
    const leases = await leaser.lease({
      pool: 'default',
      batch: 50,
      owner,
      slots: 1 + Math.floor(random() * 4),
      leaseMs,
      defaultDelayMs: delayMs,
    });
    const gotAt = performance.now();
    for (const held of leases) noteHandout(record, held, askedAt, gotAt);
    await Promise.all(leases.map((held) => workOff(held, owner, random, record)));
    if (leases.length === 0) {
      await leaser.promote({ slots: 50 });
      await pause(5 + random() * 10);
    }
  }
}

function noteHandout(record: Record, held: Lease, askedAt: number, gotAt: number): void {
  const key = `${held.domainKey}/${held.epoch}`;
  if (record.handed.has(key)) record.problems.push(`epoch ${key} was handed out twice`);
  record.handed.set(key, new Set(held.urls.map((url) => url.url)));
  const known = record.notBefore.get(held.domainKey);
  // On a crowded machine an answer may come after its lease has ended and the domain was leased again: it says nothing
  // about the gap after that later lease.
  if (known === undefined || known.epoch < held.epoch) {
    // The database read its clock before we got the answer, so an answer before the allowed time is a broken gap.
    const earlyMs = (known?.at ?? 0) - gotAt;
    if (earlyMs > 2)
      record.problems.push(`domain ${held.domainKey} was leased ${earlyMs.toFixed(1)} ms early`);
    record.notBefore.set(held.domainKey, { epoch: held.epoch, at: askedAt + leaseMs + delayMs });
  }
  for (const { url, hash } of held.urls) {
    const endedAt = record.ended.get(hash.toString('hex'));
    if (endedAt !== undefined && endedAt < askedAt)
      record.problems.push(`${url} was handed out after it was settled`);
  }
}

async function workOff(held: Lease, owner: string, random: () => number, record: Record): Promise<void> {
  const fate = random();
  // Some workers die, some come back too late, some renew and some settle half way.
  if (fate < 0.08) return;
  if (fate < 0.16) await pause(leaseMs + delayMs + 60);
  else await pause(random() * 12);
  if (fate > 0.9) await renew(test.pool, [held], { owner, leaseMs, defaultDelayMs: delayMs });
  const items = held.urls
    .filter(() => random() < 0.9)
    .map(({ hash, tries }) => {
      const outcome = random();
      if (outcome < 0.7) return { item: done(hash) };
      if (outcome < 0.85)
        return {
          item: done(hash, {
            status: 'failed' as const,
            errorCode: 'http_500',
            tries: tries + 1,
            dueInMs: random() * 80,
          }),
        };
      if (outcome < 0.95) return { item: done(hash, { status: 'dead' as const, errorCode: 'not_found' }) };
      return {
        item: done(hash, { status: 'redirected' as const, redirectedTo: 'https://elsewhere.test/' }),
      };
    });
  const half = fate > 0.5 ? Math.floor(items.length / 2) : 0;
  const common = { owner, defaultDelayMs: delayMs };
  if (half > 0)
    await finish(test.db, held, {
      ...common,
      final: false,
      items: items.slice(0, half).map((one) => one.item),
    });
  const settledAt = performance.now();
  // Before the call: the next lease may be answered before this process reads the answer of the settle.
  const noted = record.notBefore.get(held.domainKey);
  // The smaller of both: a worker that comes late may have lost the domain without this process knowing it yet.
  if (noted?.epoch === held.epoch) noted.at = Math.min(noted.at, settledAt + delayMs);
  const result = await finish(test.db, held, { ...common, items: items.slice(half).map((one) => one.item) });
  const endedAt = performance.now();
  if (result.outcome === 'stale') {
    record.stale += 1;
    if (result.settled !== 0) record.problems.push('a stale settle changed rows');
    return;
  }
  if (result.settled !== items.length - half)
    record.problems.push(`settled ${result.settled} of ${items.length - half}`);
  for (const { item: one } of items)
    if (one.status !== 'failed') record.ended.set(one.hash.toString('hex'), endedAt);
}

async function runSubmitter(number: number, domains: number, batches: number, record: Record): Promise<void> {
  const random = randomOf(1000 + number);
  for (let batch = 0; batch < batches; batch += 1) {
    const items = Array.from({ length: 1 + Math.floor(random() * 60) }, () => {
      const domain = Math.floor(random() ** 2 * domains);
      return item(domain, `p${Math.floor(random() * 60)}`, {
        priority: 1 + Math.floor(random() * 10),
        kind: random() < 0.05 ? 'channel' : 'article',
      });
    });
    const results = await submit(test.pool, items);
    for (const [index, { answer, identity }] of results.entries()) {
      if (answer.startsWith('rejected')) record.problems.push(`${items[index]!.url}: ${answer}`);
      else record.submitted.add(`${items[index]!.kind === 'channel' ? 'channel ' : ''}${identity!.key}`);
    }
    await pause(random() * 8);
  }
}

// A channel whose workers died three times rests a day, as it should.
const open = `status IN ('pending', 'failed') AND error_code IS DISTINCT FROM 'crash_loop'`;

describe.each([
  { mode: 'single', name: 'few domains', domains: 5, leasers: 8, submitters: 3, batches: 20 },
  { mode: 'single', name: 'many domains', domains: 400, leasers: 10, submitters: 4, batches: 30 },
  { mode: 'bucket', name: 'few domains', domains: 5, leasers: 8, submitters: 3, batches: 20 },
  { mode: 'bucket', name: 'many domains', domains: 400, leasers: 10, submitters: 4, batches: 30 },
] as const)('$name in $mode mode', ({ mode, domains, leasers, submitters, batches }) => {
  beforeAll(() => saveLeaseMode(test.pool, mode, 'test'));

  it(
    'loses nothing, repeats nothing, keeps order and gaps',
    async () => {
      const record: Record = {
        handed: new Map(),
        ended: new Map(),
        notBefore: new Map(),
        submitted: new Set(),
        problems: [],
        stale: 0,
      };
      let producing = true;
      let finishing = false;
      const idle = async () =>
        (await test.pool.query<{ n: number }>(`SELECT count(*)::int AS n FROM url_frontier WHERE ${open}`))
          .rows[0]!.n === 0;
      const leasing = Promise.all(
        Array.from({ length: leasers }, (_, n) => runLeaser(n, record, () => finishing)),
      );
      await Promise.all(
        Array.from({ length: submitters }, (_, n) => runSubmitter(n, domains, batches, record)),
      );
      producing = false;
      const deadline = performance.now() + patienceMs;
      while (!(await idle()) && performance.now() < deadline) await pause(100);
      finishing = true;
      await leasing;
      expect(producing).toBe(false);
      expect(record.problems).toEqual([]);
      expect(await findSlotProblems(test.pool)).toEqual([]);
      const rows = await test.pool.query<{ n: number; open: number }>(
        `SELECT count(*)::int AS n, count(*) FILTER (WHERE ${open})::int AS open FROM url_frontier`,
      );
      expect(rows.rows[0]!.n).toBe(record.submitted.size);
      expect(rows.rows[0]!.open).toBe(0);
      const counted = await test.pool.query<{ n: number }>(
        'SELECT sum(inserted)::int AS n FROM counter_deltas',
      );
      expect(counted.rows[0]!.n).toBe(record.submitted.size);
      const epochs = await test.pool.query<{ n: number }>(
        'SELECT sum(lease_epoch)::int AS n FROM domain_slots',
      );
      expect(epochs.rows[0]!.n).toBe(record.handed.size);
    },
    2 * patienceMs,
  );
});
