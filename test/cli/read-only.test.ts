import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitUntil } from '../e2e/wait.ts';
import { freePort } from '../process/free-port.ts';
import { Outrider } from '../process/outrider.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

// A replica after a failover, or a server that its provider keeps from filling its disk.
let home: string;
let database: TestDatabase;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-read-only-'));
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

test('an API that starts while nothing can be written answers, and stops when it is told to', async () => {
  const port = await freePort();
  const first = { home, env: { DATABASE_URL: database.url, OUTRIDER_API_PORT: String(port) } };
  const answers = async (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    );
  // The key of sessions is made at the first start of all.
  const once = new Outrider(['serve'], first);
  await waitUntil('it answers', answers);
  expect((await once.stop('SIGTERM')).code).toBe(0);
  const name = new URL(database.url).pathname.slice(1);
  await database.pool.query(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
  const serve = new Outrider(['serve'], first);
  await waitUntil('it answers from what it can read', answers);
  await waitUntil('it says what it cannot do', () => serve.stderr.includes('sign-in link'));
  const { code, stderr } = await serve.stop('SIGTERM');
  expect(code, stderr).toBe(0);
});
