import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitUntil } from '../e2e/wait.ts';
import { CliHost, type Ended, Outrider } from '../process/outrider.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let database: TestDatabase;
let home: string;
let env: Record<string, string>;

beforeAll(async () => {
  database = await createTestDatabase();
  home = mkdtempSync(join(tmpdir(), 'outrider-token-'));
  env = { DATABASE_URL: database.url, OUTRIDER_API_PORT: '0', LOG_LEVEL: 'info', LOG_FORMAT: 'json' };
});
afterAll(async () => {
  await host.close();
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

const host = new CliHost();
const run = (args: string[], more: Record<string, string> = {}): Promise<Ended> =>
  host.run(args, { home, env: { ...env, ...more } });
const serve = async (more: Record<string, string> = {}): Promise<{ server: Outrider; address: string }> => {
  const server = new Outrider(['serve'], { home, env: { ...env, ...more } });
  await server.says('Sign in');
  return { server, address: /"address":"([^"]+)"/.exec(server.stderr)![1]! };
};
const whoAmI = async (address: string, headers: Record<string, string>) =>
  (await (await fetch(`${address}/api/v1/session`, { headers })).json()) as Record<string, unknown>;

test('the first start shows a link that signs in once; later ones say how to get another', async () => {
  const first = await serve();
  const link = /^Sign in \(once, within 10 minutes\): (\S+)$/m.exec(first.server.stdout)![1]!;
  expect(link.startsWith(`${first.address}/sign-in?code=`)).toBe(true);
  const answer = await fetch(link);
  expect(answer.status).toBe(200);
  const cookie = answer.headers.get('set-cookie')!.split(';')[0]!;
  expect((await fetch(link)).status).toBe(401);
  expect(await whoAmI(first.address, { cookie })).toMatchObject({ role: 'admin', by: 'session' });

  const second = await serve();
  expect(second.server.stdout).toBe('Sign in with: outrider token sign-in\n');
  // The same key signs in all processes, and codes are used up in all of them.
  expect(await whoAmI(second.address, { cookie })).toMatchObject({ role: 'admin', by: 'session' });
  const printed = await run(['token', 'sign-in', '--url', `${second.address}/anything`]);
  expect(printed.code).toBe(0);
  expect((await fetch(printed.stdout.trim())).status).toBe(200);
  expect((await fetch(printed.stdout.trim().replace(second.address, first.address))).status).toBe(401);
  expect((await run(['token', 'end-sessions'])).stdout).toContain('All sessions have ended');
  await waitUntil('every process has noticed', async () => {
    const all = await Promise.all([first, second].map(({ address }) => whoAmI(address, { cookie })));
    return all.every(({ status }) => status === 401);
  });
  // The code of a link stands in no log line.
  for (const { server } of [first, second]) {
    expect(server.stderr).not.toContain(link.split('code=')[1]!);
    await server.stop();
  }
});

test('tokens are made, listed and revoked', async () => {
  const made = await run(['token', 'create', '--name', 'nightly job', '--role', 'write', '--expires', '90d']);
  expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^otr_[\w-]{43}\n$/)]);
  const token = made.stdout.trim();
  const { server, address } = await serve();
  expect(await whoAmI(address, { authorization: `Bearer ${token}` })).toMatchObject({
    name: 'token:nightly job',
    role: 'write',
  });
  const listed = await run(['token', 'list']);
  expect(listed.stdout).toMatch(/nightly job +write +otr_\S{6}… .* in 90 d/);
  expect(listed.stdout).not.toContain(token);
  expect((await run(['token', 'create', '--name', 'nightly job', '--role', 'read'])).stderr).toContain(
    'is in use',
  );
  expect((await run(['token', 'revoke', 'nightly job'])).stdout).toContain('Revoked nightly job');
  expect((await run(['token', 'revoke', 'nightly job'])).code).toBe(2);
  await waitUntil('the server has noticed', async () => {
    const { status } = await whoAmI(address, { authorization: `Bearer ${token}` });
    return status === 401;
  });
  expect((await run(['token', 'list', '--revoked', '--json'])).stdout).toContain('"revokedAt": "2');
  await server.stop();
});

test('the name of a token that has expired is free again', async () => {
  const create = () => run(['token', 'create', '--name', 'quarterly', '--role', 'read', '--expires', '90d']);
  expect((await create()).code).toBe(0);
  expect((await create()).code).toBe(1);
  await database.pool.query(
    `UPDATE api_tokens SET expires_at = now() - interval '1 day' WHERE name = 'quarterly'`,
  );
  const renewed = await create();
  expect(renewed.code, renewed.stderr).toBe(0);
  const listed = JSON.parse((await run(['token', 'list', '--json'])).stdout) as { name: string }[];
  expect(listed.filter(({ name }) => name === 'quarterly')).toHaveLength(1);
});

test.each([
  [['--name', 'x', '--role', 'root'], '--role takes read, write, admin'],
  [['--name', '\u001b[2J', '--role', 'read'], '--name takes'],
  [['--name', 'x', '--role', 'read', '--expires', 'soon'], '--expires takes'],
  [['--name', 'x', '--role', 'read', '--expires', '0d'], '--expires takes'],
  [['--name', 'x'], '--role'],
])('token create %j is wrong usage', async (args, words) => {
  const { code, stderr } = await run(['token', 'create', ...args]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
});

test('beyond loopback nothing starts without a secret, and no short one is taken', async () => {
  const open = await run(['serve'], { OUTRIDER_API_HOST: '0.0.0.0' });
  expect([open.code, open.stderr]).toEqual([2, expect.stringContaining('AUTH_JWT_SECRET')]);
  const short = await run(['serve'], { AUTH_JWT_SECRET: 'PLANTED-but-short' });
  expect([short.code, short.stderr]).toEqual([2, expect.stringContaining('at least 32 bytes')]);
  expect(short.stderr).not.toContain('PLANTED');
  const dump = await run(['config', '--dump', '--json'], { AUTH_JWT_SECRET: 'PLANTED'.repeat(6) });
  expect(dump.stdout).toContain('"auth.jwt_secret"');
  expect(dump.stdout + dump.stderr).not.toContain('PLANTED');
});
