import { get } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHealthServer } from '../../src/api/index.ts';
import { createVitals, newLoop } from '../../src/resilience/index.ts';
import { createMetrics } from '../../src/telemetry/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let database: TestDatabase;
let server: { address: string; close(): Promise<void> };
const lease = { ...newLoop('lease', 1000), lastTurnAt: Date.now(), turns: 9 };
const promote = { ...lease, name: 'promote' };
const vitals = createVitals({ memoryLimitBytes: 4e12, watchdog: { stallSeconds: 300, blockedSeconds: 30 } });
let isAway = false;

const options = () => ({
  database: database.db,
  metrics: createMetrics(),
  version: '1.2.3',
  loops: () => [lease, promote],
  vitals,
  isAway: () => isAway,
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

test('outage, memory, watchdog, restarts and what waits are told in words', async () => {
  Object.assign(promote, { errorsInRow: 0, lastError: null, lastTurnAt: Date.now() });
  Object.assign(lease, { lastTurnAt: Date.now(), backlog: 1234 });
  const at = Date.now() - 60_000;
  vitals.restarts = {
    counts: { stall: 2 },
    last: [at - 3_600_000, at].map((one) => ({ at: one, reason: 'stall', why: 'it stalled' })),
  };
  expect((await ask('/health')).body).toMatchObject({
    state: 'ok',
    network: { isAway: false, text: 'No outage of the network is seen.' },
    memory: {
      limitBytes: 4e12,
      isShort: false,
      text: expect.stringMatching(/^It uses \d+ MB, 0 % of the \d+ MB it may\.$/),
    },
    watchdog: { isWatching: true, text: expect.stringContaining('300 s') },
    restarts: { lastHour: 1, text: 'It was restarted once in the last hour, last because it stalled.' },
    loops: [
      { name: 'lease', backlog: 1234, text: 'The lease loop turned a moment ago; 1,234 wait.' },
      { backlog: null },
    ],
  });
  isAway = true;
  expect((await ask('/health')).body).toMatchObject({
    state: 'away',
    text: expect.stringContaining('the network seems to be down'),
  });
  isAway = false;
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
