import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiLab, startApiLab } from './lab.ts';

let lab: ApiLab;
beforeAll(async () => {
  lab = await startApiLab();
});
afterAll(() => lab.close());

async function post(path: string, body: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) {
  const response = await fetch(`${lab.address}/api/v1${path}`, {
    method: 'POST',
    body,
    headers: { ...lab.headersOf('admin'), 'content-type': 'application/json', ...headers },
  });
  return { response, status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const slugs = async (): Promise<string[]> =>
  (await lab.database.pool.query<{ slug: string }>('SELECT slug FROM sources ORDER BY id')).rows.map(
    (row) => row.slug,
  );

test('letters of another encoding are refused, and not stored as question marks', async () => {
  const source = Buffer.from('{"url":"https://one.test/","name":"caf\u00e9"}', 'latin1');
  expect(await post('/sources', source)).toMatchObject({
    status: 400,
    body: { code: 'request_invalid', detail: 'the body is no UTF-8' },
  });
  const urls = Buffer.from('{"urls":["https://one.test/caf\u00e9"]}', 'latin1');
  expect((await post('/frontier/submit/bulk', urls)).status).toBe(400);
  expect(await lab.database.pool.query('SELECT FROM url_frontier')).toMatchObject({ rowCount: 0 });
  expect(await slugs()).toEqual([]);
  const { status, body } = await post(
    '/sources',
    '\ufeff{"url":"https://two.test/","name":"caf\u00e9 \u65b0"}',
  );
  expect([status, body.name]).toEqual([201, 'caf\u00e9 \u65b0']);
});

test('what is no JSON, is empty or would change what objects are is refused in words', async () => {
  for (const text of ['{"url":', '', '{"url":"https://x.test/","__proto__":{"a":1}}'])
    expect(await post('/sources', text), text).toMatchObject({
      status: 400,
      body: { code: 'request_invalid', detail: expect.stringMatching(/^Body /) as string },
    });
});

test('a compressed body is told to come plain', async () => {
  const packed = gzipSync('{"url":"https://packed.test/"}');
  const { response, status, body } = await post('/sources', packed, { 'content-encoding': 'gzip' });
  expect([status, response.headers.get('accept-encoding')]).toEqual([415, 'identity']);
  expect(body).toMatchObject({ code: 'request_invalid', detail: 'a body is taken uncompressed' });
  const plain = { 'content-encoding': 'identity' };
  expect((await post('/sources', '{"url":"https://plain.test/"}', plain)).status).toBe(201);
});

async function speak(text: string): Promise<string> {
  const { hostname, port } = new URL(lab.address);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.setEncoding('utf8').on('data', (part: string) => {
    answer += part;
  });
  socket.write(text);
  await once(socket, 'close');
  return answer;
}

test.each([
  ['FOO / HTTP/1.1\r\nHost: localhost\r\n\r\n', 400, 'this is no method of HTTP'],
  [
    `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`,
    431,
    'the headers are longer than 16 KB',
  ],
  ['hello\r\n\r\n', 400, /this is no/],
])('what is no HTTP is a problem document too: %j', async (text, status, detail) => {
  const [head, body] = (await speak(text)).split('\r\n\r\n') as [string, string];
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(head).toContain('Content-Type: application/problem+json');
  expect(JSON.parse(body)).toMatchObject({
    status,
    code: 'request_invalid',
    detail: expect.stringMatching(detail) as string,
  });
});
