import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createHttpClient, type HttpClient, type HttpClientOptions, parseHostsFile } from './index.ts';
import { type RawServer, respond, startRawServer } from './raw-server.fixture.ts';
import { createSelfSigned } from './self-signed.fixture.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function createClient(options: Partial<HttpClientOptions> = {}): HttpClient {
  const client = createHttpClient({
    userAgent: 't',
    networkLimits: { maxPerDomain: 0, maxPerNetwork: 0, gapMs: 0 },
    connectTimeoutMs: 2000,
    ...options,
  });
  cleanups.push(() => client.close());
  return client;
}

async function startServer(host?: string): Promise<RawServer> {
  const server = await startRawServer((socket) => socket.write(respond('200 OK', {}, 'secret')), host);
  cleanups.push(() => server.close());
  return server;
}

describe('without exceptions nothing private is reached', () => {
  test.each([
    'http://127.0.0.1:PORT/',
    'http://127.1:PORT/',
    'http://2130706433:PORT/',
    'http://0x7f000001:PORT/',
    'http://0x7f.0.0.1:PORT/',
    'http://0177.0.0.1:PORT/',
    'http://017700000001:PORT/',
    'http://127.0.0.1.:PORT/',
    'http://%31%32%37.0.0.1:PORT/',
    'http://\uff11\uff12\uff17.0.0.1:PORT/',
    'http://127\u30020\u30020\u30021:PORT/',
    'http://0:PORT/',
    'http://0.0.0.0:PORT/',
    'http://[::1]:PORT/',
    'http://[::]:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://[::ffff:7f00:1]:PORT/',
    'http://[0:0:0:0:0:ffff:7f00:1]:PORT/',
    'http://[64:ff9b::7f00:1]:PORT/',
    'http://[2002:7f00:1::]:PORT/',
    'http://[::127.0.0.1]:PORT/',
    'http://user:pass@127.0.0.1:PORT/',
    'http://example.com@127.0.0.1:PORT/',
    'http://localhost:PORT/',
    'http://LOCALHOST.:PORT/',
    'http://a.b.localhost:PORT/',
  ])('%s', async (template) => {
    const server = await startServer();
    // The port is open to the guard, so that only the address can be what is refused.
    const client = createClient({ allowedPorts: [server.port] });
    const result = await client.request({ url: template.replace('PORT', String(server.port)) });
    expect(result).toMatchObject({ outcome: 'failed', kind: 'refused_address' });
    expect(server.connections()).toBe(0);
  });

  test.each([
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://example.com/',
    'x',
    '',
    '//a',
  ])('"%s" is no web address', async (url) => {
    expect(await createClient().request({ url })).toMatchObject({ kind: 'refused_address' });
  });

  test('a monster URL is refused', async () => {
    const url = `http://example.com/${'a'.repeat(1_000_000)}`;
    expect(await createClient().request({ url })).toMatchObject({ kind: 'refused_address' });
  });

  test.each([22, 25, 3306, 6379, 9200])('port %i is refused without asking DNS', async (port) => {
    let asked = 0;
    const client = createClient({
      resolver: async () => {
        asked += 1;
        return ['192.0.2.1'];
      },
    });
    expect(await client.request({ url: `http://example.com:${port}/` })).toMatchObject({
      kind: 'refused_port',
    });
    expect(asked).toBe(0);
  });
});

describe('names', () => {
  test.each([
    [['127.0.0.1']],
    [['8.8.8.8', '127.0.0.1']],
    [['2606:4700::1111', '::1']],
    [['::ffff:10.0.0.1']],
    [['169.254.169.254']],
  ])('a name that resolves to %j is refused', async (addresses) => {
    const client = createClient({ resolver: async () => addresses });
    expect(await client.request({ url: 'http://rebind.example/' })).toMatchObject({
      outcome: 'failed',
      kind: 'refused_address',
      detail: expect.stringContaining('rebind.example'),
    });
  });

  test('a resolver that changes its mind between check and connect gains nothing', async () => {
    const server = await startServer();
    const answers = [['127.0.0.9'], ['127.0.0.1']];
    let asked = 0;
    const client = createClient({
      allowNetworks: [`127.0.0.9/32:${server.port}`],
      resolver: async () => {
        asked += 1;
        return answers.shift() ?? ['127.0.0.1'];
      },
    });
    const url = `http://rebind.example:${server.port}/`;
    // The checked address is the one that is dialled: nobody listens on 127.0.0.9, and 127.0.0.1 is never tried.
    expect(await client.request({ url })).toMatchObject({ outcome: 'failed', kind: 'connect' });
    expect(asked).toBe(1);
    expect(await client.request({ url })).toMatchObject({ outcome: 'failed', kind: 'refused_address' });
    expect(server.connections()).toBe(0);
  });

  test('every checked address is tried', async () => {
    const server = await startServer();
    const client = createClient({
      allowNetworks: [`127.0.0.0/8:${server.port}`],
      resolver: async () => ['127.0.0.9', '127.0.0.1'],
    });
    expect(await client.request({ url: `http://two.example:${server.port}/` })).toMatchObject({
      outcome: 'response',
      remoteAddress: '127.0.0.1',
    });
  });

  test.each([
    ['ENOTFOUND', /ENOTFOUND/],
    ['ESERVFAIL', /ESERVFAIL/],
  ])('DNS failure %s is named', async (code, detail) => {
    const client = createClient({
      resolver: () => Promise.reject(Object.assign(new Error('query failed'), { code })),
    });
    expect(await client.request({ url: 'http://gone.example/' })).toMatchObject({
      outcome: 'failed',
      kind: 'dns',
      detail: expect.stringMatching(detail),
    });
  });

  test('slow DNS ends at the deadline or with the caller', async () => {
    const client = createClient({ resolver: () => new Promise(() => undefined) });
    expect(await client.request({ url: 'http://slow.example/', timeoutMs: 10 })).toMatchObject({
      kind: 'dns',
      detail: expect.stringMatching(/ETIMEOUT/),
    });
    const controller = new AbortController();
    const pending = client.request({ url: 'http://slow.example/', signal: controller.signal });
    controller.abort();
    expect(await pending).toMatchObject({ kind: 'aborted', unsent: true });
  });

  test('a refused connection is named', async () => {
    const server = await startServer();
    await server.close();
    const client = createClient({ allowNetworks: [`127.0.0.0/8:${server.port}`] });
    expect(await client.request({ url: `http://127.0.0.1:${server.port}/` })).toMatchObject({
      kind: 'connect',
      detail: expect.stringMatching(/ECONNREFUSED/),
    });
    expect(client.stats().openConnections).toBe(0);
  });

  test('the local address is used', async () => {
    const server = await startServer();
    const seen: (string | undefined)[] = [];
    const other = await startRawServer((socket) => {
      seen.push(socket.remoteAddress);
      socket.write(respond('200 OK', {}, 'x'));
    });
    cleanups.push(() => other.close());
    const client = createClient({
      allowNetworks: ['127.0.0.0/8:*', '[::1]/128:*'],
      localAddress: '127.0.0.5',
    });
    await client.request({ url: `http://127.0.0.1:${other.port}/` });
    expect(seen).toEqual(['127.0.0.5']);
    expect(await client.request({ url: `http://[::1]:${server.port}/` })).toMatchObject({ kind: 'connect' });
  });
});

describe('TLS', () => {
  async function startTls(name: string): Promise<{ port: number; cert: string; names: unknown[] }> {
    const { key, cert } = createSelfSigned(name);
    const names: unknown[] = [];
    const server = createTlsServer({ key, cert }, (request, response) => {
      names.push(request.headers.host, (request.socket as unknown as { servername: unknown }).servername);
      response.end('private');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(
      () =>
        new Promise((resolve) => {
          server.closeAllConnections();
          server.close(() => resolve());
        }),
    );
    return { port: (server.address() as AddressInfo).port, cert, names };
  }

  test('a trusted certificate for the name, reached by the hosts table', async () => {
    const { port, cert, names } = await startTls('secure.example');
    const client = createClient({
      ca: cert,
      allowNetworks: [`127.0.0.0/8:${port}`],
      hosts: parseHostsFile(`127.0.0.1:${port} secure.example`),
    });
    for (let i = 0; i < 2; i += 1) {
      const result = await client.request({ url: 'https://secure.example/' });
      expect(result.outcome === 'response' && result.body.toString()).toBe('private');
    }
    expect(names).toEqual(['secure.example', 'secure.example', 'secure.example', 'secure.example']);
    expect(client.stats()).toMatchObject({ connectionsOpened: 1, connectionsReused: 1 });
  });

  test.each<[string, boolean, RegExp]>([
    ['secure.example', false, /SELF_SIGNED|self-signed|UNABLE/i],
    ['other.example', true, /ALTNAME|altnames/i],
  ])('certificate for %s, trusted %s, is refused', async (name, trusted, detail) => {
    const { port, cert } = await startTls(name);
    const client = createClient({
      ...(trusted ? { ca: cert } : {}),
      allowNetworks: [`127.0.0.0/8:${port}`],
      hosts: parseHostsFile(`127.0.0.1:${port} secure.example`),
    });
    expect(await client.request({ url: 'https://secure.example/' })).toMatchObject({
      outcome: 'failed',
      kind: 'tls',
      detail: expect.stringMatching(detail),
    });
    expect(client.stats().openConnections).toBe(0);
  });

  test('plain HTTP behind https is a TLS failure, silence is one in time', async () => {
    const plain = await startRawServer((socket) => socket.write(respond('200 OK', {}, 'x')));
    cleanups.push(() => plain.close());
    const talking = createClient({ allowNetworks: ['127.0.0.0/8:*'], connectTimeoutMs: 50 });
    const url = `https://127.0.0.1:${plain.port}/`;
    expect(await talking.request({ url })).toMatchObject({ outcome: 'failed', kind: 'tls' });
  });
});
