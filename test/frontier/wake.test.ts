import { EventEmitter, once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadIdleMs, WakeListener } from '../../src/frontier/index.ts';
import { waitUntil } from '../e2e/wait.ts';
import { startFaultProxy } from '../process/fault-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { answers, done, finish, item, take } from './fixtures.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it('an idle domain that gets work is heard of', async () => {
  const heard = new EventEmitter();
  const listener = new WakeListener(test.url, () => heard.emit('work'));
  const work = once(heard, 'work');
  listener.start();
  for (;;) {
    const listening = await test.pool.query(
      `SELECT FROM pg_stat_activity WHERE application_name = 'outrider wake' AND query LIKE 'LISTEN%'`,
    );
    if (listening.rowCount === 1) break;
  }
  await answers(test.db, [item(1, 'a')]);
  await work;
  await listener.stop();
  const left = await test.pool.query(
    `SELECT FROM pg_stat_activity WHERE application_name = 'outrider wake' AND state = 'active'`,
  );
  expect(left.rowCount).toBe(0);
});

it('one whose server is gone without a word stops all the same', async () => {
  const proxy = await startFaultProxy(test.url);
  const listener = new WakeListener(proxy.url, () => undefined);
  listener.start();
  await waitUntil('it is connected', () => proxy.open === 1);
  proxy.freeze();
  await listener.stop();
  await proxy.close();
});

it('an idle worker sleeps until the next domain is due, at most a second', async () => {
  await answers(test.db, [item(2, 'a'), item(2, 'b')]);
  for (const held of await take(test.db)) {
    await finish(test.db, held, {
      items: held.urls.slice(0, 1).map((url) => done(url.hash)),
      defaultDelayMs: 400,
    });
  }
  const idleMs = await loadIdleMs(test.pool, 'default');
  expect(idleMs).toBeGreaterThan(0);
  expect(idleMs).toBeLessThanOrEqual(400);
  expect(await loadIdleMs(test.pool, 'another')).toBe(1000);
});
