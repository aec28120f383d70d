import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findSlotProblems, foldCounters, releaseDomain, submit } from '../../src/frontier/index.ts';
import { createSource, setSourceEnabled } from '../../src/sources/index.ts';
import { identifyUrl, parseUrlId, urlId } from '../../src/url/index.ts';
import { done, finish, item, rowOf, take } from '../frontier/fixtures.ts';
import { type ApiLab, startApiLab } from './lab.ts';

let lab: ApiLab;
let herald: number;
beforeAll(async () => {
  lab = await startApiLab();
  const { source } = await createSource(lab.database.pool, { url: 'https://herald.test/', name: 'Herald' });
  herald = source.id;
});
afterAll(async () => {
  // Whatever people did, slots and kept counts say what the rows say.
  expect(await findSlotProblems(lab.database.pool)).toEqual([]);
  await foldCounters(lab.database.pool);
  expect(await findSlotProblems(lab.database.pool)).toEqual([]);
  await lab.close();
});

const get = (path: string) => lab.ask('GET', `/api/v1${path}`);
const post = (path: string, body: unknown) => lab.ask('POST', `/api/v1${path}`, body);
function idOf(url: string): string {
  const identified = identifyUrl(url);
  if (identified.outcome === 'rejected') throw new Error(identified.reason);
  return urlId(identified.identity.domainKey, identified.identity.hash);
}
/** All pages of a list. */
async function all(path: string, limit = 7): Promise<string[]> {
  const urls: string[] = [];
  for (let cursor = ''; ; ) {
    const { status, body } = await get(`${path}${path.includes('?') ? '&' : '?'}limit=${limit}${cursor}`);
    expect(status, JSON.stringify(body)).toBe(200);
    urls.push(...body.items.map((one: { url: string }) => one.url));
    if (body.cursor === null) return urls;
    cursor = `&cursor=${body.cursor}`;
  }
}

/** Lets go of every lease, as if its worker had been told to. */
async function releaseAll(): Promise<void> {
  const left = await lab.database.pool.query<{ bucket: number; domain_key: bigint }>(
    'SELECT bucket, domain_key FROM domain_slots WHERE lease_owner IS NOT NULL',
  );
  for (const { bucket, domain_key } of left.rows)
    await releaseDomain(lab.database.pool, { bucket, domainKey: domain_key });
  await lab.database.pool.query('SELECT frontier_promote(5000)');
}

describe('submitting', () => {
  test("a URL goes to its domain's source, else to the source that is made for people's wishes", async () => {
    const own = await post('/frontier/submit', { url: 'https://www.herald.test/a', priority: 8 });
    expect(own.body).toMatchObject({ answer: 'inserted', id: idOf('https://www.herald.test/a') });
    const other = await post('/frontier/submit', { url: 'https://stray.test/b', kind: 'listing' });
    expect((await get(`/frontier/${own.body.id}`)).body).toMatchObject({
      sourceSlug: 'herald',
      priority: 8,
      origin: 'manual',
      domain: 'herald.test',
      inFlight: false,
    });
    expect((await get(`/frontier/${other.body.id}`)).body).toMatchObject({
      sourceSlug: 'manual',
      kind: 'listing',
      priority: 5,
    });
    expect((await post('/frontier/submit', { url: 'https://stray.test/b' })).body.answer).toBe('duplicate');
    expect((await post('/frontier/submit', { url: 'https://stray.test/c', source: 'nobody' })).status).toBe(
      404,
    );
  });

  test('many at once are answered one by one, and a dry run writes nothing', async () => {
    const urls = [
      'https://www.herald.test/a',
      { url: 'https://www.herald.test/a', priority: 10 },
      'https://herald.test/new-1',
      { url: 'https://herald.test/new-2', priority: 9, kind: 'listing' },
      'https://herald.test/new-1',
      'ftp://herald.test/',
      'nonsense\u0000\ud800',
      `https://herald.test/${'x'.repeat(3000)}`,
    ];
    const before = (await get('/frontier/stats')).body.urls;
    const dry = await post('/frontier/submit/bulk', { urls, dry_run: true });
    // The same URL twice counts once, as all of them together say.
    expect(dry.body.items.map((one: { answer: string }) => one.answer)).toEqual([
      'raised',
      'duplicate',
      'inserted',
      'inserted',
      'duplicate',
      'rejected:unsupported_scheme',
      'rejected:no_scheme',
      'rejected:too_long',
    ]);
    expect((await get('/frontier/stats')).body.urls).toEqual(before);
    const real = await post('/frontier/submit/bulk', { urls });
    expect(real.body).toMatchObject({ dryRun: false, items: dry.body.items });
    expect(real.body.counts).toMatchObject({ inserted: 2, raised: 1, duplicate: 2 });
    expect((await get('/frontier/stats')).body.urls.pending).toBe(before.pending + 2);
    const raised = { urls: [{ url: 'https://herald.test/new-1', priority: 10 }] };
    expect((await post('/frontier/submit/bulk', { ...raised, dry_run: true })).body.items[0].answer).toBe(
      'raised',
    );
    expect((await post('/frontier/submit/bulk', raised)).body.items[0].answer).toBe('raised');
    for (const wrong of [
      { urls: [] },
      { urls: ['https://a.test/'], more: 1 },
      { urls: [{ url: 'https://a.test/', priority: 11 }] },
      { urls: [{ url: 'https://a.test/', kind: 'channel' }] },
      { urls: Array.from({ length: 10_001 }, () => 'https://a.test/') },
    ])
      expect((await post('/frontier/submit/bulk', wrong)).status).toBe(400);
  });

  test('ten thousand new URLs in one call', async () => {
    const urls = Array.from({ length: 10_000 }, (_, n) => `https://bulk-${n % 700}.test/story/${n}`);
    const { body } = await post('/frontier/submit/bulk', { urls });
    expect(body.counts).toEqual({ inserted: 10_000 });
  });
});

describe('lists', () => {
  beforeAll(async () => {
    await submit(
      lab.database.pool,
      Array.from({ length: 40 }, (_, n) =>
        item(
          'list.test',
          `${n % 2 === 0 ? 'news' : 'sport'}/${n}`,
          n % 4 === 0 ? { origin: 'spider', priority: 3, sourceId: herald } : { priority: 6, sourceId: null },
        ),
      ),
    );
    await submit(lab.database.pool, [item('list.test', 'feed.xml', { kind: 'channel', sourceId: herald })]);
  });

  test('filters add up, whichever index serves them', async () => {
    expect(await all('/frontier?domain=www.list.test')).toHaveLength(40);
    expect(await all('/frontier?domain=list.test&kind=channel')).toEqual(['https://list.test/feed.xml']);
    expect(await all('/frontier?domain=list.test&origin=spider')).toHaveLength(10);
    expect(await all('/frontier?domain=list.test&origin=spider,feed&priority_min=5')).toHaveLength(30);
    expect(await all('/frontier?domain=list.test&source=herald')).toHaveLength(10);
    expect(await all('/frontier?domain=list.test&status=dead,failed')).toEqual([]);
    expect(await all('/frontier?prefix=https%3A%2F%2Flist.test%2Fnews%2F')).toHaveLength(20);
    expect(await all('/frontier?url=https%3A%2F%2Flist.test%2Fnews%2F2')).toEqual([
      'https://list.test/news/2',
    ]);
    expect(await all('/frontier?url=https%3A%2F%2Flist.test%2Ffeed.xml')).toEqual([
      'https://list.test/feed.xml',
    ]);
    expect(await all('/frontier?domain=list.test&older_than=1h')).toEqual([]);
    expect(await all('/frontier?domain=list.test&older_than=2999-01-01')).toHaveLength(40);
    expect(await all('/frontier?domain=list.test&reason=not_found')).toEqual([]);
  });

  test("a source's URLs come by time, newest first unless said", async () => {
    const newest = await all('/frontier?source=herald', 3);
    expect(newest.length).toBe((await get('/frontier/stats?source=herald')).body.urls.submitted);
    expect(new Set(newest).size).toBe(newest.length);
    expect(await all('/frontier?source=herald&sort=oldest', 4)).toEqual(newest.toReversed());
    for (const path of ['/frontier?sort=newest', '/frontier?source=herald&sort=key'])
      expect((await get(path)).body).toMatchObject({ status: 400, code: 'sort_unindexed' });
  });

  test('totals are exact by status and source, and at least so many elsewhere', async () => {
    const { urls } = (await get('/frontier/stats')).body;
    expect((await get('/frontier?limit=1&status=pending')).body.total).toEqual({
      count: urls.pending,
      exact: true,
    });
    expect((await get('/frontier?limit=1')).body.total).toEqual({ count: urls.submitted, exact: true });
    expect((await get('/frontier?limit=5&domain=list.test')).body.total).toEqual({ count: 6, exact: false });
    expect((await get('/frontier?limit=50&domain=list.test')).body.total).toEqual({ count: 40, exact: true });
  });

  test('what no index serves is read in portions with a cursor to go on', async () => {
    const seen = new Set(await all('/frontier?origin=spider', 100));
    expect(seen.size).toBe(10);
  });

  test('nonsense is refused, never a failure', async () => {
    const cursors = [
      'x',
      '%00',
      Buffer.from('[]').toString('base64url'),
      Buffer.from('[null,999,"1","00"]').toString('base64url'),
      Buffer.from(JSON.stringify([null, 1, '9223372036854775808', 'a'.repeat(64)])).toString('base64url'),
      Buffer.from(JSON.stringify(['1', 1, '1', 'a'.repeat(64)])).toString('base64url'),
    ];
    for (const cursor of cursors) expect((await get(`/frontier?cursor=${cursor}`)).status, cursor).toBe(400);
    for (const query of [
      'status=lost',
      'status=',
      'kind=page',
      'domain=%00',
      'domain=a%20b',
      'source=A',
      'source=nobody',
      'reason=%27',
      'older_than=soon',
      'older_than=9999-99-99',
      'url=nothing',
      'prefix=list.test',
      'domain=list.test&url=https%3A%2F%2Fother.test%2F',
      'limit=0',
      'limit=9007199254740993',
      'priority_min=0',
      'offset=1',
    ]) {
      const { status, body } = await get(`/frontier?${query}`);
      expect([400, 404], `${query}: ${JSON.stringify(body)}`).toContain(status);
    }
    expect((await get(`/frontier/${'0'.repeat(16)}-${'0'.repeat(64)}`)).body.code).toBe('url_unknown');
    expect((await get('/frontier/12')).status).toBe(400);
  });
});

describe('actions', () => {
  test('a removed URL stays known and no producer brings it back', async () => {
    const url = 'https://gone.test/a';
    const { id } = (await post('/frontier/submit', { url })).body;
    expect((await lab.ask('DELETE', `/api/v1/frontier/${id}`)).body).toEqual({ id, outcome: 'removed' });
    expect((await lab.ask('DELETE', `/api/v1/frontier/${id}`)).body).toEqual({ id, outcome: 'unchanged' });
    expect((await get(`/frontier/${id}`)).body).toMatchObject({
      status: 'dead',
      errorCode: 'removed',
      errorText: 'by token:test admin',
      dueAt: null,
      ready: false,
    });
    const again = await submit(lab.database.pool, [
      item('gone.test', 'a', { priority: 10, modifiedAt: new Date(Date.now() + 86_400_000), sourceId: null }),
    ]);
    expect(again[0]!.answer).toBe('duplicate');
    expect((await get(`/frontier/${id}`)).body.status).toBe('dead');
    expect((await post(`/frontier/${id}/retry`, undefined)).body.outcome).toBe('retried');
    expect((await get(`/frontier/${id}`)).body).toMatchObject({ status: 'pending', ready: true, tries: 0 });
  });

  test('a redirect that leads to a removed URL does not bring it back either', async () => {
    await submit(lab.database.pool, [
      item('turn.test', 'target'),
      item('turn.test', 'from', { priority: 9 }),
    ]);
    await lab.ask('DELETE', `/api/v1/frontier/${idOf('https://turn.test/target')}`);
    const held = (await take(lab.database.db, { slots: 2000, batch: 1 })).find((one) =>
      one.urls.some((url) => url.url === 'https://turn.test/from'),
    )!;
    const target = identifyUrl('https://turn.test/target');
    if (target.outcome !== 'ok') throw new Error('no');
    await finish(lab.database.db, held, {
      items: [
        done(held.urls[0]!.hash, { status: 'redirected', redirectedTo: 'https://turn.test/target' }),
        done(target.identity.hash, {
          target: {
            url: 'https://turn.test/target',
            origin: 'redirect',
            sourceId: null,
            priority: 5,
            level: 5,
            depth: 0,
            hops: 1,
            parentUrl: 'https://turn.test/from',
            executionId: null,
          },
        }),
      ],
    });
    expect(await rowOf(lab.database.db, 'target')).toMatchObject({ status: 'dead', error_code: 'removed' });
    expect(await rowOf(lab.database.db, 'from')).toMatchObject({ status: 'redirected' });
    await releaseAll();
  });

  test('a lease stays whole whatever is done to its URLs', async () => {
    await submit(
      lab.database.pool,
      ['a', 'b', 'c'].map((path) =>
        item('flight.test', path, { origin: 'spider', sourceId: null, priority: 10 }),
      ),
    );
    const held = (await take(lab.database.db, { slots: 2000, batch: 3, budget: 100 })).find(
      (one) => one.urls[0]?.url.startsWith('https://flight.test/') === true,
    )!;
    expect(held.urls).toHaveLength(3);
    const [a, b, c] = held.urls.map((one) => ({ id: urlId(held.domainKey, one.hash), hash: one.hash }));
    expect((await get(`/frontier/${a!.id}`)).body.inFlight).toBe(true);
    expect((await post(`/frontier/${a!.id}/retry`, undefined)).body).toMatchObject({
      status: 409,
      code: 'url_refused',
    });
    expect((await lab.ask('DELETE', `/api/v1/frontier/${b!.id}`)).body.outcome).toBe('removed');
    expect((await lab.ask('PATCH', `/api/v1/frontier/${c!.id}`, { priority: 2 })).body.outcome).toBe(
      'changed',
    );
    expect(await findSlotProblems(lab.database.pool)).toEqual([]);
    // Its worker knows nothing of that and settles all three.
    const settled = await finish(lab.database.db, held, {
      items: held.urls.map((one) => done(one.hash)),
    });
    expect(settled).toMatchObject({ outcome: 'settled', settled: 2 });
    expect((await get(`/frontier/${a!.id}`)).body.status).toBe('fetched');
    expect((await get(`/frontier/${b!.id}`)).body).toMatchObject({ status: 'dead', errorCode: 'removed' });
    expect((await get(`/frontier/${c!.id}`)).body).toMatchObject({
      status: 'fetched',
      priority: 2,
      level: 2,
    });
    const slot = await lab.database.pool.query(
      'SELECT budget_left FROM domain_slots WHERE bucket = $1 AND domain_key = $2',
      [held.bucket, held.domainKey.toString()],
    );
    // Of three that were reserved, the removed one was given back and two were used.
    expect(slot.rows[0]!.budget_left).toBe(98);
    await releaseAll();
  });

  test('what cannot be done is said', async () => {
    await submit(lab.database.pool, [item('say.test', 'feed', { kind: 'channel', sourceId: herald })]);
    const { items } = (await get('/frontier?domain=say.test&kind=channel')).body;
    const path = `/api/v1/frontier/${items[0].id}`;
    expect((await lab.ask('DELETE', path)).body.detail).toBe('it is the poll of a channel');
    expect((await lab.ask('PATCH', path, { priority: 3 })).status).toBe(409);
    expect((await lab.ask('PATCH', path, { priority: 0 })).status).toBe(400);
    const held = (await post('/frontier/submit', { url: 'https://say.test/held', source: 'herald' })).body;
    await setSourceEnabled(lab.database.pool, 'herald', false, { actor: 'test' });
    expect((await post(`/frontier/${held.id}/retry`, undefined)).body.detail).toBe('its source is disabled');
    await setSourceEnabled(lab.database.pool, 'herald', true, { actor: 'test' });
    await lab.database.pool.query('SELECT frontier_promote(5000)');
    const nobody = `${'0'.repeat(16)}-${'0'.repeat(64)}`;
    expect((await lab.ask('DELETE', `/api/v1/frontier/${nobody}`)).status).toBe(404);
  });

  test('many at once, by a filter, in portions, and written down', async () => {
    const outcomes: Record<string, number> = {};
    let cursor: string | null = null;
    let calls = 0;
    do {
      const { status, body } = await post('/frontier/actions', {
        action: 'remove',
        filter: { domain: 'list.test', origin: 'spider' },
        limit: 4,
        ...(cursor === null ? {} : { cursor }),
      });
      expect(status).toBe(200);
      for (const [name, count] of Object.entries(body.outcomes as Record<string, number>))
        outcomes[name] = (outcomes[name] ?? 0) + count;
      cursor = body.cursor;
      calls += 1;
    } while (cursor !== null);
    expect(outcomes).toEqual({ removed: 10 });
    expect(calls).toBe(3);
    const filter = { domain: 'list.test', reason: 'removed' };
    expect((await post('/frontier/actions', { action: 'retry', filter })).body.outcomes).toEqual({
      retried: 10,
    });
    expect(
      (
        await post('/frontier/actions', {
          action: 'set_priority',
          priority: 1,
          filter: { domain: 'list.test' },
        })
      ).body,
    ).toEqual({ matched: 40, outcomes: { changed: 40 }, cursor: null });
    const ids = ['https://list.test/news/2', 'https://list.test/sport/3', 'https://list.test/nothing'].map(
      idOf,
    );
    expect((await post('/frontier/actions', { action: 'set_priority', priority: 9, ids })).body).toEqual({
      matched: 2,
      outcomes: { changed: 2, unknown: 1 },
      cursor: null,
    });
    expect((await get(`/frontier/${ids[0]}`)).body).toMatchObject({ priority: 9, hasDocument: false });
    expect((await get('/frontier?domain=list.test&priority_min=9')).body.items).toHaveLength(2);
    for (const wrong of [
      { action: 'remove' },
      { action: 'remove', ids: [] },
      { action: 'remove', ids, filter: {} },
      { action: 'remove', ids, cursor: 'x' },
      { action: 'remove', ids: ['x'] },
      { action: 'remove', filter: {}, priority: 3 },
      { action: 'set_priority', filter: {} },
      { action: 'explode', filter: {} },
      { action: 'remove', filter: { host: 'x' } },
    ])
      expect((await post('/frontier/actions', wrong)).status).toBe(400);
    const audit = await lab.database.pool.query<{ action: string; actor: string; n: number }>(
      `SELECT action, actor, count(*)::integer AS n FROM audit WHERE action LIKE 'url%' GROUP BY 1, 2 ORDER BY 1`,
    );
    expect(audit.rows).toEqual([
      { action: 'url_remove', actor: 'token:test admin', n: 3 },
      { action: 'url_retry', actor: 'token:test admin', n: 1 },
      { action: 'url_set_priority', actor: 'token:test admin', n: 1 },
      { action: 'urls_remove', actor: 'token:test admin', n: 3 },
      { action: 'urls_retry', actor: 'token:test admin', n: 1 },
      { action: 'urls_set_priority', actor: 'token:test admin', n: 2 },
    ]);
  });
});

test('requests for a URL are told from the log, newest first, a page at a time', async () => {
  const url = 'https://list.test/news/4';
  const id = idOf(url);
  const { bucket, domainKey, hash } = parseUrlId(id)!;
  const log = (at: string, status: number | null, outcome: string, of: Buffer | null) =>
    lab.database.pool.query(
      `INSERT INTO crawl_log (at, bucket, domain_key, epoch, status, kind, outcome, url_hash, url, total_ms, bytes, worker)
       VALUES (now() - $1::interval, $2, $3, 1, $4, 'article', $5, $6, $7, 120, 4096, 'w1')`,
      [at, bucket, domainKey.toString(), status, outcome, of, url],
    );
  await log('3 hours', 503, 'server_error', hash);
  await log('2 hours', 200, 'fetched', Buffer.alloc(32));
  await log('1 hour', null, 'timeout', hash);
  await log('30 minutes', 200, 'robots', null);
  const first = (await get(`/frontier/${id}/attempts?limit=1`)).body;
  expect(first.items).toMatchObject([{ status: null, outcome: 'timeout', totalMs: 120, worker: 'w1' }]);
  const second = (await get(`/frontier/${id}/attempts?cursor=${first.cursor}`)).body;
  expect(second).toMatchObject({ items: [{ status: 503, outcome: 'server_error' }], cursor: null });
  expect((await get(`/frontier/${id}/attempts?cursor=abc`)).body.code).toBe('cursor_invalid');
  expect((await get(`/frontier/${'0'.repeat(16)}-${'0'.repeat(64)}/attempts`)).body.items).toEqual([]);
});

test('stats tell each source apart, before and after folding', async () => {
  const before = (await get('/frontier/stats')).body;
  await foldCounters(lab.database.pool);
  const after = (await get('/frontier/stats')).body;
  expect(after).toEqual(before);
  const truth = await lab.database.pool.query<{ n: number }>(
    `SELECT count(*)::integer AS n FROM url_frontier WHERE kind NOT IN ('channel', 'probe')`,
  );
  expect(after.urls.submitted).toBe(truth.rows[0]!.n);
  expect(after.sources.map((one: { slug: string | null }) => one.slug).sort()).toContain('herald');
  expect(after.totals.inserted).toBe(after.urls.submitted + after.urls.channels);
  expect((await get('/frontier/stats?limit=1')).body.sources).toHaveLength(1);
});
