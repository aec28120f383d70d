import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServiceClient } from './http.ts';

let respond: (response: ServerResponse) => void;
const server = createServer((request, response) => {
  request.resume();
  respond(response);
});
const client = new ServiceClient({ connections: 2, mostAnswerBytes: 10_000, timeoutMs: 300 });

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(async () => {
  await client.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const send = () =>
  client.send({
    method: 'POST',
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    headers: {},
    body: 'a document',
    signal: new AbortController().signal,
  });

function drip(response: ServerResponse): void {
  response.writeHead(200);
  const timer = setInterval(() => response.write('.'), 20);
  response.on('close', () => clearInterval(timer));
}

test.each([
  ['that never answers', () => undefined, /no answer within 300 ms|Timeout/i],
  ['whose answer drips', drip, /no answer within 300 ms/],
  [
    'whose answer has no end',
    (response: ServerResponse) => response.end('x'.repeat(20_000)),
    /longer than 10000 bytes/,
  ],
  ['that hangs up', (response: ServerResponse) => response.destroy(), /./],
])('a service %s has failed, in time', async (_what, how, reason) => {
  respond = how;
  expect(await send()).toEqual({ outcome: 'failed', reason: expect.stringMatching(reason), broke: true });
});

test('a service that is not there is not broken by the request', async () => {
  const gone = createServer();
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
  const { port } = gone.address() as AddressInfo;
  await new Promise((resolve) => gone.close(resolve));
  const request = { method: 'POST', headers: {}, body: 'a document' } as const;
  const signal = new AbortController().signal;
  expect(await client.send({ ...request, url: `http://127.0.0.1:${port}/`, signal })).toEqual({
    outcome: 'failed',
    reason: expect.stringContaining('ECONNREFUSED'),
    broke: false,
  });
  const ended = AbortSignal.abort(new Error('told to stop'));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  expect(await client.send({ ...request, url, signal: ended })).toMatchObject({ broke: false });
});

test.each([
  ['drips', drip],
  ['has no end', (response: ServerResponse) => response.end('x'.repeat(20_000))],
  [
    'breaks off',
    (response: ServerResponse) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    },
  ],
])('an answer that %s is one where its status is enough', async (_what, how) => {
  const terse = new ServiceClient({
    connections: 1,
    mostAnswerBytes: 10_000,
    timeoutMs: 300,
    isStatusEnough: true,
  });
  respond = how;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const signal = new AbortController().signal;
  expect(await terse.send({ method: 'POST', url, headers: {}, body: 'a document', signal })).toMatchObject({
    outcome: 'answered',
    status: 200,
  });
  await terse.close();
});

test('a redirect is an answer and is not followed', async () => {
  let asked = 0;
  respond = (response) => {
    asked += 1;
    response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
  };
  expect(await send()).toMatchObject({ outcome: 'answered', status: 302 });
  expect(asked).toBe(1);
});
