import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SubmitItem, submit } from '../../src/frontier/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import type { AccessRecord } from '../web/index.ts';
import { keepEvidence } from './evidence.ts';
import type { Ground } from './invariants/index.ts';
import { Ledger } from './ledger.ts';

let home: string;
let database: TestDatabase;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-evidence-'));
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

const read = (name: string): unknown[] =>
  readFileSync(join(home, `${name}.ndjson`), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

test('a broken run leaves its rows, requests and losses beside the logs', async () => {
  const url = 'http://one.test/a';
  const item: SubmitItem = { url, kind: 'article', origin: 'feed', sourceId: null, priority: 5, own: true };
  await submit(database.pool, [item]);
  const ledger = new Ledger(1000);
  ledger.note('fetch-1.1', 'killed');
  const calmSince = new Date('2026-11-17T03:00:00Z');
  const log = [
    {
      host: 'one.test',
      path: '/a',
      userAgent: 'Outrider/torture (fetch-1.1)',
      startedAtMs: 0,
      headersSentAtMs: -1,
    } as AccessRecord,
  ];
  const stage = { home, ledger, database: database.db } as unknown as Ground['stage'];
  await keepEvidence({ stage, log, calmSince });
  expect(read('url_frontier')).toMatchObject([{ url, status: 'pending' }]);
  expect(read('domain_slots')).toHaveLength(1);
  expect(read('crawl_log')).toEqual([]);
  const startedAt = new Date(performance.timeOrigin).toISOString();
  expect(read('requests')).toMatchObject([{ url, life: 'fetch-1.1', startedAt, headersAt: null }]);
  expect(read('losses')).toMatchObject([
    { from: '2026-11-17T03:00:00.000Z' },
    { life: 'fetch-1.1', why: 'killed' },
  ]);
});
