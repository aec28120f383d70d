import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CliHost, type Ended } from '../process/outrider.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let database: TestDatabase;
let home: string;
const host = new CliHost();
const run = (...args: string[]): Promise<Ended> =>
  host.run(args, { home, env: { DATABASE_URL: database.url, LOG_FORMAT: 'json' } });
const settingsOf = async (slug: string): Promise<Record<string, unknown> | undefined> =>
  (await database.pool.query('SELECT settings FROM sources WHERE slug = $1', [slug])).rows[0]?.settings;

beforeAll(async () => {
  database = await createTestDatabase();
  home = mkdtempSync(join(tmpdir(), 'outrider-sources-'));
  expect((await run('add', 'https://one.test/', '--no-wait')).code).toBe(0);
});
afterAll(async () => {
  await host.close();
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

test('links are followed without end with the number that the help names', async () => {
  const { code, stdout, stderr } = await run('sources', 'set', 'one_test', '--depth', '-1');
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('is changed');
  expect(await settingsOf('one_test')).toMatchObject({ maxDepth: -1 });
  const less = await run('sources', 'set', 'one_test', '--depth', '-2');
  expect(less.code).toBe(2);
  expect(less.stderr).toContain('--depth takes a whole number -1–1000, not "-2"');
});

test('what a disabled source holds is told as held, not as due in a thousand years', async () => {
  const url = 'https://one.test/2026/story-1';
  expect((await run('submit', url, 'https://one.test/2026/story-2')).code).toBe(0);
  await database.pool.query(
    `UPDATE url_frontier SET status = 'fetched', last_fetched_at = now(), due_at = now() + interval '14 days', ready = false
      WHERE url = $1`,
    [url],
  );
  expect((await run('explain', url)).stdout).toContain('It is looked at again in 14 days.');
  expect((await run('sources', 'disable', 'one_test', '--reason', 'a test')).code).toBe(0);
  const { stdout } = await run('urls', '--kind', 'article');
  expect(stdout).toMatch(/^fetched +article +\d+ +held +/m);
  expect(stdout).not.toMatch(/in \d{4,} d/);
  const told = await run('explain', url);
  expect(told.stdout.replace(/\s+/g, ' ')).toContain(
    'It is not looked at again while its source is disabled or not polled ("outrider sources").',
  );
  const [answer] = JSON.parse((await run('explain', url, '--json')).stdout) as { expectedAt: unknown }[];
  expect(answer!.expectedAt).toBeNull();
});

test('of several addresses those before one that is refused are added, and said to be', async () => {
  const { code, stdout, stderr } = await run('add', 'https://two.test/', 'http://10.0.0.1/', '--no-wait');
  expect(stdout).toContain('Added two.test');
  expect(stderr).toContain('10.0.0.1 is not a public address');
  expect(code).toBe(2);
  expect(await settingsOf('two_test')).toEqual({});
});

test.each([
  ['', 'Give a web address, as example.com or https://example.com/'],
  ['not a url', 'Give a web address, as example.com or https://example.com/'],
  ['example', 'Give a web address, as example.com or https://example/'],
])('what is no address is told how one is written: %j', async (typed, advice) => {
  const { code, stderr } = await run('add', typed);
  expect(stderr).toContain(advice);
  expect(code).toBe(2);
});

test('an import job without its list is told of the option that names it', async () => {
  const { code, stderr } = await run('jobs', 'create', '--kind', 'import');
  expect(stderr).toContain('--list FILE');
  expect(code).toBe(2);
});
