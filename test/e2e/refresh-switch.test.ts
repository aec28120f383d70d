import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { type Engine, startEngine } from '../../src/engine.ts';
import { findSlotProblems, submitByHand } from '../../src/frontier/index.ts';
import { saveSwitch } from '../../src/switches/index.ts';
import { createLog } from '../../src/telemetry/index.ts';
import { plain } from '../fetch/lab.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { startWeb, type Web } from '../web/index.ts';
import { waitUntil } from './wait.ts';

// Switches are safe to turn while everything runs: what is fetched while refreshes are off is known as any other page.
let database: TestDatabase;
let dir: string;
let web: Web;
let engine: Engine;

beforeAll(async () => {
  database = await createTestDatabase();
  dir = mkdtempSync(join(tmpdir(), 'outrider-refresh-'));
  web = await startWeb({
    seed: 44,
    publishers: 1,
    changes: [plain('steady')],
    startMs: Date.parse('2024-06-05T12:00:00Z'),
    speed: 0,
  });
  await web.writeHostsFile(join(dir, 'hosts'));
  await saveSwitch(database.pool, 'refresh', false, 'test');
  const { config } = loadConfig({
    env: {
      DATABASE_URL: database.url,
      OUTRIDER_RENDER_ENABLED: 'off',
      OUTRIDER_FETCH_HOSTS_FILE: join(dir, 'hosts'),
      OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${web.port}`,
      OUTRIDER_FETCH_DEFAULT_DELAY_MS: '20',
      OUTRIDER_FETCH_NETWORK_GAP_MS: '0',
      LOG_LEVEL: 'error',
    },
  });
  engine = await startEngine({
    config,
    roles: ['fetch'],
    version: '0.0.0-test',
    log: createLog({ level: 'error', format: 'json' }),
  });
}, 300_000);
afterAll(async () => {
  await engine?.stop();
  await web?.close();
  await database?.drop();
  rmSync(dir, { recursive: true, force: true });
});

test('a page fetched while refreshes are off is looked at again once they are on', async () => {
  const url = web.groundTruth('steady.test')[0]!.articles[0]!.url;
  await submitByHand(database.pool, [{ url }]);
  const row = async () =>
    (
      await database.pool.query<{ status: string; count: number; due: boolean; ahead: boolean }>(
        `SELECT status, fetch_count AS count, due_at <= now() AS due, due_at > now() + interval '13 days' AS ahead
           FROM url_frontier WHERE kind = 'article'`,
      )
    ).rows[0];
  const seen = (want: { status: string; count: number }) =>
    waitUntil(`it was fetched ${want.count} times`, async () => {
      const now = await row();
      return (now?.status === want.status && now.count === want.count) || JSON.stringify(now);
    });
  await seen({ status: 'fetched', count: 1 });
  expect(await row()).toMatchObject({ ahead: true });
  await database.pool.query(`UPDATE url_frontier SET due_at = now() - interval '1 hour'`);
  await saveSwitch(database.pool, 'refresh', true, 'test');
  await seen({ status: 'fetched', count: 2 });
  expect(await findSlotProblems(database.pool)).toEqual([]);
}, 120_000);
