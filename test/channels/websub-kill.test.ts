import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeDue } from '../e2e/crawl-state.ts';
import { waitUntil } from '../e2e/wait.ts';
import { Outrider } from '../process/outrider.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { startWebSubLab, type WebSubLab } from './websub-lab.ts';

// The API that hubs call is a process of its own here, so that it can be killed.
let database: TestDatabase;
let lab: WebSubLab;
let home: string;
let api: Outrider;

const startApi = async (): Promise<Outrider> => {
  const started = new Outrider(['serve'], { home, env: { ...lab.env, LOG_LEVEL: 'info' } });
  await started.says('serve is running');
  return started;
};

beforeAll(async () => {
  database = await createTestDatabase();
  home = mkdtempSync(join(tmpdir(), 'outrider-websub-kill-'));
  lab = await startWebSubLab({ databaseUrl: database.url, publishers: 1, roles: ['fetch', 'schedule'] });
  api = await startApi();
  await waitUntil('it is subscribed', async () => {
    // The first verification may have come before the API was there.
    await database.pool.query(
      `UPDATE websub_subscriptions SET next_at = now() WHERE asked_at < now() - interval '3 seconds' AND state = 'requested'`,
    );
    const active = await database.pool.query(`SELECT FROM websub_subscriptions WHERE state = 'active'`);
    return active.rowCount === 1;
  });
  // We know of it before the hub does, and it pushes to nobody until it has read our answer.
  await waitUntil('the hub knows that, too', () => lab.hub.events.some((one) => one.what === 'verified'));
});
afterAll(async () => {
  await api?.stop();
  await lab?.close();
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

test('kill -9 between a push and its submission loses nothing, because the poll still comes', async () => {
  const { domain } = lab.web.publishers[0]!;
  const rows = async (url: string): Promise<number> =>
    (await database.pool.query('SELECT FROM url_frontier WHERE url = $1', [url])).rowCount ?? 0;
  // Nobody can submit while this is held: the push is received, read, and waits.
  const holder = await database.pool.connect();
  let url: string;
  try {
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE url_frontier IN ACCESS EXCLUSIVE MODE');
    lab.web.clock.advance(2000);
    url = lab.web.publish(domain, 1)[0]!;
    await waitUntil('the push waits for the frontier', async () => {
      const waiting = await database.pool.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%frontier_submit%'
            AND application_name = 'outrider serve'`,
      );
      return waiting.rowCount === 1 || 'nobody waits';
    });
    await api.stop('SIGKILL');
  } finally {
    // The connection and its lock end together, whatever came before.
    holder.release(true);
  }
  await waitUntil('the hub knows that nobody took it', () =>
    lab.hub.events.some(
      (one) => one.what === 'failed' || (one.what === 'pushed' && (one.status ?? 0) >= 300),
    ),
  );
  await makeDue(database.pool, 'polls');
  await waitUntil('the poll has brought it', async () => (await rows(url)) === 1);
  await waitUntil(
    'it is a document',
    async () => (await database.pool.query('SELECT FROM documents WHERE url = $1', [url])).rowCount === 1,
  );
  // And pushes go on with the next process.
  api = await startApi();
  lab.web.clock.advance(2000);
  const since = lab.hub.events.length;
  const [next] = lab.web.publish(domain, 1);
  await waitUntil('the next push arrives', async () => (await rows(next!)) === 1);
  const { topic } = (await database.pool.query('SELECT topic FROM websub_subscriptions')).rows[0]!;
  expect((await lab.noted('pushed', topic, since)).status).toBe(202);
});
