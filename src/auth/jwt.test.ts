import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type JwtOptions, JwtReader, roleOfClaims } from './jwt.ts';

const secret = 'a shared secret of more than 32 bytes';
const key = new TextEncoder().encode(secret);
const nowMs = Date.parse('2026-03-01T12:00:00Z');
const now = nowMs / 1000;
const soon = now + 60;

let rsa: Awaited<ReturnType<typeof generateKeyPair>>;
let other: Awaited<ReturnType<typeof generateKeyPair>>;
let ec: Awaited<ReturnType<typeof generateKeyPair>>;
let keySet: string;
let server: Server;
let base: string;
let asked = 0;
let answer: (response: ServerResponse) => void;

const ok = (response: ServerResponse): void => void response.end(keySet);

beforeAll(async () => {
  rsa = await generateKeyPair('RS256', { extractable: true });
  other = await generateKeyPair('RS256', { extractable: true });
  ec = await generateKeyPair('ES256', { extractable: true });
  keySet = JSON.stringify({
    keys: [
      { ...(await exportJWK(rsa.publicKey)), kid: 'one', alg: 'RS256' },
      { ...(await exportJWK(ec.publicKey)), kid: 'two', alg: 'ES256' },
      // A careless key set: HS256 must not be verified by what anybody can read.
      {
        kty: 'oct',
        kid: 'three',
        alg: 'HS256',
        k: Buffer.from('public knowledge of 32 bytes or more').toString('base64url'),
      },
    ],
  });
  server = createServer((_request, response) => {
    asked += 1;
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const reader = (options: Partial<JwtOptions> = {}): JwtReader => {
  answer = ok;
  return new JwtReader({
    secret,
    jwksUrl: null,
    issuer: null,
    audience: null,
    defaultRole: 'read',
    now: () => nowMs,
    ...options,
  });
};
const sign = (
  claims: JWTPayload,
  header: object = {},
  by: Parameters<SignJWT['sign']>[0] = key,
): Promise<string> => new SignJWT(claims).setProtectedHeader({ alg: 'HS256', ...header }).sign(by);
const plain = (header: object, claims: object, signature = ''): string =>
  [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.') +
  `.${signature}`;

describe('by a shared secret', () => {
  test('says who asks and until when', async () => {
    expect(await reader().read(await sign({ sub: 'ada', role: 'write', exp: soon }))).toEqual({
      outcome: 'accepted',
      identity: { name: 'jwt:ada', role: 'write' },
      expiresAtMs: soon * 1000,
    });
  });

  test.each<[string, JWTPayload, string]>([
    ['no end', { sub: 'ada' }, '"exp"'],
    ['an end that is no number', { exp: 'never' as unknown as number }, '"exp"'],
    ['an end that is past', { exp: now - 6 }, 'expired'],
    ['a beginning to come', { exp: soon, nbf: now + 30 }, '"nbf"'],
  ])('refuses %s', async (_name, claims, words) => {
    // The library would not sign some of these.
    const input = plain({ alg: 'HS256' }, claims).slice(0, -1);
    const hmac = await import('node:crypto').then(({ createHmac }) =>
      createHmac('sha256', secret).update(input).digest('base64url'),
    );
    const read = await reader().read(`${input}.${hmac}`);
    expect(read.outcome).toBe('refused');
    expect((read as { reason: string }).reason).toContain(words);
  });

  test('clocks may differ by a few seconds', async () => {
    expect((await reader().read(await sign({ exp: now - 4 }))).outcome).toBe('accepted');
  });

  test('refuses what is not signed, signed otherwise, or changed', async () => {
    const good = await sign({ role: 'read', exp: soon });
    const [head, , signature] = good.split('.');
    const admin = Buffer.from(JSON.stringify({ role: 'admin', exp: soon })).toString('base64url');
    const cases = [
      plain({ alg: 'none' }, { role: 'admin', exp: soon }),
      plain({ alg: 'NONE' }, { role: 'admin', exp: soon }),
      plain({ alg: 'none' }, { role: 'admin', exp: soon }, signature),
      plain({}, { role: 'admin', exp: soon }, signature),
      plain({ alg: ['HS256'] }, { role: 'admin', exp: soon }, signature),
      `${head}.${admin}.${signature}`,
      await sign({ exp: soon }, {}, new TextEncoder().encode('another secret, also of 32 bytes or more')),
      await sign({ exp: soon }, { alg: 'HS512' }, new TextEncoder().encode(secret.repeat(2))),
      await sign({ exp: soon }, { alg: 'RS256' }, rsa.privateKey),
      good.slice(0, -2),
      `${good}.x`,
      '',
      '..',
    ];
    for (const token of cases) expect((await reader().read(token)).outcome, token).toBe('refused');
  });

  test('issuer and audience hold where they are set', async () => {
    const strict = reader({ issuer: 'https://id.example', audience: 'outrider' });
    const fits = { iss: 'https://id.example', aud: ['other', 'outrider'], exp: soon };
    expect((await strict.read(await sign(fits))).outcome).toBe('accepted');
    expect((await strict.read(await sign({ ...fits, iss: 'https://id.example.evil' }))).outcome).toBe(
      'refused',
    );
    expect((await strict.read(await sign({ ...fits, aud: 'other' }))).outcome).toBe('refused');
    expect((await strict.read(await sign({ exp: soon }))).outcome).toBe('refused');
  });

  test('a token without a role has the default one, or none', async () => {
    const token = await sign({ exp: soon, role: 'emperor', scope: 'openid profile' });
    expect(await reader({ defaultRole: 'write' }).read(token)).toMatchObject({ identity: { role: 'write' } });
    expect((await reader({ defaultRole: null }).read(token)).outcome).toBe('refused');
  });

  test('names are safe to store and to print', async () => {
    const nameOf = async (sub: unknown) =>
      (
        (await reader().read(await sign({ exp: soon, sub: sub as string }))) as {
          identity?: { name: string };
        }
      ).identity?.name;
    expect(await nameOf('a\u0000b\u001b[2J')).toBe('jwt:a\ufffdb\ufffd[2J');
    expect(await nameOf('x'.repeat(5000))).toHaveLength(204);
    expect(await nameOf(undefined)).toBe('jwt:unnamed');
  });

  test('any text is answered, never thrown at', async () => {
    const one = reader();
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string(),
          fc.array(fc.base64String(), { maxLength: 5 }).map((parts) => parts.join('.')),
        ),
        async (text) => {
          expect((await one.read(text)).outcome).toBe('refused');
        },
      ),
    );
  });
});

describe('by published keys', () => {
  test('RS256 and ES256 are verified; the key set is fetched once', async () => {
    const one = reader({ jwksUrl: base });
    asked = 0;
    const claims = { sub: 'ada', scope: 'openid write', exp: soon };
    for (let n = 0; n < 3; n += 1) {
      expect(await one.read(await sign(claims, { alg: 'RS256', kid: 'one' }, rsa.privateKey))).toMatchObject({
        identity: { name: 'jwt:ada', role: 'write' },
      });
      expect((await one.read(await sign(claims, { alg: 'ES256', kid: 'two' }, ec.privateKey))).outcome).toBe(
        'accepted',
      );
    }
    // Keys that are not there are looked for again at most every half minute.
    for (let n = 0; n < 10; n += 1)
      await one.read(await sign(claims, { alg: 'RS256', kid: `new ${n}` }, rsa.privateKey));
    expect(asked).toBe(1);
  });

  test('a public key is no shared secret', async () => {
    const jwk = JSON.stringify(await exportJWK(rsa.publicKey));
    const pem = await exportSPKI(rsa.publicKey);
    for (const one of [reader({ jwksUrl: base }), reader({ jwksUrl: base, secret: null })])
      for (const stolen of [pem, pem.trim(), jwk, 'public knowledge of 32 bytes or more'])
        for (const kid of ['one', 'three', undefined]) {
          const token = await sign({ role: 'admin', exp: soon }, { kid }, new TextEncoder().encode(stolen));
          expect((await one.read(token)).outcome).toBe('refused');
        }
  });

  test('headers of the token lead nowhere', async () => {
    const one = reader({ jwksUrl: base });
    const jwk = await exportJWK(other.publicKey);
    const claims = { role: 'admin', exp: soon };
    for (const header of [
      { kid: 'one' },
      { kid: "' OR 1=1 --" },
      { kid: '../../../../dev/null' },
      { kid: '__proto__' },
      { kid: 'one', jwk },
      { kid: 'nobody', jku: 'http://127.0.0.1:1/keys', x5u: 'http://127.0.0.1:1/cert' },
      { kid: 'one', crit: ['exp'] },
    ]) {
      const token = await sign(claims, { alg: 'RS256', ...header }, other.privateKey).catch(() =>
        plain({ alg: 'RS256', ...header }, claims, 'AAAA'),
      );
      expect((await one.read(token)).outcome, JSON.stringify(header)).toBe('refused');
    }
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['answers with an error', (response) => void response.writeHead(500).end()],
    ['sends us elsewhere', (response) => void response.writeHead(302, { location: base }).end()],
    ['answers with a page', (response) => void response.end('<html>')],
    ['answers with another document', (response) => void response.end('{"keys": 7}')],
    ['never ends', (response) => void response.write('{"keys": [')],
    ['is huge', (response) => void response.end(`{"keys": [${'"x",'.repeat(100_000)}"x"]}`)],
    [
      'breaks off',
      (response) =>
        void response.writeHead(200, { 'content-length': '900' }).write('{', () => response.destroy()),
    ],
  ])('a key set that %s is our trouble, not the caller’s', async (_name, misbehave) => {
    const one = reader({ jwksUrl: base, jwksTimeoutMs: 300 });
    answer = misbehave;
    const token = await sign({ exp: soon }, { alg: 'RS256', kid: 'one' }, rsa.privateKey);
    expect((await one.read(token)).outcome).toBe('unavailable');
    answer = ok;
    expect((await one.read(token)).outcome).toBe('accepted');
  });
});

test.each([
  [{ role: 'admin' }, 'admin'],
  [{ role: 'read', scope: 'admin' }, 'read'],
  [{ scope: 'read write' }, 'write'],
  [{ scope: 'read  admin openid' }, 'admin'],
  [{ scope: 'administrator Write' }, null],
  [{ role: 7, scope: ['admin'] }, null],
  [{}, null],
])('%j has the role %s', (claims, role) => {
  expect(roleOfClaims(claims)).toBe(role);
});
