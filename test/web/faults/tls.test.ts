import { X509Certificate } from 'node:crypto';
import { get } from 'node:https';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { askWeb } from '../client.ts';
import { startWeb, type Web } from '../index.ts';

const domain = 'secure.test';
let web: Web;

beforeAll(async () => {
  web = await startWeb({
    publishers: 2,
    tls: true,
    speed: 0,
    startMs: Date.parse('2026-03-04T12:00:00Z'),
    changes: [{ domain, host: domain, charset: 'utf-8' }],
  });
});
afterEach(() => web.clearFault());
afterAll(() => web.close());

/** The status over https, or the code of what went wrong. */
function askSecurely(path = '/', host = domain): Promise<number | string> {
  return new Promise((resolve) => {
    get(
      {
        host: '127.0.0.1',
        port: web.port,
        path,
        servername: host,
        headers: { host },
        ca: web.authority ?? '',
        agent: false,
      },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      },
    ).on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

describe('https beside http', () => {
  it('answers both schemes on one port, for every host', async () => {
    expect(await askSecurely()).toBe(200);
    expect(await askSecurely('/robots.txt', `www.${domain}`)).toBe(200);
    expect((await askWeb(web, `http://${domain}/`)).status).toBe(200);
  });

  it('survives who connects and says nothing, or nonsense', async () => {
    for (const text of ['', '\u0016\u0003\u0001nonsense', '\u0000\u0001']) {
      const socket = connect(web.port, '127.0.0.1');
      await new Promise<void>((resolve) => socket.on('connect', resolve));
      socket.end(text);
      socket.resume();
      await new Promise<void>((resolve) => socket.on('close', () => resolve()));
    }
    expect(await askSecurely()).toBe(200);
  });
});

describe('faults of the handshake', () => {
  it.each([
    ['tls-untrusted', /SELF_SIGNED/],
    ['tls-expired', /CERT_HAS_EXPIRED/],
    ['tls-incomplete', /UNABLE_TO_VERIFY_LEAF_SIGNATURE/],
    ['tls-wrong-host', /ALTNAME/],
    ['tls-refused', /ECONNRESET|EPROTO|SSL/],
  ])('%s', async (name, code) => {
    web.setFault(domain, { name });
    expect(await askSecurely()).toMatch(code);
    web.clearFault();
    expect(await askSecurely()).toBe(200);
  });

  it('gives the intermediate where the certificate says', async () => {
    const { status, body } = await askWeb(web, 'http://issuers.test/intermediate.cer');
    expect(status).toBe(200);
    expect(new X509Certificate(body).checkIssued(new X509Certificate(web.authority ?? ''))).toBe(true);
    expect(web.hosts.flatMap(({ names }) => names)).toContain('issuers.test');
  });

  it('leads from http to https', async () => {
    web.setFault(domain, { name: 'https-upgrade' });
    const answer = await askWeb(web, `http://${domain}/robots.txt?a=1`);
    expect([answer.status, answer.headers.location]).toEqual([301, `https://${domain}/robots.txt?a=1`]);
    expect(await askSecurely('/robots.txt')).toBe(200);
  });
});
