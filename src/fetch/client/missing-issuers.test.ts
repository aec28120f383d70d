import { X509Certificate } from 'node:crypto';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createHttpClient, type HttpClient, type HttpClientOptions, parseHostsFile } from './index.ts';
import { type ChainSender, type IssuerFailure, MissingIssuers } from './missing-issuers.ts';
import { type RawHandler, type RawServer, respond, startRawServer } from './raw-server.fixture.ts';
import { type Certificate, type CertificateOptions, createCertificate } from './self-signed.fixture.ts';

const SITE = 'site.example';
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const der = ({ cert }: Certificate): Buffer => new X509Certificate(cert).raw;
const root = createCertificate('Root', { authority: true });

/** What the issuer's address answers: a certificate in DER, or whatever a handler writes. */
type AtIssuer = Certificate | Buffer | RawHandler;

async function startIssuers(): Promise<{ server: RawServer; paths: Map<string, AtIssuer>; url: string }> {
  const paths = new Map<string, AtIssuer>();
  const server = await startRawServer((socket, head, index) => {
    const answer = paths.get(head.split(' ')[1] ?? '');
    if (answer === undefined) socket.write(respond('404 Not Found', {}, 'none'));
    else if (typeof answer === 'function') answer(socket, head, index);
    else socket.write(respond('200 OK', {}, Buffer.isBuffer(answer) ? answer : der(answer)));
  });
  cleanups.push(() => server.close());
  return { server, paths, url: `http://issuers.example:${server.port}` };
}

type Site = { port: number; requests: () => number; handshakes: () => number };

/** A real server over TLS that sends exactly these certificates. */
async function startSite(leaf: Certificate, sent: readonly Certificate[] = [], breaksAt = 0): Promise<Site> {
  let requests = 0;
  let handshakes = 0;
  const server = createTlsServer(
    { key: leaf.key, cert: [leaf, ...sent].map(({ cert }) => cert).join('') },
    (_request, response) => {
      requests += 1;
      // One request per connection, so that each shows its handshake.
      response.setHeader('connection', 'close');
      response.end('read');
    },
  );
  server.on('connection', (socket) => {
    handshakes += 1;
    if (handshakes === breaksAt) socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  return {
    port: (server.address() as AddressInfo).port,
    requests: () => requests,
    handshakes: () => handshakes,
  };
}

function createClient(
  sites: Record<string, Site>,
  issuers: RawServer,
  options: Partial<HttpClientOptions> = {},
): HttpClient {
  const ports = [...Object.values(sites), issuers].map(({ port }) => `127.0.0.1/32:${port}`);
  const hosts = Object.entries(sites).map(([name, { port }]) => `127.0.0.1:${port} ${name}`);
  const client = createHttpClient({
    userAgent: 't',
    ca: root.cert,
    allowNetworks: ports,
    hosts: parseHostsFile([...hosts, `127.0.0.1:${issuers.port} issuers.example`].join('\n')),
    ...options,
  });
  cleanups.push(() => client.close());
  return client;
}

/** A site whose leaf is below an intermediate that only the issuer's address has. */
async function startIncomplete(
  leafOptions: CertificateOptions = {},
  options: Partial<HttpClientOptions> & { atIssuer?: AtIssuer; name?: string } = {},
) {
  const { atIssuer, name = SITE, ...clientOptions } = options;
  const issuers = await startIssuers();
  const intermediate = createCertificate('Intermediate', { issuer: root, authority: true });
  issuers.paths.set('/i.cer', atIssuer ?? intermediate);
  const issuerAt = `${issuers.url}/i.cer`;
  const site = await startSite(createCertificate(name, { issuer: intermediate, issuerAt, ...leafOptions }));
  const client = createClient({ [SITE]: site }, issuers.server, clientOptions);
  return { issuers, site, client, intermediate, issuerAt };
}

const read = (client: HttpClient, host = SITE) => client.request({ url: `https://${host}/` });
const failed = (detail: RegExp) => ({
  outcome: 'failed',
  kind: 'tls',
  detail: expect.stringMatching(detail),
});

describe('a chain without its intermediate', () => {
  test('is read, and the next connection knows it', async () => {
    const { client, site, issuers } = await startIncomplete();
    expect(await read(client)).toMatchObject({ outcome: 'response', status: 200 });
    // The refused one, the look, the repaired one.
    expect([site.handshakes(), site.requests(), issuers.server.requests.length]).toEqual([3, 1, 1]);
    expect(await read(client)).toMatchObject({ outcome: 'response', status: 200 });
    expect([site.handshakes(), site.requests(), issuers.server.requests.length]).toEqual([4, 2, 1]);
    // The issuer was no request of the crawl.
    expect(client.stats()).toMatchObject({ requests: 2, failed: 0 });
  });

  test('another site of the same issuer needs no fetch', async () => {
    const { issuers, site, intermediate, issuerAt } = await startIncomplete();
    const other = await startSite(createCertificate('other.example', { issuer: intermediate, issuerAt }));
    const client = createClient({ [SITE]: site, 'other.example': other }, issuers.server);
    expect(await read(client)).toMatchObject({ status: 200 });
    expect(await read(client, 'other.example')).toMatchObject({ status: 200 });
    expect(issuers.server.requests).toHaveLength(1);
  });

  test('several connections at once ask one address once', async () => {
    const { client, issuers } = await startIncomplete({}, { networkLimits: { gapMs: 0 } });
    const results = await Promise.all([1, 2, 3, 4].map(() => read(client)));
    expect(results.map(({ outcome }) => outcome)).toEqual(['response', 'response', 'response', 'response']);
    expect(issuers.server.requests).toHaveLength(1);
  });

  test('what was found outlives a connection that breaks', async () => {
    const { issuers, intermediate, issuerAt } = await startIncomplete();
    const site = await startSite(createCertificate(SITE, { issuer: intermediate, issuerAt }), [], 3);
    const client = createClient({ [SITE]: site }, issuers.server);
    expect(await read(client)).toMatchObject(failed(/ECONNRESET|socket disconnected/));
    expect(await read(client)).toMatchObject({ status: 200 });
    expect([site.handshakes(), issuers.server.requests.length]).toEqual([4, 1]);
  });

  test('is mended though only one request may be under way', async () => {
    const { client } = await startIncomplete({}, { maxConnections: 1, maxConnectionsPerHost: 1 });
    expect(await read(client)).toMatchObject({ status: 200 });
  });

  test('two levels are found one after the other, also in PEM', async () => {
    const issuers = await startIssuers();
    const upper = createCertificate('Upper', { issuer: root, authority: true });
    const lower = createCertificate('Lower', {
      issuer: upper,
      authority: true,
      issuerAt: `${issuers.url}/upper`,
    });
    issuers.paths.set('/upper', Buffer.from(upper.cert)).set('/lower', lower);
    const leaf = createCertificate(SITE, { issuer: lower, issuerAt: `${issuers.url}/lower` });
    const site = await startSite(leaf);
    const client = createClient({ [SITE]: site }, issuers.server);
    expect(await read(client)).toMatchObject({ status: 200 });
    expect(issuers.server.requests).toHaveLength(2);
    // Sent with one of the two, only the other is asked for.
    const half = await startSite(leaf, [lower]);
    expect(await read(createClient({ [SITE]: half }, issuers.server))).toMatchObject({ status: 200 });
    expect(issuers.server.requests).toHaveLength(3);
  });

  test('a complete chain asks nobody', async () => {
    const { issuers, intermediate, issuerAt } = await startIncomplete();
    const leaf = createCertificate(SITE, { issuer: intermediate, issuerAt });
    const site = await startSite(leaf, [intermediate]);
    expect(await read(createClient({ [SITE]: site }, issuers.server))).toMatchObject({ status: 200 });
    expect([site.handshakes(), issuers.server.requests.length]).toEqual([1, 0]);
  });
});

/** A proxy, which may refuse some ports. */
async function startProxy(refused: readonly number[] = []): Promise<RawServer> {
  const proxy = await startRawServer((socket, head) => {
    const [, host = '', port = ''] = /^CONNECT ([^:]+):(\d+) /.exec(head) ?? [];
    if (refused.includes(Number(port))) socket.end(respond('403 Forbidden', {}));
    else {
      const onward = connect(Number(port), host, () => {
        socket.removeAllListeners('data');
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        socket.pipe(onward).pipe(socket);
      });
      socket.on('close', () => onward.destroy());
      onward.on('error', () => socket.destroy());
    }
  });
  cleanups.push(() => proxy.close());
  return proxy;
}

describe('the way to an issuer', () => {
  test('is the one to the site: through its proxy', async () => {
    const proxy = await startProxy();
    const { client, issuers, site } = await startIncomplete();
    const proxies = [`http://127.0.0.1:${proxy.port}`];
    expect(await client.request({ url: `https://${SITE}/`, proxies })).toMatchObject({ status: 200 });
    const asked = proxy.requests.map((head) => /:(\d+) /.exec(head)?.[1]);
    expect(asked).toEqual([site.port, site.port, issuers.server.port, site.port].map(String));
    expect(issuers.server.connections()).toBe(1);
  });

  test('a proxy that refuses it serves everybody else as before, and hinders no other way', async () => {
    const { issuers, site, intermediate, issuerAt } = await startIncomplete();
    const leaf = createCertificate('whole.example', { issuer: intermediate, issuerAt });
    const whole = await startSite(leaf, [intermediate]);
    const client = createClient({ [SITE]: site, 'whole.example': whole }, issuers.server);
    const proxies = [`http://127.0.0.1:${(await startProxy([issuers.server.port])).port}`];
    expect(await client.request({ url: `https://${SITE}/`, proxies })).toMatchObject(
      failed(/does not give it: proxy, .*403/),
    );
    expect(await client.request({ url: 'https://whole.example/', proxies })).toMatchObject({ status: 200 });
    expect(await read(client)).toMatchObject({ status: 200 });
  });
});

describe('nothing is trusted for being found', () => {
  test('a root that nobody knows, at the end of what the addresses give', async () => {
    const issuers = await startIssuers();
    const unknown = createCertificate('Unknown', { authority: true });
    const intermediate = createCertificate('Intermediate', {
      issuer: unknown,
      authority: true,
      issuerAt: `${issuers.url}/root`,
    });
    issuers.paths.set('/root', unknown).set('/i', intermediate);
    const site = await startSite(
      createCertificate(SITE, { issuer: intermediate, issuerAt: `${issuers.url}/i` }),
    );
    const client = createClient({ [SITE]: site }, issuers.server);
    expect(await read(client)).toMatchObject(failed(/lead to a root that is not trusted/));
    expect(await read(client)).toMatchObject(failed(/lead to a root that is not trusted/));
    expect([site.requests(), issuers.server.requests.length]).toEqual([0, 2]);
  });

  test('a root that writes its own name in two ways', async () => {
    const issuers = await startIssuers();
    const unknown = createCertificate('Unknown', { authority: true, issuerName: 'UNKNOWN ' });
    issuers.paths.set('/root', unknown);
    const site = await startSite(
      createCertificate(SITE, { issuer: unknown, issuerAt: `${issuers.url}/root` }),
    );
    const client = createClient({ [SITE]: site }, issuers.server);
    expect(await read(client)).toMatchObject(failed(/lead to a root that is not trusted/));
    expect(site.requests()).toBe(0);
  });

  test('a chain to a known intermediate whose root is unknown: OpenSSL refuses it', async () => {
    const issuers = await startIssuers();
    const unknown = createCertificate('Unknown', { authority: true });
    const upper = createCertificate('Upper', { issuer: unknown, authority: true });
    const lower = createCertificate('Lower', { issuer: upper, authority: true });
    issuers.paths.set('/lower', lower);
    const site = await startSite(
      createCertificate(SITE, { issuer: lower, issuerAt: `${issuers.url}/lower` }),
    );
    // Named as if it were a root, it passes our own look at the chain and must not pass the handshake.
    const client = createClient({ [SITE]: site }, issuers.server, { ca: root.cert + upper.cert });
    expect(await read(client)).toMatchObject(failed(/UNABLE_TO_GET_ISSUER_CERT/));
    expect([site.handshakes(), site.requests(), issuers.server.requests.length]).toEqual([3, 0, 1]);
    expect(await read(client)).toMatchObject({ outcome: 'failed', kind: 'tls' });
    expect(site.handshakes()).toBe(4);
  });

  test('a false intermediate of the same name stands in nobody’s way', async () => {
    const { site, issuers } = await startIncomplete();
    const unknown = createCertificate('Unknown', { authority: true });
    const impostor = createCertificate('Intermediate', { issuer: unknown, authority: true });
    issuers.paths.set('/impostor', impostor);
    const hostile = await startSite(
      createCertificate('hostile.example', { issuer: impostor, issuerAt: `${issuers.url}/impostor` }),
    );
    const client = createClient({ [SITE]: site, 'hostile.example': hostile }, issuers.server);
    expect(await read(client, 'hostile.example')).toMatchObject({ kind: 'tls' });
    expect(await read(client)).toMatchObject({ status: 200 });
    expect(await read(client, 'hostile.example')).toMatchObject({ kind: 'tls' });
    expect(hostile.requests()).toBe(0);
  });

  test('an intermediate that may not issue', async () => {
    const notOne = createCertificate('Intermediate', { issuer: root });
    const { client, site } = await startIncomplete({ issuer: notOne }, { atIssuer: notOne });
    expect(await read(client)).toMatchObject(failed(/is not its issuer's/));
    expect(site.requests()).toBe(0);
  });

  test.each<[string, CertificateOptions, string, RegExp, number]>([
    ['another name', {}, 'elsewhere.example', /ALTNAME/, 0],
    [
      'an end that has passed',
      { notBefore: new Date(Date.now() - 2e8), notAfter: new Date(Date.now() - 1e8) },
      SITE,
      /CERT_HAS_EXPIRED/,
      0,
    ],
  ])('%s is refused as ever, and nobody is asked', async (_what, leaf, name, detail, asked) => {
    const { client, site, issuers } = await startIncomplete(leaf, { name });
    for (let i = 0; i < 2; i += 1) expect(await read(client)).toMatchObject(failed(detail));
    expect([site.requests(), issuers.server.requests.length]).toEqual([0, asked]);
  });

  test('an intermediate that has expired', async () => {
    const old = createCertificate('Intermediate', {
      issuer: root,
      authority: true,
      notBefore: new Date(Date.now() - 2e8),
      notAfter: new Date(Date.now() - 1e8),
    });
    const { client, site } = await startIncomplete({ issuer: old }, { atIssuer: old });
    expect(await read(client)).toMatchObject(failed(/CERT_HAS_EXPIRED/));
    expect(site.requests()).toBe(0);
  });
});

describe('addresses that do not give the issuer', () => {
  const endless: RawHandler = (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    const go = (): void => {
      while (!socket.destroyed && socket.write(Buffer.alloc(16_384, 0x30)));
    };
    socket.on('drain', go);
    go();
  };
  test.each<[string, AtIssuer, RegExp]>([
    ['nothing', (socket) => socket.write(respond('404 Not Found', {}, 'x')), /does not give it: .*404/],
    ['garbage', Buffer.from('<html>moved</html>'), /what is there is no certificate/],
    ['an ASN.1 of nothing', Buffer.from('3082ffff00', 'hex'), /what is there is no certificate/],
    ['two certificates', Buffer.from(root.cert + root.cert), /what is there is no certificate/],
    ['what does not end', endless, /body_too_large/],
    ['a hang-up', (socket) => socket.destroy(), /does not give it: reset/],
    ['an error', (socket) => socket.write(respond('503 Busy', {}, 'x')), /does not give it: .*503/],
    [
      'a redirect',
      (socket) => socket.write(respond('302 Found', { location: 'http://issuers.example/other' })),
      /does not give it: .*302/,
    ],
    [
      'another authority',
      createCertificate('Intermediate', { issuer: root, authority: true }),
      /is not its issuer's/,
    ],
    ['a root that is trusted, but not its own', root, /is not its issuer's/],
  ])('%s', async (_what, atIssuer, detail) => {
    const { client, site, issuers } = await startIncomplete({}, { atIssuer });
    const first = await read(client);
    expect(first).toMatchObject(failed(/^site\.example UNABLE_TO_VERIFY_LEAF_SIGNATURE: /));
    expect(first).toMatchObject(failed(detail));
    expect(first.outcome === 'failed' && first.detail.length).toBeLessThan(600);
    // Remembered: neither the address nor the chain is looked at again.
    expect(await read(client)).toMatchObject(failed(detail));
    expect([site.handshakes(), site.requests(), issuers.server.requests.length]).toEqual([3, 0, 1]);
  });

  test('a private address is refused by the guard, and the failure says what is missing', async () => {
    const inside = await startRawServer((socket) => socket.write(respond('200 OK', {}, 'secret')));
    cleanups.push(() => inside.close());
    const { client } = await startIncomplete({ issuerAt: `http://127.0.0.1:${inside.port}/i.cer` });
    expect(await read(client)).toMatchObject(
      failed(/the site does not send its intermediate certificate, and http:\/\/127.* refused_port/),
    );
    expect(inside.connections()).toBe(0);
    const other = await startIncomplete({ issuerAt: 'http://127.0.0.1/i.cer' });
    expect(await read(other.client)).toMatchObject(failed(/refused_address, .*not a public address/));
  });

  test.each(['ldap://issuers.example/cn=x', 'file:///etc/passwd', 'http://', `http://x/${'a'.repeat(2000)}`])(
    'no address of the web: %s',
    async (issuerAt) => {
      const { client } = await startIncomplete({ issuerAt });
      expect(await read(client)).toMatchObject(
        failed(/UNABLE_TO_VERIFY_LEAF_SIGNATURE: unable to verify the first certificate$/),
      );
    },
  );

  test('a leaf that names itself', async () => {
    const issuers = await startIssuers();
    const leaf = createCertificate(SITE, {
      issuer: createCertificate('X'),
      issuerAt: `${issuers.url}/leaf`,
    });
    issuers.paths.set('/leaf', leaf);
    const selfish = await startSite(leaf);
    expect(await read(createClient({ [SITE]: selfish }, issuers.server))).toMatchObject(
      failed(/is not its issuer's/),
    );
    expect(issuers.server.requests).toHaveLength(1);
  });

  test('an intermediate that names itself is asked for once', async () => {
    const issuers = await startIssuers();
    const unknown = createCertificate('Unknown', { authority: true });
    const issuerAt = `${issuers.url}/i`;
    const intermediate = createCertificate('Intermediate', { issuer: unknown, authority: true, issuerAt });
    issuers.paths.set('/i', intermediate);
    const site = await startSite(createCertificate(SITE, { issuer: intermediate, issuerAt }));
    const client = createClient({ [SITE]: site }, issuers.server);
    expect(await read(client)).toMatchObject(failed(/is not its issuer's/));
    expect(issuers.server.requests).toHaveLength(1);
  });

  test('a ladder without an end', async () => {
    const issuers = await startIssuers();
    let upper = createCertificate('Level 9', { authority: true });
    for (let level = 8; level >= 0; level -= 1) {
      const issuerAt = `${issuers.url}/${level + 1}`;
      issuers.paths.set(`/${level + 1}`, upper);
      upper = createCertificate(`Level ${level}`, { issuer: upper, authority: true, issuerAt });
    }
    issuers.paths.set('/0', upper);
    const ladder = await startSite(createCertificate(SITE, { issuer: upper, issuerAt: `${issuers.url}/0` }));
    expect(await read(createClient({ [SITE]: ladder }, issuers.server))).toMatchObject(
      failed(/more than 3 are missing/),
    );
    expect(issuers.server.requests).toHaveLength(3);
  });

  test('an address over https whose own chain is incomplete starts no search', async () => {
    const { issuers, intermediate, issuerAt } = await startIncomplete();
    const keeper = await startSite(createCertificate('keeper.example', { issuer: intermediate, issuerAt }));
    const site = await startSite(
      createCertificate(SITE, { issuer: intermediate, issuerAt: 'https://keeper.example/i.cer' }),
    );
    const asking = createClient({ [SITE]: site, 'keeper.example': keeper }, issuers.server);
    expect(await read(asking)).toMatchObject(failed(/keeper.*does not give it: tls, .*UNABLE_TO_VERIFY/));
    expect([keeper.handshakes(), issuers.server.requests.length]).toEqual([1, 0]);
  });

  test('who gives up while an issuer is waited for does not break it off for others', async () => {
    let answer = (): void => undefined;
    const { client, issuers, intermediate, site } = await startIncomplete(
      {},
      {
        atIssuer: (socket) => {
          answer = () => void socket.write(respond('200 OK', {}, der(intermediate)));
          asked();
        },
      },
    );
    let asked = (): void => undefined;
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const leaving = new AbortController();
    const first = client.request({ url: `https://${SITE}/`, signal: leaving.signal });
    await isAsked;
    leaving.abort();
    expect(await first).toMatchObject({ kind: 'aborted' });
    answer();
    expect(await read(client)).toMatchObject({ status: 200 });
    expect([issuers.server.requests.length, site.requests()]).toEqual([1, 1]);
  });
});

describe('bounds', () => {
  const chainOf = (url: string): X509Certificate[] => [
    new X509Certificate(createCertificate('leaf.example', { issuer: root, issuerAt: url }).cert),
  ];
  const sender = (domain: string, host = domain): ChainSender => ({ key: `${host}:443`, domain, via: null });
  const gone = { kind: 'bad_response', detail: 'it answers with 404' } as const;

  test('a domain makes us ask three addresses an hour, and an address is asked once an hour', async () => {
    let now = 0;
    const asked: string[] = [];
    const issuers = new MissingIssuers({
      now: () => now,
      ask: async (url) => {
        asked.push(url);
        return gone;
      },
    });
    for (let i = 0; i < 5; i += 1)
      await issuers.find(sender('a.example', `h${i}.a.example`), chainOf(`http://ca.example/${i}`));
    expect(asked).toHaveLength(3);
    expect(issuers.refusalOf(sender('a.example', 'h4.a.example'))).toMatch(/named 3 others within the hour/);
    await issuers.find(sender('b.example'), chainOf('http://ca.example/0'));
    expect(asked).toHaveLength(3);
    expect(issuers.refusalOf(sender('b.example'))).toMatch(/404/);
    now = 60 * 60 * 1000;
    expect(issuers.refusalOf(sender('b.example'))).toBeUndefined();
    await issuers.find(sender('b.example'), chainOf('http://ca.example/0'));
    await issuers.find(sender('a.example'), chainOf('http://ca.example/4'));
    expect(asked.slice(3)).toEqual(['http://ca.example/0', 'http://ca.example/4']);
  });

  test.each<[string, IssuerFailure, number]>([
    ['a name that does not resolve now', { kind: 'dns', detail: 'ETIMEOUT' }, 5],
    ['a proxy that is down', { kind: 'proxy', detail: 'ECONNREFUSED' }, 5],
    ['an error of the server', { kind: 'bad_response', detail: 'it answers with 503', status: 503 }, 5],
    ['an address that has nothing', { ...gone, status: 404 }, 60],
    ['what is too large', { kind: 'body_too_large', detail: 'x' }, 60],
  ])('%s is asked again later, without counting as another address', async (_what, answer, minutes) => {
    let now = 0;
    let asked = 0;
    const issuers = new MissingIssuers({
      now: () => now,
      ask: async () => {
        asked += 1;
        return answer;
      },
    });
    const chain = chainOf('http://ca.example/i');
    for (let times = 1; times <= 5; times += 1) {
      await issuers.find(sender('a.example'), chain);
      await issuers.find(sender('b.example'), chain);
      expect(asked).toBe(times);
      now += minutes * 60_000 - 1;
      expect(issuers.refusalOf(sender('a.example'))).toMatch(/does not give it/);
      now += 1;
      expect(issuers.refusalOf(sender('a.example'))).toBeUndefined();
    }
  });

  test('four are asked at once', async () => {
    const waiting: (() => void)[] = [];
    const issuers = new MissingIssuers({
      ask: () => new Promise((resolve) => waiting.push(() => resolve(gone))),
    });
    const searches = [0, 1, 2, 3, 4, 5].map((i) =>
      issuers.find(sender(`d${i}.example`), chainOf(`http://ca.example/${i}`)),
    );
    expect(waiting).toHaveLength(4);
    for (let i = 0; i < 6; i += 1) {
      waiting[i]?.();
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    expect(waiting).toHaveLength(6);
    expect((await Promise.all(searches)).map(({ outcome }) => outcome)).toEqual(Array(6).fill('not_found'));
  });
});
