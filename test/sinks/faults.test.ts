import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { enableSink, listDeadLetters, listSinks, saveSink } from '../../src/outbox/index.ts';
import { createElasticsearchSink } from '../../src/sinks/elasticsearch/index.ts';
import type { Sink } from '../../src/sinks/index.ts';
import { identifyUrl } from '../../src/url/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { delivererOf } from './deliver.ts';
import { storeDocuments } from './store.ts';
import { startWebhookWorld } from './webhook-world.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
const never = new AbortController().signal;
const urls = Array.from({ length: 12 }, (_, n) => `https://a.example/${n}`);

/** Turns until nothing is left to do, as if the pauses between tries had passed. */
async function run(sink: Sink, turns = 40): Promise<number> {
  const deliverer = delivererOf(database, sink);
  let used = 0;
  for (; used < turns; used += 1) {
    await database.pool.query('UPDATE outbox SET retry_at = NULL');
    if ((await deliverer.turn(never)) === 'idle') break;
  }
  await deliverer.stop();
  return used;
}
const state = async (name: string) => (await listSinks(database.pool)).find((one) => one.name === name)!;
const fresh = async (sink: Sink): Promise<void> => {
  await database.pool.query('TRUNCATE sinks CASCADE');
  await database.pool.query('TRUNCATE outbox, dead_letters, documents, url_frontier, domain_slots, domains');
  await saveSink(database.pool, sink);
  await storeDocuments(
    database.pool,
    urls.map((url) => ({ url })),
  );
};

describe('a server that answers as servers do on bad days', () => {
  type Answer = { status: number; body: unknown; headers?: Record<string, string> };
  /** null: it hangs up. */
  let answer: (path: string, body: string) => Answer | null;
  let seen: { path: string; ids: string[]; headers: Record<string, unknown> }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const ids = [...body.matchAll(/"_id":"([^"]+)"/g)].map((match) => match[1]!);
    seen.push({ path: request.url!, ids, headers: request.headers });
    const given = answer(request.url!, body);
    if (given === null) return void request.socket.destroy();
    const { status, body: said, headers } = given;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof said === 'string' ? said : JSON.stringify(said));
  });
  let sink: Sink;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    sink = createElasticsearchSink({
      name: 'elasticsearch',
      url: `http://me:p%40ss@127.0.0.1:${port}/prefix/`,
      apiKey: null,
      shards: 1,
      replicas: 0,
      rawHtml: false,
      userAgent: 'test',
    });
  });
  afterAll(async () => {
    await sink.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  beforeEach(async () => {
    await fresh(sink);
    seen = [];
  });
  const template = { index_templates: [{ index_template: { version: 1000 } }] };
  const bulk =
    (items: (body: string) => unknown[]) =>
    (path: string, body: string): Answer =>
      isBulk(path)
        ? { status: 200, body: { errors: true, items: items(body) } }
        : { status: 200, body: template };
  const isBulk = (path: string): boolean => path.startsWith('/prefix/_bulk?');
  const count = (body: string): number => body.split('\n').length >> 1;
  const each = (body: string, item: (n: number) => object) =>
    Array.from({ length: count(body) }, (_, n) => ({ update: item(n) }));

  test('it is signed in to, under its path', async () => {
    answer = bulk((body) => each(body, () => ({ status: 200 })));
    await run(sink);
    expect(seen[0]).toMatchObject({ path: '/prefix/_index_template/outrider_raw_content' });
    expect(seen[0]!.headers.authorization).toBe(`Basic ${Buffer.from('me:p@ss').toString('base64')}`);
    expect(await state('elasticsearch')).toMatchObject({ waiting: 0, delivered: 12 });
  });

  test.each([
    ['100%', '100%'],
    ['%zz%40%ü%5E', '%zz@%ü^'],
    ['%ff%41', '%ff%41'],
  ])('the password %s is no reason to stop', async (written, meant) => {
    answer = bulk((body) => each(body, () => ({ status: 200 })));
    const { port } = server.address() as AddressInfo;
    const own = createElasticsearchSink({
      name: 'elasticsearch',
      url: `http://me:${written}@127.0.0.1:${port}/prefix/`,
      apiKey: null,
      shards: 1,
      replicas: 0,
      rawHtml: false,
      userAgent: 'test',
    });
    await run(own);
    expect(seen[0]!.headers.authorization).toBe(`Basic ${Buffer.from(`me:${meant}`).toString('base64')}`);
  });

  test('a request that is too large is sent in parts, and a document that is too large is a dead letter', async () => {
    answer = (path, body) => {
      if (!isBulk(path)) return { status: 200, body: template };
      const hasLarge = body.includes('https://a.example/3"');
      if (count(body) > 2 || hasLarge) return { status: 413, body: 'too large' };
      return { status: 200, body: { errors: false, items: each(body, () => ({ status: 201 })) } };
    };
    await run(sink);
    expect(await state('elasticsearch')).toMatchObject({ waiting: 0, deadLetters: 1, failingSince: null });
    const [letter] = await listDeadLetters(database.pool, { limit: 5 });
    expect(letter).toMatchObject({ url: 'https://a.example/3' });
    expect(letter!.error).toMatch(/413/);
  });

  test('some documents refused for now are tried again, and given up after ten times', async () => {
    answer = bulk((body) =>
      each(body, (n) =>
        n === 0 && body.includes('https://a.example/')
          ? { status: 429, error: { type: 'es_rejected_execution_exception', reason: 'queue full' } }
          : { status: 200 },
      ),
    );
    await run(sink);
    expect(await state('elasticsearch')).toMatchObject({ waiting: 0, deadLetters: 1, delivered: 11 });
    const [letter] = await listDeadLetters(database.pool, { limit: 5 });
    expect(letter!.attempts).toBe(10);
    expect(letter!.error).toMatch(/queue full.*given up after 10/);
  });

  test.each([
    [
      'every document refused for now',
      bulk((body) => each(body, () => ({ status: 429, error: { type: 'busy' } }))),
      /busy/,
    ],
    [
      'an index that takes nothing',
      bulk((body) =>
        each(body, () => ({ status: 403, error: { type: 'cluster_block_exception', reason: 'read-only' } })),
      ),
      /disk is full/,
    ],
    [
      'an index that was closed',
      bulk((body) =>
        each(body, () => ({ status: 400, error: { type: 'index_closed_exception', reason: 'closed' } })),
      ),
      /closed.*POST .*_raw_content\/_open/,
    ],
    [
      'an index whose shards are away',
      bulk((body) =>
        each(body, () => ({
          status: 503,
          error: { type: 'unavailable_shards_exception', reason: 'primary' },
        })),
      ),
      /unavailable_shards.*_cluster\/allocation\/explain/,
    ],
    ['a wrong password', () => ({ status: 401, body: {} }), /check the user, password or API key/],
    ['a proxy in between', () => ({ status: 502, body: '<html>Bad Gateway' }), /502: <html>Bad Gateway/],
    ['an answer that nobody can read', bulk(() => []), /cannot be read/],
    ['too many requests', () => ({ status: 429, body: '', headers: { 'retry-after': '600' } }), /429/],
  ] as const)('%s is an outage: everything waits, nothing is blamed', async (_what, how, error) => {
    answer = how as typeof answer;
    await run(sink);
    const now = await state('elasticsearch');
    expect(now).toMatchObject({ waiting: 12, deadLetters: 0, delivered: 0 });
    expect(now.error).toMatch(error);
    const { rows } = await database.pool.query('SELECT max(attempts) AS most FROM outbox');
    expect(rows[0]!.most).toBe(0);
  });

  test('an index whose shards are away keeps its documents for hours, and others go on', async () => {
    answer = bulk((body) =>
      [...body.matchAll(/"upsert":.*?"url":"([^"]+)"/g)].map(([, url]) => ({
        update: url!.endsWith('/3')
          ? { status: 503, error: { type: 'unavailable_shards_exception', reason: 'primary' } }
          : { status: 201 },
      })),
    );
    for (let hour = 0; hour < 12; hour += 1) {
      await database.pool.query('UPDATE sink_states SET retry_at = NULL');
      await run(sink);
    }
    expect(await state('elasticsearch')).toMatchObject({ waiting: 1, delivered: 11, deadLetters: 0 });
    // The server would wait a minute for the shards, and we do not wait so long for an answer.
    expect(seen.at(-1)!.path).toBe('/prefix/_bulk?timeout=15s');
  });

  test.each([
    ['a page of its own', () => '<html>Request blocked'],
    ['JSON of its own', () => ({ message: 'Forbidden' })],
  ])('a document that a firewall in front refuses with %s holds up nobody', async (_what, said) => {
    answer = (path, body) => {
      if (!isBulk(path)) return { status: 200, body: template };
      if (body.includes('https://a.example/3"')) return { status: 403, body: said() };
      return { status: 200, body: { errors: false, items: each(body, () => ({ status: 201 })) } };
    };
    await run(sink);
    expect(await state('elasticsearch')).toMatchObject({
      waiting: 0,
      delivered: 11,
      deadLetters: 1,
      failingSince: null,
    });
    const [letter] = await listDeadLetters(database.pool, { limit: 5 });
    expect(letter).toMatchObject({ url: 'https://a.example/3', attempts: 10 });
    expect(letter!.error).toMatch(/answered 403.*firewall/);
  });

  test('hundreds of documents of a closed index stand in nobody’s way', async () => {
    const keyOf = (url: string) => {
      const identified = identifyUrl(url);
      if (identified.outcome === 'rejected') throw new Error(url);
      return identified.identity;
    };
    const closed = keyOf('https://a.example/');
    const hosts = Array.from({ length: 5000 }, (_, n) => `https://other-${n}.example/1`);
    const later = hosts.find((url) => keyOf(url).bucket > closed.bucket)!;
    const beside = hosts.find(
      (url) => keyOf(url).bucket === closed.bucket && keyOf(url).domainKey > closed.domainKey,
    )!;
    await storeDocuments(
      database.pool,
      [...Array.from({ length: 400 }, (_, n) => `https://a.example/closed/${n}`), later, beside].map(
        (url) => ({ url }),
      ),
    );
    answer = bulk((body) =>
      [...body.matchAll(/"upsert":.*?"url":"([^"]+)"/g)].map(([, url]) => ({
        update: url!.startsWith('https://a.example/')
          ? { status: 400, error: { type: 'index_closed_exception', reason: 'closed' } }
          : { status: 201 },
      })),
    );
    const deliverer = delivererOf(database, sink);
    for (let turn = 0; turn < 8; turn += 1) {
      // The sink's own pauses pass, those of documents do not.
      await database.pool.query('UPDATE sink_states SET retry_at = NULL');
      await deliverer.turn(never);
    }
    await deliverer.stop();
    expect(await state('elasticsearch')).toMatchObject({ waiting: 412, delivered: 2, deadLetters: 0 });
    expect((await state('elasticsearch')).error).toMatch(/closed/);
    answer = (path, body) => (isBulk(path) ? taken(body) : { status: 200, body: template });
    // Whoever has opened it need not wait.
    await enableSink(database.pool, 'elasticsearch', true);
    const next = delivererOf(database, sink);
    for (let turn = 0; turn < 8; turn += 1) await next.turn(never);
    await next.stop();
    expect(await state('elasticsearch')).toMatchObject({ waiting: 0, delivered: 414, failingSince: null });
  });

  const taken = (body: string): Answer => ({
    status: 200,
    body: { errors: false, items: each(body, () => ({ status: 201 })) },
  });
  const overOne: [string, Answer | null, RegExp][] = [
    ['hangs up', null, /other side closed|ECONNRESET|given up/],
    [
      'answers 500',
      { status: 500, body: { error: { type: 'null_pointer_exception' } } },
      /500.*null_pointer/,
    ],
    ['answers 502', { status: 502, body: '<html>Bad Gateway' }, /502.*proxy or firewall/],
    ['answers 503 by what is before it', { status: 503, body: '<html>No server' }, /503.*No server/],
    ['answers 400 by what is before it', { status: 400, body: '<html>Bad Request' }, /400.*firewall/],
    ['answers 406', { status: 406, body: 'Not Acceptable' }, /406/],
    ['lets nothing through, with 200', { status: 200, body: '<html>Request Rejected' }, /Request Rejected/],
  ];

  test.each(overOne)(
    'a document over which it %s holds up nobody, and is given up',
    async (_how, said, why) => {
      answer = (path, body) => {
        if (!isBulk(path)) return { status: 200, body: template };
        return body.includes('https://a.example/3"') ? said : taken(body);
      };
      await run(sink);
      const now = await state('elasticsearch');
      expect(now).toMatchObject({ waiting: 0, delivered: 11, deadLetters: 1, failingSince: null });
      const [letter] = await listDeadLetters(database.pool, { limit: 5 });
      expect(letter).toMatchObject({ url: 'https://a.example/3', attempts: 10 });
      expect(letter!.error).toMatch(why);
      // It was looked for once: whoever failed before is sent by himself.
      expect(seen.length).toBeLessThan(40);
    },
  );

  test.each(overOne)('a server that %s over everything is out, and nobody is blamed', async (_how, said) => {
    answer = (path) => (isBulk(path) ? said : { status: 200, body: template });
    await run(sink);
    expect(await state('elasticsearch')).toMatchObject({ waiting: 12, deadLetters: 0, delivered: 0 });
    expect(seen.filter(({ path }) => isBulk(path)).length).toBeLessThan(16);
    const { rows } = await database.pool.query('SELECT max(attempts) AS most FROM outbox');
    expect(rows[0]!.most).toBe(0);
  });

  test('most of a publisher’s documents may be of the kind it hangs up over: the others arrive', async () => {
    const { rows } = await database.pool.query<{ url: string }>(
      'SELECT url FROM documents ORDER BY url_hash',
    );
    // Those that are asked first.
    const bad = new Set(rows.slice(0, 9).map(({ url }) => url));
    answer = (path, body) => {
      if (!isBulk(path)) return { status: 200, body: template };
      return [...bad].some((url) => body.includes(`"url":"${url}"`)) ? null : taken(body);
    };
    for (let turn = 0; turn < 60 && (await state('elasticsearch')).waiting > 0; turn += 1) {
      await database.pool.query('UPDATE sink_states SET retry_at = NULL');
      await run(sink);
    }
    expect(await state('elasticsearch')).toMatchObject({ waiting: 0, delivered: 3, deadLetters: 9 });
  });

  test('while the server is away, a document that it stumbled over uses up no tries', async () => {
    let isDown = false;
    answer = (path, body) => {
      if (isDown) return null;
      if (!isBulk(path)) return { status: 200, body: template };
      return body.includes('https://a.example/3"') ? null : taken(body);
    };
    const deliverer = delivererOf(database, sink);
    await deliverer.turn(never);
    const attempts = async () =>
      (await database.pool.query<{ attempts: number }>('SELECT attempts FROM outbox')).rows;
    expect(await attempts()).toEqual([{ attempts: 1 }]);
    // Nobody else waits who would fail beside it.
    isDown = true;
    for (let turn = 0; turn < 15; turn += 1) {
      await database.pool.query(
        'WITH s AS (UPDATE sink_states SET retry_at = NULL) UPDATE outbox SET retry_at = NULL',
      );
      await deliverer.turn(never);
    }
    await deliverer.stop();
    expect(await attempts()).toEqual([{ attempts: 1 }]);
    expect((await state('elasticsearch')).failingSince).not.toBeNull();
    isDown = false;
    await database.pool.query('UPDATE sink_states SET retry_at = NULL');
    await run(sink);
    expect(await state('elasticsearch')).toMatchObject({ waiting: 0, delivered: 11, deadLetters: 1 });
  });

  test('a firewall that refuses everything is asked a few times, and nobody is blamed', async () => {
    answer = (path) =>
      isBulk(path) ? { status: 403, body: '<html>Blocked' } : { status: 200, body: template };
    await run(sink);
    expect(await state('elasticsearch')).toMatchObject({ waiting: 12, deadLetters: 0, delivered: 0 });
    expect(seen.filter(({ path }) => isBulk(path)).length).toBeLessThan(16);
    const { rows } = await database.pool.query('SELECT max(attempts) AS most FROM outbox');
    expect(rows[0]!.most).toBe(0);
  });

  test('a password that may not write is no matter of the documents', async () => {
    const error = { type: 'security_exception', reason: 'action [indices:data/write/bulk] is unauthorized' };
    answer = (path) =>
      isBulk(path) ? { status: 403, body: { error, status: 403 } } : { status: 200, body: template };
    await run(sink);
    expect(await state('elasticsearch')).toMatchObject({ waiting: 12, deadLetters: 0 });
    expect(seen.filter(({ path }) => isBulk(path))).toHaveLength(1);
  });

  test.each([
    ['600', 600],
    ['3000', 3000],
    // An hour is the most: a slip of the server must not stop the sink for days.
    ['999999', 3600],
  ])('a pause of %s s that the server asks for is kept', async (asked, kept) => {
    answer = () => ({ status: 429, body: '', headers: { 'retry-after': asked } });
    await run(sink);
    const { rows } = await database.pool.query<{ seconds: number }>(
      `SELECT extract(epoch FROM retry_at - now())::float8 AS seconds FROM sink_states WHERE sink = 'elasticsearch'`,
    );
    expect(Math.abs(rows[0]!.seconds - kept)).toBeLessThan(60);
    answer = bulk((body) => each(body, () => ({ status: 200 })));
    await run(sink);
    expect(await state('elasticsearch')).toMatchObject({ waiting: 12 });
    // Who knows that it is over need not wait for it.
    await enableSink(database.pool, 'elasticsearch', true);
    await run(sink);
    expect(await state('elasticsearch')).toMatchObject({ waiting: 0, delivered: 12, failingSince: null });
  });
});

describe('a receiver that answers as receivers do on bad days', () => {
  let world: Awaited<ReturnType<typeof startWebhookWorld>>;
  beforeAll(async () => {
    world = await startWebhookWorld();
  });
  afterAll(() => world.close());
  beforeEach(() => fresh(world.sink));

  test.each([301, 401, 403, 404, 410, 429, 500, 503])('%i to everything is an outage', async (status) => {
    world.answer(status);
    await run(world.sink);
    expect(await state('webhook')).toMatchObject({ waiting: 12, deadLetters: 0, delivered: 0 });
    expect((await state('webhook')).error).toContain(String(status));
    world.answer(null);
    expect(world.bad()).toBe(0);
  });

  test('a machine whose clock is wrong tells it the time of the database', async () => {
    // Receivers refuse what is five minutes off; this one shares the wrong clock, so it is not asked to judge.
    world.takeStamps();
    world.answer(204);
    const { rows } = await database.pool.query<{ now: number }>(
      'SELECT extract(epoch FROM now())::float8 AS now',
    );
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
    try {
      await run(world.sink);
    } finally {
      vi.useRealTimers();
    }
    world.answer(null);
    const stamps = world.takeStamps();
    expect(stamps).toHaveLength(urls.length);
    for (const stamp of stamps) expect(Math.abs(stamp - rows[0]!.now)).toBeLessThan(300);
  });

  test.each(['fails', 'hangs up'] as const)(
    'one document that the receiver stumbles over (it %s) is given up in the end, and holds up nobody',
    async (how) => {
      world.stumble('https://a.example/5', how);
      await run(world.sink);
      // Alone with its receiver it is tried to the end, and nobody has to come to bear witness.
      expect(await state('webhook')).toMatchObject({
        deadLetters: 1,
        delivered: 11,
        waiting: 0,
        failingSince: null,
      });
      const [letter] = await listDeadLetters(database.pool, { limit: 5 });
      expect(letter).toMatchObject({ url: 'https://a.example/5', attempts: 10 });
      world.stumble(null);
    },
  );

  test('a receiver that hangs up on everybody is out, and nobody is blamed', async () => {
    await world.break();
    await run(world.sink);
    expect(await state('webhook')).toMatchObject({ waiting: 12, deadLetters: 0, delivered: 0 });
    const { rows } = await database.pool.query('SELECT max(attempts) AS most FROM outbox');
    expect(rows[0]!.most).toBe(0);
    await world.mend();
  });
});

test('a sink that throws says why', async () => {
  const world = await startWebhookWorld();
  await fresh(world.sink);
  await run({
    ...world.sink,
    deliver: async () => {
      throw new Error('out of ideas');
    },
  });
  expect(await state('webhook')).toMatchObject({ waiting: 12, error: 'out of ideas' });
  await world.close();
});
