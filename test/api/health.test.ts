import { get } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHealthServer } from '../../src/api/index.ts';
import { createMetrics } from '../../src/telemetry/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let database: TestDatabase;
let server: { address: string; close(): Promise<void> };
const lease = {
  name: 'lease',
  intervalMs: 1000,
  lastTurnAt: Date.now(),
  turns: 9,
  errorsInRow: 0,
  lastError: null,
};
const promote = { ...lease, name: 'promote' as string, lastError: null as string | null };

const options = () => ({
  database: database.db,
  metrics: createMetrics(),
  version: '1.2.3',
  loops: () => [lease, promote],
});

beforeAll(async () => {
  database = await createTestDatabase();
  server = await startHealthServer({ port: 0 }, options());
});
afterAll(async () => {
  await server.close();
  await database.drop();
});

const ask = async (path: string) => {
  const response = await fetch(`${server.address}${path}`);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

test('every role tells how its loops do, in words', async () => {
  lease.lastTurnAt = Date.now();
  promote.lastTurnAt = Date.now();
  expect((await ask('/health')).body).toMatchObject({
    version: '1.2.3',
    state: 'ok',
    text: 'All 2 loops turn.',
    loops: [{ name: 'lease', text: 'The lease loop turned a moment ago.' }, { name: 'promote' }],
  });
  promote.errorsInRow = 3;
  promote.lastError = 'the database is away';
  expect((await ask('/health')).body).toMatchObject({
    state: 'failing',
    text: 'The promote loop failed 3 times in a row: the database is away',
  });
});

test('whoever watches from outside gets a plain answer', async () => {
  expect(await ask('/healthz')).toEqual({ status: 200, body: { status: 'ok' } });
  expect(await ask('/readyz')).toEqual({ status: 200, body: { status: 'ready' } });
  expect((await ask('/other')).status).toBe(404);
});

test('it answers to its own names only, and to those that are given', async () => {
  const named = await startHealthServer({ port: 0, names: ['Fetch-1.internal'] }, options());
  const { port } = new URL(named.address);
  const askAs = (host: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      get({ port, path: '/healthz', headers: { host }, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).on('error', reject);
    });
  for (const host of [`127.0.0.1:${port}`, 'localhost', 'fetch-1.internal:80'])
    expect(await askAs(host), host).toBe(200);
  for (const host of ['evil.example', `192.0.2.7:${port}`]) expect(await askAs(host), host).toBe(421);
  await named.close();
});
