import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Queryable } from '../../src/db/index.ts';
import {
  actOnUrl,
  findSlotProblems,
  identifyKnown,
  loadAttempts,
  loadHostRules,
  rekeyDomains,
  saveHostRules,
  submit,
  submitByHand,
} from '../../src/frontier/index.ts';
import { sightSubmitted } from '../../src/images/index.ts';
import { domainIdentity, type HostRules, identifyUrl, urlId } from '../../src/url/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { answers, done, finish, item, take } from './fixtures.ts';

const key = domainIdentity('d1.test');
let test: TestDatabase;

beforeAll(async () => {
  test = await createTestDatabase();
});
beforeEach(() => loadHostRules(test.pool));
afterEach(async () => {
  expect(await findSlotProblems(test.pool)).toEqual([]);
  await test.pool.query(
    `TRUNCATE url_frontier, domain_slots, domains, domain_rekeys, documents, outbox, crawl_log, counter_deltas,
      url_sightings, foreign_hosts, image_sightings, archive_tries`,
  );
  // Another test has other domains of the same names.
  await saveHostRules(test.pool, key, {});
});
afterAll(() => test.drop());

const hashOf = (url: string, rules: HostRules = {}): Buffer => {
  const identified = identifyUrl(url, { rules: () => rules });
  if (identified.outcome === 'rejected') throw new Error(`${url}: ${identified.reason}`);
  return identified.identity.hash;
};

/** Rows of the domain as they are told apart: address, and whether its key is what the rules make of it. */
async function rows(rules: HostRules): Promise<Record<string, { isKeyed: boolean; row: Row }>> {
  const result = await test.pool.query<Row>('SELECT * FROM url_frontier WHERE domain_key = $1', [
    key.domainKey.toString(),
  ]);
  return Object.fromEntries(
    result.rows.map((row) => [
      row.url.replace('https://d1.test/', ''),
      { isKeyed: row.url_hash.equals(hashOf(row.url, rules)), row },
    ]),
  );
}
type Row = {
  url: string;
  url_hash: Buffer;
  status: string;
  priority: number;
  level: number;
  due_at: Date;
  ready: boolean;
};

const minuteMs = 60_000;

/** Goes on until nothing is left, a minute at a time as the scheduler would in days of its own. */
async function rekeyAll(
  db: Queryable = test.pool,
  rowsAtOnce = 1000,
): Promise<{ moved: number; merged: number }> {
  const all = { moved: 0, merged: 0 };
  // Turns go by in no time where another does the work.
  for (let minutes = 0; minutes < 1000; minutes += 1) {
    for (;;) {
      const report = await rekeyDomains(db, { skewMs: minutes * minuteMs, rowsAtOnce });
      all.moved += report.moved;
      all.merged += report.merged;
      if (report.portions === 0) break;
    }
    if ((await test.pool.query('SELECT FROM domain_rekeys')).rowCount === 0) return all;
  }
  throw new Error('re-keying does not end');
}

describe('keys by the rules of a domain', () => {
  it('are given where URLs are submitted, previewed and looked up, and in no other domain', async () => {
    const rules = { keepParameters: ['ref'], keepTrailingSlash: true };
    await answers(test.db, [item(1, 'seen')]);
    expect(await saveHostRules(test.pool, key, rules)).toBe(true);
    expect(await saveHostRules(test.pool, key, rules)).toBe(false);
    const batch = [
      item(1, 'a?ref=1'),
      item(1, 'a?ref=2'),
      item(1, 'b'),
      item(1, 'b/'),
      item(2, 'a?ref=1'),
      item(2, 'a'),
    ];
    const expected = ['inserted', 'inserted', 'inserted', 'inserted', 'inserted', 'duplicate'];
    const asked = await submitByHand(
      test.pool,
      batch.map(({ url }) => ({ url })),
      { dryRun: true, source: { id: 1, priority: 5 } },
    );
    expect(asked.map(({ answer }) => answer)).toEqual(expected);
    expect(await answers(test.db, batch)).toEqual(expected);
    expect(await identifyKnown(test.pool, 'http://d1.test/b/')).toMatchObject({
      identity: { key: 'https://d1.test/b/', hash: hashOf('https://d1.test/b/', rules) },
    });
  });

  it('are read once for many calls, and again when they change or cannot be read', async () => {
    let asked = 0;
    const fails = { now: false };
    const counting = {
      query: (text: string, values?: unknown[]) => {
        if (text.includes('host_rules_all()')) asked += 1;
        if (fails.now) return Promise.reject(new Error('away'));
        return test.pool.query(text, values);
      },
    } as Queryable;
    for (const path of ['a', 'b', 'c']) await submit(counting, [item(1, path)]);
    expect(asked).toBe(1);
    await saveHostRules(counting, key, { keepParameters: ['ref'] });
    fails.now = true;
    await expect(submit(counting, [item(1, 'd')])).rejects.toThrow('away');
    fails.now = false;
    const [result] = await submit(counting, [item(1, 'd?ref=1')]);
    expect(result!.hash).toEqual(hashOf('https://d1.test/d?ref=1', { keepParameters: ['ref'] }));
    expect(asked).toBe(3);
  });
});

describe('a change of rules', () => {
  it('gives what waits its new key and leaves what was fetched, however it is looked for', async () => {
    await answers(test.db, [item(1, 'old/')]);
    const [held] = await take(test.db);
    await finish(test.db, held!, { items: [done(held!.urls[0]!.hash)] });
    await answers(test.db, [item(1, 'new/'), item(1, 'other')]);
    const rules = { keepTrailingSlash: true };
    await saveHostRules(test.pool, key, rules);
    expect(await rekeyAll()).toEqual({ moved: 1, merged: 0 });
    const after = await rows(rules);
    expect(after['new/']!.isKeyed).toBe(true);
    expect(after.other!.isKeyed).toBe(true);
    expect(after['old/']!.isKeyed).toBe(false);
    expect(await answers(test.db, [item(1, 'new/'), item(1, 'new')])).toEqual(['duplicate', 'inserted']);
    // It is known by the key it had, and found by its address.
    expect(await identifyKnown(test.pool, 'https://d1.test/old/')).toMatchObject({
      identity: { hash: held!.urls[0]!.hash },
    });
    expect(await identifyKnown(test.pool, 'https://d1.test/old')).toMatchObject({
      identity: { hash: hashOf('https://d1.test/old') },
    });
    // Back again: nothing refers to the rules that were.
    await saveHostRules(test.pool, key, {});
    expect(await rekeyAll()).toEqual({ moved: 0, merged: 1 });
    expect(Object.keys(await rows({})).sort()).toEqual(['new', 'old/', 'other']);
  });

  it('makes one row of two that are one page now, and loses nothing of either', async () => {
    const soon = new Date(Date.now() + minuteMs);
    const late = new Date(Date.now() + 60 * minuteMs);
    await answers(test.db, [
      item(1, 'a', { sourceId: 1, parentUrl: 'https://d1.test/feed', priority: 3, dueAt: late }),
      item(1, 'a?sid=1', { sourceId: 2, parentUrl: 'https://d2.test/feed', priority: 8, dueAt: soon }),
      item(1, 'b?sid=1', { origin: 'spider', priority: 4 }),
      item(1, 'b?sid=2', { priority: 6, dueAt: late }),
      item(1, 'b?sid=3', { priority: 5, sourceId: 2, parentUrl: 'https://d2.test/feed' }),
    ]);
    const rules = { stripParameters: ['sid'] };
    await saveHostRules(test.pool, key, rules);
    expect(await rekeyAll()).toEqual({ moved: 1, merged: 3 });
    const found = Object.values(await rows(rules));
    expect(found).toHaveLength(2);
    expect(found.every(({ isKeyed }) => isKeyed)).toBe(true);
    const [a, b] = ['a', 'b'].map(
      (path) => found.find(({ row }) => row.url_hash.equals(hashOf(`https://d1.test/${path}`)))!.row,
    );
    expect(a).toMatchObject({ priority: 8, due_at: soon, ready: false });
    expect(b).toMatchObject({ priority: 6, level: 6, ready: true });
    const tellers = await test.pool.query<{ source_id: number; parent_url: string; parent_hash: Buffer }>(
      'SELECT source_id, parent_url, parent_hash FROM url_sightings WHERE url_hash = $1',
      [hashOf('https://d1.test/a')],
    );
    expect(tellers.rows).toEqual([
      {
        source_id: 2,
        parent_url: 'https://d2.test/feed',
        parent_hash: createHash('sha256').update('https://d2.test/feed').digest(),
      },
    ]);
    const known = await test.pool.query<{ pages: number }>(
      'SELECT pages_known::integer AS pages FROM domains WHERE domain_key = $1',
      [key.domainKey.toString()],
    );
    expect(known.rows[0]!.pages).toBe(2);
    expect(
      (
        await test.pool.query('SELECT slot_repair($1::smallint, $2) AS wrong', [
          key.bucket,
          key.domainKey.toString(),
        ])
      ).rows,
    ).toEqual([{ wrong: [] }]);
  });

  it('lets go of what waits where the page was fetched, and of what was given up where it waits', async () => {
    await answers(test.db, [item(1, 'a'), item(1, 'gone'), item(1, 'removed')]);
    const [held] = await take(test.db);
    const byPath = (path: string) => held!.urls.find(({ url }) => url.endsWith(path))!.hash;
    await finish(test.db, held!, {
      items: [
        done(byPath('/a')),
        done(byPath('/gone'), { status: 'dead', errorCode: 'not_found', httpStatus: 404 }),
      ],
    });
    await actOnUrl(test.pool, { ...key, hash: byPath('/removed') }, { action: 'remove', actor: 'test' });
    await answers(test.db, [item(1, 'a?sid=1'), item(1, 'gone?sid=1'), item(1, 'removed?sid=1')]);
    const rules = { stripParameters: ['sid'] };
    await saveHostRules(test.pool, key, rules);
    expect(await rekeyAll()).toEqual({ moved: 1, merged: 2 });
    const after = await rows(rules);
    expect(Object.fromEntries(Object.entries(after).map(([path, { row }]) => [path, row.status]))).toEqual({
      a: 'fetched',
      'gone?sid=1': 'pending',
      removed: 'dead',
    });
  });

  it('waits for a place that is being left', async () => {
    const before = { keepParameters: ['ref'] };
    await answers(test.db, [item(1, 'seen')]);
    await saveHostRules(test.pool, key, before);
    await rekeyAll();
    await answers(test.db, [item(1, 'p?ref=1'), item(1, 'p?utm_source=x')]);
    const rules = { keepParameters: ['utm_source'] };
    await saveHostRules(test.pool, key, rules);
    expect(await rekeyAll(test.pool, 1)).toEqual({ moved: 2, merged: 0 });
    const after = await rows(rules);
    expect(after['p?ref=1']!.row.url_hash).toEqual(hashOf('https://d1.test/p'));
    expect(after['p?utm_source=x']!.isKeyed).toBe(true);
  });

  it('leaves alone what never had the key of its address', async () => {
    await answers(test.db, [item(1, '', { kind: 'listing', origin: 'spider' })]);
    // A front page that answers under another name keeps the key it was submitted by.
    await test.pool.query(`UPDATE url_frontier SET url = 'https://www.d1.test/?sid=1'`);
    await saveHostRules(test.pool, key, { stripParameters: ['sid'] });
    expect(await rekeyAll()).toEqual({ moved: 0, merged: 0 });
  });
});

describe('re-keying beside others', () => {
  const rules = { stripParameters: ['sid'] };

  it('leaves what a worker holds to a later pass, and its settle as it was', async () => {
    await answers(test.db, [item(1, 'a?sid=1', { priority: 9 }), item(1, 'b?sid=1', { priority: 2 })]);
    const [held] = await take(test.db, { batch: 1 });
    expect(held!.urls.map(({ url }) => url)).toEqual(['https://d1.test/a?sid=1']);
    await saveHostRules(test.pool, key, rules);
    expect(await rekeyDomains(test.pool)).toEqual({ portions: 1, moved: 1, merged: 0 });
    expect((await rows(rules))['a?sid=1']!.isKeyed).toBe(false);
    expect(
      await finish(test.db, held!, {
        items: [
          done(held!.urls[0]!.hash, {
            status: 'failed',
            dueInMs: 1000,
            tries: 1,
            errorCode: 'timeout',
            fetched: false,
          }),
        ],
        requests: [request(held!.urls[0]!)],
      }),
    ).toMatchObject({ outcome: 'settled', settled: 1 });
    expect(await rekeyAll()).toEqual({ moved: 1, merged: 0 });
    const after = await rows(rules);
    expect(after['a?sid=1']).toMatchObject({ isKeyed: true, row: { status: 'failed' } });
    // What was asked of it is still told.
    const { attempts } = await loadAttempts(
      test.pool,
      { ...key, hash: after['a?sid=1']!.row.url_hash },
      { limit: 5 },
    );
    expect(attempts).toMatchObject([{ url: 'https://d1.test/a?sid=1', status: 503 }]);
  });

  it('catches what was submitted by the old rules after the change', async () => {
    const slow = { query: test.pool.query.bind(test.pool) } as Queryable;
    await submit(slow, [item(1, 'a?sid=1')]);
    await saveHostRules(test.pool, key, rules);
    expect(await rekeyDomains(test.pool)).toEqual({ portions: 1, moved: 1, merged: 0 });
    await submit(slow, [item(1, 'b?sid=1')]);
    expect((await rows(rules))['b?sid=1']!.isKeyed).toBe(false);
    expect(await rekeyAll()).toEqual({ moved: 1, merged: 0 });
    expect((await rows(rules))['b?sid=1']!.isKeyed).toBe(true);
  });

  it('goes on where a dead one stopped, and each portion is done by one of several', async () => {
    const paths = Array.from({ length: 40 }, (_, n) => item(1, `${n}?sid=1`));
    await answers(test.db, paths);
    await saveHostRules(test.pool, key, rules);
    // The connection breaks when the portion is done: nobody hears of it.
    let portions = 0;
    const breaking = {
      query: async (text: string, values?: unknown[]) => {
        const result = await test.pool.query(text, values);
        if (text.includes('frontier_rekey(')) {
          portions += 1;
          throw new Error('connection lost');
        }
        return result;
      },
    } as Queryable;
    await expect(rekeyDomains(breaking, { rowsAtOnce: 7 })).rejects.toThrow('connection lost');
    expect(portions).toBe(1);
    const keyed = Object.values(await rows(rules)).filter(({ isKeyed }) => isKeyed);
    expect(keyed.length).toBe(7);
    const all = await Promise.all([1, 2, 3].map(() => rekeyAll(test.pool, 7)));
    // A row that moves beyond where the pass stands is looked at again and stays.
    expect(all.reduce((sum, { moved }) => sum + moved, 0)).toBe(33);
    expect(Object.values(await rows(rules)).every(({ isKeyed }) => isKeyed)).toBe(true);
  });

  it('begins anew when the rules change in the middle', async () => {
    await answers(
      test.db,
      Array.from({ length: 20 }, (_, n) => item(1, `${n}/?sid=1`)),
    );
    await saveHostRules(test.pool, key, rules);
    await rekeyDomains(test.pool, { rowsAtOnce: 5 });
    await saveHostRules(test.pool, key, { keepTrailingSlash: true });
    await rekeyAll(test.pool, 5);
    expect(Object.values(await rows({ keepTrailingSlash: true })).every(({ isKeyed }) => isKeyed)).toBe(true);
    expect(Object.keys(await rows({}))).toHaveLength(20);
  });

  it('moves what refers to a row with it', async () => {
    const images = ['i.png?sid=1', 'i.png?sid=2', 'j.png?sid=1'].map((path) =>
      item(1, path, { kind: 'image', origin: 'spider', parentUrl: `https://d2.test/${path.slice(-1)}` }),
    );
    await answers(test.db, [...images, item(1, 'archive?sid=1', { kind: 'listing', origin: 'archive' })]);
    await sightSubmitted(test.pool, images, null);
    await test.pool.query(
      `INSERT INTO archive_tries (bucket, domain_key, url_hash, url, kind, found_by, state, asked_at)
       VALUES ($1, $2, $3, 'https://d1.test/archive?sid=1', 'page', 'path', 'asked', now())`,
      [key.bucket, key.domainKey.toString(), hashOf('https://d1.test/archive?sid=1')],
    );
    await saveHostRules(test.pool, key, rules);
    expect(await rekeyAll()).toEqual({ moved: 3, merged: 1 });
    const sighted = await test.pool.query<{ id: string; pages: number }>(
      `SELECT encode(url_hash, 'hex') AS id, count(*)::integer AS pages FROM image_sightings GROUP BY 1`,
    );
    expect(new Map(sighted.rows.map(({ id, pages }) => [id, pages]))).toEqual(
      new Map([
        [hashOf('https://d1.test/i.png').toString('hex'), 2],
        [hashOf('https://d1.test/j.png').toString('hex'), 1],
      ]),
    );
    const tries = await test.pool.query<{ url_hash: Buffer }>('SELECT url_hash FROM archive_tries');
    expect(tries.rows).toEqual([{ url_hash: hashOf('https://d1.test/archive') }]);
    expect(urlId(key.domainKey, tries.rows[0]!.url_hash)).toMatch(/^[0-9a-f]{16}-/);
  });
});

function request(row: { hash: Buffer; url: string }) {
  return {
    endedAt: performance.now(),
    status: 503,
    kind: 'article' as const,
    outcome: 'response',
    hash: row.hash,
    url: row.url,
    sourceId: 1,
    executionId: null,
    waitMs: 0,
    headersMs: 1,
    totalMs: 1,
    bytes: 0,
  };
}
