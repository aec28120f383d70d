import { type AddressInfo, connect, createServer } from 'node:net';
import { inspect } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/setup/database.ts';
import { AppError } from '../errors/index.ts';
import { isConnectionLost, isPassing, openDatabase } from './index.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ empty: true });
  await database.pool.query('CREATE TABLE item (id bigint PRIMARY KEY)');
});
afterAll(() => database.drop());

test('64-bit ids stay exact, numerics stay text, times are dates', async () => {
  const { rows } = await database.pool.query(
    `SELECT 9223372036854775807 AS big, ARRAY[1::bigint, NULL, -9223372036854775808] AS bigs, 0.1000::numeric AS numeric,
            timestamptz '2026-01-02T03:04:05Z' AS at, 7 AS small, '{"a":[1]}'::jsonb AS json`,
  );
  expect(rows[0]).toEqual({
    big: 9223372036854775807n,
    bigs: [1n, null, -9223372036854775808n],
    numeric: '0.1000',
    at: new Date('2026-01-02T03:04:05Z'),
    small: 7,
    json: { a: [1] },
  });
});

test('limits hold in and outside of transactions', async () => {
  const limits = `SELECT current_setting('lock_timeout') AS lock, current_setting('idle_in_transaction_session_timeout') AS idle`;
  const expected = [{ lock: '3s', idle: '10s' }];
  expect((await database.pool.query(limits)).rows).toEqual(expected);
  expect(await database.db.withTransaction(async (tx) => (await tx.query(limits)).rows)).toEqual(expected);
});

test('a transaction is kept whole or undone whole', async () => {
  await database.db.withTransaction((tx) => tx.query('INSERT INTO item VALUES (1)'));
  const failing = database.db.withTransaction(async (tx) => {
    await tx.query('INSERT INTO item VALUES (2)');
    throw new Error('changed my mind');
  });
  await expect(failing).rejects.toThrow('changed my mind');
  expect((await database.pool.query('SELECT id FROM item')).rows).toEqual([{ id: 1n }]);
});

test('an error swallowed inside a transaction does not pass for success', async () => {
  const swallowing = database.db.withTransaction(async (tx) => {
    await tx.query('INSERT INTO item VALUES (3)');
    await tx.query('SELECT 1/0').catch(() => undefined);
  });
  await expect(swallowing).rejects.toThrow('rolled back');
  expect((await database.pool.query('SELECT FROM item WHERE id = 3')).rowCount).toBe(0);
});

test('a connection ended by the server fails its statement only; the pool goes on', async () => {
  const ended = database.db.withTransaction((tx) =>
    tx.query('SELECT pg_terminate_backend(pg_backend_pid())'),
  );
  await expect(ended).rejects.toSatisfy(isConnectionLost);
  const betweenStatements = database.db.withTransaction(async (tx) => {
    const { rows } = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await database.pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
    await tx.query('SELECT 1');
  });
  await expect(betweenStatements).rejects.toSatisfy(isConnectionLost);
  expect((await database.pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
});

test.each([
  ['nothing listens', 'postgresql://me:s3cret@127.0.0.1:1/news', /127\.0\.0\.1:1\/news/],
  ['no such socket', 'postgresql://me:s3cret@localhost/news?host=/nonexistent', /\/nonexistent:5432\/news/],
  ['not an address', 'postgresql://me:s3cret@[broken', /DATABASE_URL/],
  ['a bad port', 'postgresql://me:s3cret@host:99999999/news', /DATABASE_URL/],
  [
    'a CA that is not there',
    'postgresql://me:s3cret@127.0.0.1:1/news?sslmode=verify-full&sslrootcert=/nonexistent/ca.crt',
    /127\.0\.0\.1:1\/news: the address names \/nonexistent\/ca\.crt, which cannot be read \(ENOENT\)/,
  ],
  [
    'a CA that is a folder',
    'postgresql://me:s3cret@127.0.0.1:1/news?sslmode=verify-full&sslrootcert=/',
    /the address names a file, which cannot be read \(EISDIR\)/,
  ],
])('%s: an error with advice and without the password', async (_what, databaseUrl, message) => {
  const error: unknown = await openDatabase({ databaseUrl }).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(AppError);
  expect(error).toMatchObject({
    code: 'db_unreachable',
    exitCode: 3,
    message: expect.stringMatching(message),
  });
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('s3cret');
});

// What PgBouncer does with startup options it was not told to ignore.
async function startRefusingProxy(): Promise<{ url: string; refused: () => number; close: () => void }> {
  const target = new URL(database.url);
  const port = Number(target.port || 5432);
  const host = target.searchParams.get('host') ?? target.hostname;
  let refused = 0;
  const proxy = createServer((client) => {
    client.once('data', (startup) => {
      if (startup.includes('options\0')) {
        refused += 1;
        const fields = Buffer.from('SFATAL\0C08P01\0Munsupported startup parameter: options\0\0');
        const head = Buffer.from([0x45, 0, 0, 0, fields.length + 4]);
        client.end(Buffer.concat([head, fields]));
        return;
      }
      const server = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
      server.write(startup);
      client.pipe(server).pipe(client);
      for (const socket of [client, server]) socket.on('error', () => client.destroy());
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port: ours } = proxy.address() as AddressInfo;
  return {
    url: `postgresql://${target.username}:${target.password}@127.0.0.1:${ours}${target.pathname}`,
    refused: () => refused,
    close: () => proxy.close(),
  };
}

test('behind a pooler that refuses startup options, limits still hold in transactions', async () => {
  const proxy = await startRefusingProxy();
  const db = await openDatabase({ databaseUrl: proxy.url, migrate: false });
  const limit = `SELECT current_setting('lock_timeout') AS lock`;
  expect(await db.withTransaction(async (tx) => (await tx.query(limit)).rows)).toEqual([{ lock: '3s' }]);
  expect(proxy.refused()).toBe(1);
  await db.close();
  proxy.close();
});

test('a server that lets nobody in this way is told from a wrong password', async () => {
  const answer = (code: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const server = createServer((client) => {
        client.on('error', () => undefined);
        client.once('data', () => {
          const fields = Buffer.from(`SFATAL\0C${code}\0Mno\0\0`);
          client.end(Buffer.concat([Buffer.from([0x45, 0, 0, 0, fields.length + 4]), fields]));
        });
      });
      server.listen(0, '127.0.0.1', () => {
        const { port } = server.address() as AddressInfo;
        openDatabase({ databaseUrl: `postgresql://me:x@127.0.0.1:${port}/news` })
          .then(() => reject(new Error('it let us in')), resolve)
          .finally(() => server.close());
      });
    });
  expect(await answer('28000')).toMatchObject({
    message: expect.stringContaining('neither from here nor in this way'),
    advice: expect.stringContaining('sslmode=verify-full'),
  });
  expect(await answer('28P01')).toMatchObject({ message: expect.stringContaining('user or password') });
});

test.each(['prefer', 'require', 'verify-ca'])(
  'sslmode=%s is kept as verify-full, without a warning',
  async (mode) => {
    const warned: Error[] = [];
    const listen = (warning: Error): number => warned.push(warning);
    process.on('warning', listen);
    const url = `postgresql://me:x@127.0.0.1:1/news?sslmode=${mode}`;
    await expect(openDatabase({ databaseUrl: url })).rejects.toMatchObject({ code: 'db_unreachable' });
    // Warnings are told in a turn of their own.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', listen);
    expect(warned.map((one) => one.message)).toEqual([]);
  },
);

test('a wrong database is named', async () => {
  const url = new URL(database.url);
  url.pathname = '/does_not_exist';
  await expect(openDatabase({ databaseUrl: url.href })).rejects.toMatchObject({
    code: 'db_unreachable',
    message: expect.stringContaining('no such database'),
  });
});

test.each([
  [Object.assign(new Error('x'), { code: 'ECONNRESET' }), true],
  [Object.assign(new Error('x'), { code: '57P01' }), true],
  [Object.assign(new Error('x'), { code: '08006' }), true],
  [new Error('Connection terminated unexpectedly'), true],
  [Object.assign(new Error('duplicate key'), { code: '23505' }), false],
  [Object.assign(new Error('deadlock'), { code: '40P01' }), false],
  [new Error('anything'), false],
  ['text', false],
  [undefined, false],
])('isConnectionLost(%s) is %s', (error, expected) => {
  expect(isConnectionLost(error)).toBe(expected);
});

test.each([
  [Object.assign(new Error('x'), { code: 'ECONNRESET' }), true],
  [Object.assign(new Error('deadlock'), { code: '40P01' }), true],
  [Object.assign(new Error('not serializable'), { code: '40001' }), true],
  [Object.assign(new Error('no lock'), { code: '55P03' }), true],
  [Object.assign(new Error('disk full'), { code: '53100' }), true],
  [Object.assign(new Error('too many clients'), { code: '53300' }), true],
  [Object.assign(new Error('read-only transaction'), { code: '25006' }), true],
  // What the pool says when all of its connections were in use for too long.
  [new Error('timeout exceeded when trying to connect'), true],
  [Object.assign(new Error('duplicate key'), { code: '23505' }), false],
  [Object.assign(new Error('cancelled'), { code: '57014' }), false],
  ['text', false],
])('isPassing(%s) is %s', (error, expected) => {
  expect(isPassing(error)).toBe(expected);
});
