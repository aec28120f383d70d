import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  blockDomain,
  configureDomain,
  domainStatuses,
  mayMove,
  resetDomain,
  reviveAllowed,
} from '../../src/domains/index.ts';
import {
  findSlotProblems,
  type Lease,
  type LoggedRequest,
  promote,
  releaseDomain,
  submit,
} from '../../src/frontier/index.ts';
import { done, finish, item, rowOf, take } from '../frontier/fixtures.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

const day = 86_400_000;
const restMs = [14 * day];
const by = { reason: 'a test', actor: 'tester' };

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterEach(async () => {
  expect(await findSlotProblems(test.pool)).toEqual([]);
  await test.pool.query(
    'TRUNCATE url_frontier, domain_slots, domains, domain_events, domain_runs, crawl_log, robots, counter_deltas',
  );
});
afterAll(() => test.drop());

async function domain(): Promise<Record<string, unknown>> {
  const result = await test.pool.query(
    `SELECT d.*, s.rest_until, s.next_at, s.hold_reason, s.asleep, s.top, s.refusals, s.penalty_ms
       FROM domains d JOIN domain_slots s USING (bucket, domain_key)`,
  );
  return result.rows[0] as Record<string, unknown>;
}

async function events(): Promise<string[]> {
  const result = await test.pool.query<{ line: string }>(
    `SELECT from_status || ' > ' || to_status || ': ' || reason AS line FROM domain_events ORDER BY at, id`,
  );
  return result.rows.map((row) => row.line);
}

const request = (hash: Buffer | null, change: Partial<LoggedRequest> = {}): LoggedRequest => ({
  endedAt: performance.now(),
  status: 200,
  kind: 'article',
  outcome: 'response',
  hash,
  url: 'https://d1.test/x',
  sourceId: 1,
  executionId: null,
  waitMs: 0,
  headersMs: 1,
  totalMs: 2,
  bytes: 10,
  ...change,
});

async function leaseOne(skewMs = 0): Promise<Lease> {
  const leases = await take(test.db, { skewMs });
  expect(leases).toHaveLength(1);
  return leases[0]!;
}

describe('moves', () => {
  it('the table in the database is the table in the code, for every pair', async () => {
    for (const from of domainStatuses)
      for (const to of domainStatuses)
        for (const who of ['engine', 'operator'] as const) {
          const result = await test.pool.query<{ may: boolean }>(
            'SELECT domain_may_move($1::domain_status, $2::domain_status, $3) AS may',
            [from, to, who === 'operator'],
          );
          expect([from, to, who, result.rows[0]!.may]).toEqual([from, to, who, mayMove(from, to, who)]);
        }
  });

  it('every legal move is made and written down, every illegal one refused without a trace', async () => {
    await submit(test.pool, [item(1, 'a')]);
    const { bucket, domain_key } = (await domain()) as { bucket: number; domain_key: bigint };
    for (const from of domainStatuses)
      for (const to of domainStatuses)
        for (const operator of [false, true]) {
          await test.pool.query('UPDATE domains SET status = $1', [from]);
          await test.pool.query('TRUNCATE domain_events');
          const result = await test.pool.query<{ moved: boolean }>(
            `SELECT domain_move($1::smallint, $2, $3::domain_status, 'why', 'who', now(), $4) AS moved`,
            [bucket, domain_key.toString(), to, operator],
          );
          const legal = mayMove(from, to, operator ? 'operator' : 'engine');
          expect([from, to, operator, result.rows[0]!.moved]).toEqual([from, to, operator, legal]);
          expect((await domain()).status).toBe(legal ? to : from);
          const silent = [from, to].sort().join() === 'active,exhausted';
          expect(await events()).toEqual(legal && !silent ? [`${from} > ${to}: why`] : []);
        }
    await test.pool.query(`UPDATE domains SET status = 'pending'`);
  });
});

describe('a life', () => {
  it('pending until the first lease, exhausted when no page is left, active when new ones come', async () => {
    await submit(test.pool, [item(1, 'a'), item(1, 'feed', { kind: 'channel', priority: 10 })]);
    expect(await domain()).toMatchObject({ status: 'pending', asleep: true });
    const poll = await leaseOne();
    expect(poll.urls.map((url) => url.kind)).toEqual(['channel']);
    expect(await domain()).toMatchObject({ status: 'active', asleep: false });
    await finish(test.db, poll, {
      items: [done(poll.urls[0]!.hash, { kind: 'channel', status: 'pending', dueInMs: 900_000 })],
    });
    // The page still waits: the domain is not exhausted by a poll.
    expect(await domain()).toMatchObject({ status: 'active' });
    const page = await leaseOne(2000);
    await finish(test.db, page, { items: [done(page.urls[0]!.hash)], skewMs: 2000 });
    expect(await domain()).toMatchObject({ status: 'exhausted', asleep: true });
    // Polls leave it exhausted, a new page wakes it.
    await promote(test.pool, { slots: 10, skewMs: 1_000_000 });
    const again = await leaseOne(1_000_000);
    expect(again.urls[0]!.kind).toBe('channel');
    expect(await domain()).toMatchObject({ status: 'exhausted' });
    await submit(test.pool, [item(1, 'b')], { skewMs: 1_000_000 });
    await finish(test.db, again, {
      items: [done(again.urls[0]!.hash, { kind: 'channel', status: 'pending', dueInMs: 900_000 })],
      skewMs: 1_000_000,
    });
    const fresh = await leaseOne(1_010_000);
    expect(await domain()).toMatchObject({ status: 'active', asleep: false });
    await finish(test.db, fresh, { skewMs: 1_010_000 });
    expect(await events()).toEqual(['pending > active: first lease']);
  });

  it('a failed page that waits for its retry keeps the domain active', async () => {
    await submit(test.pool, [item(1, 'a')]);
    const held = await leaseOne();
    await finish(test.db, held, {
      items: [done(held.urls[0]!.hash, { status: 'failed', dueInMs: 60_000, tries: 1, fetched: false })],
    });
    expect(await domain()).toMatchObject({ status: 'active' });
  });
});

describe('a rest', () => {
  async function block(held: Lease, skewMs = 0, reason = 'forbidden'): Promise<void> {
    await finish(test.db, held, { learnt: { move: { to: 'blocked', reason, restMs } }, skewMs });
  }

  it('begins with the block, tries one channel a day, and ends by itself', async () => {
    await submit(test.pool, [item(1, 'a'), item(1, 'b')]);
    await block(await leaseOne());
    expect(await domain()).toMatchObject({
      status: 'blocked',
      status_reason: 'forbidden',
      block_count: 1,
      hold_reason: 'cooldown',
      asleep: true,
    });
    // Nothing for a day; then a trial, for which it has no channel.
    expect(await take(test.db, { skewMs: day - 60_000 })).toEqual([]);
    expect(await take(test.db, { skewMs: day + 60_000 })).toEqual([]);
    expect(await domain()).toMatchObject({ status: 'blocked' });
    // After the cooldown it is simply leased.
    const after = await leaseOne(14 * day + 60_000);
    expect(after.trial).toBeNull();
    expect(after.urls).toHaveLength(2);
    expect(await domain()).toMatchObject({ status: 'active', rest_until: null, errors_consecutive: 0 });
    expect((await events()).at(-1)).toBe('blocked > active: cooldown over');
    await finish(test.db, after, { skewMs: 14 * day + 60_000 });
  });

  it('hands out one channel a day, and a good answer ends it', async () => {
    await submit(test.pool, [
      item(1, 'a', { priority: 10 }),
      item(1, 'feed', { kind: 'channel' }),
      item(1, 'feed2', { kind: 'channel' }),
    ]);
    await block(await leaseOne());
    const trial = await leaseOne(day + 1000);
    expect(trial.trial).toBe('channel');
    expect(trial.urls.map((url) => url.kind)).toEqual(['channel']);
    await finish(test.db, trial, { skewMs: day + 1000 });
    expect(await domain()).toMatchObject({ status: 'blocked', hold_reason: 'cooldown' });
    expect(await take(test.db, { skewMs: day + 3_600_000 })).toEqual([]);
    const next = await leaseOne(2 * day + 2000);
    await finish(test.db, next, {
      items: [done(next.urls[0]!.hash, { kind: 'channel', status: 'pending', dueInMs: 900_000 })],
      learnt: { trialPassed: true },
      skewMs: 2 * day + 2000,
    });
    expect(await domain()).toMatchObject({ status: 'active', rest_until: null, asleep: false });
    expect((await events()).at(-1)).toBe('blocked > active: trial succeeded');
    const work = await leaseOne(2 * day + 10_000);
    expect(work.trial).toBeNull();
    await finish(test.db, work, { skewMs: 2 * day + 10_000 });
  });

  it('robots_denied hands out any one row, to read robots.txt again', async () => {
    await submit(test.pool, [item(1, 'a'), item(1, 'b')]);
    await block(await leaseOne(), 0, 'robots_denied');
    const trial = await leaseOne(day + 1000);
    expect(trial).toMatchObject({ trial: 'robots' });
    expect(trial.urls).toHaveLength(1);
    await finish(test.db, trial, { skewMs: day + 1000 });
    expect((await leaseOne(2 * day + 2000)).trial).toBe('robots');
    await releaseDomain(test.pool, trial);
  });

  it('the third block is for good, with no trial, until a reset', async () => {
    await submit(test.pool, [item(1, 'a'), item(1, 'feed', { kind: 'channel' })]);
    let skewMs = 0;
    for (let time = 1; time <= 3; time += 1) {
      await block(await leaseOne(skewMs), skewMs);
      expect(await domain()).toMatchObject({ status: 'blocked', block_count: time });
      skewMs += 14 * day + 60_000;
    }
    expect(await take(test.db, { skewMs: 5000 * day })).toEqual([]);
    const held = await domain();
    expect(await resetDomain(test.pool, keyOf(held), by)).toBe(0);
    expect(await domain()).toMatchObject({ status: 'pending', block_count: 0, rest_until: null });
    expect((await leaseOne()).urls).toHaveLength(1);
  });

  it('an unreachable domain rests longer each time, and a good answer starts that anew', async () => {
    await submit(test.pool, [item(1, 'a'), item(1, 'b')]);
    const steps = [3_600_000, 6 * 3_600_000, day, 7 * day];
    let skewMs = 0;
    for (const step of [...steps, 7 * day]) {
      const held = await leaseOne(skewMs);
      await finish(test.db, held, {
        learnt: { move: { to: 'unreachable', reason: 'dns', restMs: steps } },
        skewMs,
      });
      const { rest_until } = (await domain()) as { rest_until: Date };
      expect(Math.abs(rest_until.getTime() - Date.now() - skewMs - step)).toBeLessThan(60_000);
      skewMs += step + 60_000;
    }
    const held = await leaseOne(skewMs);
    await finish(test.db, held, { requests: [request(held.urls[0]!.hash)], skewMs });
    expect(await domain()).toMatchObject({ unreachable_count: 0 });
  });
});

const keyOf = (row: Record<string, unknown>) => ({
  bucket: row.bucket as number,
  domainKey: row.domain_key as bigint,
});

describe('operators', () => {
  it('block from any state, and the worker that held the domain changes nothing', async () => {
    await submit(test.pool, [item(1, 'a')]);
    const held = await leaseOne();
    expect(await blockDomain(test.pool, held, by)).toBe(true);
    expect(await finish(test.db, held, { items: [done(held.urls[0]!.hash)] })).toMatchObject({
      outcome: 'stale',
    });
    expect(await domain()).toMatchObject({
      status: 'blocked',
      status_reason: 'a test',
      hold_reason: 'operator',
    });
    expect(await take(test.db, { skewMs: 1000 * day })).toEqual([]);
    expect((await events()).at(-1)).toBe('active > blocked: a test');
    expect(await blockDomain(test.pool, { bucket: 1, domainKey: 1n }, by)).toBe(false);
  });

  it('a reset clears what led to a rest and makes listings due, with `all` articles too', async () => {
    await submit(test.pool, [
      item(1, '', { kind: 'listing', origin: 'spider' }),
      item(1, 'a', { origin: 'spider' }),
      item(1, 'gone', { origin: 'spider' }),
    ]);
    const held = await leaseOne();
    await finish(test.db, held, {
      items: held.urls.map((url) =>
        url.url.endsWith('gone')
          ? done(url.hash, { status: 'dead', errorCode: 'not_found' })
          : done(url.hash, { kind: url.kind }),
      ),
      learnt: {
        penaltyMs: 5000,
        ladder: {
          refusals: ['forbidden'],
          circuitGood: 0,
          opens: [{ ageMs: 10, reason: 'forbidden' }],
          networkFailures: 0,
          networkForMs: null,
        },
      },
    });
    expect(await domain()).toMatchObject({ status: 'exhausted', penalty_ms: 5000, refusals: ['forbidden'] });
    expect(await resetDomain(test.pool, held, by)).toBe(1);
    await promote(test.pool, { slots: 10 });
    expect(await domain()).toMatchObject({ penalty_ms: 0, refusals: null });
    const again = await leaseOne(10_000);
    expect(again).toMatchObject({ ladder: null, penaltyMs: 0 });
    expect(again.urls.map((url) => url.kind)).toEqual(['listing']);
    await finish(test.db, again, { items: [done(again.urls[0]!.hash, { kind: 'listing' })], skewMs: 10_000 });
    expect(await resetDomain(test.pool, held, { ...by, all: true })).toBe(3);
    await promote(test.pool, { slots: 10 });
    expect(await rowOf(test.db, 'gone')).toMatchObject({ status: 'pending', error_code: null });
  });

  it('a domain that was never crawled is pending again after a reset', async () => {
    await submit(test.pool, [item(1, 'a')]);
    const key = keyOf(await domain());
    await blockDomain(test.pool, key, by);
    await resetDomain(test.pool, key, by);
    expect(await domain()).toMatchObject({ status: 'pending', asleep: true });
    expect((await leaseOne()).urls).toHaveLength(1);
  });

  it('an own delay holds from the next lease on', async () => {
    await submit(test.pool, [item(1, 'a')]);
    const key = keyOf(await domain());
    expect(await configureDomain(test.pool, key, { delayMs: 7000, budget: null, pool: null }, 1000)).toBe(
      true,
    );
    expect((await leaseOne()).delayMs).toBe(7000);
  });
});

describe('counters', () => {
  it('count what the log has, and leave a late worker out of both', async () => {
    await submit(test.pool, [item(1, 'a'), item(1, 'b'), item(1, 'c')]);
    const held = await leaseOne();
    const [a, b, c] = held.urls;
    await finish(test.db, held, {
      final: false,
      items: [done(a!.hash), done(b!.hash, { status: 'failed', dueInMs: 60_000, fetched: false })],
      requests: [
        request(null, { kind: 'robots', status: 404 }),
        request(a!.hash),
        request(b!.hash, { status: 500 }),
        request(b!.hash, { status: null, outcome: 'reset' }),
        request(b!.hash, { status: 301, outcome: 'redirect' }),
        request(b!.hash, { status: 200, outcome: 'challenge' }),
        request(b!.hash, { status: null, outcome: 'outage' }),
      ],
    });
    expect(await domain()).toMatchObject({ pages_crawled: 1n, errors_total: 3n, errors_consecutive: 3 });
    await releaseDomain(test.pool, held);
    await finish(test.db, held, { requests: [request(c!.hash)], items: [done(c!.hash)] });
    expect(await domain()).toMatchObject({ pages_crawled: 1n });
    const log = await test.pool.query<{ pages: number; errors: number; stale: number }>(
      `SELECT count(*) FILTER (WHERE log_is_page(kind, outcome, status) AND NOT stale)::integer AS pages,
              count(*) FILTER (WHERE log_is_error(kind, outcome, status) AND NOT stale)::integer AS errors,
              count(*) FILTER (WHERE stale)::integer AS stale FROM crawl_log`,
    );
    expect(log.rows[0]).toEqual({ pages: 1, errors: 3, stale: 1 });
  });
});

describe('rows that robots.txt forbade', () => {
  it('are judged again when it changes, in portions, and only those', async () => {
    await submit(
      test.pool,
      Array.from({ length: 12 }, (_, n) => item(1, `p${n}`)),
    );
    const held = await leaseOne();
    await finish(test.db, held, {
      items: held.urls.map((url, n) =>
        n < 8
          ? done(url.hash, { status: 'dead', errorCode: 'robots_blocked', fetched: false })
          : done(url.hash, { status: 'dead', errorCode: 'gone' }),
      ),
    });
    await test.pool.query(
      `INSERT INTO robots (bucket, domain_key, origin, outcome, fetched_at, expires_at, revive_after)
       VALUES ($1, $2, 'https://d1.test', 'allow_all', now(), now(), '')`,
      [held.bucket, held.domainKey.toString()],
    );
    let revived = 0;
    for (let turn = 0; turn < 3; turn += 1) revived += (await reviveAllowed(test.pool)).revived;
    expect(revived).toBe(8);
    expect((await reviveAllowed(test.pool)).domains).toBe(0);
    await promote(test.pool, { slots: 10 });
    expect((await leaseOne(2000)).urls).toHaveLength(8);
  });
});
