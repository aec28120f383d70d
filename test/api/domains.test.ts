import { afterAll, beforeAll, expect, test } from 'vitest';
import { saveRobots } from '../../src/domains/index.ts';
import { findSlotProblems, foldCounters, submit } from '../../src/frontier/index.ts';
import { parseRobots } from '../../src/robots/index.ts';
import { domainIdentity } from '../../src/url/index.ts';
import { finish, item, take } from '../frontier/fixtures.ts';
import { type ApiLab, startApiLab } from './lab.ts';

let lab: ApiLab;
beforeAll(async () => {
  lab = await startApiLab();
  await submit(
    lab.database.pool,
    Array.from({ length: 30 }, (_, n) => item(`${'abc'[n % 3]}${n}.test`, 'story', { sourceId: null })),
  );
});
afterAll(async () => {
  expect(await findSlotProblems(lab.database.pool)).toEqual([]);
  await lab.close();
});

const get = (path: string) => lab.ask('GET', `/api/v1${path}`);
const post = (path: string, body?: unknown) => lab.ask('POST', `/api/v1${path}`, body);

test('are listed by name, status and the beginning of their name', async () => {
  const names: string[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await get(`/domains?limit=4&q=A${cursor}`);
    names.push(...body.items.map((one: { name: string }) => one.name));
    expect(body.counts.pending).toEqual({ count: 10, exact: true });
    if (body.cursor === null) break;
    cursor = `&cursor=${body.cursor}`;
  }
  expect(names).toHaveLength(10);
  expect(names).toEqual([...names].sort());
  expect(
    (await get('/domains?q=b1&status=pending')).body.items.map((one: { name: string }) => one.name),
  ).toEqual(['b1.test', 'b10.test', 'b13.test', 'b16.test', 'b19.test']);
  expect((await get('/domains?q=b1&status=blocked')).body.items).toEqual([]);
  expect((await get('/domains')).body.counts).toMatchObject({
    pending: { count: 30, exact: true },
    blocked: { count: 0, exact: true },
  });
  expect((await get('/domains/top')).body.items).toEqual([]);
  for (const query of [
    'q=%00',
    'q=',
    'status=lost',
    'sort=age',
    'limit=0',
    'cursor=x',
    `cursor=${Buffer.from('["a\\u0000","1"]').toString('base64url')}`,
    `cursor=${Buffer.from('["a","9999999999999999999"]').toString('base64url')}`,
    `sort=recent&cursor=${Buffer.from('["yesterday-ish","1"]').toString('base64url')}`,
    'page=2',
  ])
    expect((await get(`/domains?${query}`)).status, query).toBe(400);
});

test('those with an open circuit are listed with when and why it opened', async () => {
  const { pool } = lab.database;
  const { bucket, domainKey } = domainIdentity('c2.test');
  const set = (good: number | null) =>
    pool.query(
      `UPDATE domain_slots SET circuit_good = $3, circuit_opens = ARRAY[now() - interval '1 hour', now()],
              circuit_reasons = ARRAY['forbidden', 'rate_limited'] WHERE bucket = $1 AND domain_key = $2`,
      [bucket, domainKey.toString(), good],
    );
  expect((await get('/domains?circuit=open')).body.items).toEqual([]);
  await set(0);
  const { body } = await get('/domains?circuit=open');
  expect(body.items).toMatchObject([
    {
      name: 'c2.test',
      circuitOpen: true,
      circuitReason: 'rate_limited',
      circuitAt: expect.any(String),
      leaseOwner: null,
    },
  ]);
  expect(body.openCircuits).toEqual({ count: 1, exact: true });
  for (const query of ['status=pending&sort=recent', 'q=c2', 'sort=documents&limit=1'])
    expect((await get(`/domains?circuit=open&${query}`)).body.items, query).toHaveLength(1);
  expect((await get('/domains?circuit=open&q=a')).body.items).toEqual([]);
  expect((await get('/domains?circuit=closed')).status).toBe(400);
  expect((await get('/domains/c2.test')).body).toMatchObject({
    circuitOpen: true,
    circuit: { isOpen: true },
  });
  await set(null);
  expect((await get('/domains?q=c2')).body.items[0]).toMatchObject({
    circuitOpen: false,
    circuitReason: null,
    circuitAt: null,
  });
  await pool.query(
    'UPDATE domain_slots SET circuit_opens = NULL, circuit_reasons = NULL WHERE domain_key = $1',
    [domainKey.toString()],
  );
});

test('one is blocked, reset and taken from its worker, each with who did it', async () => {
  expect((await get('/domains/www.a0.test')).body).toMatchObject({ name: 'a0.test', status: 'pending' });
  expect((await post('/domains/a0.test/block', { reason: 'nothing but spam' })).body).toEqual({
    domain: 'a0.test',
    blocked: true,
  });
  expect((await get('/domains/a0.test')).body).toMatchObject({
    status: 'blocked',
    reason: 'nothing but spam',
    isPermanent: true,
  });
  expect((await post('/domains/a0.test/reset', { reason: 'they mended it', all: true })).body).toMatchObject({
    domain: 'a0.test',
  });
  const { body } = await get('/domains/a0.test/events?limit=1');
  expect(body.items).toMatchObject([
    { from: 'blocked', to: 'pending', reason: 'they mended it', actor: 'token:test admin' },
  ]);
  const rest = await get(`/domains/a0.test/events?cursor=${body.cursor}`);
  expect(rest.body).toMatchObject({ items: [{ to: 'blocked', reason: 'nothing but spam' }], cursor: null });
  expect((await get('/domains/a0.test/events?cursor=abc')).body.code).toBe('cursor_invalid');

  expect((await post('/domains/a0.test/release')).body).toEqual({
    domain: 'a0.test',
    released: false,
    owner: null,
  });
  await take(lab.database.db, { slots: 100, batch: 1 });
  expect((await get('/domains/leases')).body.workers).toMatchObject([
    { owner: 'w1', leases: 30, expired: 0 },
  ]);
  expect((await get('/workers')).body.items).toMatchObject([{ id: 'w1', isKnown: false, leases: 30 }]);
  expect((await post('/domains/a0.test/release')).body).toMatchObject({ released: true, owner: 'w1' });
  const audit = await lab.database.pool.query(`SELECT actor, subject FROM audit WHERE action = 'release'`);
  expect(audit.rows).toEqual([{ actor: 'token:test admin', subject: 'a0.test' }]);
  for (const [path, wish] of [
    ['/domains/nobody.test/block', { reason: 'x' }],
    ['/domains/nobody.test/reset', { reason: 'x' }],
    ['/domains/nobody.test/release', undefined],
  ] as const)
    expect((await post(path, wish)).status, path).toBe(404);
  for (const wish of [
    {},
    { reason: '' },
    { reason: 'a\u0000b' },
    { reason: 'x', why: 1 },
    { reason: 'x'.repeat(501) },
  ])
    expect((await post('/domains/a0.test/block', wish)).status).toBe(400);
});

test('one gets its own delay, budget and fetchers, and gives them back', async () => {
  const patch = (body: unknown) => lab.ask('PATCH', '/api/v1/domains/b1.test', body);
  expect((await patch({ delay_ms: 2500, pool: 'slow' })).body).toEqual({
    domain: 'b1.test',
    delayMs: 2500,
    budget: null,
    pool: 'slow',
    rules: { keepTrailingSlash: false, stripParameters: [], keepParameters: [] },
  });
  expect((await patch({ budget: 7 })).body).toMatchObject({ delayMs: 2500, budget: 7, pool: 'slow' });
  expect((await get('/domains/b1.test')).body).toMatchObject({
    pool: 'slow',
    delay: { configuredMs: 2500 },
    budget: { max: 7 },
  });
  expect((await patch({ delay_ms: null, budget: null, pool: 'default' })).body).toMatchObject({
    delayMs: null,
    budget: null,
    pool: null,
  });
  for (const wrong of [
    {},
    { delay_ms: -1 },
    { delay_ms: 2 ** 53 },
    { pool: 'a b' },
    { budget: '7' },
    { more: 1 },
  ])
    expect((await patch(wrong)).status, JSON.stringify(wrong)).toBe(400);
});

test('one gets rules for its addresses, part by part, and they are looked up by', async () => {
  const patch = (rules: unknown) => lab.ask('PATCH', '/api/v1/domains/b1.test', { rules });
  const keeping = { keepTrailingSlash: false, stripParameters: [], keepParameters: ['ref'] };
  expect((await patch({ keepParameters: ['Ref', 'ref'] })).body).toMatchObject({ rules: keeping });
  expect((await patch({ keepTrailingSlash: true, stripParameters: ['sid'] })).body.rules).toEqual({
    keepTrailingSlash: true,
    stripParameters: ['sid'],
    keepParameters: ['ref'],
  });
  expect((await patch({ keepTrailingSlash: null, stripParameters: null })).body.rules).toEqual(keeping);
  const { body } = await get('/domains/b1.test');
  expect(body).toMatchObject({ rules: keeping, rekey: { moved: 0, merged: 0 } });
  expect(body.explanation.sentences).toContain('By its host rules the parameter ref tells pages apart.');
  const audit = await lab.database.pool.query(
    `SELECT detail -> 'rules' AS rules FROM audit WHERE action = 'domain_set' AND subject = 'b1.test' ORDER BY id DESC LIMIT 3`,
  );
  expect(audit.rows[2]).toEqual({ rules: { keepParameters: ['ref'] } });

  const urls = ['https://b1.test/page?ref=1', 'https://b1.test/page?ref=2&utm_source=x'];
  expect((await post('/frontier/submit/bulk', { urls })).body).toMatchObject({
    counts: { inserted: 2 },
  });
  const found = await get(`/frontier?url=${encodeURIComponent('https://b1.test/page?ref=2')}`);
  expect(found.body.items.map((one: { url: string }) => one.url)).toEqual([urls[1]]);
  const told = await get(`/explain?url=${encodeURIComponent('https://b1.test/page?ref=2')}`);
  expect(JSON.stringify(told.body)).toContain(
    'It keeps its parameter ref, by the host rules of this domain.',
  );
  const typed = await get(`/overview/find?q=${encodeURIComponent('b1.test/page?ref=2')}`);
  expect(JSON.stringify(typed.body)).toContain(found.body.items[0].id);

  for (const [wrong, status] of [
    [{}, 400],
    [{ more: 1 }, 400],
    [{ keepParameters: 'ref' }, 400],
    [{ keepParameters: Array.from({ length: 51 }, (_, n) => `p${n}`) }, 400],
    [{ stripParameters: ['a&b'] }, 422],
    [{ stripParameters: ['ref'] }, 422],
  ] as const)
    expect((await patch(wrong)).status, JSON.stringify(wrong)).toBe(status);
  expect((await patch({ stripParameters: ['ref'] })).body).toMatchObject({
    code: 'host_rules_invalid',
    detail: 'the parameter "ref" cannot be stripped and kept at once',
  });
  expect((await patch(null)).body.rules).toMatchObject({ keepParameters: [] });
});

test('robots.txt is shown as it was read, and tried', async () => {
  const { bucket, domainKey } = domainIdentity('b4.test');
  const text =
    'User-agent: *\nDisallow: /private\nAllow: /private/open\nCrawl-delay: 90\n\nUser-agent: nosy\nDisallow: /\nSitemap: https://b4.test/map.xml\n';
  await saveRobots(
    lab.database.pool,
    { bucket, domainKey, origin: 'https://b4.test' },
    {
      outcome: 'rules',
      httpStatus: 200,
      errorCode: null,
      rules: parseRobots(Buffer.from(text)),
      ttlMs: 86_400_000,
    },
  );
  const { body } = await get('/domains/b4.test/robots');
  expect(body.items).toMatchObject([
    {
      origin: 'https://b4.test',
      outcome: 'rules',
      body: 'text',
      crawlDelay: { seconds: 60, askedSeconds: 90, line: 4, capped: true },
      sitemaps: [{ url: 'https://b4.test/map.xml', line: 8 }],
    },
  ]);
  expect(body.items[0].groups[0].rules).toEqual([
    { allow: false, pattern: '/private', line: 2 },
    { allow: true, pattern: '/private/open', line: 3 },
  ]);
  const card = (await get('/domains/b4.test')).body;
  expect(card.robots).toMatchObject([{ crawlDelay: { seconds: 60, askedSeconds: 90, capped: true } }]);
  const trial = (url: string, agent = '') =>
    get(`/domains/b4.test/robots/test?url=${encodeURIComponent(url)}${agent}`);
  expect((await trial('https://b4.test/private/a')).body).toMatchObject({
    outcome: 'forbidden',
    line: 2,
    rule: 'Disallow: /private',
  });
  expect((await trial('https://b4.test/private/open')).body).toMatchObject({ outcome: 'allowed', line: 3 });
  expect((await trial('https://b4.test/')).body).toMatchObject({ outcome: 'allowed', line: null });
  expect((await trial('https://b4.test/', '&agent=nosy')).body).toMatchObject({
    outcome: 'forbidden',
    line: 7,
    agent: 'nosy',
  });
  expect((await trial('http://b4.test/')).body).toMatchObject({ outcome: 'unknown' });
  expect((await trial('https://other.test/')).status).toBe(400);
  expect((await trial('nothing')).status).toBe(400);
  expect((await get('/domains/nobody.test/robots')).status).toBe(404);
  expect((await get('/domains/c2.test/robots')).body.items).toEqual([]);
});

test('a list of domains is entered, as text or as objects, and again', async () => {
  const send = async (type: string, body: string, query = 'dataset=list_1') => {
    const response = await fetch(`${lab.address}/api/v1/domains/seed?${query}`, {
      method: 'POST',
      headers: { ...lab.headersOf('admin'), 'content-type': type },
      body,
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const lines = '1,one.example\n2,two.example\nrank,domain\n';
  expect((await send('text/csv', lines)).body).toMatchObject({ domains: 2, added: 2, submitted: 2, bad: 1 });
  expect((await send('text/plain; charset=utf-8', lines)).body).toMatchObject({ added: 0, known: 2 });
  expect(
    (
      await send(
        'application/x-ndjson',
        '{"domain":"three.example","rank":3}\n{"url":"https://four.example/in"}\n{\n',
      )
    ).body,
  ).toMatchObject({ added: 2, bad: 1 });
  expect((await get('/domains/three.example')).body).toMatchObject({ seedRank: 3, dataset: 'list_1' });
  expect((await send('text/csv', lines, 'dataset=a%20b')).status).toBe(400);
  expect((await send('text/csv', lines, '')).status).toBe(400);
  expect((await send('image/png', lines)).status).toBe(415);
});

test('counts, scores and slots are mended in parts, and lost domains made again', async () => {
  await lab.database.pool.query(`UPDATE domain_slots SET queued = queued + 5 WHERE lease_owner IS NULL`);
  await lab.database.pool.query(
    `INSERT INTO counter_deltas (bucket, minute, rows_dead) VALUES (0, now(), 3)`,
  );
  const { body } = await post('/domains/recalculate');
  expect(body).toMatchObject({ next: null, counts: 1 });
  expect(body.repaired).toBeGreaterThan(0);
  expect((await post('/domains/recalculate?from=256')).status).toBe(400);
  await lab.database.pool.query(
    `WITH gone AS (DELETE FROM domains WHERE name = 'c5.test' RETURNING bucket, domain_key)
     DELETE FROM domain_slots s USING gone g WHERE s.bucket = g.bucket AND s.domain_key = g.domain_key`,
  );
  expect((await post('/domains/backfill')).body).toMatchObject({
    made: { active: 1, exhausted: 0, blocked: 0 },
    finished: true,
  });
  expect((await get('/domains/c5.test')).status).toBe(200);
  // One at a time, of all processes.
  const other = await lab.database.pool.connect();
  try {
    await other.query('SELECT pg_advisory_lock(7105)');
    expect((await post('/domains/recalculate')).body).toMatchObject({ status: 409, code: 'busy' });
    await other.query('SELECT pg_advisory_unlock(7105)');
    // That of an import, which has nothing to do with it.
    await other.query('SELECT pg_advisory_lock(7102)');
    expect((await post('/domains/recalculate')).status).toBe(200);
    await other.query('SELECT pg_advisory_unlock(7102)');
  } finally {
    other.release();
  }
  expect((await post('/domains/recalculate')).status).toBe(200);
});

test('leases that nobody ended are told when they were taken back', async () => {
  const recovered = async (): Promise<number> =>
    (await get('/domains/leases')).body.recovered.reduce((sum: number, one: number) => sum + one);
  const before = await recovered();
  const [held] = await take(lab.database.db, { slots: 1, owner: 'dies' });
  await lab.database.pool.query(
    `UPDATE domain_slots SET lease_until = now() - interval '1 second', next_at = now() - interval '1 hour' WHERE lease_owner = 'dies'`,
  );
  const again = await take(lab.database.db, { slots: 1, owner: 'heir' });
  expect(again.map((one) => one.domainKey)).toEqual([held!.domainKey]);
  expect(await recovered()).toBe(before + 1);
  expect((await get('/domains/leases')).body.recovered).toHaveLength(14);
  await foldCounters(lab.database.pool);
  expect(await recovered()).toBe(before + 1);
  for (const one of again) await finish(lab.database.db, one, { owner: 'heir' });
});
