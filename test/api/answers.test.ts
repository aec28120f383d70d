import { Ajv } from 'ajv';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createChannel } from '../../src/channels/index.ts';
import { saveRobots } from '../../src/domains/index.ts';
import { saveWorker, submit } from '../../src/frontier/index.ts';
import { parseRobots } from '../../src/robots/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { domainIdentity } from '../../src/url/index.ts';
import { done, finish, item, take } from '../frontier/fixtures.ts';
import { type ApiLab, startApiLab } from './lab.ts';

// What the description of the API promises of these routes is what they serve, and nothing makes them fail.
type Schema = { [key: string]: unknown };
type Operation = {
  parameters?: { name: string; in: string }[];
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
};

let lab: ApiLab;
let paths: Record<string, Record<string, Operation>>;
let id: string;
beforeAll(async () => {
  lab = await startApiLab();
  const { pool } = lab.database;
  const { source } = await createSource(pool, { url: 'https://herald.test/', name: 'Herald' });
  await createChannel(pool, {
    sourceId: source.id,
    kind: 'feed',
    url: 'https://herald.test/feed.xml',
    intervalSeconds: 900,
    foundBy: 'link',
  });
  await submit(pool, [
    item('herald.test', 'a', { sourceId: source.id, parentUrl: 'https://herald.test/feed.xml' }),
    item('herald.test', 'b', { sourceId: null }),
    item('other.test', 'c'),
  ]);
  const { bucket, domainKey } = domainIdentity('herald.test');
  await saveRobots(
    pool,
    { bucket, domainKey, origin: 'https://herald.test' },
    {
      outcome: 'rules',
      httpStatus: 200,
      errorCode: null,
      rules: parseRobots(
        Buffer.from('User-agent: *\nDisallow: /x\nCrawl-delay: 1\nSitemap: https://herald.test/s.xml'),
      ),
      ttlMs: 1000,
    },
  );
  await saveWorker(pool, {
    id: 'w1',
    role: 'fetch',
    pool: 'default',
    version: '0',
    host: 'h',
    pid: 1,
    state: {},
  });
  const held = await take(lab.database.db, { slots: 1 });
  await finish(lab.database.db, held[0]!, { items: held[0]!.urls.map((one) => done(one.hash)) });
  await take(lab.database.db, { slots: 1, skewMs: 60_000 });
  await lab.ask('POST', '/api/v1/domains/other.test/block', { reason: 'a test' });
  paths = (await lab.ask('GET', '/api/v1/openapi.json')).body.paths;
  id = (await lab.ask('GET', '/api/v1/frontier')).body.items[0].id;
});
afterAll(() => lab.close());

/** A schema that lets nothing pass which it does not name. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (schema === null || typeof schema !== 'object') return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return 'properties' in inner ? { additionalProperties: false, ...inner } : inner;
}

const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });

async function check(method: string, route: string, path: string, body?: unknown): Promise<void> {
  const operation = paths[route]?.[method.toLowerCase()];
  expect(operation, route).toBeDefined();
  const answer = await lab.ask(method, path, body);
  expect(answer.status, `${path}: ${JSON.stringify(answer.body).slice(0, 300)}`).toBe(200);
  const schema = operation!.responses['200']?.content?.['application/json']?.schema;
  expect(schema, `${route} says what it answers`).toBeDefined();
  const valid = ajv.compile(closed(schema) as Schema);
  expect(valid(answer.body), `${path}: ${JSON.stringify(valid.errors?.slice(0, 5))}`).toBe(true);
}

test('what is served is what is described, field by field', async () => {
  const url = encodeURIComponent('https://herald.test/a');
  const feed = encodeURIComponent('https://herald.test/feed.xml');
  for (const [route, path] of [
    ['/api/v1/frontier', '/api/v1/frontier?limit=2'],
    ['/api/v1/frontier', '/api/v1/frontier?kind=channel'],
    ['/api/v1/frontier/stats', '/api/v1/frontier/stats'],
    ['/api/v1/frontier/{id}', `/api/v1/frontier/${id}`],
    ['/api/v1/frontier/{id}/attempts', `/api/v1/frontier/${id}/attempts`],
    ['/api/v1/domains', '/api/v1/domains'],
    ['/api/v1/domains', '/api/v1/domains?sort=recent&limit=1'],
    ['/api/v1/domains/top', '/api/v1/domains/top?pages=1'],
    ['/api/v1/domains/leases', '/api/v1/domains/leases'],
    ['/api/v1/domains/{name}', '/api/v1/domains/herald.test'],
    ['/api/v1/domains/{name}', '/api/v1/domains/other.test'],
    ['/api/v1/domains/{name}/events', '/api/v1/domains/other.test/events'],
    ['/api/v1/domains/{name}/robots', '/api/v1/domains/herald.test/robots'],
    ['/api/v1/domains/{name}/robots/test', `/api/v1/domains/herald.test/robots/test?url=${url}`],
    ['/api/v1/workers', '/api/v1/workers'],
    ['/api/v1/explain', `/api/v1/explain?url=${url}`],
    ['/api/v1/explain', '/api/v1/explain?domain=other.test'],
    ['/api/v1/explain', `/api/v1/explain?channel=${feed}`],
    ['/api/v1/overview', '/api/v1/overview'],
    ['/api/v1/overview/series', '/api/v1/overview/series?span=24h'],
    ['/api/v1/overview/find', `/api/v1/overview/find?q=${url}`],
    ['/api/v1/overview/find', `/api/v1/overview/find?q=${feed}`],
  ] as const)
    await check('GET', route, path);
  const urls = ['https://herald.test/new', 'nothing', { url: 'https://herald.test/a', priority: 9 }];
  await check('POST', '/api/v1/frontier/submit', '/api/v1/frontier/submit', { url: 'https://new.test/' });
  await check('POST', '/api/v1/frontier/submit/bulk', '/api/v1/frontier/submit/bulk', {
    urls,
    dry_run: true,
  });
  await check('PATCH', '/api/v1/frontier/{id}', `/api/v1/frontier/${id}`, { priority: 4 });
  await check('POST', '/api/v1/frontier/actions', '/api/v1/frontier/actions', {
    action: 'retry',
    filter: { domain: 'herald.test' },
  });
  await check('DELETE', '/api/v1/frontier/{id}', `/api/v1/frontier/${id}`);
  await check('POST', '/api/v1/frontier/{id}/retry', `/api/v1/frontier/${id}/retry`);
  await check('POST', '/api/v1/domains/{name}/reset', '/api/v1/domains/other.test/reset', { reason: 'x' });
  await check('POST', '/api/v1/domains/{name}/block', '/api/v1/domains/other.test/block', { reason: 'x' });
  await check('POST', '/api/v1/domains/{name}/release', '/api/v1/domains/herald.test/release');
  await check('PATCH', '/api/v1/domains/{name}', '/api/v1/domains/herald.test', { delay_ms: 5 });
  await check('POST', '/api/v1/domains/recalculate', '/api/v1/domains/recalculate');
  await check('POST', '/api/v1/domains/backfill', '/api/v1/domains/backfill');
});

const nasty = fc.oneof(
  fc.constantFrom(
    '\u0000',
    'a\u0000b',
    '-1',
    '0',
    '2147483648',
    '9223372036854775808',
    '9007199254740993',
    '1e309',
    'NaN',
    "'; --",
    '%',
    '%%',
    '_',
    '../..',
    'https://a.test/\u0000',
    'https://a.test/%00',
    'http://[::1]/',
    '999999d',
    '0001-01-01',
    '9999-12-31T23:59:59Z',
    'WyIxIl0',
    'x'.repeat(3000),
    '\u{1f600}',
  ),
  fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.toWellFormed()),
  fc.base64String({ maxLength: 60 }),
);

test('no parameter makes a route fail', async () => {
  const gets = Object.entries(paths).filter(
    ([path, operations]) =>
      operations.get !== undefined && /^\/api\/v1\/(frontier|domains|workers|explain)/.test(path),
  );
  expect(gets.length).toBeGreaterThan(10);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...gets),
      fc.array(nasty, { minLength: 12, maxLength: 12 }),
      fc.boolean(),
      async ([path, { get }], values, all) => {
        const given = [...values];
        const address = path.replace(/\{\w+\}/g, () => encodeURIComponent(given.pop()!) || 'x');
        const names = (get!.parameters ?? []).filter((one) => one.in === 'query').map((one) => one.name);
        const chosen = all ? names : names.slice(0, 1);
        const query = chosen.map((name) => `${name}=${encodeURIComponent(given.pop() ?? '')}`).join('&');
        const { status } = await lab.ask('GET', `${address}?${query}`);
        expect(status, `${address}?${query}`).toBeLessThan(500);
      },
    ),
    { numRuns: 200 },
  );
});

test('no body makes a route fail', async () => {
  const text = fc.oneof(nasty, fc.constant('\ud800'), fc.constant('https://a.test/\ud800\u0000'));
  const body = fc.oneof(
    fc.jsonValue(),
    fc.record({ url: text, priority: fc.integer({ min: 1, max: 10 }) }),
    fc.record({ urls: fc.array(text, { minLength: 1, maxLength: 5 }), dry_run: fc.boolean() }),
    fc.record({ reason: text }),
    fc.record({
      action: fc.constantFrom('retry', 'remove'),
      filter: fc.record(
        { domain: text, url: text, prefix: text, older_than: text, source: text },
        { requiredKeys: [] },
      ),
      cursor: text,
    }),
    fc.record({
      action: fc.constantFrom('retry', 'remove'),
      filter: fc.oneof(fc.record({ url: text }), fc.record({ prefix: text })),
    }),
    fc.record({ delay_ms: fc.double(), budget: fc.maxSafeInteger(), pool: text }, { requiredKeys: [] }),
  );
  const routes = [
    ['POST', '/api/v1/frontier/submit'],
    ['POST', '/api/v1/frontier/submit/bulk'],
    ['POST', '/api/v1/frontier/actions'],
    ['PATCH', `/api/v1/frontier/${'0'.repeat(16)}-${'0'.repeat(64)}`],
    ['POST', '/api/v1/domains/herald.test/block'],
    ['POST', '/api/v1/domains/herald.test/reset'],
    ['PATCH', '/api/v1/domains/herald.test'],
    ['POST', '/api/v1/domains/seed?dataset=x'],
  ] as const;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...routes), body, async ([method, path], value) => {
      const { status } = await lab.ask(method, path, value);
      expect(status, `${method} ${path} ${JSON.stringify(value)}`).toBeLessThan(500);
    }),
    { numRuns: 300 },
  );
});
