import { Type } from '@fastify/type-provider-typebox';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildApi } from '../../src/api/app.ts';
import { neededRole } from '../../src/api/identity.ts';
import { type Role, roles } from '../../src/auth/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { createLog, createMetrics, systemClock } from '../../src/telemetry/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { makeToken } from '../setup/token.ts';

// Every route there is, asked by everybody. The list is the router's own, so a new route is in it at once.
type Asked = { method: string; url: string; role: Role | 'public'; orLocal: boolean };

let database: TestDatabase;
let app: FastifyInstance;
let tokens: Record<Role, string>;
const routes: Asked[] = [];

const build = async (operator?: { name: string; role: Role }): Promise<FastifyInstance> => {
  const { config } = loadConfig({
    env: {},
    overrides: { 'api.refusals_per_minute': 1_000_000, 'api.requests_per_minute': 1_000_000 },
  });
  return buildApi({
    database: database.db,
    config,
    clock: systemClock,
    log: createLog({ level: 'silent', format: 'json' }),
    metrics: createMetrics(),
    version: '0.0.0-test',
    loops: () => [],
    ...(operator === undefined ? {} : { operator }),
    onRoute: (route: RouteOptions) => {
      for (const method of [route.method].flat())
        routes.push({
          method,
          url: route.url,
          role: neededRole(method, route.config?.role),
          orLocal: route.config?.orLocal === true,
        });
    },
  });
};

beforeAll(async () => {
  database = await createTestDatabase();
  app = await build();
  await app.ready();
  tokens = {
    read: await makeToken(database.pool, 'read'),
    write: await makeToken(database.pool, 'write'),
    admin: await makeToken(database.pool, 'admin'),
  };
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

// Streams never end by themselves; who may open one is decided before, and their tests are elsewhere.
const isStream = (url: string): boolean => /(\/stream|\/events)$/.test(url);

const ask = async ({ method, url }: Asked, asker: Role | null, address = '203.0.113.9') => {
  const path = url.replace(/:(\w+)/g, (_, name: string) => (/id$/i.test(name) ? '999999' : 'nothing'));
  return app.inject({
    method: method as 'GET',
    url: path.replace('*', 'nothing'),
    remoteAddress: address,
    headers: {
      host: 'localhost',
      ...(asker === null ? {} : { authorization: `Bearer ${tokens[asker]}` }),
    },
  });
};

test('routes are found', () => {
  expect(routes.length).toBeGreaterThan(30);
  for (const wanted of ['/api/v1/sources', '/api/v1/tokens', '/health', '/sign-in'])
    expect(routes.map((route) => route.url)).toContain(wanted);
});

test('every route lets in whom it says, and nobody else', async () => {
  // Signing out with a bearer token changes nothing, so the order of routes does not matter.
  const wrong: string[] = [];
  for (const route of routes) {
    for (const asker of [null, ...roles]) {
      const isEnough =
        route.role === 'public' || (asker !== null && roles.indexOf(asker) >= roles.indexOf(route.role));
      if (isEnough && (isStream(route.url) || route.url === '/sign-in')) continue;
      const { statusCode, headers, body } = await ask(route, asker);
      const line = `${route.method} ${route.url} as ${asker ?? 'nobody'}: ${statusCode}`;
      const expected = isEnough ? null : asker === null ? 401 : 403;
      if (
        expected === null
          ? statusCode === 401 || statusCode === 403 || statusCode >= 500
          : statusCode !== expected
      )
        wrong.push(`${line} ${body.slice(0, 200)}`);
      if (expected === 401 && !String(headers['www-authenticate']).startsWith('Bearer'))
        wrong.push(`${line} no header`);
      if (expected === 403 && route.method !== 'HEAD' && !body.includes(`the role ${route.role}`))
        wrong.push(`${line} ${body}`);
      for (const [name, value] of Object.entries({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      }))
        if (headers[name] !== value) wrong.push(`${line} ${name}`);
      if (!String(headers['content-security-policy']).includes("frame-ancestors 'none'"))
        wrong.push(`${line} CSP`);
      if (route.url.startsWith('/api/') && headers['cache-control'] !== 'no-store')
        wrong.push(`${line} caching`);
    }
  }
  expect(wrong).toEqual([]);
});

test('what is public is named here, and nothing below /api is', () => {
  const open = [
    ...new Set(routes.filter((route) => route.role === 'public').map((route) => route.url)),
  ].sort();
  expect(open.filter((url) => url.startsWith('/api'))).toEqual([]);
  expect(open).toEqual(expect.arrayContaining(['/healthz', '/readyz', '/sign-in', '/websub/:token']));
  expect(routes.filter((route) => route.orLocal && route.method === 'GET').map((route) => route.url)).toEqual(
    ['/health', '/metrics'],
  );
});

test('/health and /metrics need no sign-in on this machine, but do through a proxy or by another name', async () => {
  const local = async (headers: Record<string, string>) =>
    (await app.inject({ url: '/metrics', remoteAddress: '127.0.0.1', headers })).statusCode;
  expect(await local({ host: 'localhost:8060' })).toBe(200);
  expect(await local({ host: '[::1]:8060' })).toBe(200);
  for (const name of ['x-forwarded-for', 'x-forwarded-proto', 'forwarded', 'x-real-ip', 'via'])
    expect(await local({ host: 'localhost', [name]: '203.0.113.1' }), name).toBe(401);
  expect(await local({ host: 'evil.example' })).toBe(421);
});

test('unknown addresses are unknown to everybody', async () => {
  for (const asker of [null, ...roles])
    expect(
      (await ask({ method: 'GET', url: '/api/v1/nowhere', role: 'read', orLocal: false }, asker)).statusCode,
    ).toBe(404);
});

test('inside a process the operator needs no sign-in', async () => {
  const inside = await build({ name: 'job:9', role: 'write' });
  const { statusCode, body } = await inside.inject({ url: '/api/v1/session' });
  expect([statusCode, JSON.parse(body)]).toEqual([
    200,
    { name: 'job:9', role: 'write', by: 'process', expires_at: null },
  ]);
  await inside.close();
});

test('a route that declares nothing is closed', async () => {
  const other = await build();
  other.post('/forgotten', { schema: { body: Type.Object({}) } }, async () => 'done');
  other.get('/forgotten', async () => 'done');
  const status = async (method: 'GET' | 'POST', asker: Role | null) =>
    (
      await other.inject({
        method,
        url: '/forgotten',
        headers: asker === null ? {} : { authorization: `Bearer ${tokens[asker]}` },
        ...(method === 'POST' ? { payload: {} } : {}),
      })
    ).statusCode;
  expect(await status('GET', null)).toBe(401);
  expect(await status('GET', 'read')).toBe(200);
  expect(await status('POST', 'read')).toBe(403);
  expect(await status('POST', 'write')).toBe(200);
  await other.close();
});
