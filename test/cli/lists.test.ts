import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitUntil } from '../e2e/wait.ts';
import { CliHost, type Ended, Outrider } from '../process/outrider.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

// Lists in and out by the real command line against a real database.
let database: TestDatabase;
let home: string;
let env: Record<string, string>;
beforeAll(async () => {
  database = await createTestDatabase();
  home = mkdtempSync(join(tmpdir(), 'outrider-lists-'));
  env = { DATABASE_URL: database.url, LOG_FORMAT: 'json' };
});
afterAll(async () => {
  await host.close();
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

const host = new CliHost();
const run = (args: string[], input?: string): Promise<Ended> =>
  host.run(args, { home, env, ...(input === undefined ? {} : { input }) });
const countOf = async (table: string): Promise<number> =>
  (await database.pool.query(`SELECT count(*)::integer AS n FROM ${table}`)).rows[0]!.n;

test('a list is read from standard input, whatever its form, and bad lines are named', async () => {
  const { code, stdout, stderr } = await run(
    ['import', '-', '--rejects', 'bad.ndjson'],
    'a.test\nnonsense\nb.test\n',
  );
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('2 sources added, 0 followed already.');
  expect(stdout).toContain('The feeds of 2 sources are looked for as soon as "outrider up" runs');
  expect(stdout).toContain(
    '1 entry of 3 lines could not be used:\n  line 2: "nonsense" is not a web address',
  );
  expect(JSON.parse(readFileSync(join(home, 'bad.ndjson'), 'utf8'))).toEqual({
    line: 2,
    reason: '"nonsense" is not a web address',
    text: 'nonsense',
  });
  const again = await run(['import', '-', '--json'], '["a.test"]');
  expect(JSON.parse(again.stdout)).toMatchObject({ added: 0, known: 1 });
});

test('what is exported comes back, and only its owner may read the file', async () => {
  expect((await run(['export', 'all.opml'])).stdout).toBe('2 sources written to all.opml.\n');
  expect(statSync(join(home, 'all.opml')).mode & 0o777).toBe(0o600);
  expect((await run(['import', 'all.opml'])).stdout).toContain('0 sources added, 2 followed already.');
  const csv = await run(['export', '--format', 'csv']);
  expect(csv.stdout).toMatch(/^url,name,slug,.*\r\nhttps:\/\/a\.test\/,a\.test,a_test,true,/);
  expect((await run(['import', '-'], csv.stdout)).stdout).toContain('0 sources added, 2 followed already.');
});

test('comments stand on lines of their own and behind addresses', async () => {
  const list = '# all of them\nhttps://c1.test  # the first\nc2.test\t#x\n  # none\nc3.test/#part\n';
  const { stdout, code } = await run(['import', '-', '--format', 'lines', '--json'], list);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ added: 3, bad: 0 });
});

test('a list gives no source the place of a route, and the longest name comes back', async () => {
  const name = 'n'.repeat(500);
  const sources = [
    ...['activity', 'add', 'export'].map((slug) => ({ url: `https://own-${slug}.test/`, slug })),
    ...[1, 2].map((n) => ({ url: `https://long-${n}.test/`, name })),
  ];
  expect((await run(['import', '-'], JSON.stringify(sources))).stdout).toContain('5 sources added');
  const { rows } = await database.pool.query(
    `SELECT slug FROM sources WHERE url ~ 'own-|long-' ORDER BY slug COLLATE "C"`,
  );
  const slugs = rows.map((row: { slug: string }) => row.slug);
  expect(slugs).toEqual([name, `${name}_2`, 'own_activity_test', 'own_add_test', 'own_export_test']);
  const exported = (await run(['export', '--format', 'ndjson'])).stdout;
  for (const slug of slugs) expect((await run(['sources', 'delete', slug])).code).toBe(0);
  const again = JSON.parse((await run(['import', '-', '--json'], exported)).stdout);
  expect(again).toMatchObject({ added: 5, bad: 0 });
});

test('a list is not overwritten by what is written about it', async () => {
  const file = join(home, 'mine.txt');
  writeFileSync(file, 'mine.test\nnonsense\n');
  for (const args of [
    ['import', 'mine.txt', '--rejects', './mine.txt'],
    ['run', '--urls', 'mine.txt', '--out', file],
  ]) {
    const { code, stderr } = await run(args);
    expect(stderr).toContain('is the list itself and would be overwritten');
    expect(code).toBe(2);
  }
  expect(readFileSync(file, 'utf8')).toBe('mine.test\nnonsense\n');
});

test('an export that fails leaves the file of before as it was', async () => {
  const file = join(home, 'kept.json');
  writeFileSync(file, 'of before', { mode: 0o644 });
  const away = await host.run(['export', 'kept.json', '--server', 'http://127.0.0.1:9'], { home, env });
  expect(away.code).toBe(8);
  expect(readFileSync(file, 'utf8')).toBe('of before');
  expect((await run(['export', 'kept.json'])).code).toBe(0);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveLength(await countOf('sources'));
  // Settings may hold passwords, whatever stood there before.
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(home).filter((name) => name.endsWith('.partial'))).toEqual([]);
});

test.skipIf(!existsSync('/dev/full'))('a disk that is full is told as such', async () => {
  const { code, stderr } = await run(['export', '/dev/full']);
  expect(stderr).toMatch(/^error: \/dev\/full cannot be written: ENOSPC/);
  expect(code).toBe(6);
  const rejects = await run(['import', '-', '--rejects', '/dev/full'], 'nonsense');
  expect(rejects.stderr).toMatch(/^error: \/dev\/full cannot be written: ENOSPC/);
  expect(rejects.code).toBe(6);
  // The same of standard output, whatever the command.
  const full = openSync('/dev/full', 'w');
  const main = join(import.meta.dirname, '../../dist/src/cli/main.js');
  const { status, stderr: told } = spawnSync(process.execPath, [main, 'config', '--json'], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
    env: { HOME: home },
  });
  closeSync(full);
  expect(told).toMatch(/^error: standard output cannot be written: ENOSPC/);
  expect(told).not.toMatch(/\n {4}at /);
  expect(status).toBe(6);
});

test('nothing usable ends with 1, a missing file with 2', async () => {
  expect((await run(['import', '-'], 'nonsense')).code).toBe(1);
  const missing = await run(['import', 'nowhere.opml']);
  expect(missing.code).toBe(2);
  expect(missing.stderr).toContain('nowhere.opml cannot be read');
  expect((await run(['export', 'no/such/dir.csv'])).stderr).toContain('cannot be written');
});

test('an import that is killed is finished by the next one, without doubles', async () => {
  const before = await countOf('sources');
  const lines = Array.from({ length: 6000 }, (_, n) => `https://many-${n}.test/feed.xml`);
  writeFileSync(
    join(home, 'many.ndjson'),
    lines.map((feed, n) => JSON.stringify({ name: `Name ${n % 50}`, feed_url: feed })).join('\n'),
  );
  const first = new Outrider(['import', 'many.ndjson'], { home, env });
  await waitUntil('the first batch is stored', async () => (await countOf('sources')) > before || 'not yet');
  await first.stop('SIGKILL');
  const half = (await countOf('sources')) - before;
  expect(half).toBeGreaterThan(0);
  expect(half).toBeLessThan(6000);
  const { stdout, stderr } = await run(['import', 'many.ndjson', '--json']);
  const report = JSON.parse(stdout || `{"error":${JSON.stringify(stderr)}}`);
  expect(report.added + report.known).toBe(6000);
  expect(report).toMatchObject({ lines: 6000, bad: 0, searches: 0 });
  expect(await countOf('sources')).toBe(before + 6000);
  expect(await countOf('channels')).toBe(6000);
  expect(await countOf(`url_frontier WHERE kind = 'channel'`)).toBe(6000);
});

test('where roles run already, nobody is told to start them', async () => {
  await database.pool.query(
    `INSERT INTO workers (id, role, version, host, pid) SELECT role, role, '1', 'elsewhere', 1 FROM unnest(ARRAY['fetch', 'schedule']) AS role`,
  );
  const { code, stdout, stderr } = await run(['import', '-'], 'running.test\n');
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('The feeds of 1 source are being looked for; "outrider channels" shows them.');
  await database.pool.query('DELETE FROM workers');
});
