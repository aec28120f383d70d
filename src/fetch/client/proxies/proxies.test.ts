import { createServer as createTlsSite } from 'node:https';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { createHttpClient, type HttpClient, type HttpClientOptions } from '../index.ts';
import { type RawServer, respond, startRawServer } from '../raw-server.fixture.ts';
import { createSelfSigned } from '../self-signed.fixture.ts';
import { createProxyChooser, parseProxy } from './index.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function startSite(): Promise<RawServer> {
  const site = await startRawServer((socket) => socket.write(respond('200 OK', {}, 'page')));
  cleanups.push(() => site.close());
  return site;
}

function createClient(options: Partial<HttpClientOptions>): HttpClient {
  const client = createHttpClient({
    userAgent: 't',
    allowNetworks: ['127.0.0.0/8:*'],
    networkLimits: { maxPerDomain: 0, maxPerNetwork: 0, gapMs: 0 },
    resolver: async () => ['127.0.0.1'],
    ...options,
  });
  cleanups.push(() => client.close());
  return client;
}

/** A CONNECT proxy that really forwards, unless `refuse` gives another answer. */
async function startHttpProxy(refuse?: string): Promise<RawServer> {
  const proxy = await startRawServer((socket, head) => {
    if (refuse !== undefined) return void socket.end(refuse);
    const [, host = '', port = ''] = /^CONNECT ([^:]+):(\d+) /.exec(head) ?? [];
    const onward = connect(Number(port), host, () => {
      socket.removeAllListeners('data');
      socket.write('HTTP/1.1 200 Connection established\r\nx-proxy: 1\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    socket.on('close', () => onward.destroy());
    onward.on('error', () => socket.destroy());
  });
  cleanups.push(() => proxy.close());
  return proxy;
}

type SocksProxy = { port: number; seen: string[] };

/** A SOCKS5 proxy in the order of RFC 1928: greeting, optional sign-in, request. */
async function startSocksProxy(options: { login?: string; reply?: number } = {}): Promise<SocksProxy> {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => sockets.delete(socket));
    let stage: 'greeting' | 'login' | 'request' = 'greeting';
    const onData = (data: Buffer): void => {
      if (stage === 'greeting') {
        stage = options.login === undefined ? 'request' : 'login';
        socket.write(Buffer.from([5, options.login === undefined ? 0 : 2]));
      } else if (stage === 'login') {
        const userEnd = 2 + (data[1] ?? 0);
        const login = `${data.subarray(2, userEnd)}:${data.subarray(userEnd + 1)}`;
        stage = 'request';
        socket.write(Buffer.from([1, login === options.login ? 0 : 1]));
      } else {
        const address = [...data.subarray(4, 8)].join('.');
        const port = data.readUInt16BE(8);
        seen.push(`${data[3]} ${address}:${port}`);
        const answer = Buffer.from([5, options.reply ?? 0, 0, 1, 0, 0, 0, 0, 0, 0]);
        if (options.reply !== undefined) return void socket.end(answer);
        socket.off('data', onData);
        const onward = connect(port, address, () => {
          // In two parts: a reader must not count on getting an answer in one piece.
          socket.write(answer.subarray(0, 3));
          setImmediate(() => {
            socket.write(answer.subarray(3));
            socket.pipe(onward).pipe(socket);
          });
        });
        socket.on('close', () => onward.destroy());
      }
    };
    socket.on('data', onData);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(
    () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  );
  return { port: (server.address() as AddressInfo).port, seen };
}

describe('going through', () => {
  test('an HTTP proxy is given the checked address, the site the name', async () => {
    const site = await startSite();
    const proxy = await startHttpProxy();
    const client = createClient({ proxies: [`http://us%40er:secret@127.0.0.1:${proxy.port}`] });
    const url = `http://news.example:${site.port}/a`;
    for (let i = 0; i < 2; i += 1)
      expect(await client.request({ url })).toMatchObject({ outcome: 'response' });
    expect(proxy.requests).toHaveLength(1);
    expect(proxy.requests[0]).toContain(`CONNECT 127.0.0.1:${site.port} `);
    expect(proxy.requests[0]).toContain(Buffer.from('us@er:secret').toString('base64'));
    expect(proxy.requests[0]).not.toContain('news.example');
    expect(site.requests[0]).toContain(`host: news.example:${site.port}`);
    expect(site.requests[0]).not.toMatch(/proxy/i);
  });

  test.each([
    ['', undefined],
    ['user:pass@', 'user:pass'],
  ])('a SOCKS5 proxy (credentials "%s")', async (prefix, login) => {
    const site = await startSite();
    const proxy = await startSocksProxy(login === undefined ? {} : { login });
    const client = createClient({ proxies: [`socks5://${prefix}127.0.0.1:${proxy.port}`] });
    const url = `http://news.example:${site.port}/a`;
    expect(await client.request({ url })).toMatchObject({ outcome: 'response' });
    expect(proxy.seen).toEqual([`1 127.0.0.1:${site.port}`]);
    expect(site.requests[0]).toContain('host: news.example');
  });

  test('TLS inside the tunnel; a proxy that cannot prove itself is not used', async () => {
    const { key, cert } = createSelfSigned('secure.example');
    const site = createTlsSite({ key, cert }, (_request, response) => response.end('private'));
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const sitePort = (site.address() as AddressInfo).port;
    const inner = await startHttpProxy();
    // The same proxy behind TLS: a terminator that passes the plain bytes on.
    const outer = createTlsServer({ key, cert }, (socket) => {
      const onward = connect(inner.port, '127.0.0.1');
      socket.pipe(onward).pipe(socket);
      socket.on('error', () => onward.destroy());
      onward.on('error', () => socket.destroy());
    });
    await new Promise<void>((resolve) => outer.listen(0, '127.0.0.1', resolve));
    const outerPort = (outer.address() as AddressInfo).port;
    cleanups.unshift(async () => {
      site.closeAllConnections();
      await Promise.all([site, outer].map((server) => new Promise((resolve) => server.close(resolve))));
    });
    const url = `https://secure.example:${sitePort}/`;
    const plain = createClient({ ca: cert, proxies: [`http://127.0.0.1:${inner.port}`] });
    const first = await plain.request({ url });
    expect(first.outcome === 'response' && first.body.toString()).toBe('private');
    // "localhost" is not the certificate's name: a proxy that cannot prove itself is not used.
    const doubtful = createClient({ ca: cert, proxies: [`https://localhost:${outerPort}`] });
    expect(await doubtful.request({ url })).toMatchObject({
      kind: 'proxy',
      detail: expect.stringMatching(/altname/i),
    });
    expect(inner.requests).toHaveLength(1);
  });

  test('the guard holds: a private address is refused before the proxy hears of it', async () => {
    const proxy = await startHttpProxy();
    const client = createClient({ allowNetworks: [], proxies: [`http://127.0.0.1:${proxy.port}`] });
    expect(await client.request({ url: 'http://inside.example/' })).toMatchObject({
      kind: 'refused_address',
    });
    expect(proxy.connections()).toBe(0);
  });

  test('a request may bring its own proxies or none', async () => {
    const site = await startSite();
    const proxy = await startHttpProxy();
    const url = `http://127.0.0.1:${site.port}/`;
    const direct = createClient({ proxies: [`http://127.0.0.1:${proxy.port}`] });
    expect(await direct.request({ url, proxies: [] })).toMatchObject({ outcome: 'response' });
    expect(proxy.connections()).toBe(0);
    const own = createClient({});
    await own.request({ url, proxies: [`http://127.0.0.1:${proxy.port}`] });
    expect(proxy.connections()).toBe(1);
  });
});

describe('failing', () => {
  test.each<[string, string, string]>([
    ['sign-in wanted', 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n', 'proxy'],
    ['forbidden', 'HTTP/1.1 403 Forbidden\r\n\r\n', 'proxy'],
    ['no HTTP', 'SSH-2.0-x\r\n\r\n', 'proxy'],
    ['cut short', 'HTTP/1.1 200', 'proxy'],
    ['too long', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(3000)}\r\n`, 'proxy'],
    ['target unreachable', 'HTTP/1.1 502 Bad Gateway\r\n\r\n', 'connect'],
  ])('HTTP: %s', async (_name, answer, kind) => {
    const proxy = await startHttpProxy(answer);
    const client = createClient({ proxies: [`http://127.0.0.1:${proxy.port}`] });
    expect(await client.request({ url: 'http://news.example/' })).toMatchObject({ outcome: 'failed', kind });
    expect(client.stats().openConnections).toBe(0);
  });

  test.each<[string, { login?: string; reply?: number }, string]>([
    ['refused credentials', { login: 'other:pass' }, 'proxy'],
    ['general failure', { reply: 1 }, 'proxy'],
    ['target refused', { reply: 5 }, 'connect'],
  ])('SOCKS5: %s', async (_name, options, kind) => {
    const proxy = await startSocksProxy(options);
    const client = createClient({ proxies: [`socks5://user:pass@127.0.0.1:${proxy.port}`] });
    expect(await client.request({ url: 'http://news.example/' })).toMatchObject({ outcome: 'failed', kind });
  });

  test('a silent proxy is given up', async () => {
    const proxy = await startRawServer(() => undefined);
    cleanups.push(() => proxy.close());
    const client = createClient({ proxies: [`http://127.0.0.1:${proxy.port}`], connectTimeoutMs: 30 });
    expect(await client.request({ url: 'http://news.example/' })).toMatchObject({ kind: 'proxy' });
  });

  test('a dead proxy rests, the other one serves, and nothing goes out directly', async () => {
    const site = await startSite();
    const dead = await startHttpProxy();
    await dead.close();
    const alive = await startHttpProxy();
    const url = `http://news.example:${site.port}/`;
    const both = createClient({
      proxies: [`http://127.0.0.1:${dead.port}`, `http://127.0.0.1:${alive.port}`],
    });
    expect(await both.request({ url })).toMatchObject({ kind: 'proxy' });
    expect(await both.request({ url })).toMatchObject({ outcome: 'response' });
    const only = createClient({ proxies: [`http://127.0.0.1:${dead.port}`] });
    await only.request({ url });
    expect(await only.request({ url })).toMatchObject({
      kind: 'no_proxy',
      detail: expect.stringMatching(/resting/),
    });
    expect(site.requests).toHaveLength(1);
  });
});

describe('choosing', () => {
  const list = ['http://a.example:1', 'http://b.example:2', 'socks5://c.example'];
  const keyOf = (chooser: ReturnType<typeof createProxyChooser>, domain: string): string => {
    const choice = chooser.choose(domain);
    return choice.via === 'proxy' ? choice.proxy.key : choice.via;
  };

  test('a domain keeps its proxy for ten minutes, domains go round', () => {
    let at = 0;
    const chooser = createProxyChooser(list, () => at);
    const first = ['x', 'y', 'z'].map((domain) => keyOf(chooser, domain));
    expect(new Set(first).size).toBe(3);
    keyOf(chooser, 'w');
    at = 599_000;
    expect(['x', 'y', 'z'].map((domain) => keyOf(chooser, domain))).toEqual(first);
    at = 601_000;
    expect(keyOf(chooser, 'x')).not.toBe(first[0]);
  });

  test('one that failed rests for five minutes', () => {
    let at = 0;
    const chooser = createProxyChooser(list.slice(0, 1), () => at);
    const choice = chooser.choose('x');
    if (choice.via !== 'proxy') throw new Error(choice.via);
    chooser.rest(choice.proxy);
    expect(keyOf(chooser, 'x')).toBe('none_healthy');
    at = 301_000;
    expect(keyOf(chooser, 'x')).toBe('http://a.example:1');
  });

  test.each([
    ['http://host', 'http', 'host', 80],
    ['https://host', 'https', 'host', 443],
    ['socks5://[::1]:9', 'socks5', '::1', 9],
    ['socks5h://host', 'socks5', 'host', 1080],
  ])('%s is read', (text, kind, host, port) => {
    expect(parseProxy(text)).toMatchObject({ kind, host, port, credentials: null });
  });

  test.each(['', 'host:3128', 'ftp://host', 'socks4://host', 'http://'])('"%s" is refused', (text) => {
    expect(() => parseProxy(text)).toThrow(/proxy/);
  });

  test('credentials are unescaped, and a bare percent sign stays', () => {
    expect(parseProxy('http://a%40b:50%25%C3%BC%zz@h').credentials).toEqual({
      user: 'a@b',
      password: '50%ü%zz',
    });
  });

  test('an unreadable entry of a request serves nobody', async () => {
    const client = createClient({});
    expect(await client.request({ url: 'http://news.example/', proxies: ['nonsense'] })).toMatchObject({
      outcome: 'failed',
      kind: 'no_proxy',
    });
    expect(() => createClient({ proxies: ['nonsense'] })).toThrow(/proxy/);
  });

  test('credentials are in no key and no message', () => {
    expect(JSON.stringify(parseProxy('http://u:hunter2@h:1').key)).not.toContain('hunter2');
    expect(() => parseProxy('ftp://u:hunter2@h:1')).toThrow(expect.not.stringContaining('hunter2') as never);
  });
});
