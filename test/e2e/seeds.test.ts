import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { loadDomain, seedDomains } from '../../src/domains/index.ts';
import { type Engine, startEngine } from '../../src/engine.ts';
import { createLog } from '../../src/telemetry/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { findPolitenessViolations, startWeb, type Web } from '../web/index.ts';
import { isQuiet } from './crawl-state.ts';
import { waitUntil } from './wait.ts';

// Seeds through the whole engine: entry page, links, documents, and the numbers operators see.
const delayMs = 50;
let dir: string;
let database: TestDatabase;
let web: Web;
let engine: Engine;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'outrider-seeds-'));
  database = await createTestDatabase();
  web = await startWeb({
    seed: 5,
    publishers: 2,
    changes: [
      { backlog: 8, language: 'en', urlStyle: 'dated' },
      { backlog: 8, language: 'en', urlStyle: 'dated' },
    ],
    startMs: Date.parse('2024-06-05T12:00:00Z'),
    speed: 0,
  });
  const hostsFile = join(dir, 'hosts');
  await web.writeHostsFile(hostsFile);
  const { config } = loadConfig({
    env: {},
    overrides: {
      'database.url': database.url,
      'render.enabled': 'off',
      'fetch.hosts_file': hostsFile,
      'fetch.allow_networks': [`127.0.0.0/8:${web.port}`],
      'fetch.default_delay_ms': delayMs,
    },
  });
  engine = await startEngine({
    config,
    roles: ['fetch', 'schedule'],
    version: '0.0.0',
    log: createLog({ level: 'error', format: 'json' }),
  });
});
afterAll(async () => {
  await engine?.stop();
  await web?.close();
  await database?.drop();
  rmSync(dir, { recursive: true, force: true });
});

test('a seeded domain is crawled by its links, inside itself, and then exhausted', async () => {
  const [first, second] = web.publishers;
  const report = await seedDomains(database.pool, [`1,http://${first!.host}/\n2,http://${second!.host}/\n`], {
    dataset: 'two',
  });
  expect(report).toMatchObject({ added: 2, submitted: 2 });
  await waitUntil('everything due is done', () => isQuiet(database.pool));
  for (const { domain, hosts } of [first!, second!]) {
    const known = (await loadDomain(database.pool, domain, delayMs))!;
    expect(known).toMatchObject({ status: 'exhausted', dataset: 'two', lease: null, queued: 0 });
    expect(known.documents).toBeGreaterThan(3);
    expect(known.pagesCrawled).toBeGreaterThan(known.documents);
    expect(known.depthReached).toBeGreaterThan(0);
    // A guessed second page that is not there is a page asked for, and no page crawled.
    const asked = web.log.read().filter((one) => hosts.includes(one.host) && one.path !== '/robots.txt');
    expect(known.budget.left).toBe(1000 - asked.filter((one) => one.status !== 301).length);
  }
  const others = await database.pool.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM domains WHERE name <> ALL ($1)',
    [[first!.domain, second!.domain]],
  );
  expect(others.rows[0]!.count).toBe(0);
  expect(findPolitenessViolations(web.log.read(), { delayMs: () => delayMs })).toEqual([]);
});

test('the same seeds again ask for nothing', async () => {
  const before = web.log.read().length;
  const [first] = web.publishers;
  expect(await seedDomains(database.pool, [`http://${first!.host}/`], { dataset: 'two' })).toMatchObject({
    submitted: 0,
  });
  await waitUntil('everything due is done', () => isQuiet(database.pool));
  expect(web.log.read().length).toBe(before);
});
