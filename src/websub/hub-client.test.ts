import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import type { DueSubscription } from '../channels/index.ts';
import { loadConfig } from '../config/index.ts';
import { askHub, createHubClient } from './hub-client.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const due: Omit<DueSubscription, 'hub'> = {
  id: 1,
  state: 'requested',
  token: 'f'.repeat(32),
  secret: 's',
  topic: 'http://a.example/feed?a=1&b=2',
  callback: 'https://me.example',
  tries: 1,
};

async function startHub(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => new Promise((resolve) => server.close(resolve)));
  cleanups.push(async () => server.closeAllConnections());
  return (server.address() as AddressInfo).port;
}

async function ask(hub: string, allowed: string[], state: DueSubscription['state'] = 'requested') {
  const { config } = loadConfig({ env: {}, overrides: { 'fetch.allow_networks': allowed } });
  const client = createHubClient(config, { userAgent: 'OutriderTest/1', hosts: null });
  cleanups.push(() => client.close());
  return askHub(
    client,
    { ...due, hub, state },
    { leaseSeconds: 864_000, signal: new AbortController().signal },
  );
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request as AsyncIterable<Buffer>) text += chunk.toString();
  return text;
}

it('a wish is a form, and keeps its form over a redirect that says so', async () => {
  const seen: { method: string; type: string; body: string }[] = [];
  const port = await startHub((request, response) => {
    void bodyOf(request).then((body) => {
      seen.push({ method: request.method ?? '', type: request.headers['content-type'] ?? '', body });
      if (request.url === '/old') response.writeHead(307, { location: '/new' }).end();
      else response.writeHead(202).end();
    });
  });
  expect(await ask(`http://127.0.0.1:${port}/old`, [`127.0.0.1/32:${port}`])).toEqual({
    outcome: 'accepted',
  });
  expect(seen).toHaveLength(2);
  expect(seen[1]).toEqual(seen[0]);
  expect(seen[0]).toMatchObject({ method: 'POST', type: 'application/x-www-form-urlencoded' });
  expect(Object.fromEntries(new URLSearchParams(seen[0]!.body))).toEqual({
    'hub.mode': 'subscribe',
    'hub.topic': due.topic,
    'hub.callback': `https://me.example/websub/${due.token}`,
    'hub.secret': 's',
    'hub.lease_seconds': '864000',
  });
  await ask(`http://127.0.0.1:${port}/new`, [`127.0.0.1/32:${port}`], 'ending');
  expect(seen[2]!.body).toMatch(/^hub\.mode=unsubscribe&/);
});

it.each([
  [400, {}, { outcome: 'refused', reason: 'the hub answered 400: no thanks' }],
  [302, { location: '/x' }, { outcome: 'refused', reason: 'the hub answered 302' }],
  [
    429,
    { 'retry-after': '7' },
    { outcome: 'failed', reason: 'the hub answered 429: no thanks', retryAfterMs: 7000 },
  ],
  [500, {}, { outcome: 'failed', reason: 'the hub answered 500: no thanks', retryAfterMs: null }],
  [308, { location: '/again' }, { outcome: 'failed', reason: 'more than 3 redirects', retryAfterMs: null }],
])('an answer of %i', async (status, headers, expected) => {
  const port = await startHub(
    (_request, response) => void response.writeHead(status, headers).end('no\n thanks'),
  );
  expect(await ask(`http://127.0.0.1:${port}/`, [`127.0.0.1/32:${port}`])).toEqual(expected);
});

it('a feed cannot have us call our own network', async () => {
  let calls = 0;
  const port = await startHub((_request, response) => {
    calls += 1;
    response.end();
  });
  const answer = await ask(`http://127.0.0.1:${port}/`, []);
  expect(answer).toMatchObject({
    outcome: 'failed',
    reason: expect.stringMatching(/^refused_(port|address): /),
  });
  expect(calls).toBe(0);
});
