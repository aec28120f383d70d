import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { ArchiveEntrance } from '../../src/discover/index.ts';
import { startEngine } from '../../src/engine.ts';
import { createSource } from '../../src/sources/index.ts';
import { saveSwitch } from '../../src/switches/index.ts';
import { createLog } from '../../src/telemetry/index.ts';
import { waitUntil } from '../e2e/wait.ts';
import { Lab, plain } from '../fetch/lab.ts';

// The schedule role as a process that dies between writing down what it asks and asking.
let lab: Lab;

beforeAll(async () => {
  lab = await Lab.open({
    publishers: [plain('mapped', [], { feeds: [], backlog: 20, ratePerDay: 0.3, perPage: 5 })],
    env: { OUTRIDER_POLLING_SITEMAP_MAX_AGE_HOURS: '48' },
  });
  const url = 'http://mapped.test/';
  const { source } = await createSource(lab.database.pool, {
    url,
    mode: 'spider',
    settings: { maxDepth: 1 },
  });
  await lab.ask(url, { kind: 'listing', sourceId: source.id });
  lab.start();
  await lab.idle();
});
afterAll(() => lab?.close());

const states = async (): Promise<Record<string, string>> => {
  const result = await lab.database.pool.query<{ url: string; state: string }>(
    'SELECT url, state FROM archive_tries ORDER BY url',
  );
  return Object.fromEntries(result.rows.map(({ url, state }) => [url, state]));
};
const beDue = () => lab.database.pool.query('UPDATE archive_domains SET next_at = now()');

test('while it is switched off nobody is looked at', async () => {
  await new ArchiveEntrance(lab.database.pool, () => performance.now()).turn();
  await beDue();
  await saveSwitch(lab.database.pool, 'archives', false, 'test');
  const { config } = loadConfig({ env: {}, overrides: { 'database.url': lab.database.url } });
  const log = createLog({ level: 'error', format: 'json' });
  const engine = await startEngine({ config, roles: ['schedule'], version: '0.0.0', log });
  try {
    const before = lab.web.log.nextSeq;
    const turns = (): number => engine.loops().find((one) => one.name === 'archives')?.turns ?? 0;
    await waitUntil('it had two turns', () => turns() >= 2 || `${turns()} turns`);
    expect(await states()).toEqual({});
    const waiting = await lab.database.pool.query('SELECT FROM archive_domains WHERE next_at <= now()');
    expect(waiting.rowCount).toBe(1);
    expect(lab.web.log.nextSeq).toBe(before);
  } finally {
    await engine.stop();
  }
  await saveSwitch(lab.database.pool, 'archives', true, 'test');
});

test('kill -9 between what is written down and what is asked repeats nothing and loses nothing', async () => {
  const holder = await lab.database.pool.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    // Whoever submits waits here: slots can be read and not locked.
    await holder.query('LOCK TABLE domain_slots IN EXCLUSIVE MODE');
    await beDue();
    const first = lab.start({}, 'schedule');
    await waitUntil('it waits for the slot', async () => {
      const waiting = await lab.database.pool.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%frontier_submit%'
            AND application_name = 'outrider schedule'`,
      );
      return (waiting.rowCount ?? 0) > 0 || JSON.stringify(await states());
    });
    await first.stop('SIGKILL');
  } finally {
    await holder.query('ROLLBACK');
    holder.release();
  }
  const written = await states();
  expect(Object.keys(written).length).toBe(5);
  expect(new Set(Object.values(written))).toEqual(new Set(['asked']));
  // Taken by the one that died: nobody else has it before its time is over, which is now.
  const taken = await lab.database.pool.query('SELECT FROM archive_domains WHERE next_at > now()');
  expect(taken.rowCount).toBe(1);
  await beDue();
  // Two of them, as in a deployment.
  lab.start({}, 'schedule');
  lab.start({}, 'schedule');
  await waitUntil('everything written down has its row', async () => {
    const rows = await lab.database.pool.query(
      `SELECT FROM archive_tries t WHERE EXISTS (SELECT FROM url_frontier f WHERE f.url_hash = t.url_hash)`,
    );
    return rows.rowCount === 5 || `${rows.rowCount} have`;
  });
  await lab.idle();
  await waitUntil('every end is known', async () => {
    await beDue();
    const open = Object.entries(await states()).filter(([, state]) => state === 'asked');
    return open.length === 0 || String(open);
  });
  const ends = await states();
  expect(Object.keys(ends)).toEqual(Object.keys(written));
  expect(ends['http://mapped.test/sitemap.xml']).toBe('worked');
  for (const url of Object.keys(ends)) {
    const { pathname } = new URL(url);
    const requests = lab.requests('mapped').filter(({ path }) => path === pathname);
    expect([pathname, requests.length]).toEqual([pathname, 1]);
  }
}, 120_000);
