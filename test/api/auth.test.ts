import type { FastifyInstance } from 'fastify';
import { generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildApi } from '../../src/api/app.ts';
import { startApi } from '../../src/api/index.ts';
import { claimFirstLink, createSignInCode, replaceSessionKey } from '../../src/auth/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { createLog, createMetrics, systemClock } from '../../src/telemetry/index.ts';
import { type ApiLab, startApiLab } from './lab.ts';

// Two API processes' worth of servers on one database: what one does holds in the other.
const secret = 'a shared secret of more than 32 bytes';
const settings = { 'auth.jwt_secret': secret, 'api.refusals_per_minute': 1_000_000 };
let lab: ApiLab;
let second: { address: string; close(): Promise<void> };
// Moves on faster than the real one, so that what is remembered for seconds is forgotten at once when asked.
let aheadMs = 0;
const clock = { ...systemClock, monotonic: () => performance.now() + aheadMs };
const later = (): void => {
  aheadMs += 2001;
};

const optionsOf = (more: Record<string, unknown> = {}) => ({
  database: lab.database.db,
  config: loadConfig({ env: {}, overrides: { 'api.port': 0, ...settings, ...more } }).config,
  clock,
  log: createLog({ level: 'silent', format: 'json' }),
  metrics: createMetrics(),
  version: '0.0.0-test',
  loops: () => [],
});

beforeAll(async () => {
  lab = await startApiLab({ settings, clock });
  second = await startApi(optionsOf());
});
afterAll(async () => {
  await second?.close();
  await lab?.close();
});

type Answer = { status: number; cookie: string | null; body: Record<string, unknown> };
const call = async (
  base: string,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: unknown,
): Promise<Answer> => {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  return {
    status: response.status,
    cookie: response.headers.get('set-cookie'),
    body: isJson && text !== '' ? (JSON.parse(text) as Record<string, unknown>) : { text },
  };
};
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const cookieOf = (answer: Answer) => ({ cookie: answer.cookie!.split(';')[0]! });
const whoIs = async (base: string, headers: Record<string, string>) =>
  call(base, 'GET', '/api/v1/session', headers);

describe('API tokens', () => {
  test('are made by admins, shown once, and work in every process', async () => {
    const made = await lab.ask('POST', '/api/v1/tokens', { name: 'ci', role: 'write', expires_in_days: 30 });
    expect(made.status).toBe(201);
    expect(made.body.token).toMatch(/^otr_[\w-]{43}$/);
    expect(made.body).toMatchObject({
      name: 'ci',
      role: 'write',
      created_by: 'token:test admin',
      prefix: made.body.token.slice(0, 10),
    });
    for (const base of [lab.address, second.address])
      expect((await whoIs(base, bearer(made.body.token))).body).toEqual({
        name: 'token:ci',
        role: 'write',
        by: 'token',
        expires_at: made.body.expires_at,
      });
    const { body } = await lab.ask('GET', '/api/v1/tokens');
    expect(JSON.stringify(body)).not.toContain(made.body.token);
    const stored = await lab.database.pool.query('SELECT * FROM api_tokens');
    expect(JSON.stringify(stored.rows)).not.toContain(made.body.token.slice(10));
    expect((await lab.ask('POST', '/api/v1/tokens', { name: 'ci', role: 'read' })).body.code).toBe(
      'token_name_taken',
    );
    const ended = await lab.ask('DELETE', `/api/v1/tokens/${made.body.id}`);
    expect([ended.status, typeof ended.body.revoked_at]).toEqual([200, 'string']);
    expect((await lab.ask('DELETE', `/api/v1/tokens/${made.body.id}`)).body.code).toBe('token_unknown');
    const audit = await lab.database.pool.query('SELECT actor, action, subject FROM audit ORDER BY id');
    expect(audit.rows).toEqual([
      { actor: 'token:test admin', action: 'token_create', subject: 'ci' },
      { actor: 'token:test admin', action: 'token_revoke', subject: 'ci' },
    ]);
  });

  test('that are revoked stop at once here and within seconds elsewhere, with their sessions', async () => {
    const { id, token } = (await lab.ask('POST', '/api/v1/tokens', { name: 'lost', role: 'admin' })).body;
    const session = cookieOf(await call(second.address, 'POST', '/api/v1/session', bearer(token)));
    expect((await whoIs(second.address, bearer(token))).status).toBe(200);
    expect((await whoIs(second.address, session)).status).toBe(200);
    await lab.ask('DELETE', `/api/v1/tokens/${id}`);
    expect((await whoIs(lab.address, bearer(token))).status).toBe(401);
    later();
    expect((await whoIs(second.address, bearer(token))).status).toBe(401);
    expect((await whoIs(second.address, session)).status).toBe(401);
  });

  test('end when they expire', async () => {
    const { id, token } = (
      await lab.ask('POST', '/api/v1/tokens', { name: 'short', role: 'read', expires_in_days: 1 })
    ).body;
    expect((await whoIs(second.address, bearer(token))).status).toBe(200);
    await lab.database.pool.query(
      `UPDATE api_tokens SET expires_at = now() - interval '1 second' WHERE id = $1`,
      [id],
    );
    later();
    expect((await whoIs(second.address, bearer(token))).status).toBe(401);
  });

  test('note their use, at most once a minute', async () => {
    const usedAt = async () =>
      (await lab.database.pool.query(`SELECT last_used_at AS at FROM api_tokens WHERE name = 'test write'`))
        .rows[0].at as Date;
    await lab.ask('GET', '/api/v1/session', undefined, 'write');
    const first = await usedAt();
    expect(first).toBeInstanceOf(Date);
    later();
    await lab.ask('GET', '/api/v1/session', undefined, 'write');
    expect(await usedAt()).toEqual(first);
    await lab.database.pool.query(
      `UPDATE api_tokens SET last_used_at = now() - interval '61 seconds' WHERE name = 'test write'`,
    );
    later();
    await lab.ask('GET', '/api/v1/session', undefined, 'write');
    expect((await usedAt()).getTime()).toBeGreaterThanOrEqual(first.getTime());
  });

  test('are listed a page at a time, and bad requests are the caller’s', async () => {
    const first = (await lab.ask('GET', '/api/v1/tokens?limit=2')).body;
    expect(first.items.map((one: { name: string }) => one.name)).toEqual(['test read', 'test write']);
    const rest = (await lab.ask('GET', `/api/v1/tokens?limit=1000&cursor=${first.cursor}&revoked=true`)).body;
    expect(rest.items.map((one: { name: string }) => one.name)).toEqual([
      'test admin',
      'ci',
      'lost',
      'short',
    ]);
    expect(rest.cursor).toBeNull();
    expect((await lab.ask('GET', '/api/v1/tokens?cursor=t99999999999')).body.code).toBe('cursor_invalid');
    for (const [path, body] of [
      ['tokens', { name: 'a\u0000b', role: 'read' }],
      ['tokens', { name: '\ud800', role: 'read' }],
      ['tokens', { name: '', role: 'read' }],
      ['tokens', { name: 'x', role: 'root' }],
      ['tokens', { name: 'x', role: 'read', expires_in_days: 1e300 }],
      ['tokens', { name: 'x', role: 'read', id: 1 }],
    ] as const)
      expect((await lab.ask('POST', `/api/v1/${path}`, body)).status, JSON.stringify(body)).toBe(400);
    for (const id of ['0', '-1', '2147483648', '9'.repeat(40), 'x', '1e3', '%00'])
      expect((await lab.ask('DELETE', `/api/v1/tokens/${id}`)).status, id).toBeLessThan(500);
  });
});

describe('JWTs', () => {
  const sign = (claims: Record<string, unknown>) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(secret));
  const soon = () => Math.floor(Date.now() / 1000) + 60;

  test('say who asks; the audit names them', async () => {
    const token = await sign({ sub: 'ada', role: 'admin', exp: soon() });
    expect((await whoIs(lab.address, bearer(token))).body).toMatchObject({
      name: 'jwt:ada',
      role: 'admin',
      by: 'jwt',
    });
    const made = await call(lab.address, 'POST', '/api/v1/tokens', bearer(token), {
      name: 'by ada',
      role: 'read',
    });
    expect(made.body.created_by).toBe('jwt:ada');
  });

  test('without an end, unsigned, or past their end get 401 and the reason', async () => {
    for (const [token, words] of [
      [await sign({ sub: 'ada', role: 'admin' }), '"exp"'],
      [await sign({ role: 'admin', exp: soon() - 120 }), 'expired'],
      [
        `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify({ role: 'admin', exp: soon() })).toString('base64url')}.`,
        'not accepted',
      ],
      [`otr_${'A'.repeat(43)}`, 'unknown, revoked or expired'],
    ] as const) {
      const { status, body } = await whoIs(lab.address, bearer(token));
      expect([status, body.code]).toEqual([401, 'sign_in_needed']);
      expect(body.detail).toContain(words);
    }
  });

  test('a session ends when the JWT it was had for does', async () => {
    const exp = soon();
    const answer = await call(lab.address, 'POST', '/api/v1/session', bearer(await sign({ exp })));
    expect(answer.body.expires_at).toBe(new Date(exp * 1000).toISOString());
    expect(answer.body.role).toBe('read');
  });

  test('that cannot be verified because the keys are away are our trouble', async () => {
    const app = await buildApi(optionsOf({ 'auth.jwks_url': 'http://127.0.0.1:1/keys' }));
    const { privateKey } = await generateKeyPair('ES256');
    const token = await new SignJWT({ exp: soon() }).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
    const answer = await app.inject({ url: '/api/v1/session', headers: bearer(token) });
    expect([answer.statusCode, answer.json().code, answer.headers['retry-after']]).toEqual([
      503,
      'auth_unavailable',
      '30',
    ]);
    // Other ways in still work.
    const hs256 = await app.inject({ url: '/api/v1/session', headers: bearer(await sign({ exp: soon() })) });
    expect(hs256.statusCode).toBe(200);
    await app.close();
  });

  test('a session is no bearer token, and a bearer token no session', async () => {
    const jwt = await sign({ role: 'admin', exp: soon(), sub: 'x', jti: 'y' });
    expect((await whoIs(lab.address, { cookie: `outrider_session=${jwt}` })).status).toBe(401);
    const { cookie } = cookieOf(await call(lab.address, 'POST', '/api/v1/session', bearer(jwt)));
    expect((await whoIs(lab.address, bearer(cookie.split('=')[1]!))).status).toBe(401);
  });
});

describe('sign-in links', () => {
  test('work once, whoever else asks at the same moment', async () => {
    const code = await createSignInCode(lab.database.pool, 'web:ada');
    expect((await call(lab.address, 'HEAD', `/sign-in?code=${code}`)).status).toBe(405);
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        call(n % 2 === 0 ? lab.address : second.address, 'GET', `/sign-in?code=${code}`),
      ),
    );
    expect(all.map((one) => one.status).sort()).toEqual([200, 401, 401, 401, 401, 401, 401, 401]);
    const won = all.find((one) => one.status === 200)!;
    expect(won.cookie).toMatch(/^outrider_session=[\w.-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
    const audit = await lab.database.pool.query(`SELECT actor FROM audit WHERE action = 'sign_in'`);
    expect(audit.rows).toEqual([{ actor: 'web:ada' }]);
    for (const base of [lab.address, second.address])
      expect((await whoIs(base, cookieOf(won))).body).toMatchObject({
        name: 'web:ada',
        role: 'admin',
        by: 'session',
      });
  });

  test('end after ten minutes', async () => {
    const code = await createSignInCode(lab.database.pool, 'web:ada');
    await lab.database.pool.query(`UPDATE sign_in_codes SET expires_at = expires_at - interval '10 minutes'`);
    expect((await call(lab.address, 'GET', `/sign-in?code=${code}`)).status).toBe(401);
  });

  test('nonsense is refused', async () => {
    for (const query of [
      '',
      '?code=',
      '?code=x',
      `?code=${'A'.repeat(43)}`,
      '?code=a&code=b',
      '?code=%00',
      '?code[]=x',
    ])
      expect((await call(lab.address, 'GET', `/sign-in${query}`)).status, query).toBe(401);
  });

  test('the first one of a database is shown once', async () => {
    const all = await Promise.all(Array.from({ length: 5 }, () => claimFirstLink(lab.database.pool)));
    expect(all.filter(Boolean)).toHaveLength(1);
  });
});

describe('sessions in a browser', () => {
  const session = async () =>
    cookieOf(await call(lab.address, 'POST', '/api/v1/session', lab.headersOf('admin')));
  const make = (headers: Record<string, string>, name: string) =>
    call(lab.address, 'POST', '/api/v1/tokens', headers, { name, role: 'read' });

  test('change things only from our own pages', async () => {
    const cookie = await session();
    const { host, port } = new URL(lab.address);
    for (const headers of [
      {},
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `http://127.0.0.1:${Number(port) + 1}` },
      { origin: `http://${host}.evil.example` },
      { 'sec-fetch-site': 'cross-site', origin: lab.address },
      { 'sec-fetch-site': 'same-site', origin: lab.address },
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' },
    ] as Record<string, string>[]) {
      const { status, body } = await make({ ...cookie, ...headers }, 'csrf');
      expect([status, body.code], JSON.stringify(headers)).toEqual([403, 'origin_refused']);
    }
    const forms = await fetch(`${lab.address}/api/v1/tokens`, {
      method: 'POST',
      headers: { ...cookie, 'content-type': 'text/plain', origin: 'https://evil.example' },
      body: '{"name":"csrf","role":"admin"}',
    });
    expect(forms.status).toBe(403);
    expect((await make({ ...cookie, 'sec-fetch-site': 'same-origin' }, 'from a page')).status).toBe(201);
    expect((await make({ ...cookie, origin: lab.address }, 'from an old browser')).status).toBe(201);
    expect(
      (await call(lab.address, 'GET', '/api/v1/tokens', { ...cookie, 'sec-fetch-site': 'cross-site' }))
        .status,
    ).toBe(200);
  });

  test('are had for a token, do not renew themselves, and end everywhere when signed out', async () => {
    const own = { 'sec-fetch-site': 'same-origin' };
    const cookie = await session();
    expect((await call(lab.address, 'POST', '/api/v1/session', { ...cookie, ...own })).body.code).toBe(
      'session_needs_token',
    );
    expect((await whoIs(second.address, cookie)).status).toBe(200);
    expect((await call(lab.address, 'DELETE', '/api/v1/session', cookie)).status).toBe(403);
    const out = await call(lab.address, 'DELETE', '/api/v1/session', { ...cookie, ...own });
    expect([out.status, out.body]).toEqual([200, { signed_out: true }]);
    expect(out.cookie).toContain('outrider_session=; ');
    expect(out.cookie).toContain('Max-Age=0');
    expect((await whoIs(lab.address, cookie)).status).toBe(401);
    later();
    expect((await whoIs(second.address, cookie)).status).toBe(401);
  });

  test('all end when there is another key, and links with them; tokens go on', async () => {
    const cookie = await session();
    const code = await createSignInCode(lab.database.pool, 'web:ada');
    expect((await whoIs(second.address, cookie)).status).toBe(200);
    await replaceSessionKey(lab.database.pool, 'test');
    later();
    for (const base of [lab.address, second.address]) expect((await whoIs(base, cookie)).status).toBe(401);
    expect((await call(lab.address, 'GET', `/sign-in?code=${code}`)).status).toBe(401);
    expect((await whoIs(lab.address, lab.headersOf('read'))).status).toBe(200);
    expect((await whoIs(second.address, await session())).status).toBe(200);
  });

  test('a strange cookie beside ours is passed over, a few times', async () => {
    const { cookie } = await session();
    expect((await whoIs(lab.address, { cookie: `outrider_session=junk; other=1; ${cookie}` })).status).toBe(
      200,
    );
    const many = Array.from({ length: 50 }, (_, n) => `outrider_session=junk${n}`).join('; ');
    expect((await whoIs(lab.address, { cookie: `${many}; ${cookie}` })).status).toBe(401);
    expect((await whoIs(lab.address, { cookie: `not_${cookie}; outrider_session=` })).status).toBe(401);
  });

  test('follow streams', async () => {
    const stop = new AbortController();
    const response = await fetch(`${lab.address}/api/v1/documents/stream`, {
      headers: await session(),
      signal: stop.signal,
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    stop.abort();
  });
});

describe('names and proxies', () => {
  const apps = new Map<string, FastifyInstance>();
  afterAll(async () => {
    for (const app of apps.values()) await app.close();
  });
  const inject = async (
    more: Record<string, unknown>,
    headers: Record<string, string>,
    remoteAddress = '10.0.0.7',
  ) => {
    const key = JSON.stringify(more);
    const app = apps.get(key) ?? (await buildApi(optionsOf(more)));
    apps.set(key, app);
    const answer = await app.inject({
      method: 'POST',
      url: '/api/v1/session',
      headers: { ...lab.headersOf('read'), ...headers },
      remoteAddress,
    });
    return { status: answer.statusCode, cookie: String(answer.headers['set-cookie']) };
  };

  test('only names of ours are answered', async () => {
    const hosts = { 'api.hosts': ['Crawler.example.org'] };
    for (const [host, status] of [
      ['crawler.example.org', 201],
      ['CRAWLER.example.org:443', 201],
      ['127.0.0.1:8060', 201],
      ['[::1]:1', 201],
      ['localhost', 201],
      ['evil.example', 421],
      ['crawler.example.org.evil.example', 421],
      ['evil.example:crawler.example.org', 421],
      ['crawler.example.org.', 421],
      ['127.0.0.1.evil.example', 421],
      ['192.168.1.9', 421],
    ] as const)
      expect((await inject(hosts, { host })).status, host).toBe(status);
  });

  test('X-Forwarded headers are believed from the proxies that are named, and from nobody else', async () => {
    const forwarded = {
      host: 'localhost',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'crawler.example.org',
      'x-forwarded-for': '203.0.113.5',
    };
    expect((await inject({}, forwarded)).cookie).not.toContain('Secure');
    const trusting = { 'api.trust_proxy': ['10.0.0.0/8'], 'api.hosts': ['crawler.example.org'] };
    expect((await inject(trusting, forwarded)).cookie).toContain('; Secure');
    expect((await inject(trusting, forwarded, '11.0.0.7')).cookie).not.toContain('Secure');
    // Believed, so it is checked like any other name.
    expect((await inject({ 'api.trust_proxy': ['10.0.0.0/8'] }, forwarded)).status).toBe(421);
  });
});

describe('a start', () => {
  const start = (overrides: Record<string, unknown>) =>
    startApi({
      ...optionsOf(),
      config: loadConfig({ env: {}, overrides: { 'api.port': 0, ...overrides } }).config,
    });

  test('beyond loopback is refused without a secret or keys', async () => {
    for (const host of ['0.0.0.0', '::', '192.168.1.1'])
      await expect(start({ 'api.host': host })).rejects.toMatchObject({
        code: 'api_needs_auth',
        exitCode: 2,
      });
    const open = await start({ 'api.host': '0.0.0.0', 'auth.jwt_secret': secret });
    expect((await fetch(`http://127.0.0.1:${new URL(open.address).port}/api/v1/session`)).status).toBe(401);
    await open.close();
  });

  test('with a short secret is refused, and the secret is not repeated', () => {
    for (const short of ['short', 'x'.repeat(31), `  ${'x'.repeat(31)}  `]) {
      const load = () => loadConfig({ env: { AUTH_JWT_SECRET: short } });
      expect(load).toThrow('AUTH_JWT_SECRET must be a text of at least 32 bytes');
      expect(load).not.toThrow(short.trim());
    }
    expect(loadConfig({ env: { AUTH_JWT_SECRET: 'ü'.repeat(16) } }).config.auth.jwtSecret).toHaveLength(16);
  });

  test.each(['10.0.0.0/33', '999.1.1.1', 'proxy', '10.0.0.0/8/9', '::1/129'])(
    'believes no proxy called %s',
    (one) => {
      expect(() => loadConfig({ env: { OUTRIDER_API_TRUST_PROXY: one } })).toThrow(
        'OUTRIDER_API_TRUST_PROXY',
      );
    },
  );
});
