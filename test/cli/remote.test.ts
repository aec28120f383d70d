import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { submit } from '../../src/frontier/index.ts';
import { saveSink } from '../../src/outbox/index.ts';
import { type ApiLab, startApiLab } from '../api/lab.ts';
import { item } from '../frontier/fixtures.ts';
import { type Ended, runOutrider } from '../process/outrider.ts';
import { storeDocuments } from '../sinks/store.ts';

let lab: ApiLab;
let home: string;
let odd: Server;
let answer: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
const seen: IncomingMessage[] = [];
// A data directory that nobody may make: whatever falls back to the embedded database fails here.
const nowhere = { OUTRIDER_DATA_DIR: '/proc/nowhere' };

beforeAll(async () => {
  lab = await startApiLab();
  home = mkdtempSync(join(tmpdir(), 'outrider-remote-'));
  const { pool } = lab.database;
  await saveSink(pool, { name: 'files', kind: 'files', enabled: true });
  await storeDocuments(pool, [{ url: 'https://a.example/1' }, { url: 'https://a.example/2' }]);
  await submit(pool, [item('one.test', 'a'), item('two.test', 'a')]);
  await lab.index();
  odd = createServer((request, response) => {
    seen.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => odd.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await lab.close();
  odd.closeAllConnections();
  await new Promise((resolve) => odd.close(resolve));
  rmSync(home, { recursive: true, force: true });
});

const oddAddress = (): string => `http://127.0.0.1:${(odd.address() as AddressInfo).port}`;
const remote = (args: string[], env: Record<string, string> = {}): Promise<Ended> =>
  runOutrider(args, { home, env: { OUTRIDER_SERVER: lab.address, ...nowhere, ...env } });
const local = (args: string[]): Promise<Ended> =>
  runOutrider(args, { home, env: { DATABASE_URL: lab.database.url } });

describe('a command says the same by the API of a server and by its own', () => {
  // Relative times may change between the two runs, so programs' output is compared.
  test.each([
    [['docs', 'list']],
    [['docs', 'list', '--domain', 'a.example', '--limit', '1']],
    [['docs', 'search', 'story']],
    [['docs', 'show', 'https://a.example/1']],
    [['docs', 'copies', 'https://a.example/1']],
    [['sinks']],
    [['sinks', 'dead', 'files']],
    [['domain', 'status', '--sort', 'name']],
    [['workers']],
  ])('%j', async (args) => {
    const [there, here] = [await remote([...args, '--json']), await local([...args, '--json'])];
    expect(there.stderr).toBe('');
    expect(there.code).toBe(0);
    expect(JSON.parse(there.stdout)).toEqual(JSON.parse(here.stdout));
  });

  test('a card, but for how long it waits', async () => {
    type Card = { state: string; facts: { domain: { key: string; since: string; pagesKnown: number } } };
    const read = async (ended: Promise<Ended>): Promise<unknown> => {
      const { state, facts } = JSON.parse((await ended).stdout) as Card;
      const { key, since, pagesKnown } = facts.domain;
      return { state, key, since, pagesKnown };
    };
    const args = ['domain', 'info', 'one.test', '--json'];
    const here = await read(local(args));
    expect(here).toMatchObject({ state: 'pending', pagesKnown: 1 });
    expect(await read(remote(args))).toEqual(here);
  });

  test('and tables are made of it', async () => {
    expect((await remote(['docs', 'list'])).stdout).toMatch(/https:\/\/a\.example\/1$/m);
    expect((await remote(['domain', 'status'])).stdout).toMatch(/^one\.test +pending/m);
    expect((await remote(['domain', 'info', 'two.test'])).stdout).toContain('0 crawled of 1 known');
  });

  test('a list is as long as is wanted, however many pages that takes', async () => {
    const { stdout } = await remote(['domain', 'status', '--json', '--limit', '2000']);
    expect((JSON.parse(stdout) as unknown[]).length).toBeGreaterThanOrEqual(2);
    expect((await remote(['domain', 'status', '--limit', '1'])).stdout).toContain('--limit shows more');
  });
});

test('what is done here is written down with the name of who did it', async () => {
  expect((await local(['sinks', 'pause', 'files'])).code).toBe(0);
  const { rows } = await lab.database.pool.query<{ actor: string }>(
    `SELECT actor FROM audit WHERE action = 'sink_pause' ORDER BY id DESC LIMIT 1`,
  );
  expect(rows[0]!.actor).toMatch(/^cli:/);
  expect((await remote(['sinks', 'resume', 'files'])).stdout).toContain('goes on');
});

describe('what the API refuses is told with its advice', () => {
  test.each([
    [['sinks', 'retry', 'nowhere'], 'there is no sink "nowhere"', 'There are: index, files'],
    [['domain', 'info', 'unknown.test'], 'no domain "unknown.test"', 'outrider domain status'],
    [['docs', 'show', 'https://a.example/none'], 'there is no document', 'outrider explain'],
    [['docs', 'list', '--source', 'nobody'], 'nobody', 'outrider sources'],
  ])('%j', async (args, words, advice) => {
    for (const ended of [await remote(args), await local(args)]) {
      expect(ended.code).toBe(2);
      expect(ended.stderr).toContain(words);
      expect(ended.stderr).toContain(advice);
      expect(ended.stderr).not.toMatch(/\n {4}at /);
    }
  });
});

describe('commands that cannot be sent anywhere', () => {
  test.each([['up'], ['fetch'], ['migrate'], ['config'], ['doctor'], ['demo']])(
    '%s refuses --server',
    async (name) => {
      const { code, stderr } = await runOutrider([name, '--server', lab.address], { home, env: nowhere });
      expect(code).toBe(2);
      expect(stderr).toContain(`"outrider ${name}" works on this machine`);
      expect(stderr).toContain('Leave out --server');
    },
  );

  test('one that works on the database refuses the variable as well: it would work on another one', async () => {
    const { code, stderr } = await remote(['sinks', 'remove', 'files']);
    expect(code).toBe(2);
    expect(stderr).toContain('"outrider sinks remove" works on this machine');
  });

  test('the variable does not concern those about this machine', async () => {
    expect((await remote(['config', '--check'])).code).toBe(0);
  });

  test('an address that is none is a mistake in the settings', async () => {
    const { code, stderr } = await remote(['workers', '--server', 'ftp://example.com']);
    expect(code).toBe(2);
    expect(stderr).toContain('--server must be an http(s) address');
  });
});

describe('servers in trouble', () => {
  const problem =
    (status: number, code: string, headers: Record<string, string> = {}) =>
    (_request: IncomingMessage, response: ServerResponse): void => {
      response.writeHead(status, { 'content-type': 'application/problem+json', ...headers });
      response.end(
        JSON.stringify({ type: 'about:blank', title: code, status, code, detail: `it is ${code}` }),
      );
    };

  test.each([
    [401, 'unauthorized', {}, 1, 'OUTRIDER_TOKEN'],
    [403, 'forbidden', {}, 1, 'role write or admin'],
    [421, 'wrong_host', {}, 1, 'the name the server is known by'],
    [429, 'too_many_requests', { 'retry-after': '7' }, 1, 'Try again in 7 s.'],
    [500, 'internal', {}, 1, "server's log"],
    [503, 'db_unreachable', {}, 3, "server's log"],
  ])('%i %s', async (status, code, headers, exit, advice) => {
    answer = problem(status, code, headers);
    const ended = await remote(['workers'], { OUTRIDER_SERVER: oddAddress() });
    expect(ended.stderr).toContain(`error: it is ${code}`);
    expect(ended.stderr).toContain(advice);
    expect(ended.code).toBe(exit);
  });

  test('the token goes along, to this server only, and is shown nowhere', async () => {
    answer = (_request, response) => response.writeHead(302, { location: 'http://elsewhere.test/' }).end();
    const ended = await remote(['workers'], { OUTRIDER_SERVER: oddAddress(), OUTRIDER_TOKEN: 'hunter2' });
    expect(seen.at(-1)!.headers.authorization).toBe('Bearer hunter2');
    expect(ended.code).toBe(8);
    expect(ended.stderr).toContain('http://elsewhere.test/');
    expect(ended.stdout + ended.stderr).not.toContain('hunter2');
  });

  test('a page that is no API', async () => {
    answer = (_request, response) => void response.writeHead(200).end('<html>Welcome to nginx</html>');
    const ended = await remote(['workers'], { OUTRIDER_SERVER: oddAddress() });
    expect(ended.code).toBe(8);
    expect(ended.stderr).toContain('not ours');
  });

  test('a connection that breaks off', async () => {
    answer = (request) => void request.socket.destroy();
    const ended = await remote(['workers'], { OUTRIDER_SERVER: oddAddress() });
    expect(ended.code).toBe(8);
    expect(ended.stderr).toContain('broke the connection off');
  });

  test('nobody, and somebody who does not speak TLS', async () => {
    const gone = createServer();
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    const none = await remote(['workers'], { OUTRIDER_SERVER: `http://127.0.0.1:${port}` });
    expect(none.stderr).toContain('nothing listens there');
    expect(none.stderr).toContain('outrider up');
    expect(none.code).toBe(8);
    const plain = await remote(['workers'], { OUTRIDER_SERVER: oddAddress().replace('http', 'https') });
    expect(plain.stderr).toContain('http:// instead of https://');
    expect(plain.code).toBe(8);
  });
});
