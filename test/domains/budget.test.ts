import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { changeDomain, configureDomain, requireDomain, saveBudget } from '../../src/domains/index.ts';
import {
  actOnUrl,
  findSlotProblems,
  type Lease,
  promote,
  releaseDomain,
  submit,
} from '../../src/frontier/index.ts';
import { previewSubmit } from '../../src/frontier/submit.ts';
import { saveSwitch } from '../../src/switches/index.ts';
import { done, finish, item, take } from '../frontier/fixtures.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

const day = 86_400_000;
const budget = 10;
const spider = { origin: 'spider' as const };

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterEach(async () => {
  expect(await findSlotProblems(test.pool)).toEqual([]);
  await test.pool.query(
    'TRUNCATE url_frontier, domain_slots, domains, domain_events, domain_runs, crawl_log, settings, counter_deltas',
  );
});
afterAll(() => test.drop());

const pages = (count: number, change: object = spider) =>
  Array.from({ length: count }, (_, n) => item(1, `p${n}`, change));

const lease = (skewMs = 0, change: object = {}) =>
  take(test.db, { budget, batch: 4, defaultDelayMs: 1, skewMs, ...change });

const settleAll = (held: Lease, skewMs = 0) =>
  finish(test.db, held, {
    items: held.urls.map((url) => done(url.hash, { kind: url.kind })),
    defaultDelayMs: 1,
    budget,
    skewMs,
  });

/** Leases and settles until nothing is left to lease; answers how many URLs that were. */
async function crawl(skewMs = 0): Promise<number> {
  let count = 0;
  for (let turn = 1; turn < 200; turn += 1) {
    const [held] = await lease(skewMs + turn * 10);
    if (held === undefined) break;
    count += held.urls.length;
    await settleAll(held, skewMs + turn * 10);
  }
  return count;
}

const slot = async () =>
  (await test.pool.query('SELECT * FROM domain_slots')).rows[0] as Record<string, unknown>;
const runs = async () =>
  (await test.pool.query('SELECT mode, budget, pages FROM domain_runs ORDER BY started_at')).rows;

describe('a budget', () => {
  it('is never exceeded, hides the rest without touching it, and renews after a day', async () => {
    await submit(test.pool, pages(25));
    expect(await crawl()).toBe(10);
    expect(await slot()).toMatchObject({ budget_left: 0, budgeted: 15, queued: 15, top: null });
    expect(await runs()).toEqual([{ mode: 'discovery', budget: 10, pages: 10 }]);
    expect(await lease(day - 60_000)).toEqual([]);
    expect(await promote(test.pool, { slots: 10, budget, skewMs: day + 60_000 })).toBe(1);
    expect(await crawl(day + 61_000)).toBe(10);
    await promote(test.pool, { slots: 10, budget, skewMs: 3 * day });
    expect(await crawl(3 * day)).toBe(5);
    expect((await runs()).map((run) => run.pages)).toEqual([10, 10, 5]);
    const status = await test.pool.query('SELECT status FROM domains');
    expect(status.rows).toEqual([{ status: 'exhausted' }]);
  });

  it('holds back neither channels nor what feeds, sitemaps and people bring', async () => {
    await submit(test.pool, pages(15));
    expect(await crawl()).toBe(10);
    await submit(
      test.pool,
      [
        item(1, 'news', { origin: 'feed' }),
        item(1, 'map', { origin: 'sitemap' }),
        item(1, 'push', { origin: 'push' }),
        item(1, 'wish', { origin: 'manual' }),
        item(1, 'feed', { kind: 'channel' }),
        item(1, 'more', spider),
      ],
      { skewMs: 5000 },
    );
    expect(await crawl(6000)).toBe(5);
    expect(await slot()).toMatchObject({ budgeted: 6, top: null });
  });

  it('a page that a feed names too is no longer held', async () => {
    await submit(test.pool, pages(12));
    expect(await crawl()).toBe(10);
    const waiting = await test.pool.query<{ url: string }>(
      'SELECT url FROM url_frontier WHERE ready ORDER BY url',
    );
    await submit(
      test.pool,
      [{ ...item(1, '', { origin: 'feed', priority: 8 }), url: waiting.rows[0]!.url }],
      {
        skewMs: 5000,
      },
    );
    expect(await crawl(6000)).toBe(1);
  });

  it('is given back for URLs of a lease that expired, was released or handed back, and for those never answered', async () => {
    await submit(test.pool, pages(30));
    const [expired] = await lease();
    expect(await slot()).toMatchObject({ budget_left: 6 });
    const [second] = await lease(70_000);
    expect(second!.urls).toHaveLength(4);
    expect(await slot()).toMatchObject({ budget_left: 6 });
    await finish(test.db, expired!, { items: expired!.urls.map((url) => done(url.hash)), skewMs: 71_000 });
    expect(await slot()).toMatchObject({ budget_left: 6 });
    await releaseDomain(test.pool, second!);
    expect(await slot()).toMatchObject({ budget_left: 10 });
    const [third] = await lease(140_000);
    const [a, b] = third!.urls;
    await finish(test.db, third!, {
      items: [done(a!.hash), done(b!.hash, { status: 'failed', dueInMs: 60_000, fetched: false })],
      budget,
      skewMs: 140_000,
    });
    // One was answered, one was not, two were handed back.
    expect(await slot()).toMatchObject({ budget_left: 9 });
    expect(await runs()).toEqual([{ mode: 'discovery', budget: 10, pages: 1 }]);
  });

  it('raised for a domain, or in the configuration, it acts at once', async () => {
    await saveBudget(test.pool, budget, 'test');
    await submit(test.pool, pages(40));
    expect(await crawl()).toBe(10);
    const { bucket, domain_key } = (await slot()) as { bucket: number; domain_key: bigint };
    await configureDomain(
      test.pool,
      { bucket, domainKey: domain_key },
      { delayMs: null, budget: 15, pool: null },
      budget,
    );
    await promote(test.pool, { slots: 10, budget, skewMs: 5000 });
    expect(await crawl(6000)).toBe(5);
    await configureDomain(
      test.pool,
      { bucket, domainKey: domain_key },
      { delayMs: null, budget: null, pool: null },
      budget,
    );
    await saveBudget(test.pool, 22, 'test');
    await promote(test.pool, { slots: 10, budget: 22, skewMs: 15_000 });
    expect(await crawl(16_000)).toBe(7);
  });

  it('changed by somebody with another configuration, it is the one in force that is changed', async () => {
    await saveBudget(test.pool, budget, 'test');
    await submit(test.pool, pages(40));
    expect(await crawl()).toBe(10);
    const change = async (to: number | null): Promise<void> => {
      const { bucket, domain_key } = (await slot()) as { bucket: number; domain_key: bigint };
      const known = await requireDomain(test.pool, { bucket, domainKey: domain_key }, 1000);
      await changeDomain(test.pool, known, { budget: to }, { actor: 'test', defaultBudget: 1000 });
    };
    await change(15);
    await promote(test.pool, { slots: 10, budget, skewMs: 5000 });
    expect(await crawl(6000)).toBe(5);
    await change(null);
    expect(await slot()).toMatchObject({ budget_left: -5 });
  });

  it('a person, a sitemap or a feed frees what it holds, however low its level', async () => {
    await submit(test.pool, pages(13, { ...spider, priority: 6 }));
    expect(await crawl()).toBe(10);
    const waiting = await test.pool.query<{ url: string }>(
      'SELECT url FROM url_frontier WHERE ready ORDER BY url',
    );
    const named = ['manual', 'sitemap', 'spider'].map((origin, n) => ({
      ...item(1, '', { origin: origin as 'manual', priority: 5 }),
      url: waiting.rows[n]!.url,
    }));
    const said = async () => (await submit(test.pool, named, { skewMs: 5000 })).map((one) => one.answer);
    expect((await previewSubmit(test.pool, named)).map((one) => one.answer)).toEqual([
      'raised',
      'raised',
      'duplicate',
    ]);
    expect(await said()).toEqual(['raised', 'raised', 'duplicate']);
    expect(await said()).toEqual(['duplicate', 'duplicate', 'duplicate']);
    expect(await slot()).toMatchObject({ budgeted: 1, queued: 3, top: 6 });
    expect(await crawl(6000)).toBe(2);
  });

  it('a page that a person retries is no longer held', async () => {
    await submit(test.pool, pages(12));
    const [held] = await lease();
    const rows = await test.pool.query<{ hash: Buffer }>('SELECT url_hash AS hash FROM url_frontier');
    const free = rows.rows.find((row) => held!.urls.every((url) => !url.hash.equals(row.hash)))!;
    const retry = () =>
      actOnUrl(test.pool, { ...held!, hash: free.hash }, { action: 'retry', actor: 'test' });
    // While something of the budget is left nothing holds it.
    expect(await retry()).toBe('unchanged');
    await settleAll(held!);
    expect(await crawl(1000)).toBe(6);
    const waits = await test.pool.query<{ hash: Buffer }>(
      'SELECT url_hash AS hash FROM url_frontier WHERE ready',
    );
    free.hash = waits.rows[0]!.hash;
    expect(await retry()).toBe('retried');
    expect(await slot()).toMatchObject({ budgeted: 1, queued: 2, top: 5 });
    expect(await retry()).toBe('unchanged');
    expect(await crawl(6000)).toBe(1);
  });

  it('of the domain alone is kept where none is configured, and all others have no limit', async () => {
    const unlimited = { budget: 0 };
    const crawlAll = async (skewMs: number): Promise<number> => {
      let count = 0;
      for (let turn = 1; turn < 50; turn += 1) {
        const [held] = await lease(skewMs + turn * 10, unlimited);
        if (held === undefined) break;
        count += held.urls.length;
        await finish(test.db, held, {
          items: held.urls.map((url) => done(url.hash)),
          defaultDelayMs: 1,
          budget: 0,
          skewMs: skewMs + turn * 10,
        });
      }
      return count;
    };
    await saveBudget(test.pool, 0, 'test');
    await submit(test.pool, pages(40));
    const { bucket, domain_key } = (await slot()) as { bucket: number; domain_key: bigint };
    const own = (count: number | null) =>
      configureDomain(
        test.pool,
        { bucket, domainKey: domain_key },
        { delayMs: null, budget: count, pool: null },
        0,
      );
    await own(7);
    expect(await crawlAll(0)).toBe(7);
    expect(await slot()).toMatchObject({ budget_left: 0, budgeted: 33, top: null });
    expect(await runs()).toEqual([{ mode: 'discovery', budget: 7, pages: 7 }]);
    // No pages at all: nothing is handed out, and the domain is not probed for ever.
    await own(0);
    await test.pool.query(`SELECT domain_reset($1::smallint, $2, 'test', 'test', interval '3 seconds')`, [
      bucket,
      domain_key.toString(),
    ]);
    expect(await slot()).toMatchObject({ budget_left: null, top: 5 });
    expect(await crawlAll(5000)).toBe(0);
    expect(await slot()).toMatchObject({ budget_left: 0, top: null });
    await promote(test.pool, { slots: 10, budget: 0, skewMs: 6000 });
    expect(await slot()).toMatchObject({ top: null });
    await own(null);
    await promote(test.pool, { slots: 10, budget: 0, skewMs: 7000 });
    expect(await crawlAll(8000)).toBe(33);
  });

  it('that is used up and taken out of the configuration holds nothing any longer', async () => {
    await saveBudget(test.pool, budget, 'test');
    await submit(test.pool, pages(25));
    expect(await crawl()).toBe(10);
    await saveBudget(test.pool, 0, 'test');
    await promote(test.pool, { slots: 10, budget: 0, skewMs: 5000 });
    expect(await slot()).toMatchObject({ budget_left: null, budget_until: null, top: 5 });
    await saveBudget(test.pool, budget, 'test');
    expect(await crawl(6000)).toBe(10);
  });

  it('switched off it holds nothing', async () => {
    await submit(test.pool, pages(25));
    expect(await crawl()).toBe(10);
    await saveSwitch(test.pool, 'budgets', false, 'test');
    await promote(test.pool, { slots: 10, budget: null, skewMs: 5000 });
    let count = 0;
    for (let turn = 1; turn < 20; turn += 1) {
      const [held] = await lease(5000 + turn * 10, { budget: null });
      if (held === undefined) break;
      count += held.urls.length;
      await finish(test.db, held, {
        items: held.urls.map((url) => done(url.hash)),
        defaultDelayMs: 1,
        budget: null,
        skewMs: 5000 + turn * 10,
      });
    }
    expect(count).toBe(15);
  });
});

describe('the score', () => {
  it('moves the domain’s spidered rows by a level and leaves the others alone', async () => {
    await submit(test.pool, [
      item(1, 'a', { ...spider, priority: 5 }),
      item(2, 'b', { origin: 'feed', priority: 5 }),
    ]);
    await test.pool.query('UPDATE domain_slots SET shift = 1');
    await test.pool.query(`UPDATE domain_slots SET wake_at = now()`);
    await promote(test.pool, { slots: 10, budget });
    const tops = await test.pool.query<{ name: string; top: number }>(
      'SELECT name, top FROM domains JOIN domain_slots USING (bucket, domain_key) ORDER BY name',
    );
    expect(tops.rows).toEqual([
      { name: 'd1.test', top: 6 },
      { name: 'd2.test', top: 5 },
    ]);
    expect((await lease(100)).map((one) => one.urls[0]!.url)).toEqual([
      'https://d1.test/a',
      'https://d2.test/b',
    ]);
  });

  it('stays within levels 1 to 10 at either end', async () => {
    for (const [shift, priority, top] of [
      [1, 10, 10],
      [1, 9, 10],
      [-1, 1, 1],
      [-1, 2, 1],
      [-1, 10, 9],
    ] as const) {
      await test.pool.query('TRUNCATE url_frontier, domain_slots, counter_deltas');
      await submit(test.pool, [item(1, 'a', { ...spider, priority })]);
      await test.pool.query('UPDATE domain_slots SET shift = $1, wake_at = now()', [shift]);
      await promote(test.pool, { slots: 1, budget });
      expect([shift, priority, (await slot()).top]).toEqual([shift, priority, top]);
      expect(await lease(100)).toHaveLength(1);
    }
  });

  it('is recomputed with each settle, bounded in every term', async () => {
    await submit(test.pool, pages(3));
    const [held] = await lease();
    await finish(test.db, held!, {
      items: [done(held!.urls[0]!.hash)],
      requests: held!.urls.slice(0, 1).map((url) => ({
        endedAt: performance.now(),
        status: 200,
        kind: 'article',
        outcome: 'response',
        hash: url.hash,
        url: url.url,
        sourceId: null,
        executionId: null,
        waitMs: null,
        headersMs: 1,
        totalMs: 1,
        bytes: 1,
      })),
      budget,
    });
    const result = await test.pool.query<{ score: number; remaining: number }>('SELECT score FROM domains');
    // No rank −600, no document yet 0, two pages left +4, no errors, no waiting.
    expect(result.rows[0]!.score).toBeCloseTo(-596, 0);
  });
});

describe('known pages', () => {
  const settleKnown = (held: Lease, skewMs: number) =>
    finish(test.db, held, {
      items: held.urls.map((url) => done(url.hash, { dueInMs: 14 * day, refreshSeconds: (14 * day) / 1000 })),
      defaultDelayMs: 1,
      budget,
      skewMs,
    });

  it('are looked at again in portions of the budget, longest overdue first, below what is new', async () => {
    await submit(test.pool, pages(25, { origin: 'feed' }));
    for (let turn = 1; turn < 20; turn += 1) {
      const [held] = await lease(turn * 1000);
      if (held === undefined) break;
      await settleKnown(held, turn * 1000);
    }
    const due = 14 * day + 60_000;
    expect(await promote(test.pool, { slots: 10, budget, skewMs: day })).toBe(0);
    expect(await promote(test.pool, { slots: 10, budget, skewMs: due })).toBe(1);
    // Two below its page, and one for the score of a domain without rank or documents.
    expect(await slot()).toMatchObject({ budgeted: 10, queued: 10, top: 2 });
    const [first] = await lease(due);
    const oldest = await test.pool.query<{ url: string }>(
      `SELECT url FROM url_frontier WHERE budgeted ORDER BY due_at LIMIT 4`,
    );
    expect(first!.urls.map((url) => url.url).sort()).toEqual(oldest.rows.map((row) => row.url).sort());
    await settleKnown(first!, due);
    let count = 4;
    for (let turn = 1; turn < 20; turn += 1) {
      await promote(test.pool, { slots: 10, budget, skewMs: due + turn * 10 });
      const [held] = await lease(due + turn * 10);
      if (held === undefined) break;
      count += held.urls.length;
      await settleKnown(held, due + turn * 10);
    }
    expect(count).toBe(10);
    expect((await runs()).map((run) => run.mode)).toEqual(['refresh']);
  });

  it('a duplicate is looked at once more, and then no longer stands in promotion’s way', async () => {
    await submit(test.pool, [item(1, 'one', { origin: 'feed' }), item(1, 'two', { origin: 'feed' })]);
    const [held] = await lease();
    const documents = held!.urls.map((url) => ({
      hash: url.hash,
      url: url.url,
      sourceId: null,
      wordCount: 100,
      confidence: 1,
      publishedAt: null,
      modifiedAt: null,
      contentHash: Buffer.alloc(32, 7),
      pageType: 'article' as const,
      language: null,
      canonicalUrl: null,
      title: 'same',
      section: null,
      description: null,
      leadImage: null,
      authors: [],
      keywords: [],
      meta: {},
      text: 'same',
      raw: null,
    }));
    const items = held!.urls.map((url) => done(url.hash, { dueInMs: day, refreshSeconds: day / 1000 }));
    expect(await finish(test.db, held!, { items, documents, budget })).toMatchObject({ duplicates: 1 });
    for (const [skewMs, looked] of [
      [2 * day, 2],
      [4 * day, 1],
    ] as const) {
      // The second look is a refresh: while those are off it waits, and keeps nobody awake.
      await saveSwitch(test.pool, 'refresh', false, 'test');
      await test.pool.query('UPDATE domain_slots SET wake_at = now()');
      expect(await promote(test.pool, { slots: 10, budget, skewMs, refresh: false })).toBe(1);
      expect(await promote(test.pool, { slots: 10, budget, skewMs, refresh: false })).toBe(0);
      expect(await lease(skewMs)).toEqual([]);
      await saveSwitch(test.pool, 'refresh', true, 'test');
      expect(await promote(test.pool, { slots: 10, budget, skewMs })).toBe(1);
      const [again] = await lease(skewMs);
      expect(again!.urls).toHaveLength(looked);
      await finish(test.db, again!, { items, documents, budget, skewMs });
    }
  });

  it('are left alone while refreshing is off', async () => {
    await submit(test.pool, pages(2, { origin: 'feed' }));
    const [held] = await lease();
    await settleKnown(held!, 0);
    expect(await promote(test.pool, { slots: 10, budget, refresh: false, skewMs: 15 * day })).toBe(1);
    expect(await promote(test.pool, { slots: 10, budget, refresh: false, skewMs: 15 * day })).toBe(0);
    expect(await lease(15 * day)).toEqual([]);
    await saveSwitch(test.pool, 'refresh', true, 'test');
    // By a process that has not heard of it yet.
    expect(await promote(test.pool, { slots: 10, budget, refresh: false, skewMs: 15 * day })).toBe(1);
    expect(await lease(15 * day)).toHaveLength(1);
  });
});
