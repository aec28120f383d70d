import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/setup/database.ts';
import { createMarks, type Lease, lease, type Marks, promote, settle, submit } from './index.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(async () => {
  await test.pool.query('TRUNCATE url_frontier, domain_slots, domains');
});

const leaseWith = (
  marks: Marks,
  options: { slots: number; skewMs: number; batch?: number },
): Promise<Lease[]> =>
  lease(test.pool, {
    owner: 'w',
    pool: 'default',
    leaseMs: 60_000,
    defaultDelayMs: 1000,
    batch: options.batch ?? 3,
    marks,
    ...options,
  });

const give = (count: number, options: { from: number; priority: number; skewMs: number; dueAt?: Date }) =>
  submit(
    test.pool,
    Array.from({ length: count }, (_, n) => ({
      url: `https://d${options.from + n}.example/p${options.priority}-${options.skewMs}`,
      kind: 'article' as const,
      origin: 'feed' as const,
      sourceId: 1,
      priority: options.priority,
      own: true,
      ...(options.dueAt === undefined ? {} : { dueAt: options.dueAt }),
    })),
    { skewMs: options.skewMs },
  );

const end = (one: Lease, options: { skewMs: number; holdMs?: number; keep?: number }) =>
  settle(test.pool, one, {
    owner: 'w',
    final: true,
    items: one.urls.slice(options.keep ?? 0).map((url) => ({
      hash: url.hash,
      status: 'fetched',
      kind: url.kind,
      dueInMs: null,
      fetched: true,
    })),
    documents: [],
    requests: [],
    monotonicMs: 0,
    lastAnswerAt: 0,
    defaultDelayMs: 1000,
    skewMs: options.skewMs,
    ...(options.holdMs === undefined
      ? {}
      : { learnt: { hold: { ms: options.holdMs, reason: 'retry_after' as const } } }),
  });

async function dueSlots(skewMs: number): Promise<number> {
  const { rows } = await test.pool.query<{ due: number }>(
    `SELECT count(*)::integer AS due FROM domain_slots WHERE top IS NOT NULL AND next_at <= now() + $1 * interval '1 millisecond'`,
    [skewMs],
  );
  return rows[0]!.due;
}

describe('createMarks', () => {
  it('asks for a full probe first and once a minute', () => {
    let now = 5000;
    const marks = createMarks(() => now);
    const known = new Array<Date>(12).fill(new Date(1));
    expect(marks.current()).toEqual(new Array(12).fill(null));
    marks.save(known);
    now += 59_999;
    expect(marks.current()).toEqual(known);
    now += 1;
    expect(marks.current()).toEqual(new Array(12).fill(null));
    marks.save(known);
    expect(marks.current()).toEqual(known);
  });
});

describe('marks against the database', () => {
  it('miss no slot while domains come, rest, rise and wake', async () => {
    // The worker's clock stands still: no full probe helps after the first. Marks do not rest, which is harder.
    const marks = createMarks(() => 0, 0);
    // A fixed generator, so that a failure can be repeated.
    let state = 7;
    const random = (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      return state % below;
    };
    let skewMs = 0;
    let leased = 0;
    for (let turn = 0; turn < 60; turn += 1) {
      skewMs += random(40_000);
      const dueAt = turn % 7 === 0 ? { dueAt: new Date(Date.now() + skewMs + 90_000) } : {};
      await give(1 + random(12), { from: random(30), priority: 1 + random(10), skewMs, ...dueAt });
      await promote(test.pool, { slots: 100, skewMs });
      // In some turns fewer than are due, so that marks stop inside a level.
      const slots = turn % 3 === 0 ? 2 : 100;
      let leases = await leaseWith(marks, { slots, skewMs });
      while (leases.length > 0) {
        for (const one of leases) {
          leased += 1;
          const rests = random(4) === 0 ? { holdMs: random(200_000) } : {};
          // A worker that dies leaves its lease to run out.
          if (random(8) > 0) await end(one, { skewMs, keep: random(2), ...rests });
        }
        leases = slots === 2 ? [] : await leaseWith(marks, { slots, skewMs });
      }
      if (slots > 2) expect(await dueSlots(skewMs)).toBe(0);
    }
    expect(leased).toBeGreaterThan(200);
    expect(await leaseWith(marks, { slots: 100, skewMs: skewMs + 3_600_000 })).not.toEqual([]);
    expect(await dueSlots(skewMs + 3_600_000)).toBe(0);
  });

  it('find a slot that was locked as soon as it is let go, because they rest', async () => {
    let now = 0;
    const marks = createMarks(() => now);
    await give(2, { from: 0, priority: 5, skewMs: 0 });
    const locker = await test.pool.connect();
    try {
      await locker.query('BEGIN');
      await locker.query('SELECT FROM domain_slots ORDER BY domain_key LIMIT 1 FOR UPDATE');
      const skewMs = 300_000;
      expect(await leaseWith(marks, { slots: 10, skewMs })).toHaveLength(1);
      now = 4000;
      expect(await leaseWith(marks, { slots: 10, skewMs })).toHaveLength(0);
      await locker.query('COMMIT');
      expect(await leaseWith(marks, { slots: 10, skewMs })).toHaveLength(1);
    } finally {
      locker.release();
    }
  });

  it('leaves a slot that was locked when the mark passed it to the next full probe', async () => {
    let now = 0;
    const marks = createMarks(() => now, 0);
    await give(2, { from: 0, priority: 5, skewMs: 0 });
    const locker = await test.pool.connect();
    try {
      await locker.query('BEGIN');
      const locked = await locker.query<{ domain_key: bigint }>(
        'SELECT domain_key FROM domain_slots ORDER BY domain_key LIMIT 1 FOR UPDATE',
      );
      const skewMs = 300_000;
      expect(await leaseWith(marks, { slots: 10, skewMs })).toHaveLength(1);
      await locker.query('COMMIT');
      expect(await leaseWith(marks, { slots: 10, skewMs })).toHaveLength(0);
      now = 60_000;
      const found = await leaseWith(marks, { slots: 10, skewMs });
      expect(found.map((one) => one.domainKey)).toEqual([locked.rows[0]!.domain_key]);
    } finally {
      locker.release();
    }
  });
});
