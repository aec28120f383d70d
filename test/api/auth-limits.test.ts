import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildApi } from '../../src/api/app.ts';
import { StreamRoom } from '../../src/api/streams.ts';
import { revokeToken } from '../../src/auth/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { createLog, createMetrics, systemClock } from '../../src/telemetry/index.ts';
import { waitUntil } from '../e2e/wait.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { makeToken } from '../setup/token.ts';

let database: TestDatabase;
let reader: string;
let writer: string;
const apps: FastifyInstance[] = [];
const log = createLog({ level: 'silent', format: 'json' });
// Waits end at once when a test says so: nothing here sleeps.
let isHurried = false;
const clock = {
  ...systemClock,
  wait: (ms: number, signal?: AbortSignal) => systemClock.wait(isHurried ? Math.min(ms, 5) : ms, signal),
};

const build = async (overrides: Record<string, unknown>): Promise<FastifyInstance> => {
  const app = await buildApi({
    database: database.db,
    config: loadConfig({ env: {}, overrides: { 'api.port': 0, ...overrides } }).config,
    clock,
    log,
    metrics: createMetrics(),
    version: '0.0.0-test',
    loops: () => [],
  });
  apps.push(app);
  return app;
};

beforeAll(async () => {
  database = await createTestDatabase();
  reader = await makeToken(database.pool, 'read');
  writer = await makeToken(database.pool, 'write');
});
afterAll(async () => {
  isHurried = false;
  for (const app of apps) await app.close();
  await database.drop();
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('requests in a minute', () => {
  let app: FastifyInstance;
  beforeAll(async () => {
    app = await build({ 'api.requests_per_minute': 20, 'api.refusals_per_minute': 5 });
  });
  const ask = async (url: string, headers: Record<string, string>, remoteAddress: string) =>
    app.inject({ url, headers: { host: 'localhost', ...headers }, remoteAddress });
  const statuses = async (times: number, url: string, headers: Record<string, string>, address: string) => {
    const all: number[] = [];
    for (let n = 0; n < times; n += 1) all.push((await ask(url, headers, address)).statusCode);
    return all;
  };

  test('are counted per caller, wherever they come from', async () => {
    const all = await statuses(10, '/api/v1/session', bearer(reader), '198.51.100.1');
    all.push(...(await statuses(11, '/api/v1/session', bearer(reader), '198.51.100.2')));
    expect(all).toEqual([...Array<number>(20).fill(200), 429]);
    const last = await ask('/api/v1/session', bearer(reader), '198.51.100.3');
    expect(last.json()).toMatchObject({ status: 429, code: 'rate_limited' });
    expect(last.headers['content-type']).toContain('application/problem+json');
    expect(Number(last.headers['retry-after'])).toBeGreaterThan(0);
    expect((await ask('/api/v1/session', bearer(writer), '198.51.100.1')).statusCode).toBe(200);
  });

  test('without credentials are few', async () => {
    expect(await statuses(7, '/api/v1/sources', {}, '198.51.100.10')).toEqual([
      401, 401, 401, 401, 401, 429, 429,
    ]);
    // Somebody else's, and those of the same network with credentials, are not.
    expect(await statuses(1, '/api/v1/sources', {}, '198.51.100.11')).toEqual([401]);
    expect(await statuses(1, '/api/v1/session', bearer(writer), '198.51.100.10')).toEqual([200]);
  });

  test('with wrong credentials are few, whatever is guessed; known good ones still work', async () => {
    const from = '2001:db8::1';
    expect((await ask('/api/v1/session', bearer(writer), from)).statusCode).toBe(200);
    const guesses = [
      bearer(`otr_${'A'.repeat(43)}`),
      { cookie: 'outrider_session=x' },
      { authorization: 'Basic eDp5' },
    ];
    const all: number[] = [];
    // An address of the same /64 counts as the same: whoever has one has all of them.
    for (let n = 0; n < 8; n += 1)
      all.push((await ask('/api/v1/session', guesses[n % 3]!, `2001:db8::${n + 2}`)).statusCode);
    expect(all).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
    expect((await ask('/sign-in?code=x', {}, from)).statusCode).toBe(429);
    expect((await ask('/api/v1/session', bearer(writer), from)).statusCode).toBe(200);
    const fresh = await makeToken(database.pool, 'read', 'not seen before');
    expect((await ask('/api/v1/session', bearer(fresh), from)).statusCode).toBe(429);
    expect((await ask('/api/v1/session', bearer(fresh), '2001:db8:1::1')).statusCode).toBe(200);
  });

  test('X-Forwarded-For makes nobody somebody else', async () => {
    const all: number[] = [];
    for (let n = 0; n < 7; n += 1)
      all.push(
        (await ask('/api/v1/sources', { 'x-forwarded-for': `192.0.2.${n}` }, '198.51.100.20')).statusCode,
      );
    expect(all.at(-1)).toBe(429);
  });

  test('public pages and unknown addresses have a limit, health and hubs do not', async () => {
    expect((await statuses(21, '/', {}, '198.51.100.30')).at(-1)).toBe(429);
    expect((await statuses(1, '/nowhere', {}, '198.51.100.30')).at(-1)).toBe(429);
    expect((await statuses(30, '/healthz', {}, '198.51.100.30')).at(-1)).toBe(200);
    expect((await statuses(30, '/readyz', {}, '198.51.100.30')).at(-1)).toBe(200);
    expect((await statuses(30, `/websub/${'0'.repeat(32)}`, {}, '198.51.100.30')).at(-1)).not.toBe(429);
  });
});

describe('streams', () => {
  const path = '/api/v1/documents/stream';
  const follow = (address: string, token: string, stop: AbortController) =>
    fetch(`${address}${path}`, { headers: bearer(token), signal: stop.signal });

  test('are few per caller and in all, and room comes back', async () => {
    const app = await build({ 'api.streams': 3, 'api.streams_per_caller': 2 });
    const address = await app.listen({ port: 0 });
    const stop = new AbortController();
    for (let n = 0; n < 2; n += 1) expect((await follow(address, reader, stop)).status).toBe(200);
    const third = await follow(address, reader, stop);
    expect([third.status, ((await third.json()) as { code: string }).code]).toEqual([
      429,
      'too_many_streams',
    ]);
    expect((await follow(address, writer, stop)).status).toBe(200);
    expect((await follow(address, writer, stop)).status).toBe(503);
    stop.abort();
    const again = new AbortController();
    await waitUntil('there is room again', async () => (await follow(address, reader, again)).status === 200);
    again.abort();
  });

  test('end when their token is revoked', async () => {
    const app = await build({});
    const address = await app.listen({ port: 0 });
    const token = await makeToken(database.pool, 'read', 'to be revoked');
    const response = await follow(address, token, new AbortController());
    const rest = response.text();
    await revokeToken(database.pool, { name: 'to be revoked' }, 'test');
    isHurried = true;
    expect(await rest).toContain('retry: 3000');
    isHurried = false;
    expect((await follow(address, token, new AbortController())).status).toBe(401);
  });

  test('are cut off when their reader takes nothing, and only then', async () => {
    const app = await build({});
    // An endless stream of our own: what is tested is the room, not what flows through it.
    const room = new StreamRoom(app, { config: loadConfig({ env: {} }).config, clock, log });
    const ended: number[] = [];
    app.get('/endless', { exposeHeadRoute: false }, (request, reply) =>
      room.open(request, reply, 'without end', async ({ gone, write }) => {
        let written = 0;
        while (!gone.aborted) {
          await write('x'.repeat(100_000));
          written += 1;
        }
        ended.push(written);
      }),
    );
    const port = Number(new URL(await app.listen({ port: 0 })).port);
    const open = () => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(`GET /endless HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${reader}\r\n\r\n`);
      return socket;
    };
    const good = open();
    let read = 0;
    good.on('data', (chunk: Buffer) => {
      read += chunk.length;
    });
    await waitUntil('somebody who reads gets on', () => read > 30_000_000 || String(read));
    good.destroy();
    await waitUntil('the room is empty', () => room.size === 0);
    isHurried = true;
    // Nothing is read from it: the buffers of both sides fill, and then the room loses its patience.
    const lazy = open();
    await waitUntil('the stream has ended', () => ended.length === 2 || String(ended));
    await waitUntil('the room is empty again', () => room.size === 0);
    expect(ended[1]).toBeGreaterThan(0);
    isHurried = false;
    lazy.destroy();
  });
});
