import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createChannel } from '../../src/channels/index.ts';
import { submit } from '../../src/frontier/index.ts';
import { saveSink } from '../../src/outbox/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { type ApiLab, startApiLab } from '../api/lab.ts';
import { item } from '../frontier/fixtures.ts';
import { CliHost, type Ended, runOutrider } from '../process/outrider.ts';
import { storeDocuments } from '../sinks/store.ts';

let lab: ApiLab;
let host: CliHost;
let home: string;
let odd: Server;
let answer: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
const seen: IncomingMessage[] = [];
// A data directory that nobody may make: whatever falls back to the embedded database fails here.
const nowhere = { OUTRIDER_DATA_DIR: '/proc/nowhere' };

beforeAll(async () => {
  lab = await startApiLab();
  host = new CliHost();
  home = mkdtempSync(join(tmpdir(), 'outrider-remote-'));
  const { pool } = lab.database;
  await saveSink(pool, { name: 'files', kind: 'files', enabled: true });
  await storeDocuments(pool, [{ url: 'https://a.example/1' }, { url: 'https://a.example/2' }]);
  await submit(pool, [item('one.test', 'a'), item('two.test', 'a')]);
  await lab.index();
  const { source } = await createSource(pool, { url: 'https://paper.example/', name: 'Paper' });
  for (const name of ['feed', 'gone1', 'gone2'])
    await createChannel(pool, {
      sourceId: source.id,
      kind: 'feed',
      url: `https://paper.example/${name}`,
      intervalSeconds: 900,
      foundBy: 'manual',
    });
  for (const name of ['Other', 'Gone 1', 'Gone 2'])
    await createSource(pool, { url: `https://${name.toLowerCase().replace(' ', '')}.example/`, name });
  for (const n of [1, 2]) {
    await submit(pool, [item(`act${n}.test`, 'a')]);
    await saveSink(pool, { name: `sink${n}`, kind: 'files', enabled: true });
  }
  odd = createServer((request, response) => {
    seen.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => odd.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await host.close();
  await lab.close();
  odd.closeAllConnections();
  await new Promise((resolve) => odd.close(resolve));
  rmSync(home, { recursive: true, force: true });
});

const oddAddress = (): string => `http://127.0.0.1:${(odd.address() as AddressInfo).port}`;
const run = (args: string[], env: Record<string, string>, input?: string): Promise<Ended> =>
  host.run(args, { home, env, ...(input === undefined ? {} : { input }) });
const remote = (args: string[], env: Record<string, string> = {}, input?: string): Promise<Ended> =>
  run(args, { OUTRIDER_SERVER: lab.address, OUTRIDER_TOKEN: lab.tokens.admin, ...nowhere, ...env }, input);
const local = (args: string[], input?: string): Promise<Ended> =>
  run(args, { DATABASE_URL: lab.database.url }, input);

/** What a command answers programs, without times, ids and what else differs from one run to the next. */
const answerOf = ({ stdout, stderr, code }: Ended): unknown => {
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout, (key, value: unknown) => (isPassing(key) ? undefined : value));
};
const isPassing = (key: string): boolean =>
  /At$|^(id|sourceId|key|changedBy|createdBy|lateSeconds|now|since|prefix|token|scoreTerms|score)$/.test(key);

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
    [['domain', 'top', '--pages', '1']],
    [['workers']],
    [['sources']],
    [['sources', '--search', 'paper', '--mode', 'feed', '--limit', '1']],
    [['sources', '--failing']],
    [['sources', '--disabled']],
    [['sources', 'selectors', 'paper']],
    [['channels', '--source', 'paper', '--kind', 'feed']],
    [['channels', '--failing', '--pushed', '--files']],
    [['urls']],
    [['urls', '--domain', 'one.test', '--status', 'pending,dead', '--kind', 'article', '--limit', '5']],
    [['switch']],
    [['switch', 'polling']],
    [['images', '--source', 'paper']],
    [['images', '--document', 'https://a.example/1']],
  ])('%j', async (args) => {
    const [there, here] = [await remote([...args, '--json']), await local([...args, '--json'])];
    expect(there.stderr).toBe('');
    expect(there.code).toBe(0);
    expect(JSON.parse(there.stdout)).toEqual(JSON.parse(here.stdout));
  });

  test.each([[['explain', 'https://one.test/a']], [['explain', 'one.test']], [['explain', '1']]])(
    '%j, but for how long it waits',
    async (args) => {
      const stateOf = async (ended: Promise<Ended>): Promise<unknown> => {
        const told = answerOf(await ended) as { state: string } | { state: string }[];
        return (Array.isArray(told) ? told : [told]).map((one) => one.state);
      };
      const here = await stateOf(local([...args, '--json']));
      expect(here).toEqual([expect.stringMatching(/./)]);
      expect(await stateOf(remote([...args, '--json']))).toEqual(here);
    },
  );

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

describe('what changes something answers the same', () => {
  // Each is run here and there on something of its own, or is one that can be done twice.
  const twice: [string, (n: number) => string[]][] = [
    ['add', (n) => ['add', `https://added${n}.example/`, '--name', `Added ${n}`, '--no-wait']],
    ['add, of a feed that is polled', () => ['add', 'https://paper.example/feed']],
    ['sources set', (n) => ['sources', 'set', 'paper', '--every', String(30 + n), '--images', 'store']],
    ['sources disable', () => ['sources', 'disable', 'other', '--reason', 'for a while']],
    ['sources enable', () => ['sources', 'enable', 'other', '--reason', 'it is over']],
    ['sources robots', () => ['sources', 'robots', 'other', 'off', '--reason', 'it is ours']],
    ['sources delete', (n) => ['sources', 'delete', `gone_${n}`]],
    ['channels add', (n) => ['channels', 'add', 'paper', `paper.example/new${n}`, '--as', 'sitemap']],
    ['channels set', () => ['channels', 'set', 'paper.example/feed', '--title', 'News']],
    ['channels wake', () => ['channels', 'wake', 'https://paper.example/feed']],
    ['channels retry-failing', () => ['channels', 'retry-failing', 'paper', '--dry-run']],
    ['channels disable', () => ['channels', 'disable', '1']],
    ['channels enable', () => ['channels', 'enable', '1']],
    ['channels remove', (n) => ['channels', 'remove', `https://paper.example/gone${n}`]],
    ['submit', (n) => ['submit', `https://wished.example/${n}`, '--kind', 'listing', '--priority', '9']],
    ['domain block', (n) => ['domain', 'block', `act${n}.test`, '--reason', 'they asked']],
    ['domain reset', (n) => ['domain', 'reset', `act${n}.test`, '--reason', 'they asked again', '--all']],
    ['domain set', (n) => ['domain', 'set', `act${n}.test`, '--delay', '900', '--budget', '4']],
    ['domain release', (n) => ['domain', 'release', `act${n}.test`]],
    ['domain backfill', () => ['domain', 'backfill']],
    ['domain recalculate', () => ['domain', 'recalculate']],
    ['switch', () => ['switch', 'spider', 'on']],
    ['sinks replay', (n) => ['sinks', 'replay', `sink${n}`]],
    ['sinks retry', (n) => ['sinks', 'retry', `sink${n}`]],
    ['sinks remove', (n) => ['sinks', 'remove', `sink${n}`]],
    ['token create', (n) => ['token', 'create', '--name', `job ${n}`, '--role', 'read', '--expires', '12h']],
    ['token list', () => ['token', 'list']],
    ['token revoke', (n) => ['token', 'revoke', `job ${n}`]],
  ];
  test.each(twice)('%s', async (_name, argsOf) => {
    const plain = (answer: unknown): string =>
      JSON.stringify(answer).replace(
        /([Aa]dded[ _]?|gone_|new|gone|act|sink|job )[12]|3[12]\b|wished\.example\/[12]/g,
        '#',
      );
    const here = plain(answerOf(await local([...argsOf(1), '--json'])));
    expect(plain(answerOf(await remote([...argsOf(2), '--json'])))).toBe(here);
  });

  test('lists, in and out', async () => {
    const list = (n: number): string =>
      `name,url,feed_url\nOne,https://listed${n}.example/,https://listed${n}.example/feed\nBad,nowhere,\n`;
    const rejects = join(home, 'rejects.ndjson');
    const args = ['import', '-', '--format', 'csv', '--rejects', rejects, '--json'];
    const here = answerOf(await local(args, list(1)));
    const refused = readFileSync(rejects, 'utf8');
    expect(here).toMatchObject({ lines: 3, added: 1, channelsAdded: 1, bad: 1, badLines: [{ line: 3 }] });
    expect(answerOf(await remote(args, {}, list(2)))).toEqual(here);
    expect(readFileSync(rejects, 'utf8')).toBe(refused);
    for (const format of ['json', 'ndjson', 'csv', 'lines']) {
      const there = await remote(['export', '--format', format]);
      expect(there.stdout).toContain('https://listed2.example/');
      expect(there).toEqual(await local(['export', '--format', format]));
    }
    const file = join(home, 'sources.opml');
    const { rows } = await lab.database.pool.query<{ n: number }>(
      'SELECT count(*)::integer AS n FROM sources',
    );
    expect((await remote(['export', file])).stdout).toBe(`${rows[0]!.n} sources written to ${file}.\n`);
    expect(answerOf(await remote(['import', file, '--json']))).toMatchObject({ added: 0, bad: 0 });
  });

  test('seeds', async () => {
    const args = ['domain', 'seed', '-', '--dataset', 'mine', '--json'];
    const here = answerOf(await local(args, '1,seed1.test\n2,not a domain\n'));
    expect(here).toMatchObject({ lines: 2, added: 1, bad: 1, badLines: [{ number: 2 }] });
    expect(answerOf(await remote(args, {}, '1,seed2.test\n2,not a domain\n'))).toEqual(here);
  });
});

describe('roles', () => {
  test.each([
    [['switch', 'spider', 'off'], 'read', 'this needs the role admin; token:test read has read'],
    [['submit', 'https://wished.example/3'], 'read', 'this needs the role write'],
    [['domain', 'seed', '-', '--dataset', 'x'], 'read', 'this needs the role write'],
    [['import', '-'], 'read', 'this needs the role write'],
    [['sources', 'delete', 'paper'], 'write', 'this needs the role admin'],
    [['token', 'list'], 'write', 'this needs the role admin'],
  ] as [string[], 'read' | 'write', string][])(
    '%j with a token of the role %s',
    async (args, role, words) => {
      const { code, stderr, stdout } = await remote(args, { OUTRIDER_TOKEN: lab.tokens[role] }, 'a.test\n');
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain(words);
      expect(stderr).toContain('ask for one with the role write or admin');
    },
  );

  test('and one without any is asked for it', async () => {
    const { code, stderr } = await remote(['sources'], { OUTRIDER_TOKEN: '' });
    expect(code).toBe(1);
    expect(stderr).toContain('outrider token create');
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

  test.each([[['token', 'sign-in']], [['token', 'end-sessions']], [['images', 'get', '0'.repeat(64), '-']]])(
    '%j refuses the variable as well: it would work with something else',
    async (args) => {
      const { code, stderr } = await remote(args);
      expect(code).toBe(2);
      expect(stderr).toContain(`"outrider ${args.slice(0, 2).join(' ')}" works on this machine`);
    },
  );

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
