import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { blockDomain, keyOfDomain } from '../../src/domains/index.ts';
import { submit } from '../../src/frontier/index.ts';
import { Scheduler } from '../../src/schedule/index.ts';
import { createLog, createMetrics, systemClock } from '../../src/telemetry/index.ts';
import { waitUntil } from '../e2e/wait.ts';
import { item, take } from '../frontier/fixtures.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it('the schedule role says how many domains there are of each status, and how many leases are lost', async () => {
  await submit(
    test.pool,
    Array.from({ length: 4 }, (_, n) => item(n, 'a')),
  );
  await blockDomain(test.pool, keyOfDomain('d0.test')!, { reason: 'test', actor: 'test' });
  await take(test.db, { slots: 1, leaseMs: -1000 });
  const metrics = createMetrics();
  const scheduler = new Scheduler({
    database: test.db,
    config: loadConfig({ env: {}, overrides: {} }).config,
    clock: systemClock,
    log: createLog({ level: 'error', format: 'json' }),
    metrics,
    register: () => undefined,
    userAgent: 'OutriderTest/1',
    owner: 'test',
    hosts: null,
  });
  scheduler.start();
  try {
    await waitUntil('the gauges are set', async () =>
      (await metrics.registry.metrics()).includes('outrider_domains{status="blocked"} 1'),
    );
    const text = await metrics.registry.metrics();
    for (const line of [
      'outrider_domains{status="pending"} 2',
      'outrider_domains{status="active"} 1',
      'outrider_domains{status="exhausted"} 0',
      'outrider_domains{status="unreachable"} 0',
    ])
      expect(text).toContain(line);
    await waitUntil('the leases are counted', async () =>
      (await metrics.registry.metrics()).includes('outrider_expired_leases 1'),
    );
  } finally {
    await scheduler.stop();
  }
});
