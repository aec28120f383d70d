import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseEvery, shortSpan } from '../../src/cli/job-words.ts';
import { appendLog } from '../../src/jobs/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { endRun, putJob, startRun } from '../jobs/standing.ts';
import { CliHost, type Ended } from '../process/outrider.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

const host = new CliHost();
let home: string;
let database: TestDatabase;
const run = (...args: string[]): Promise<Ended> =>
  host.run(['jobs', ...args], { home, env: { DATABASE_URL: database.url } });
const json = async (...args: string[]) => {
  const ended = await run(...args, '--json');
  expect(ended.stderr).toBe('');
  return JSON.parse(ended.stdout);
};

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-cli-jobs-'));
  database = await createTestDatabase();
  await createSource(database.pool, { url: 'https://paper.example/', name: 'Paper', mode: 'spider' });
});
afterAll(() => host.close());
afterAll(async () => {
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

test.each([
  ['30m', { intervalMinutes: 30, intervalType: 'minutes' }],
  ['90 min', { intervalMinutes: 90, intervalType: 'minutes' }],
  ['6H', { intervalMinutes: 6, intervalType: 'hours' }],
  ['2d', { intervalMinutes: 2, intervalType: 'days' }],
  ['6', null],
  ['0h', null],
  ['h', null],
  ['-6h', null],
  ['6 weeks', null],
])('--every %s', (text, expected) => {
  if (expected === null) expect(() => parseEvery(text)).toThrow(/30m, 6h or 2d/);
  else expect(parseEvery(text)).toEqual(expected);
});

test.each([
  [null, '–'],
  [5, '5 s'],
  [60, '1 min'],
  [95, '2 min'],
  [5400, '90 min'],
  [21_600, '6 h'],
  [100_000, '28 h'],
  [172_800, '2 d'],
])('%j seconds are %s', (seconds, text) => {
  expect(shortSpan(seconds)).toBe(text);
});

test('a job from its making to its end', async () => {
  expect((await run()).stdout).toBe('No jobs yet. "outrider jobs create <source> --every 6h" makes one.\n');
  const made = await run('create', 'paper', '--every', '6h', '--max-depth', '9', '--max-pages', '50');
  expect(made).toMatchObject({ code: 0, stderr: expect.stringMatching(/^warning: maxDepth 9 is deep/) });
  expect(made.stdout).toMatch(
    /^Job 1 \(crawl paper\) runs first in \d+ (min|h|s)\.\n.*outrider jobs logs 1 --follow\n$/,
  );
  const listed = await run();
  expect(listed.stdout).toMatch(/ID +KIND +SOURCE +STATUS +EVERY +NEXT RUN +RUNS +LAST RUNS/);
  expect(listed.stdout).toMatch(/1 +crawl +paper +scheduled +6 h +in \d+/);
  expect((await run('pause', '1', '--reason', 'a holiday')).stdout).toBe(
    'Job 1 rests until it is resumed.\n',
  );
  const again = await run('pause', '1');
  expect(again.code).not.toBe(0);
  expect(again.stderr).toBe(
    'error: job 1 is paused: it cannot be paused\nWhat can be done with a paused job: resume, cancel, force-run.\n',
  );
  expect((await run('force-run', '1')).stdout).toContain('It rests again afterwards.');
  await startRun(database.pool, 1);
  await endRun(database.pool, 1, { status: 'scheduled' });
  await startRun(database.pool, 1);
  await endRun(database.pool, 1, { execution: 'failed', status: 'scheduled' });
  expect((await run()).stdout).toMatch(/scheduled +6 h +in 2 h +2 +✓✗\n/);
  const shown = (await run('show', '1')).stdout;
  expect(shown).toMatch(/^Job 1: crawl of paper, scheduled\n/);
  expect(shown).toMatch(/you can +pause, cancel, force-run/);
  expect(shown).toMatch(/pause +paused +\S+ +a holiday/);
  expect(await json('show', '1')).toMatchObject({
    job: { id: 1 },
    executions: [{ number: 2 }, { number: 1 }],
  });
  expect((await run('cancel', '1')).stdout).toContain('cancelled for good');
  expect((await run('resume', '1')).stderr).toContain('A cancelled job stays as it is; make a new one.');
  expect((await run('delete', '1')).stdout).toBe('Job 1 is forgotten; what it brought stays.\n');
  const gone = await run('show', '1');
  expect([gone.code, gone.stderr]).toEqual([
    2,
    'error: there is no job 1\nThe ID column of "outrider jobs" lists them.\n',
  ]);
});

test('what cannot be made is said with what to do next', async () => {
  for (const [args, message] of [
    [['create'], /needs a source\nGive the short name of one/],
    [['create', 'nobody'], /there is no source "nobody"\n"outrider sources" lists them/],
    [['create', 'paper', '--every', '6'], /--every takes a time as 30m, 6h or 2d/],
    [['create', 'paper', '--every', '400d'], /more than a year/],
    [['create', 'paper', '--url', 'https://other.example/'], /no address of paper.example/],
    [['create', '--kind', 'import'], /an import job needs its list/],
    [['create', '--kind', 'import', '--list', '/nowhere/list'], /cannot be read/],
    [['create', '--kind', 'nothing'], /Allowed choices are crawl, refresh/],
    [['pause', 'x'], /the id of a job takes a whole number/],
    [['logs', '999'], /there is no job 999/],
  ] as const) {
    const ended = await run(...args);
    expect(ended.code, args.join(' ')).toBe(2);
    expect(ended.stderr).toMatch(message);
  }
  const list = join(home, 'list.txt');
  writeFileSync(list, 'https://a.example/\n');
  expect(await json('create', '--kind', 'import', '--list', list, '--off')).toMatchObject({
    kind: 'import',
    status: 'paused',
    metadata: { text: 'https://a.example/\n', format: 'lines' },
  });
});

test('logs: the last run, one of a number, searched, and as they come', async () => {
  const { pool } = database;
  const id = await putJob(pool, 'scheduled');
  expect((await run('logs', String(id))).stderr).toBe(
    `error: job ${id} has not run yet\nSee its runs with: outrider jobs show ${id}\n`,
  );
  const first = await startRun(pool, id);
  await appendLog(pool, BigInt(first), [{ category: 'fetch', level: 'info', message: 'the first run' }]);
  await endRun(pool, id, { status: 'scheduled' });
  const second = await startRun(pool, id);
  await appendLog(
    pool,
    BigInt(second),
    Array.from({ length: 300 }, (_, n) => ({
      category: n % 2 === 0 ? ('fetch' as const) : ('error' as const),
      level: n % 2 === 0 ? ('info' as const) : ('error' as const),
      message: `line ${n}\u001b[31m`,
    })),
  );
  expect((await run('logs', String(id), '--run', '1')).stdout).toMatch(
    /^\S+Z {2}info {2}fetch {6}the first run\n$/,
  );
  expect((await run('logs', String(id), '--run', '7')).stderr).toContain('no run 7');
  const lines = (await run('logs', String(id))).stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(200);
  expect(lines.at(-1)).toContain('line 299');
  // What a page has put into its title must not paint the terminal.
  expect(lines.join('')).not.toContain('\u001b');
  expect(
    await json('logs', String(id), '--level', 'error', '--search', 'LINE 29', '--limit', '1000'),
  ).toHaveLength(6);
  // Followed from its last lines on, while more come, until it ends.
  const following = run('logs', String(id), '--follow', '--limit', '3');
  for (let n = 300; n < 310; n += 1)
    await appendLog(pool, BigInt(second), [{ category: 'fetch', level: 'info', message: `line ${n}` }]);
  await endRun(pool, id, { execution: 'failed', status: 'failed' });
  const followed = (await following).stdout.trimEnd().split('\n');
  expect(followed.pop()).toBe('The run has ended: failed.');
  const numbers = followed.map((line) => Number(/line (\d+)/.exec(line)![1]));
  expect(numbers.at(-1)).toBe(309);
  expect(numbers.length).toBeGreaterThanOrEqual(3);
  expect(numbers).toEqual(numbers.map((_, index) => numbers[0]! + index));
});

test('whoever follows a job that is about to run sees the run that begins', async () => {
  const { pool } = database;
  const id = await putJob(pool, 'pending', { at: new Date() });
  const following = run('logs', String(id), '--follow');
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const execution = await startRun(pool, id);
  await appendLog(pool, BigInt(execution), [{ category: 'fetch', level: 'info', message: 'the first line' }]);
  await endRun(pool, id, { execution: 'completed', status: 'completed' });
  const { code, stdout, stderr } = await following;
  // A command that begins late finds the run there.
  expect(stderr).toMatch(new RegExp(`^(Waiting for job ${id} to run: it is due now\\. .*\\n)?$`));
  expect(stdout).toMatch(/the first line\nThe run has ended: completed\.\n$/);
  expect(code).toBe(0);
  // Nobody is going to run this one.
  const paused = await putJob(pool, 'paused');
  expect((await run('logs', String(paused), '--follow')).stderr).toContain('has not run yet');
});

test('all jobs at once: stats, rebalance and sync', async () => {
  const { pool } = database;
  await pool.query('DELETE FROM jobs');
  expect((await run('stats')).stdout).toMatch(/^No jobs yet\..*\nNothing has run in the last 24 h\.\n$/);
  expect((await run('rebalance')).stdout).toBe('No job has to move; 100 % of the runs are spread evenly.\n');
  const at = new Date(Date.now() + 2 * 3_600_000);
  for (let n = 0; n < 30; n += 1) await putJob(pool, 'scheduled', { at, intervalSeconds: 86_400 });
  const preview = await run('rebalance', '--preview');
  expect(preview.stdout).toMatch(/ID +FROM +TO\n/);
  expect(preview.stdout).toMatch(
    /29 jobs would get another time; 3 % of the runs are spread evenly, then 100 %\.\n$/,
  );
  expect((await run('rebalance')).stdout).toMatch(/29 jobs got another time/);
  expect((await run('stats')).stdout).toMatch(
    /^Jobs: 30 scheduled\n.*\nNext 24 h: 30 runs, 100 % of them spread evenly/,
  );
  expect((await run('sync')).stdout).toBe('1 made, 0 resumed, 0 as they should be.\n');
  expect(await json('sync')).toEqual({ created: 0, resumed: 0, unchanged: 1 });
  expect((await run('--status', 'scheduled', '--kind', 'crawl')).stdout).toMatch(/crawl +paper/);
  expect((await run('list', '--source', 'paper', '--status', 'failed')).stdout).toBe('No job matches.\n');
});
