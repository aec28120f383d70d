import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createHttpClient, type HttpClient } from '../../src/fetch/index.ts';
import { RenderProxy } from '../../src/render/index.ts';
import { type Site, startSite } from './site.ts';

let site: Site;
let client: HttpClient;
let proxy: RenderProxy;

beforeAll(async () => {
  site = await startSite({
    '/big': (_request, response) => void response.writeHead(200).end(Buffer.alloc(300_000, 'x')),
  });
  client = createHttpClient({
    userAgent: 't',
    allowNetworks: [`127.1.0.0/16:${site.port}`],
    hosts: new Map([['page.test', { address: '127.1.0.1', port: site.port }]]),
  });
  proxy = new RenderProxy((to, options) => client.connect(to, options));
  await proxy.start();
});
beforeEach(() => {
  site.requests.length = 0;
});
afterAll(async () => {
  await proxy?.close();
  await client?.close();
  await site?.close();
});

const limits = { maxBytes: 100_000, maxConnections: 5 };
const basic = ({ user, password }: { user: string; password: string }): string =>
  `Proxy-Authorization: Basic ${Buffer.from(`${user}:${password}`).toString('base64')}\r\n`;

/** What comes back over one connection until it ends or the words are there. */
async function say(text: string, then?: { after: RegExp; text: string }): Promise<string> {
  const socket: Socket = connect(proxy.port, '127.0.0.1');
  let heard = '';
  let isSaid = false;
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString('latin1');
      if (then !== undefined && !isSaid && then.after.test(heard)) {
        isSaid = true;
        socket.write(then.text);
      }
    });
    socket.on('error', () => resolve());
    socket.on('close', () => resolve());
    socket.write(text);
  });
  return heard;
}

const get = (url: string, headers = ''): string =>
  `GET ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`;

describe('who may', () => {
  test('nobody without credentials, with wrong ones, or with those of a page that is done', async () => {
    const meter = proxy.admit(limits, undefined);
    const { user } = meter.credentials;
    expect(await say(get('http://page.test/a'))).toMatch(/^HTTP\/1.1 407/);
    expect(await say(get('http://page.test/a', basic({ user, password: 'x' })))).toMatch(/^HTTP\/1.1 407/);
    expect(await say('CONNECT page.test:443 HTTP/1.1\r\nHost: x\r\n\r\n')).toMatch(/^HTTP\/1.1 407/);
    expect(await say(get('http://page.test/a', basic(meter.credentials)))).toMatch(/^HTTP\/1.1 200/);
    proxy.dismiss(meter);
    expect(await say(get('http://page.test/a', basic(meter.credentials)))).toMatch(/^HTTP\/1.1 407/);
    expect(site.requests).toEqual(['GET /a']);
  });

  test('the credentials do not go on to the server, and no protocol is changed', async () => {
    const meter = proxy.admit(limits, undefined);
    const upgrade = 'Upgrade: websocket\r\n';
    await say(get('http://page.test/b', `${basic(meter.credentials)}${upgrade}`));
    expect(site.requests).not.toContain('UPGRADE /b');
    proxy.dismiss(meter);
  });
});

describe('where to', () => {
  test.each([
    'http://127.0.0.1/',
    'http://[::1]/',
    'http://169.254.169.254/',
    'http://localhost/',
    'http://93.184.215.14:22/',
  ])('%s is refused and written down', async (url) => {
    const meter = proxy.admit(limits, undefined);
    expect(await say(get(url, basic(meter.credentials)))).toMatch(/^HTTP\/1.1 403/);
    expect(meter.refused).toHaveLength(1);
    proxy.dismiss(meter);
  });

  test('a tunnel is refused likewise, and carries TLS only', async () => {
    const meter = proxy.admit(limits, undefined);
    const open = (to: string): string =>
      `CONNECT ${to} HTTP/1.1\r\nHost: x\r\n${basic(meter.credentials)}\r\n`;
    expect(await say(open('127.0.0.1:443'))).toMatch(/^HTTP\/1.1 403/);
    expect(await say(open('metadata'))).toMatch(/^HTTP\/1.1 403/);
    const heard = await say(open('page.test:80'), {
      after: /200 Connection established/,
      text: 'GET /socket HTTP/1.1\r\nHost: page.test\r\nUpgrade: websocket\r\n\r\n',
    });
    expect(heard).not.toMatch(/404|101/);
    expect(site.requests).toEqual([]);
    expect(meter.refused.at(-1)).toMatch(/not TLS/);
    proxy.dismiss(meter);
  });

  test.each(['ftp://page.test/', 'file:///etc/passwd', '/relative', 'https://page.test/'])(
    '%s is not forwarded',
    async (url) => {
      const meter = proxy.admit(limits, undefined);
      expect(await say(get(url, basic(meter.credentials)))).toMatch(/^HTTP\/1.1 400/);
      proxy.dismiss(meter);
    },
  );
});

test('bytes and connections have an end, for this page only', async () => {
  const meter = proxy.admit(limits, undefined);
  const other = proxy.admit(limits, undefined);
  const heard = await say(get('http://page.test/big', basic(meter.credentials)));
  expect(heard.length).toBeLessThan(300_000);
  expect(meter.isSpent).toBe(true);
  expect(await say(get('http://page.test/a', basic(meter.credentials)))).toMatch(/^HTTP\/1.1 403/);
  for (let n = 0; n < limits.maxConnections; n += 1)
    expect(await say(get(`http://page.test/${n}`, basic(other.credentials)))).toMatch(/^HTTP\/1.1 200/);
  expect(await say(get('http://page.test/more', basic(other.credentials)))).toMatch(/^HTTP\/1.1 403/);
  expect(site.requests).not.toContain('GET /more');
});
