import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findSlotProblems, Leaser, releaseDomain, renew, saveLeaseMode } from '../../src/frontier/index.ts';
import { domainIdentity } from '../../src/url/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { answers, done, finish, item, rowOf, take } from './fixtures.ts';

const hourMs = 3_600_000;
let test: TestDatabase;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterEach(async () => {
  expect(await findSlotProblems(test.pool)).toEqual([]);
  await test.pool.query(
    'TRUNCATE url_frontier, domain_slots, domains, documents, outbox, crawl_log, counter_deltas, url_sightings, foreign_hosts',
  );
});
afterAll(() => test.drop());

describe.each(['single', 'bucket'] as const)('submit in %s mode', (mode) => {
  beforeAll(() => saveLeaseMode(test.pool, mode, 'test'));

  it('inserts once; the same URL again, also inside one batch and under other spellings, is a duplicate', async () => {
    expect(await answers(test.db, [item(1, 'a'), item(1, 'a?utm_source=x'), item(2, 'b')])).toEqual([
      'inserted',
      'duplicate',
      'inserted',
    ]);
    expect(await answers(test.db, [item(1, 'a', { url: 'http://D1.test/a/' })])).toEqual(['duplicate']);
  });

  it('names why it rejects', async () => {
    const bad = await answers(test.db, [
      item(1, 'x', { url: 'javascript:alert(1)' }),
      item(1, 'x', { url: '' }),
      item(1, 'ok'),
    ]);
    expect(bad[0]).toMatch(/^rejected:/);
    expect(bad[1]).toMatch(/^rejected:/);
    expect(bad[2]).toBe('inserted');
  });

  it('a known URL writes nothing at all', async () => {
    await answers(test.db, [item(1, 'a', { parentUrl: 'https://d1.test/feed' })]);
    const lsn = async () =>
      (await test.pool.query<{ lsn: string }>('SELECT pg_current_wal_insert_lsn() AS lsn')).rows[0]!.lsn;
    await test.pool.query('SELECT 1');
    const before = await test.pool.query<{ xmin: string; ctid: string }>(
      'SELECT xmin::text, ctid::text FROM url_frontier UNION ALL SELECT xmin::text, ctid::text FROM domain_slots',
    );
    expect(await answers(test.db, [item(1, 'a', { parentUrl: 'https://d1.test/feed' })])).toEqual([
      'duplicate',
    ]);
    const after = await test.pool.query<{ xmin: string; ctid: string }>(
      'SELECT xmin::text, ctid::text FROM url_frontier UNION ALL SELECT xmin::text, ctid::text FROM domain_slots',
    );
    expect(after.rows).toEqual(before.rows);
    expect(typeof (await lsn())).toBe('string');
  });

  it('the first sighting by another channel is kept, once', async () => {
    await answers(test.db, [item(1, 'a', { parentUrl: 'https://d1.test/feed' })]);
    for (const parentUrl of ['https://d1.test/feed', 'https://other.test/feed', 'https://other.test/feed']) {
      expect(await answers(test.db, [item(1, 'a', { parentUrl, sourceId: 2 })])).toEqual(['duplicate']);
    }
    const seen = await test.pool.query('SELECT parent_url FROM url_sightings ORDER BY 1');
    expect(seen.rows.map((row) => row.parent_url)).toEqual([
      'https://d1.test/feed',
      'https://other.test/feed',
    ]);
  });

  it('raises a pending row that was never tried, and makes it due earlier', async () => {
    await answers(test.db, [item(1, 'a', { priority: 3, dueAt: new Date(Date.now() + hourMs) })]);
    expect(await answers(test.db, [item(1, 'a', { priority: 8 })])).toEqual(['raised']);
    expect(await rowOf(test.db, 'a')).toMatchObject({ level: 8, ready: true });
    expect(await answers(test.db, [item(1, 'a', { priority: 4 })])).toEqual(['duplicate']);
  });

  it('the same URL twice in a batch counts as all of it says, in either order', async () => {
    const later = { priority: 3, dueAt: new Date(Date.now() + hourMs) };
    expect(
      await answers(test.db, [
        item(1, 'a', later),
        item(1, 'a?utm_source=x', { priority: 9 }),
        item(1, 'b', { priority: 4 }),
        item(1, 'b', { priority: 10, own: false }),
      ]),
    ).toEqual(['inserted', 'duplicate', 'inserted', 'duplicate']);
    expect(await rowOf(test.db, 'a')).toMatchObject({ level: 9, priority: 9, ready: true });
    expect(await rowOf(test.db, 'b')).toMatchObject({ level: 4, priority: 4 });
    for (const held of await take(test.db))
      await finish(test.db, held, { items: held.urls.map((url) => done(url.hash)) });
    const newer = item(1, 'a', { modifiedAt: new Date(Date.now() + 3 * hourMs) });
    expect(await answers(test.db, [item(1, 'a'), newer], 7 * hourMs)).toEqual(['refreshed', 'duplicate']);
  });

  it('what waited when its source was deleted is fetched for whoever brings it again', async () => {
    await answers(test.db, [item(1, 'a', { sourceId: 1 }), item(1, 'b', { sourceId: 1 })]);
    const { bucket, domain_key } = await rowOf(test.db, 'a');
    await test.pool.query(
      `SELECT source_hold(1, $1::smallint, $2, 'end', ARRAY['article']::url_kind[], 100)`,
      [bucket, domain_key],
    );
    expect(await rowOf(test.db, 'a')).toMatchObject({ status: 'dead', error_code: 'source_deleted' });
    const again = [item(1, 'a', { sourceId: 2 }), item(1, 'b', { sourceId: 2, own: false })];
    expect(await answers(test.db, again)).toEqual(['raised', 'raised']);
    for (const path of ['a', 'b'])
      expect(await rowOf(test.db, path)).toMatchObject({
        status: 'pending',
        ready: true,
        source_id: 2,
        error_code: null,
      });
    const wrong = await test.pool.query('SELECT * FROM counts_wrong()');
    expect(wrong.rows).toEqual([]);
  });

  it('a failed row may rise but its retry time never moves', async () => {
    await answers(test.db, [item(1, 'a', { priority: 3 })]);
    const [held] = await take(test.db);
    await finish(test.db, held!, {
      items: [
        done(held!.urls[0]!.hash, { status: 'failed', dueInMs: hourMs, tries: 1, errorCode: 'http_500' }),
      ],
    });
    const before = await rowOf(test.db, 'a');
    expect(await answers(test.db, [item(1, 'a', { priority: 9, modifiedAt: new Date() })])).toEqual([
      'raised',
    ]);
    expect(await rowOf(test.db, 'a')).toMatchObject({
      level: 9,
      status: 'failed',
      ready: false,
      due_at: before.due_at,
    });
  });

  it('a fetched row is re-queued by a newer date after the refetch age only; the future counts as now', async () => {
    await answers(test.db, [item(1, 'a')]);
    const [held] = await take(test.db);
    await finish(test.db, held!, { items: [done(held!.urls[0]!.hash)] });
    const newer = { modifiedAt: new Date(Date.now() + 100 * hourMs) };
    expect(await answers(test.db, [item(1, 'a', newer)], hourMs)).toEqual(['duplicate']);
    expect(await answers(test.db, [item(1, 'a')], 7 * hourMs)).toEqual(['duplicate']);
    expect(
      await answers(test.db, [item(1, 'a', { modifiedAt: new Date(Date.now() - hourMs) })], 7 * hourMs),
    ).toEqual(['duplicate']);
    expect(await answers(test.db, [item(1, 'a', { ...newer, own: false })], 7 * hourMs)).toEqual([
      'duplicate',
    ]);
    expect(await answers(test.db, [item(1, 'a', newer)], 7 * hourMs)).toEqual(['refreshed']);
    expect(await rowOf(test.db, 'a')).toMatchObject({ status: 'pending', ready: true });
  });

  it('foreign hosts: at most 50 new ones and 100 URLs of each per source and day', async () => {
    const foreign = (host: number, path: string) => item(`f${host}.test`, path, { own: false });
    const count = (list: string[], answer: string) => list.filter((one) => one === answer).length;
    const hosts = await answers(
      test.db,
      Array.from({ length: 60 }, (_, n) => foreign(n, 'a')),
    );
    expect([count(hosts, 'inserted'), count(hosts, 'rejected:foreign_hosts')]).toEqual([50, 10]);
    const urls = await answers(
      test.db,
      Array.from({ length: 120 }, (_, n) => foreign(3, `b${n}`)),
    );
    expect([count(urls, 'inserted'), count(urls, 'rejected:foreign_urls')]).toEqual([99, 21]);
    expect(await answers(test.db, [foreign(3, 'b1')])).toEqual(['duplicate']);
    expect(await answers(test.db, [{ ...foreign(70, 'x'), sourceId: 2 }])).toEqual(['inserted']);
    // A host that is known already is not new: only its URLs are counted. A redirect or a person may name any.
    expect(
      await answers(test.db, [
        foreign(70, 'y'),
        foreign(71, 'z'),
        { ...foreign(72, 'r'), origin: 'redirect' },
      ]),
    ).toEqual(['inserted', 'rejected:foreign_hosts', 'inserted']);
    expect(await answers(test.db, [foreign(73, 'tomorrow')], 24 * hourMs)).toEqual(['inserted']);
  });

  it.each([
    ['not_found', 'refreshed'],
    ['max_retries', 'refreshed'],
    ['gone', 'duplicate'],
    ['robots_blocked', 'duplicate'],
    ['removed', 'duplicate'],
    ['crash_loop', 'duplicate'],
  ])('dead: %s brought again with a newer date is %s', async (code, answer) => {
    await answers(test.db, [item(1, 'a')]);
    const [held] = await take(test.db);
    await finish(test.db, held!, { items: [done(held!.urls[0]!.hash, { status: 'dead', errorCode: code })] });
    expect(
      await answers(test.db, [item(1, 'a', { modifiedAt: new Date(Date.now() + 7 * hourMs) })], 8 * hourMs),
    ).toEqual([answer]);
  });
});

describe.each(['single', 'bucket'] as const)('lease and settle in %s mode', (mode) => {
  beforeAll(() => saveLeaseMode(test.pool, mode, 'test'));

  it('hands out the best level first, within a level the longest waiting domain', async () => {
    for (const [domain, priority] of [
      [1, 4],
      [2, 9],
      [3, 4],
      [4, 9],
    ] as const)
      await answers(test.db, [item(domain, `p${domain}`, { priority })]);
    const first = (await take(test.db, { slots: 3 })).map((one) => one.urls[0]!.url);
    const second = (await take(test.db, { slots: 3 })).map((one) => one.urls[0]!.url);
    if (mode === 'single') {
      expect([first, second]).toEqual([
        ['https://d2.test/p2', 'https://d4.test/p4', 'https://d1.test/p1'],
        ['https://d3.test/p3'],
      ]);
    } else {
      // Order is exact per bucket; across buckets the best level of each decides which comes first.
      expect(first.slice(0, 2).sort()).toEqual(['https://d2.test/p2', 'https://d4.test/p4']);
      expect([...first, ...second].length).toBe(4);
    }
  });

  it('within one bucket the order is exact in either mode', async () => {
    const bucket = domainIdentity('d0.test').bucket;
    const names = Array.from({ length: 4000 }, (_, n) => `x${n}.test`)
      .filter((name) => domainIdentity(name).bucket === bucket)
      .slice(0, 8);
    for (const [n, name] of names.entries())
      await answers(test.db, [item(name, `p${n}`, { priority: 1 + ((n * 7) % 4) })]);
    const order = (await take(test.db, { slots: 8 })).map((one) => Number(one.urls[0]!.url.split('/p')[1]));
    const expected = names.map((_, n) => n).sort((a, b) => ((b * 7) % 4) - ((a * 7) % 4) || a - b);
    expect(order).toEqual(expected);
  });

  it('an operator takes a domain away: the epoch grows, the gap stays, the worker is told', async () => {
    await answers(test.db, [item(1, 'a')]);
    const [held] = await take(test.db);
    expect(await releaseDomain(test.pool, domainIdentity('d1.test'))).toBe('w1');
    expect(await releaseDomain(test.pool, domainIdentity('d1.test'))).toBeNull();
    expect(
      (await renew(test.pool, [held!], { owner: 'w1', leaseMs: 60_000, defaultDelayMs: 1000 })).size,
    ).toBe(0);
    expect(await finish(test.db, held!, { items: [done(held!.urls[0]!.hash)] })).toMatchObject({
      outcome: 'stale',
      settled: 0,
    });
    expect(await take(test.db, { skewMs: 60_500 })).toEqual([]);
    expect((await take(test.db, { skewMs: 61_500 }))[0]!.epoch).toBe(held!.epoch + 2n);
  });

  it('a batch is of the top level only and no larger than 20 s of requests', async () => {
    await answers(test.db, [
      ...Array.from({ length: 30 }, (_, n) => item(1, `a${n}`, { priority: 6 })),
      item(1, 'low', { priority: 2 }),
    ]);
    const [slow] = await take(test.db, { defaultDelayMs: 2000 });
    expect(slow!.urls.length).toBe(10);
    expect(new Set(slow!.urls.map((url) => url.level))).toEqual(new Set([6]));
  });

  it('a settled URL is not handed out again, an unsettled one is', async () => {
    await answers(test.db, [item(1, 'a'), item(1, 'b')]);
    const [held] = await take(test.db);
    const [first, second] = held!.urls;
    expect(await finish(test.db, held!, { items: [done(first!.hash)] })).toMatchObject({
      outcome: 'settled',
      settled: 1,
    });
    expect(await take(test.db)).toEqual([]);
    const [again] = await take(test.db, { skewMs: 1001 });
    expect(again!.urls.map((url) => url.url)).toEqual([second!.url]);
    expect(again!.epoch).toBe(held!.epoch + 1n);
  });

  it('keeps the gap after the last answer, not after the settle', async () => {
    await answers(test.db, [item(1, 'a'), item(1, 'b')]);
    const [held] = await take(test.db);
    const now = performance.now();
    await finish(test.db, held!, {
      items: [done(held!.urls[0]!.hash)],
      monotonicMs: now,
      lastAnswerAt: now - 900,
    });
    const gap = await test.pool.query<{ ms: number }>(
      'SELECT extract(epoch FROM next_at - now())::float8 * 1000 AS ms FROM domain_slots',
    );
    expect(gap.rows[0]!.ms).toBeLessThanOrEqual(100);
  });

  it('a late worker changes nothing, but its requests are logged', async () => {
    await answers(test.db, [item(1, 'a')]);
    const [old] = await take(test.db);
    const [taken] = await take(test.db, { owner: 'w2', skewMs: 120_000 });
    expect(taken!.epoch).toBe(old!.epoch + 1n);
    const before = await rowOf(test.db, 'a');
    const request = {
      endedAt: 0,
      status: 200,
      kind: 'article',
      outcome: 'response',
      hash: null,
      url: 'https://d1.test/a',
      sourceId: null,
      executionId: null,
      waitMs: 0,
      headersMs: 1,
      totalMs: 1,
      bytes: 1,
    };
    const result = await finish(test.db, old!, { items: [done(old!.urls[0]!.hash)], requests: [request] });
    expect(result).toMatchObject({ outcome: 'stale', settled: 0 });
    expect(await rowOf(test.db, 'a')).toEqual(before);
    expect((await test.pool.query('SELECT outcome FROM crawl_log')).rows).toEqual([{ outcome: 'response' }]);
    expect(
      (await finish(test.db, taken!, { owner: 'w2', items: [done(taken!.urls[0]!.hash)] })).settled,
    ).toBe(1);
  });

  it('renewal keeps a lease alive and says which are lost', async () => {
    await answers(test.db, [item(1, 'a'), item(2, 'b')]);
    const held = await take(test.db);
    const options = { owner: 'w1', leaseMs: 60_000, defaultDelayMs: 1000 };
    expect((await renew(test.pool, held, { ...options, skewMs: 50_000 })).size).toBe(2);
    expect(await take(test.db, { owner: 'w2', skewMs: 90_000 })).toEqual([]);
    await take(test.db, { owner: 'w2', slots: 1, skewMs: 200_000 });
    expect((await renew(test.pool, held, { ...options, skewMs: 200_001 })).size).toBe(1);
  });

  it('parked rows come back when they are due, not before', async () => {
    await answers(test.db, [item(1, 'a')]);
    const [held] = await take(test.db);
    await finish(test.db, held!, {
      items: [
        done(held!.urls[0]!.hash, { status: 'failed', dueInMs: 60_000, tries: 1, errorCode: 'http_500' }),
      ],
    });
    expect(
      await new Leaser({ db: test.pool, monotonic: () => performance.now() }).promote({
        slots: 10,
        skewMs: 59_000,
      }),
    ).toBe(0);
    expect(
      await new Leaser({ db: test.pool, monotonic: () => performance.now() }).promote({
        slots: 10,
        skewMs: 60_500,
      }),
    ).toBe(1);
    expect((await take(test.db, { skewMs: 61_000 }))[0]!.urls[0]!.tries).toBe(1);
  });

  it('a URL that ends its worker three times alone is dead: crash_loop; its neighbours live', async () => {
    await answers(test.db, [item(1, 'bad', { priority: 7 }), item(1, 'good', { priority: 7 })]);
    let skewMs = 0;
    for (let run = 0; run < 12; run += 1) {
      const [held] = await take(test.db, { skewMs });
      if (held === undefined) break;
      const urls = held.urls.map((url) => url.url);
      if (!urls.includes('https://d1.test/bad'))
        await finish(test.db, held, { items: held.urls.map((url) => done(url.hash)), skewMs });
      skewMs += 200_000;
    }
    expect(await rowOf(test.db, 'bad')).toMatchObject({ status: 'dead', error_code: 'crash_loop' });
    expect(await rowOf(test.db, 'good')).toMatchObject({ status: 'fetched' });
  });

  it('a channel is never dead: it rests a day after a crash loop', async () => {
    await answers(test.db, [item(1, 'feed', { kind: 'channel' })]);
    for (let run = 0; run < 4; run += 1) await take(test.db, { skewMs: run * 200_000 });
    expect(await rowOf(test.db, 'feed')).toMatchObject({
      status: 'pending',
      ready: false,
      error_code: 'crash_loop',
    });
  });

  it('a slot whose rows were all settled before its worker died becomes idle', async () => {
    await answers(test.db, [item(1, 'a')]);
    const [held] = await take(test.db);
    await finish(test.db, held!, { final: false, items: [done(held!.urls[0]!.hash)] });
    expect(await take(test.db, { skewMs: 200_000 })).toEqual([]);
    const slot = await test.pool.query('SELECT top, queued, lease_owner FROM domain_slots');
    expect(slot.rows[0]).toEqual({ top: null, queued: 0, lease_owner: null });
  });

  it('the same text at another address of the domain is a duplicate without a document', async () => {
    await answers(test.db, [item(1, 'a'), item(1, 'b'), item(2, 'c')]);
    const document = (hash: Buffer, url: string) => ({
      hash,
      url,
      sourceId: 1,
      wordCount: 100,
      confidence: 1,
      publishedAt: null,
      modifiedAt: null,
      contentHash: Buffer.alloc(32, 7),
      pageType: 'article' as const,
      language: 'en',
      canonicalUrl: null,
      title: 'T',
      section: null,
      description: null,
      leadImage: null,
      authors: ['A\u0000B'],
      keywords: [],
      meta: { x: 'nul\u0000, quoted \\u0000, half \ud83d' },
      text: 'same text',
      raw: null,
    });
    for (const held of await take(test.db)) {
      await finish(test.db, held, {
        items: held.urls.map((url) => done(url.hash)),
        documents: held.urls.map((url) => document(url.hash, url.url)),
      });
    }
    const rows = await test.pool.query(
      'SELECT status, count(*)::int AS n FROM url_frontier GROUP BY 1 ORDER BY 1',
    );
    expect(rows.rows).toEqual([
      { status: 'fetched', n: 2 },
      { status: 'duplicate', n: 1 },
    ]);
    expect((await test.pool.query('SELECT count(*)::int AS n FROM documents')).rows[0]).toEqual({ n: 2 });
    expect((await test.pool.query('SELECT count(*)::int AS n FROM outbox')).rows[0]).toEqual({ n: 2 });
  });

  it('a redirect inside the domain settles both rows from one response', async () => {
    await answers(test.db, [item(1, 'old'), item(1, 'new')]);
    const [held] = await take(test.db);
    const [first, second] = held!.urls;
    const target = {
      url: second!.url,
      origin: 'redirect' as const,
      sourceId: 1,
      priority: 5,
      level: 5,
      depth: 0,
      hops: 0,
      parentUrl: null,
      executionId: null,
    };
    const result = await finish(test.db, held!, {
      items: [
        done(first!.hash, { status: 'redirected', redirectedTo: second!.url }),
        done(second!.hash, { target }),
      ],
    });
    expect(result.settled).toBe(2);
    expect(await rowOf(test.db, second!.url.split('/').at(-1)!)).toMatchObject({ status: 'fetched' });
  });
});
