import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  blockDomain,
  countDomains,
  domainSorts,
  keyOfDomain,
  listDomains,
  loadDomain,
  loadDomainEvents,
  loadDomainRuns,
  loadLeases,
  loadWorkers,
  topDomains,
} from '../../src/domains/index.ts';
import { saveWorker, submit } from '../../src/frontier/index.ts';
import { finish, item, take } from '../frontier/fixtures.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
  await submit(
    test.pool,
    Array.from({ length: 7 }, (_, n) => item(n, 'a', { origin: 'spider' })),
  );
  await test.pool.query(
    `UPDATE domains SET pages_crawled = 10, documents = substr(name, 2, 1)::integer, errors_total = 10 WHERE name <> 'd6.test'`,
  );
  await blockDomain(test.pool, keyOfDomain('d0.test')!, { reason: 'spam', actor: 'me' });
});
afterAll(() => test.drop());

const defaults = { delayMs: 1000, budget: 500 };

it.each(domainSorts)('pages through all domains by %s, each once', async (sort) => {
  const names: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof listDomains>> = await listDomains(test.pool, {
      defaults,
      sort,
      limit: 3,
      cursor,
    });
    names.push(...page.rows.map((row) => row.name));
    cursor = page.cursor;
  } while (cursor !== null);
  expect([...names].sort()).toEqual(Array.from({ length: 7 }, (_, n) => `d${n}.test`));
  if (sort === 'name') expect(names).toEqual([...names].sort());
  if (sort === 'documents') expect(names.slice(0, 2)).toEqual(['d5.test', 'd4.test']);
});

it('filters by status, and refuses a cursor that is none', async () => {
  const { rows } = await listDomains(test.pool, { defaults, status: 'blocked', limit: 10 });
  expect(rows).toMatchObject([
    { name: 'd0.test', reason: 'spam', isPermanent: true, restUntil: null, nextAt: null },
  ]);
  await expect(listDomains(test.pool, { defaults, limit: 1, cursor: 'nonsense' })).rejects.toMatchObject({
    code: 'cursor_invalid',
  });
  const { cursor } = await listDomains(test.pool, { defaults, limit: 1, sort: 'name' });
  await expect(
    listDomains(test.pool, { defaults, limit: 1, sort: 'recent', cursor: cursor! }),
  ).rejects.toMatchObject({
    code: 'cursor_invalid',
    httpStatus: 400,
  });
  expect(await countDomains(test.pool)).toEqual({
    pending: 6,
    active: 0,
    exhausted: 0,
    blocked: 1,
    unreachable: 0,
  });
});

it('says how fast a domain is asked, and what it has used of its budget', async () => {
  const line = async (change = {}) => {
    const { rows } = await listDomains(test.pool, {
      prefix: 'd1.',
      limit: 1,
      defaults: { ...defaults, ...change },
    });
    const [{ delayMs, budgetMost, budgetUsed } = {}] = rows;
    return { delayMs, budgetMost, budgetUsed };
  };
  expect(await line()).toEqual({ delayMs: 1000, budgetMost: 500, budgetUsed: 0 });
  expect(await line({ budget: 0 })).toMatchObject({ budgetMost: null });
  const d1 = `FROM domains d WHERE d.name = 'd1.test' AND s.bucket = d.bucket AND s.domain_key = d.domain_key`;
  await test.pool.query(
    `UPDATE domain_slots s SET robots_delay_ms = 3000, penalty_ms = 500, budget_max = 40, budget_left = 30,
            budget_until = now() + interval '1 hour' ${d1}`,
  );
  expect(await line()).toEqual({ delayMs: 3500, budgetMost: 40, budgetUsed: 10 });
  // A run that is over has used nothing of the next one.
  await test.pool.query(`UPDATE domain_slots s SET budget_until = now() - interval '1 hour' ${d1}`);
  expect(await line()).toMatchObject({ budgetUsed: 0 });
  await test.pool.query(
    `UPDATE domain_slots s SET robots_delay_ms = NULL, penalty_ms = 0, budget_max = NULL, budget_left = NULL,
            budget_until = NULL ${d1}`,
  );
});

it('the top gives most documents a page, of those with pages', async () => {
  expect((await topDomains(test.pool, { limit: 2 })).map((row) => [row.name, row.yield])).toEqual([
    ['d5.test', 0.5],
    ['d4.test', 0.4],
  ]);
  expect((await topDomains(test.pool, { limit: 20 })).map((row) => row.name)).not.toContain('d6.test');
});

it('one domain with all its numbers', async () => {
  expect(await loadDomain(test.pool, 'nowhere.test', 1000)).toBeNull();
  expect(await loadDomain(test.pool, 'not a domain', 1000)).toBeNull();
  const domain = (await loadDomain(test.pool, 'https://www.D4.test/x', 1500))!;
  expect(domain).toMatchObject({
    name: 'd4.test',
    status: 'pending',
    yield: 0.4,
    errorRate: 0.5,
    delay: { totalMs: 1500, robotsMs: null, penaltyMs: 0 },
    budget: { left: null, until: null, max: null, isOpen: true },
    circuit: { isOpen: false, refusals: [], opens: [] },
    lease: null,
    queued: 1,
    budgeted: 1,
  });
  const { rank, yield: fruit, remaining, errors, waiting } = domain.scoreTerms;
  expect([rank, fruit, remaining, errors]).toEqual([-600, 400, 2, -250]);
  expect(waiting).toBeGreaterThanOrEqual(0);
  expect(await loadDomainEvents(test.pool, keyOfDomain('d0.test')!)).toMatchObject([
    { from: 'pending', to: 'blocked', reason: 'spam', actor: 'me' },
  ]);
});

it('leases by worker, known or not, and runs', async () => {
  await saveWorker(test.pool, {
    id: 'w1',
    role: 'fetch',
    pool: 'default',
    version: '1.2.3',
    host: 'here',
    pid: 7,
    state: {},
  });
  const held = [
    ...(await take(test.db, { slots: 2, owner: 'w1', budget: 100 })),
    ...(await take(test.db, { slots: 1, owner: 'lost', leaseMs: -1000, budget: 100 })),
  ];
  expect(held).toHaveLength(3);
  expect(await loadLeases(test.pool)).toMatchObject({
    workers: [
      { owner: 'lost', leases: 1, expired: 1 },
      { owner: 'w1', leases: 2, expired: 0 },
    ],
    expired: 1,
  });
  expect(await loadWorkers(test.pool)).toMatchObject([
    {
      id: 'w1',
      isKnown: true,
      isAlive: true,
      role: 'fetch',
      host: 'here',
      pid: 7,
      version: '1.2.3',
      leases: 2,
    },
    { id: 'lost', isKnown: false, isAlive: false, role: null, leases: 1, expired: 1 },
  ]);
  const one = held[0]!;
  expect(await loadDomainRuns(test.pool, one)).toMatchObject([{ mode: 'discovery', budget: 100, pages: 0 }]);
  expect(await loadDomain(test.pool, one, 1000)).toMatchObject({
    status: 'active',
    lease: { owner: 'w1', inFlight: 1 },
    budget: { left: 99, isOpen: true },
  });
  await finish(test.db, one, {});
});
