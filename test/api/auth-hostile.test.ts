import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { Writable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildApi } from '../../src/api/app.ts';
import { createSignInCode } from '../../src/auth/index.ts';
import { dumpConfig, loadConfig } from '../../src/config/index.ts';
import { createLog, createMetrics, systemClock } from '../../src/telemetry/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { makeToken } from '../setup/token.ts';

// Whatever is sent, the answer is a 4xx, soon, and says nothing that is secret.
const planted = {
  jwtSecret: 'PLANTED-jwt-secret-PLANTED-jwt-secret',
  databasePassword: 'PLANTED-database-password',
  accessKey: 'PLANTED-access-key',
};
let database: TestDatabase;
let app: FastifyInstance;
let port: number;
let admin: string;
let logged = '';

const loaded = loadConfig({
  env: {
    AUTH_JWT_SECRET: planted.jwtSecret,
    DATABASE_URL: `postgresql://u:${planted.databasePassword}@127.0.0.1/x`,
    OUTRIDER_S3_SECRET_KEY: planted.accessKey,
    OUTRIDER_API_REFUSALS_PER_MINUTE: '100000',
  },
});

beforeAll(async () => {
  database = await createTestDatabase();
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      logged += String(chunk);
      done();
    },
  });
  app = await buildApi({
    database: database.db,
    config: loaded.config,
    clock: systemClock,
    log: createLog({ level: 'trace', format: 'json', stream }),
    metrics: createMetrics(),
    version: '0.0.0-test',
    loops: () => [],
  });
  app.get('/broken', async (request) => {
    throw new Error(`it broke, with ${request.headers.authorization} and ${request.headers.cookie}`);
  });
  port = Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port);
  admin = await makeToken(database.pool, 'admin');
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

/** Sends bytes as they are; answers the status and everything that came. */
async function sendRaw(bytes: string): Promise<{ status: number; text: string }> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  socket.on('error', () => undefined);
  socket.write(bytes);
  await once(socket, 'close');
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), text };
}
const head = (...lines: string[]) => `${lines.join('\r\n')}\r\nconnection: close\r\n\r\n`;
const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  new Promise<{ status: number; body: string }>((resolve, reject) => {
    const sent = httpRequest(
      {
        port,
        host: '127.0.0.1',
        path,
        method: 'POST',
        headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json', ...headers },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });

describe('headers', () => {
  test('two Authorization headers are one too many', async () => {
    for (const [first, second] of [
      [`Bearer ${admin}`, 'Bearer x'],
      ['Bearer x', `Bearer ${admin}`],
      [`Bearer ${admin}`, `Bearer ${admin}`],
    ]) {
      const { status, text } = await sendRaw(
        head(
          'GET /api/v1/session HTTP/1.1',
          'host: localhost',
          `Authorization: ${first}`,
          `authorization: ${second}`,
        ),
      );
      expect(status).toBe(401);
      expect(text).toContain('more than one Authorization header');
    }
  });

  test.each([
    ['Bearer'],
    ['Bearer '],
    ['Basic YWRtaW46YWRtaW4='],
    ['Bearer a b'],
    ['Bearer "quoted"'],
    [`Bearer ${'x'.repeat(7000)}`],
    [`Bearer ${'a.'.repeat(3000)}`],
    ['Bearer \u00e9\u00e8'],
    ['bearer otr_'],
  ])('an Authorization header of %j is refused', async (value) => {
    expect(
      (await sendRaw(head('GET /api/v1/session HTTP/1.1', 'host: localhost', `authorization: ${value}`)))
        .status,
    ).toBe(401);
  });

  test('too many bytes of them, two hosts, no host', async () => {
    expect(
      (await sendRaw(head('GET / HTTP/1.1', 'host: localhost', `x: ${'y'.repeat(40_000)}`))).status,
    ).toBe(431);
    expect(
      (await sendRaw(head('GET / HTTP/1.1', 'host: localhost', 'host: evil.example'))).status,
    ).toBeLessThan(500);
    expect((await sendRaw(head('GET / HTTP/1.1'))).status).toBe(400);
    expect((await sendRaw(head('GET / HTTP/1.0'))).status).toBe(421);
    expect((await sendRaw(head('GET / HTTP/1.1', 'host: '))).status).toBe(421);
    const both = head(
      'POST /api/v1/tokens HTTP/1.1',
      'host: localhost',
      'content-length: 4',
      'transfer-encoding: chunked',
    );
    expect((await sendRaw(both)).status).toBe(400);
  });

  test('thousands of cookies', async () => {
    const cookie = 'outrider_session=a.b.c;'.repeat(600);
    expect(
      (await sendRaw(head('GET /api/v1/session HTTP/1.1', 'host: localhost', `cookie: ${cookie}`))).status,
    ).toBe(401);
  });
});

describe('bodies', () => {
  const deep = (open: string, close: string) => open.repeat(100_000) + close.repeat(100_000);

  test.each([
    ['deep lists', deep('[', ']')],
    ['deep objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['a deep field', `{"name":"x","role":${deep('[', ']')}}`],
    ['an open end', '['.repeat(100_000)],
    ['__proto__', '{"__proto__":{"role":"admin"},"name":"x","role":"read"}'],
    ['a constructor', '{"constructor":{"prototype":{"a":1}},"name":"x","role":"read"}'],
    ['no JSON', 'name=x'],
    ['nothing', ''],
    ['a number', '1e999'],
  ])('%s', async (_name, body) => {
    const answer = await post('/api/v1/tokens', body);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body).code).toBe('request_invalid');
  });

  test('huge ones are refused before they are read', async () => {
    const text = `{"name":"${'x'.repeat(1_100_000)}","role":"read"}`;
    expect((await post('/api/v1/tokens', text)).status).toBe(413);
    // Without credentials nothing of the body is looked at.
    expect((await post('/api/v1/tokens', '{}', { authorization: 'Bearer x' })).status).toBe(401);
    const { status } = await sendRaw(
      head(
        'POST /api/v1/tokens HTTP/1.1',
        'host: localhost',
        `authorization: Bearer ${admin}`,
        'content-type: application/json',
        'content-length: 99999999999',
      ),
    );
    expect(status).toBe(413);
  });

  test('other types and methods', async () => {
    expect((await post('/api/v1/tokens', '<x/>', { 'content-type': 'application/xml' })).status).toBe(415);
    for (const method of ['TRACE', 'CONNECT', 'PROPFIND', 'OPTIONS'])
      expect(
        (await sendRaw(head(`${method} /api/v1/tokens HTTP/1.1`, 'host: localhost'))).status,
        method,
      ).not.toBe(200);
    for (const path of [
      '/api/v1/../../etc/passwd',
      '/%2e%2e/%2e%2e',
      '/api/v1/%',
      '/api/v1/tokens/%ff',
      '//evil.example/api/v1/session',
    ])
      expect(
        (await sendRaw(head(`GET ${path} HTTP/1.1`, 'host: localhost'))).status,
        path,
      ).toBeGreaterThanOrEqual(400);
  });
});

test('slow clients are cut off', async () => {
  // The server's own numbers, shortened: what is shown is that they are in force and looked at.
  const { headersTimeout, requestTimeout } = app.server;
  expect([headersTimeout, requestTimeout]).toEqual([15_000, 30_000]);
  try {
    Object.assign(app.server, { headersTimeout: 50, requestTimeout: 100 });
    expect((await sendRaw('GET / HTTP/1.1\r\nhost: local')).status).toBe(408);
    const { status } = await sendRaw(
      `POST /api/v1/tokens HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${admin}\r\ncontent-type: application/json\r\ncontent-length: 90\r\n\r\n{"na`,
    );
    expect(status).toBe(408);
  } finally {
    Object.assign(app.server, { headersTimeout, requestTimeout });
  }
});

test('secrets are in no log line, no answer and no dump', async () => {
  const code = await createSignInCode(database.pool, 'web:test');
  const answers: string[] = [];
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
    const text = await response.text();
    answers.push(
      `${JSON.stringify([...response.headers].filter(([name]) => name !== 'set-cookie'))} ${text}`,
    );
    return response;
  };
  const signedIn = await get(`/sign-in?code=${code}`);
  const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!;
  const wrong = `otr_${'B'.repeat(43)}`;
  await get(`/sign-in?code=${code}`);
  await get('/broken', { authorization: `Bearer ${admin}` });
  await get('/broken', { cookie });
  await get('/api/v1/session', { authorization: `Bearer ${wrong}` });
  await get('/api/v1/nowhere', { authorization: `Bearer ${admin}` });
  for (const path of [
    '/health',
    '/metrics',
    '/readyz',
    '/api/v1/session',
    '/api/v1/tokens',
    '/api/v1/openapi.json',
    '/api/v1/workers',
  ])
    await get(path, { authorization: `Bearer ${admin}` });
  const dump = JSON.stringify(dumpConfig(loaded));
  expect(dump).toContain('"key":"auth.jwt_secret"');
  const secrets = [...Object.values(planted), admin, wrong, code, cookie.split('=')[1]!];
  for (const secret of secrets) {
    expect(answers.join('\n'), 'in an answer').not.toContain(secret);
    expect(dump, 'in the dump').not.toContain(secret);
    expect(logged, 'in the log').not.toContain(secret);
  }
  // The log did say something.
  expect(logged).toContain('a request failed');
  expect(logged).toContain('somebody signed in with a link');
});
