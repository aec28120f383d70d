import type { Socket } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createHttpClient, type HttpClient, type HttpClientOptions, parseHostsFile } from './index.ts';
import { type RawHandler, type RawServer, respond, startRawServer } from './raw-server.fixture.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const NO_LIMITS = { maxPerDomain: 0, maxPerNetwork: 0, gapMs: 0 };

async function serve(
  handler: RawHandler,
  options: Partial<HttpClientOptions> = {},
): Promise<{ server: RawServer; client: HttpClient; url: string }> {
  const server = await startRawServer(handler);
  cleanups.push(() => server.close());
  const client = createHttpClient({
    userAgent: 'OutriderTest/1',
    allowNetworks: [`127.0.0.0/8:${server.port}`],
    networkLimits: NO_LIMITS,
    ...options,
  });
  cleanups.push(() => client.close());
  return { server, client, url: `http://127.0.0.1:${server.port}/page` };
}

describe('outcomes', () => {
  test('a response carries status, headers, body, peer and timings', async () => {
    const { server, client, url } = await serve((socket) =>
      socket.write(respond('200 OK', { 'Content-Type': 'text/html', 'X-Two': 'a', 'x-two': 'b' }, 'hello')),
    );
    const before = performance.now();
    const result = await client.request({ url, headers: { Accept: 'text/html' } });
    expect(result).toMatchObject({
      outcome: 'response',
      status: 200,
      wireBytes: 5,
      contentEncoding: null,
      truncated: false,
      remoteAddress: '127.0.0.1',
      headers: { 'content-type': 'text/html', 'x-two': 'a, b' },
    });
    if (result.outcome !== 'response') throw new Error(result.outcome);
    expect(result.body.toString()).toBe('hello');
    const { startedAt, headersAt, endedAt } = result.timings;
    expect([before, startedAt, headersAt, endedAt]).toEqual(
      [before, startedAt, headersAt ?? -1, endedAt].toSorted((a, b) => a - b),
    );
    expect(server.requests[0]).toContain('GET /page HTTP/1.1');
    expect(server.requests[0]?.toLowerCase()).toContain('user-agent: outridertest/1');
    expect(server.requests[0]?.toLowerCase()).toMatch(/accept-encoding: gzip, deflate, br/);
    expect(server.requests[0]).toMatch(/^accept: text\/html\r?$/m);
  });

  test('each cookie keeps a line of its own: they have commas inside', async () => {
    const twice = { 'Set-Cookie': 'seen=id=5,ts=99; Path=/', 'set-cookie': 'b=2' };
    const { client, url } = await serve((socket) => socket.write(respond('200 OK', twice, 'hello')));
    expect(await client.request({ url })).toMatchObject({
      headers: { 'set-cookie': 'seen=id=5,ts=99; Path=/\nb=2' },
    });
  });

  test.each([
    ['301', '/moved', '/moved'],
    ['302', 'http://other.example/x?y=1', 'http://other.example/x?y=1'],
    ['303', '//cdn.example/a', 'http://cdn.example/a'],
    ['307', '?q=2', '/page?q=2'],
    ['308', 'http://[broken', 'http://[broken'],
    ['302', 'javascript:alert(1)', 'javascript:alert(1)'],
    ['302', Buffer.from('/s\u00fc\u00df').toString('latin1'), '/s%C3%BC%C3%9F'],
  ])('status %s with Location %s is a value', async (status, location, expected) => {
    const { server, client, url } = await serve((socket) =>
      socket.write(
        Buffer.from(respond(`${status} Moved`, { Location: location }, 'moved').toString('latin1'), 'latin1'),
      ),
    );
    const result = await client.request({ url });
    const absolute = expected.startsWith('/') ? new URL(expected, url).href : expected;
    expect(result).toMatchObject({ outcome: 'redirect', status: Number(status), location: absolute });
    expect(server.requests).toHaveLength(1);
  });

  test('what a server and the proxy before it both say is said once', async () => {
    const twice = (status: string, name: string, value: string): string =>
      `HTTP/1.1 ${status}\r\n${name}: ${value}\r\n${name}: ${value}\r\nContent-Length: 0\r\n\r\n`;
    const answers = [
      twice('302 Found', 'Location', '/moved'),
      twice('429 Too Many', 'Retry-After', '120'),
      twice('200 OK', 'ETag', '"one"'),
      twice('200 OK', 'Last-Modified', 'Wed, 05 Jun 2024 12:00:00 GMT'),
    ];
    const { client, url } = await serve((socket, _head, index) => socket.write(answers[index]!));
    expect(await client.request({ url })).toMatchObject({
      outcome: 'redirect',
      location: new URL('/moved', url).href,
    });
    expect(await client.request({ url })).toMatchObject({ headers: { 'retry-after': '120' } });
    expect(await client.request({ url })).toMatchObject({ headers: { etag: '"one"' } });
    expect(await client.request({ url })).toMatchObject({
      headers: { 'last-modified': 'Wed, 05 Jun 2024 12:00:00 GMT' },
    });
  });

  test('a redirect without Location is a bad response', async () => {
    const { client, url } = await serve((socket) => socket.write(respond('302 Found', {})));
    expect(await client.request({ url })).toMatchObject({ outcome: 'failed', kind: 'bad_response' });
  });

  test('validators are sent and a 304 says whether it was asked for', async () => {
    const { server, client, url } = await serve((socket) =>
      socket.write('HTTP/1.1 304 Not Modified\r\netag: "a"\r\n\r\n'),
    );
    const lastModified = 'Wed, 21 Oct 2015 07:28:00 GMT';
    expect(await client.request({ url, etag: 'W/"a"', lastModified })).toMatchObject({
      outcome: 'not_modified',
      conditional: true,
      headers: { etag: '"a"' },
    });
    expect(server.requests[0]).toContain('if-none-match: W/"a"');
    expect(server.requests[0]).toContain(`if-modified-since: ${lastModified}`);
    expect(await client.request({ url })).toMatchObject({ outcome: 'not_modified', conditional: false });
  });

  test.each([['"a\r\nx-evil: 1"'], ['"\u20ac"'], [`"${'a'.repeat(5000)}"`], ['']])(
    'an unusable validator is left out',
    async (etag) => {
      const { server, client, url } = await serve((socket) => socket.write(respond('200 OK', {}, 'x')));
      expect(await client.request({ url, etag, lastModified: etag })).toMatchObject({ outcome: 'response' });
      expect(server.requests[0]).not.toMatch(/if-|evil/);
    },
  );

  test('the content-type gate decides before the body is read', async () => {
    const seen: unknown[] = [];
    const { server, client, url } = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: video/mp4\r\ncontent-length: 900000000\r\n\r\n');
    });
    const result = await client.request({
      url,
      accept: (type, status) => {
        seen.push(type, status);
        return false;
      },
    });
    expect(result).toMatchObject({ outcome: 'unsupported_type', status: 200, contentType: 'video/mp4' });
    expect(seen).toEqual(['video/mp4', 200]);
    expect(client.stats().openConnections).toBe(0);
    expect(server.connections()).toBe(1);
  });

  test('HEAD has no body', async () => {
    const { server, client, url } = await serve((socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n'),
    );
    const result = await client.request({ url, method: 'HEAD' });
    expect(result).toMatchObject({ outcome: 'response', status: 200, wireBytes: 0 });
    expect(server.requests[0]).toContain('HEAD /page');
  });
});

describe('connections', () => {
  test('a connection is reused for its origin', async () => {
    const { server, client, url } = await serve((socket) => socket.write(respond('200 OK', {}, 'x')));
    for (let i = 0; i < 3; i += 1) await client.request({ url });
    expect(server.connections()).toBe(1);
    expect(client.stats()).toMatchObject({ connectionsOpened: 1, connectionsReused: 2, idleConnections: 1 });
  });

  test('small unwanted bodies keep the connection, large ones end it', async () => {
    let size = 100;
    const { server, client, url } = await serve((socket) =>
      socket.write(respond('302 Found', { location: '/x' }, 'y'.repeat(size))),
    );
    await client.request({ url });
    await client.request({ url });
    expect(server.connections()).toBe(1);
    size = 100_000;
    await client.request({ url });
    await client.request({ url });
    expect(server.connections()).toBe(2);
  });

  test('a kept-alive connection that died without answering is told, and nothing is sent behind the back', async () => {
    const { server, client, url } = await serve((socket, _head, index) => {
      if (index === 1) socket.destroy();
      else socket.write(respond('200 OK', {}, 'x'));
    });
    expect(await client.request({ url })).toMatchObject({ outcome: 'response' });
    expect(await client.request({ url })).toMatchObject({ outcome: 'failed', kind: 'reset', stale: true });
    expect(server.requests).toHaveLength(2);
    expect(await client.request({ url })).toMatchObject({ outcome: 'response' });
    expect(server.connections()).toBe(2);
  });

  test('a new connection that is reset is no stale one', async () => {
    const { client, url } = await serve((socket) => socket.destroy());
    const result = await client.request({ url });
    expect(result).toMatchObject({ outcome: 'failed', kind: 'reset' });
    expect(result).not.toHaveProperty('stale');
  });

  test('connection: close and HTTP/1.0 are respected', async () => {
    const { server, client, url } = await serve((socket, _head, index) => {
      socket.end(
        index === 0
          ? respond('200 OK', { connection: 'close' }, 'one')
          : 'HTTP/1.0 200 OK\r\ncontent-type: text/html\r\n\r\nuntil the end',
      );
    });
    expect(await client.request({ url })).toMatchObject({ outcome: 'response' });
    const second = await client.request({ url });
    expect(second.outcome === 'response' && second.body.toString()).toBe('until the end');
    expect(server.connections()).toBe(2);
  });

  test('idle connections make room when the cap is reached', async () => {
    const first = await startRawServer((socket) => socket.write(respond('200 OK', {}, 'x')));
    const second = await startRawServer((socket) => socket.write(respond('200 OK', {}, 'x')));
    cleanups.push(first.close, second.close);
    const client = createHttpClient({
      userAgent: 't',
      allowNetworks: ['127.0.0.0/8:*'],
      networkLimits: NO_LIMITS,
      maxConnections: 1,
    });
    cleanups.push(() => client.close());
    for (const port of [first.port, second.port, first.port])
      expect(await client.request({ url: `http://127.0.0.1:${port}/` })).toMatchObject({
        outcome: 'response',
      });
    expect(client.stats()).toMatchObject({ openConnections: 1, connectionsOpened: 3 });
  });

  test.each(['a new', 'a kept'])(
    'nothing is written over %s connection when it is too late',
    async (which) => {
      const { server, client, url } = await serve((socket) => socket.write(respond('200 OK', {}, 'x')));
      if (which === 'a kept') await client.request({ url });
      const before = server.requests.length;
      const asked: number[] = [];
      const maySend = (): boolean => {
        asked.push(client.stats().connectionsOpened);
        return false;
      };
      expect(await client.request({ url, maySend })).toMatchObject({ kind: 'aborted', unsent: true });
      // Asked once, when there was a connection to write to, not before it was dialled.
      expect(asked).toEqual([1]);
      expect(client.stats()).toMatchObject({ openConnections: 0, active: 0 });
      expect(await client.request({ url, maySend: () => true })).toMatchObject({ outcome: 'response' });
      expect(server.requests).toHaveLength(before + 1);
    },
  );

  test('requests beyond the cap wait for their turn', async () => {
    const held: Socket[] = [];
    let most = 0;
    const { client, url } = await serve(
      (socket) => {
        most = Math.max(most, held.push(socket));
        // Answers in pairs: it only comes to an end when exactly two are let through.
        if (held.length === 2) for (const each of held.splice(0)) each.write(respond('200 OK', {}, 'x'));
      },
      { maxConnectionsPerHost: 2 },
    );
    const results = await Promise.all(Array.from({ length: 12 }, () => client.request({ url })));
    expect(results.map((result) => result.outcome)).toEqual(Array.from({ length: 12 }, () => 'response'));
    expect(most).toBe(2);
    expect(client.stats()).toMatchObject({ active: 0, waiting: 0 });
  });

  test('the hosts table redirects name and port, the Host header keeps the name', async () => {
    const { server, client } = await serve((socket) => socket.write(respond('200 OK', {}, 'x')), {});
    const named = createHttpClient({
      userAgent: 't',
      allowNetworks: [`127.0.0.0/8:${server.port}`],
      hosts: parseHostsFile(`127.0.0.1:${server.port} news.example www.news.example # ours`),
      networkLimits: NO_LIMITS,
      resolver: () => Promise.reject(new Error('must not be asked')),
    });
    cleanups.push(() => named.close());
    expect(await named.request({ url: 'http://News.Example/a' })).toMatchObject({ outcome: 'response' });
    expect(server.requests[0]).toMatch(/^host: news\.example\r?$/m);
    expect(await client.request({ url: 'http://127.0.0.1:9/' })).toMatchObject({ kind: 'refused_port' });
  });

  test('sub-domains of one platform and hosts of one /24 share a cap', async () => {
    const held: Socket[] = [];
    let most = 0;
    const other = await startRawServer((socket) => {
      // Answers by threes: with fewer let through it would never end, with more the count would show it.
      most = Math.max(most, held.push(socket));
      if (held.length === 3) for (const each of held.splice(0)) each.write(respond('200 OK', {}, 'x'));
    });
    cleanups.push(() => other.close());
    const options = {
      userAgent: 't',
      allowNetworks: [`127.0.0.0/8:${other.port}`],
      maxConnectionsPerHost: 50,
    };
    const run = async (limited: HttpClient, hosts: string[]): Promise<void> => {
      cleanups.push(() => limited.close());
      const urls = hosts.map((host) => `http://${host}:${other.port}/`);
      const results = await Promise.all(urls.map((url) => limited.request({ url })));
      expect(results.map((result) => result.outcome)).toEqual(hosts.map(() => 'response'));
    };
    const byDomain = createHttpClient({
      ...options,
      networkLimits: { maxPerDomain: 3, maxPerNetwork: 0, gapMs: 0 },
      // The first address counts for the cap; nobody listens there, so the second one answers.
      resolver: async (host) => [`127.0.${host.charCodeAt(0)}.1`, '127.0.0.1'],
    });
    await run(
      byDomain,
      ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `${name}.platform.example`),
    );
    const byNetwork = createHttpClient({
      ...options,
      networkLimits: { maxPerDomain: 0, maxPerNetwork: 3, gapMs: 0 },
      resolver: async (host) => [`127.0.9.${host.charCodeAt(0)}`, '127.0.0.1'],
    });
    await run(
      byNetwork,
      ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `${name}.example`),
    );
    expect(most).toBe(3);
  });

  test('close ends what is under way and refuses what comes', async () => {
    const { server, client, url } = await serve(() => undefined);
    const pending = client.request({ url });
    await vi.waitUntil(() => server.requests.length === 1);
    await client.close();
    const broken = await pending;
    expect(broken).toMatchObject({ outcome: 'failed', kind: 'aborted' });
    expect(broken).not.toHaveProperty('unsent');
    expect(await client.request({ url })).toMatchObject({ outcome: 'failed', kind: 'aborted', unsent: true });
  });
});
