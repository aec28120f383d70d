import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Outrider, runOutrider } from '../process/outrider.ts';
import { createTestDatabase } from '../setup/database.ts';

let home: string;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'outrider-cli-'));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

test('the demo stops by itself and its last line is the result', async () => {
  const { code, stdout, stderr } = await runOutrider(
    ['demo', '--seconds', '15', '--publishers', '8', '--json'],
    {
      home,
      env: { TMPDIR: home },
    },
  );
  const result = JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Record<string, number>;
  expect(Object.keys(result)).toEqual([
    'sources',
    'channels',
    'submitted',
    'duplicates',
    'pending',
    'fetched',
    'redirected',
    'duplicateText',
    'failed',
    'dead',
    'needsRender',
    'documents',
    'robotsBlocked',
    'politenessViolations',
    'lost',
  ]);
  expect(result).toMatchObject({ sources: 8, politenessViolations: 0, lost: 0 });
  const { submitted, pending, fetched, redirected, duplicateText, failed, dead, needsRender } = result;
  expect(submitted).toBe(pending! + fetched! + redirected! + duplicateText! + failed! + dead! + needsRender!);
  expect(stderr).toContain('Nothing leaves this machine');
  expect(code, stderr).toBe(0);
  expect(readdirSync(home).filter((name) => name.startsWith('outrider-demo-'))).toEqual([]);
});

test('a database in use is left alone: its publishers are no show', async () => {
  const database = await createTestDatabase();
  try {
    await database.pool.query(
      `INSERT INTO sources (slug, name, url) VALUES ('real', 'Real', 'https://real.test/')`,
    );
    const options = { home, env: { TMPDIR: home, DATABASE_URL: database.url } };
    const { code, stderr } = await runOutrider(
      ['demo', '--seconds', '1', '--publishers', '2', '--json'],
      options,
    );
    expect(stderr).toContain('the demo does not work on a database in use: this one has 1 source');
    expect(code).toBe(2);
    expect((await database.pool.query('SELECT slug FROM sources')).rows).toEqual([{ slug: 'real' }]);
    expect((await database.pool.query('SELECT FROM workers')).rowCount).toBe(0);
  } finally {
    await database.drop();
  }
});

test('Ctrl-C ends the demo early, with its result', async () => {
  const demo = new Outrider(['demo', '--publishers', '3', '--json'], { home, env: { TMPDIR: home } });
  await demo.says('  article  ');
  const { code, stdout, stderr } = await demo.stop('SIGINT');
  expect(code, stderr).toBe(0);
  const result = JSON.parse(stdout) as Record<string, number>;
  expect(result).toMatchObject({ sources: 3, lost: 0, politenessViolations: 0 });
  // An article was shown before the stop, however slow the machine.
  expect(result.documents).toBeGreaterThan(0);
  expect(result.channels).toBeGreaterThan(0);
  expect(readdirSync(home).filter((name) => name.startsWith('outrider-demo-'))).toEqual([]);
});
