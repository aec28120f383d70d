import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHealthServer } from '../../src/api/index.ts';
import { createMetrics } from '../../src/telemetry/index.ts';
import { CliHost } from '../process/outrider.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let home: string;
let database: TestDatabase;
const host = new CliHost();
const opened: (() => Promise<void>)[] = [];

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-health-'));
  database = await createTestDatabase();
});
afterAll(async () => {
  await host.close();
  for (const close of opened) await close();
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

async function startRole(hostName?: string): Promise<string> {
  const server = await startHealthServer(
    { port: 0, ...(hostName === undefined ? {} : { host: hostName }) },
    { database: database.db, metrics: createMetrics(), version: '1.2.3', loops: () => [] },
  );
  opened.push(() => server.close());
  return new URL(server.address).port;
}
const health = (args: string[], env: Record<string, string> = {}) =>
  host.run(['health', ...args], { home, env });

test('a role that is ready ends it well, by the port that is set or named', async () => {
  const port = await startRole();
  expect(await health(['--port', port])).toMatchObject({ code: 0, stdout: 'ready\n' });
  expect(await health([], { OUTRIDER_HEALTH_PORT: port })).toMatchObject({ code: 0 });
  expect(await health([], { OUTRIDER_API_PORT: port })).toMatchObject({ code: 0 });
  const { stdout } = await health(['--json'], { OUTRIDER_HEALTH_PORT: port });
  expect(JSON.parse(stdout)).toEqual({ ready: true, address: `http://127.0.0.1:${port}`, reason: 'ready' });
});

test('a role that listens everywhere is asked on loopback', async () => {
  const port = await startRole('0.0.0.0');
  const env = { OUTRIDER_HEALTH_PORT: port, OUTRIDER_HEALTH_HOST: '0.0.0.0' };
  expect(await health([], env)).toMatchObject({ code: 0, stdout: 'ready\n' });
});

test('nobody there, a database that is away, or another program end it with 1 and say so', async () => {
  const nobody = createTcpServer();
  await new Promise<void>((resolve) => nobody.listen(0, '127.0.0.1', resolve));
  const { port } = nobody.address() as AddressInfo;
  await new Promise((resolve) => nobody.close(resolve));
  const refused = await health(['--port', String(port)]);
  expect(refused.code).toBe(1);
  expect(refused.stdout).toMatch(/^not ready: .*ECONNREFUSED/);

  const gone = await createTestDatabase({ empty: true });
  const role = await startHealthServer(
    { port: 0 },
    { database: gone.db, metrics: createMetrics(), version: '1.2.3', loops: () => [] },
  );
  opened.push(() => role.close());
  await gone.drop();
  const away = await health(['--port', new URL(role.address).port]);
  expect(away).toMatchObject({ code: 1 });
  expect(away.stdout).toContain('not ready: the database does not answer');

  const stranger: Server = createServer((_request, response) => response.writeHead(500).end('<html>'));
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  opened.push(async () => void stranger.close());
  const other = await health(['--port', String((stranger.address() as AddressInfo).port)]);
  expect(other).toMatchObject({ code: 1 });
  expect(other.stdout).toContain('it answered 500');
});

test('a port that is none is a mistake of the call', async () => {
  expect(await health(['--port', 'http'])).toMatchObject({ code: 2 });
});

const outer = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .find((one) => !one.internal && one.family === 'IPv4')?.address;
if (outer === undefined) console.warn('SKIPPED, health beyond loopback: this machine has no other address');

test.runIf(outer !== undefined)('beyond loopback numbers are told and words are not', async () => {
  const port = await startRole('0.0.0.0');
  const ask = async (path: string): Promise<number> => (await fetch(`http://${outer}:${port}${path}`)).status;
  // A request to an own address comes from that address, as from another machine.
  expect(await ask('/healthz')).toBe(200);
  expect(await ask('/readyz')).toBe(200);
  expect(await ask('/metrics')).toBe(200);
  expect(await ask('/health')).toBe(403);
});
