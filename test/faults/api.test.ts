import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitUntil } from '../e2e/wait.ts';
import { type FaultProxy, startFaultProxy } from '../process/fault-proxy.ts';
import { Outrider } from '../process/outrider.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { makeToken } from '../setup/token.ts';

// A real `outrider serve` with two connections, and a proxy on its way to the database.
let database: TestDatabase;
let proxy: FaultProxy;
let server: Outrider;
let address: string;
let headers: Record<string, string>;

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startFaultProxy(database.url);
  server = new Outrider(['serve', '--port', '0'], {
    home: tmpdir(),
    env: { DATABASE_URL: proxy.url, OUTRIDER_DATABASE_CONNECTIONS: '2', LOG_FORMAT: 'json' },
  });
  await server.says('serve is running');
  address = /"address":"(http:[^"]+)"/.exec(server.stdout + server.stderr)![1]!;
  headers = { authorization: `Bearer ${await makeToken(database.pool, 'admin')}` };
}, 60_000);
afterAll(async () => {
  await server?.stop('SIGKILL');
  await proxy?.close();
  await database?.drop();
});

const ask = (path: string): Promise<Response> => fetch(address + path, { headers });

test('more questions at once than there are connections are all answered', async () => {
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) =>
      ask(['/api/v1/sources', '/api/v1/frontier', '/api/v1/jobs'][n % 3]!),
    ),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  for (const answer of answers) await answer.body?.cancel();
});

test('while the database is away the API says so, and when it is back it answers', async () => {
  proxy.refuse();
  proxy.resetAll();
  const away = await ask('/api/v1/sources');
  expect(away.status).toBe(503);
  expect(away.headers.get('retry-after')).toBe('5');
  expect(await away.json()).toMatchObject({ code: 'db_unavailable', advice: expect.stringMatching(/again/) });
  proxy.accept();
  await waitUntil('it answers again', async () => {
    const { status } = await ask('/api/v1/sources');
    return status === 200 || String(status);
  });
  expect(server.isRunning).toBe(true);
});

/** The answer to a path as it is written, which `fetch` would tidy first. */
async function askRaw(path: string): Promise<string> {
  const { hostname, port, host } = new URL(address);
  const socket = connect(Number(port), hostname);
  const auth = `Authorization: ${headers.authorization}\r\n`;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${auth}Connection: close\r\n\r\n`);
  let text = '';
  for await (const chunk of socket.setEncoding('utf8')) text += chunk;
  return text;
}

test('no path leads out of what is served', async () => {
  const ways = [
    '../',
    '..%2f',
    '%2e%2e/',
    '%2e%2e%2f',
    '..%5c',
    '..\\',
    '....//',
    '%252e%252e%252f',
    '..%c0%af',
  ];
  const below = ['/', '/assets/', '/api/v1/executions/', '/api/v1/executions/1/', '/api/v1/documents/'];
  const found: string[] = [];
  for (const way of ways)
    for (const start of below)
      for (const file of ['etc/passwd', 'package.json', 'proc/self/environ']) {
        const path = start + way.repeat(8) + file;
        const answer = await askRaw(path);
        if (!/^HTTP\/1\.1 (200|4\d\d) /.test(answer) || /root:|"dependencies"|DATABASE_URL/.test(answer))
          found.push(`${path}: ${answer.slice(0, 60)}`);
      }
  expect(found).toEqual([]);
  // A log is asked for by the number of its run and by nothing else.
  for (const id of ['..', '1/../../x', '/etc/passwd', '1%00', '-1'])
    expect((await ask(`/api/v1/executions/${encodeURIComponent(id)}/log`)).status).toBeGreaterThanOrEqual(
      400,
    );
});

test('no route takes the address of a sink: those stand in the configuration', async () => {
  type Operation = { requestBody?: { content?: Record<string, { schema?: object }> } };
  const { paths } = (await (await ask('/api/v1/openapi.json')).json()) as {
    paths: Record<string, Record<string, Operation>>;
  };
  const ofSinks = Object.entries(paths).filter(([path]) => path.startsWith('/api/v1/sinks'));
  expect(ofSinks.length).toBeGreaterThan(3);
  const bodies = ofSinks.flatMap(([, methods]) =>
    Object.values(methods).map(({ requestBody }) => requestBody),
  );
  expect(JSON.stringify(bodies)).not.toMatch(/"(url|address|endpoint|host|server)"/i);
});
