import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createChannel } from '../../src/channels/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { CliHost, type Ended } from '../process/outrider.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

const host = new CliHost();
let home: string;
let database: TestDatabase;
const run = (...args: string[]): Promise<Ended> =>
  host.run(args, { home, env: { DATABASE_URL: database.url } });
const page = (n: number): string => `https://paper.example/a-${n}`;
const states = async (): Promise<string[]> => {
  const { rows } = await database.pool.query<{ state: string }>(
    `SELECT concat_ws(' ', substr(url, 23), status, error_code, CASE WHEN ready THEN 'ready' END) AS state
       FROM url_frontier WHERE kind = 'article' ORDER BY url`,
  );
  return rows.map(({ state }) => state);
};

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-cli-urls-'));
  database = await createTestDatabase();
  const { source } = await createSource(database.pool, { url: 'https://paper.example/', name: 'Paper' });
  await createChannel(database.pool, {
    sourceId: source.id,
    kind: 'feed',
    url: 'https://paper.example/feed',
    intervalSeconds: 900,
    foundBy: 'manual',
  });
  expect((await run('submit', page(1), page(2), page(3))).code).toBe(0);
  await database.pool.query(
    `UPDATE url_frontier SET status = 'dead', ready = false, due_at = NULL, error_code = 'not_found' WHERE kind = 'article'`,
  );
});
afterAll(() => host.close());
afterAll(async () => {
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

test('one by one: fetched again, removed, and what cannot be is told with what to do', async () => {
  const { code, stdout, stderr } = await run(
    'urls',
    'retry',
    page(1),
    'https://paper.example/feed-2',
    'https://paper.example/feed',
  );
  expect(code).toBe(2);
  expect(stdout).toMatch(/^retried +https:\/\/paper\.example\/a-1$/m);
  expect(stdout).toMatch(/^unknown +https:\/\/paper\.example\/feed-2$/m);
  expect(stderr).toContain('outrider submit URL');
  expect(await states()).toEqual(['a-1 pending ready', 'a-2 dead not_found', 'a-3 dead not_found']);

  const removed = await run('urls', 'remove', page(3), '--json');
  expect(JSON.parse(removed.stdout)).toMatchObject([{ url: page(3), answer: 'removed' }]);
  expect(removed).toMatchObject({ code: 0, stderr: '' });
  expect((await states()).at(-1)).toBe('a-3 dead removed');

  const feed = await run('urls', 'remove', 'https://paper.example/feed');
  expect(feed.code).toBe(2);
  expect(feed.stderr).toContain('outrider channels');

  expect((await run('urls', 'priority', '9', page(1))).code).toBe(0);
  const listed = JSON.parse((await run('urls', '--json')).stdout) as { url: string; priority: number }[];
  expect(listed.find(({ url }) => url === page(1))!.priority).toBe(9);
});

test('a slip among the addresses leaves everything as it is', async () => {
  const before = await states();
  const { code, stderr } = await run('urls', 'remove', page(1), 'paper');
  expect(code).toBe(2);
  expect(stderr).toContain('"paper" is no web address');
  expect(stderr).toContain('https://');
  expect(await states()).toEqual(before);
});

test('all that have something in common, polls excepted', async () => {
  const retried = await run('urls', 'retry', '--status', 'dead', '--reason', 'not_found');
  expect(retried.stdout).toBe('1 URL is fetched as soon as its domain may be asked.\n');
  expect(await states()).toEqual(['a-1 pending ready', 'a-2 pending ready', 'a-3 dead removed']);
  expect((await run('urls', 'retry', '--status', 'dead', '--reason', 'not_found')).stdout).toBe(
    'No URL matches.\n',
  );
  const removed = await run('urls', 'remove', '--domain', 'paper.example', '--json');
  expect(JSON.parse(removed.stdout)).toEqual({ matched: 3, outcomes: { removed: 2, unchanged: 1 } });
  expect((await run('channels', '--json')).stdout).toContain('https://paper.example/feed');
});

test('a list that is longer than what is shown says so', async () => {
  expect((await run('urls', '--limit', '2')).stdout).toContain('The first 2; --limit shows more.\n');
  expect((await run('urls', '--limit', '9')).stdout).not.toContain('--limit');
});
