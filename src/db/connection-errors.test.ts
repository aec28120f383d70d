import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isConnectionLost, isPassing } from './connection-errors.ts';
import { openDatabase } from './open.ts';

const nowhere = join(tmpdir(), 'outrider-no-such-thing', 'x');

test('a socket that is not there is a database that is away', async () => {
  const error = await new Promise((resolve) => connect(nowhere).once('error', resolve));
  expect(error).toMatchObject({ code: 'ENOENT' });
  expect([isConnectionLost(error), isPassing(error)]).toEqual([true, true]);
});

test('a file that is not there says nothing of the database', () => {
  let error: unknown;
  try {
    readFileSync(nowhere);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toMatchObject({ code: 'ENOENT' });
  expect([isConnectionLost(error), isPassing(error)]).toEqual([false, false]);
});

// What a server or a pooler answers to the first message, byte by byte.
const refusal = (code: string, message: string): Buffer => {
  const fields = Buffer.from(`SFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.alloc(5, 'E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
};
const authentication = (kind: number, data: string): Buffer => {
  const head = Buffer.alloc(9, 'R');
  head.writeInt32BE(8 + data.length, 1);
  head.writeInt32BE(kind, 5);
  return Buffer.concat([head, Buffer.from(data)]);
};
// SCRAM is named, then begun: only then the driver sees that it has no password.
const scram = [authentication(10, 'SCRAM-SHA-256\0\0'), authentication(11, 'r=x,s=eA==,i=4096')];

test.each([
  ['no TLS where it is asked for', '?sslmode=verify-full', [Buffer.from('N')], /it offers no TLS/],
  ['a password that is not in the address', '', scram, /it wants a password, and the address has none/],
  ['no PostgreSQL at all', '', [], /ended the connection without a word/],
  [
    'a pooler before a dead server',
    '',
    [refusal('08P01', 'server login has been failing, try again later (server_login_retry)')],
    /a pooler answers there, but not the server behind it/,
  ],
  [
    'a password the pooler does not take',
    '',
    [refusal('08P01', 'SASL authentication failed')],
    /refuses this user or password/,
  ],
  [
    'a database the pooler does not know',
    '',
    [refusal('08P01', 'no such database: news')],
    /no such database/,
  ],
  [
    'a full pooler',
    '',
    [refusal('08P01', 'no more connections allowed (max_client_conn)')],
    /no connection left/,
  ],
  ['a full server', '', [refusal('53300', 'sorry, too many clients already')], /no connection left for us/],
  ['what a pooler says otherwise', '', [refusal('08P01', 'the moon is full')], /it says "the moon is full"/],
])('%s is told in words', async (_what, query, answers, words) => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    let nth = 0;
    socket.on('data', () => {
      const answer = answers[nth];
      nth += 1;
      if (answer === undefined) socket.end();
      else socket.write(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    await expect(
      openDatabase({ databaseUrl: `postgresql://me@127.0.0.1:${port}/news${query}`, migrate: false }),
    ).rejects.toMatchObject({
      code: 'db_unreachable',
      message: expect.stringMatching(words),
      advice: expect.stringMatching(/^[A-Z].*\w/),
    });
  } finally {
    server.close();
  }
});

test.each([
  'postgresql://me:s3,cret@one:5432,two:5432/news?target_session_attrs=read-write',
  'postgresql://me@one,two/news',
  'postgresql://me@/news?host=one,two',
])('several hosts in an address are told of: %s', async (databaseUrl) => {
  const error = await openDatabase({ databaseUrl }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    message: expect.stringContaining('several hosts'),
    advice: expect.stringContaining('leads to the primary'),
  });
  expect(String(error)).not.toContain('cret');
});

test('the address of another program is told of', async () => {
  const error = await openDatabase({ databaseUrl: 'mysql://me:hunter2@127.0.0.1:1/news' }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({
    code: 'db_unreachable',
    message: expect.stringContaining('not with mysql://'),
  });
  expect(String(error)).not.toContain('hunter2');
});
