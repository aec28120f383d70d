import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  backfillDomains,
  keyOfDomain,
  loadDomain,
  loadDomainEvents,
  recalculatePart,
} from '../../src/domains/index.ts';
import { findSlotProblems, promote, submit } from '../../src/frontier/index.ts';
import { item, take } from '../frontier/fixtures.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const options = { actor: 'test', cooldownsMs: { forbidden: 14 * 86_400_000 } };

async function logRequests(host: string, statuses: (number | null)[], storedAs = host): Promise<void> {
  const key = keyOfDomain(storedAs)!;
  for (const [index, status] of statuses.entries())
    await test.pool.query(
      `INSERT INTO crawl_log (at, bucket, domain_key, epoch, status, kind, outcome, url, worker)
       VALUES (now() - interval '1 hour', $1, $2, 1, $3, 'article', $4, $5, 'old')`,
      [
        key.bucket,
        key.domainKey.toString(),
        status,
        status === null ? 'connect' : 'response',
        `https://${host}/${index}`,
      ],
    );
}

/** Everything a backfill might touch, as text. */
async function dump(): Promise<string> {
  const parts: string[] = [];
  for (const table of ['domains', 'domain_slots', 'domain_events', 'url_frontier']) {
    const rows = await test.pool.query<{ row: string }>(`SELECT t::text AS row FROM ${table} t ORDER BY 1`);
    parts.push(table, ...rows.rows.map((one) => one.row));
  }
  return parts.join('\n');
}

const forget = async (...names: string[]): Promise<void> => {
  for (const name of names) {
    const key = keyOfDomain(name)!;
    for (const table of ['domains', 'domain_slots'])
      await test.pool.query(`DELETE FROM ${table} WHERE bucket = $1 AND domain_key = $2`, [
        key.bucket,
        key.domainKey.toString(),
      ]);
  }
};

const recalculate = async () =>
  (await recalculatePart(test.pool, { from: 0, forMs: Number.POSITIVE_INFINITY })).report;

it('makes domains and slots of rows and logs, and changes nothing the second time', async () => {
  await submit(test.pool, [
    item('live.test', 'a'),
    item('work.test', 'a'),
    item('work.test', 'b', { origin: 'spider' }),
  ]);
  await submit(test.pool, [item('parked.test', 'a', { dueAt: new Date(Date.now() + 3_600_000) })]);
  await submit(test.pool, [item('done.test', 'a'), item('refused.test', 'a'), item('gone.test', 'a')]);
  await test.pool.query(
    `UPDATE url_frontier SET status = 'fetched', ready = false, due_at = NULL, fetch_count = 1, last_fetched_at = now()
      WHERE url LIKE '%done.test%' OR url LIKE '%refused.test%' OR url LIKE '%gone.test%'`,
  );
  await forget('work.test', 'parked.test', 'done.test', 'refused.test', 'gone.test');
  await logRequests('done.test', [200, 200, 403, 404]);
  await logRequests('refused.test', [200, 403, 403, 503, null]);
  await logRequests('gone.test', [null, null, 200]);
  await logRequests('live.test', [403, 403, 403]);
  await logRequests('onlylog.test', [200]);
  const before = await loadDomain(test.pool, 'live.test', 1000);

  const report = await backfillDomains(test.pool, options);
  expect(report).toEqual({
    made: { active: 2, exhausted: 2, blocked: 2 },
    slots: 0,
    misfiledRows: 0,
    merged: 0,
    unreadableRows: 0,
    finished: true,
  });
  expect(await findSlotProblems(test.pool)).toEqual([]);
  expect(await loadDomain(test.pool, 'live.test', 1000)).toMatchObject({
    status: before!.status,
    errorsTotal: 0,
  });
  expect(await loadDomain(test.pool, 'work.test', 1000)).toMatchObject({
    status: 'active',
    queued: 2,
    budgeted: 1,
    pagesKnown: 2,
    top: 5,
  });
  expect(await loadDomain(test.pool, 'parked.test', 1000)).toMatchObject({
    status: 'active',
    queued: 0,
    top: null,
  });
  // Half is not more than half.
  expect(await loadDomain(test.pool, 'done.test', 1000)).toMatchObject({
    status: 'exhausted',
    pagesCrawled: 2,
    errorsTotal: 2,
  });
  const refused = await loadDomain(test.pool, 'refused.test', 1000);
  expect(refused).toMatchObject({ status: 'blocked', reason: 'forbidden', blockCount: 1, hold: 'cooldown' });
  expect(refused!.restUntil!.getTime() - refused!.now.getTime()).toBeGreaterThan(13 * 86_400_000);
  expect(refused!.nextAt!.getTime() - refused!.now.getTime()).toBeLessThanOrEqual(86_400_000);
  expect(await loadDomain(test.pool, 'gone.test', 1000)).toMatchObject({
    status: 'blocked',
    reason: 'server_error',
  });
  expect(await loadDomain(test.pool, 'onlylog.test', 1000)).toMatchObject({
    status: 'exhausted',
    pagesKnown: 0,
  });
  expect(await loadDomainEvents(test.pool, refused!)).toMatchObject([
    { from: null, to: 'blocked', reason: 'forbidden', actor: 'test' },
  ]);

  const first = await dump();
  expect(await backfillDomains(test.pool, options)).toEqual({
    made: { active: 0, exhausted: 0, blocked: 0 },
    slots: 0,
    misfiledRows: 0,
    merged: 0,
    unreadableRows: 0,
    finished: true,
  });
  expect(await dump()).toBe(first);
  // What was made works: it is leased like any other.
  await promote(test.pool, { slots: 100 });
  const hosts = (await take(test.db, { slots: 100 })).map((held) => new URL(held.urls[0]!.url).hostname);
  expect(hosts).toContain('work.test');
  expect(hosts).not.toContain('refused.test');
});

it('merges what canonicalises alike and reports rows under another key, untouched', async () => {
  await submit(test.pool, [item('alias.test', 'a'), item('alias.test', 'b')]);
  await forget('alias.test');
  // As an older rule would have stored it: under the key of another spelling.
  const old = keyOfDomain('old-spelling.test')!;
  await submit(test.pool, [item('old-spelling.test', 'x')]);
  await test.pool.query(
    `UPDATE url_frontier SET url = 'https://www.alias.test/x', discovered_at = '2020-01-01T00:00:00Z'
      WHERE bucket = $1 AND domain_key = $2`,
    [old.bucket, old.domainKey.toString()],
  );
  await forget('old-spelling.test');
  await logRequests('alias.test', [200, 200]);
  await logRequests('www.alias.test', [200], 'old-spelling.test');
  const report = await backfillDomains(test.pool, options);
  expect(report).toMatchObject({ made: { active: 1, exhausted: 0, blocked: 0 }, misfiledRows: 1, merged: 1 });
  expect(await loadDomain(test.pool, 'alias.test', 1000)).toMatchObject({
    pagesKnown: 3,
    pagesCrawled: 3,
    queued: 2,
    firstSeenAt: new Date('2020-01-01T00:00:00Z'),
  });
  expect(await loadDomain(test.pool, 'old-spelling.test', 1000)).toBeNull();
  const first = await dump();
  expect(await backfillDomains(test.pool, options)).toMatchObject({
    made: { active: 0, exhausted: 0, blocked: 0 },
    misfiledRows: 1,
    merged: 0,
  });
  expect(await dump()).toBe(first);
});

it('a missing slot is made again and a live slot is kept', async () => {
  await submit(test.pool, [item('slotless.test', 'a')]);
  const { bucket, domainKey } = keyOfDomain('slotless.test')!;
  await test.pool.query('DELETE FROM domain_slots WHERE bucket = $1 AND domain_key = $2', [
    bucket,
    domainKey.toString(),
  ]);
  expect(await backfillDomains(test.pool, options)).toMatchObject({ slots: 1 });
  expect(await loadDomain(test.pool, 'slotless.test', 1000)).toMatchObject({
    status: 'pending',
    queued: 1,
    top: 5,
  });
});

it('recalculate repairs what slots say and leaves the rest', async () => {
  await submit(test.pool, [
    item('broken.test', 'a'),
    item('broken.test', 'b', { origin: 'spider' }),
    item('broken.test', 'c', { dueAt: new Date(Date.now() + 3_600_000) }),
  ]);
  const { bucket, domainKey } = keyOfDomain('broken.test')!;
  await recalculate();
  const healthy = await recalculate();
  expect(healthy).toMatchObject({ repaired: 0, fields: {} });
  await test.pool.query(
    `UPDATE domain_slots SET queued = 9, budgeted = 0, top = NULL, wake_at = NULL, asleep = false
      WHERE bucket = $1 AND domain_key = $2`,
    [bucket, domainKey.toString()],
  );
  await test.pool.query(`UPDATE domains SET pages_known = 77 WHERE name = 'broken.test'`);
  const report = await recalculate();
  expect(report).toMatchObject({
    repaired: 1,
    fields: { queued: 1, budgeted: 1, top: 1, wake_at: 1, asleep: 1, pages_known: 1 },
  });
  expect(report.scored).toBe(healthy.scored);
  expect((await findSlotProblems(test.pool)).filter((one) => one.domainKey === domainKey)).toEqual([]);
  expect(await loadDomain(test.pool, 'broken.test', 1000)).toMatchObject({
    pagesKnown: 3,
    queued: 2,
    budgeted: 1,
  });
});
