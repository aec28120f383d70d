import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitUntil } from '../e2e/wait.ts';
import { Outrider } from '../process/outrider.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let home: string;
let database: TestDatabase;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-lost-log-'));
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

test('a role whose log nobody reads any more works on, and stops when it is asked to', async () => {
  const one = new Outrider(['schedule', '--log-level', 'debug'], {
    home,
    env: { DATABASE_URL: database.url },
  });
  one.child.stderr!.destroy();
  // It has said that it runs by then, and found nobody to hear it.
  await waitUntil('the role is at work', async () => {
    expect(one.child.exitCode).toBeNull();
    const { rowCount } = await database.pool.query(`SELECT FROM workers WHERE role = 'schedule'`);
    return rowCount === 1;
  });
  const { code } = await one.stop('SIGTERM');
  expect(code).toBe(0);
});

test('a mistake keeps its exit code when nobody hears what is wrong', async () => {
  const one = new Outrider(['sources', 'change'], { home });
  one.child.stderr!.destroy();
  expect((await one.ended()).code).toBe(2);
});
