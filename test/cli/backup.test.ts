import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { destroyServer } from '../../src/db/embedded/index.ts';
import { openDatabase } from '../../src/db/index.ts';
import { waitUntil } from '../e2e/wait.ts';
import { CliHost, type Ended, Outrider } from '../process/outrider.ts';
import { startWeb, type Web } from '../web/index.ts';

// What a newcomer does: save a running `up`, lose the machine, bring it back elsewhere, and go on.
let home: string;
let web: Web;
const host = new CliHost();
const started: Outrider[] = [];
const [before, after] = ['before', 'after'];
const dataDir = (name: string): string => join(home, name);
const backups = (): string => join(home, 'backups');

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-backup-'));
  web = await startWeb({
    seed: 47,
    publishers: 2,
    changes: [
      { language: 'en', backlog: 6, ratePerDay: 20 },
      { language: 'en', backlog: 6, ratePerDay: 20 },
    ],
    startMs: Date.parse('2024-06-05T12:00:00Z'),
    speed: 0,
  });
  await web.writeHostsFile(join(home, 'hosts'));
});
afterAll(async () => {
  await host.close();
  for (const one of started) await one.stop('SIGKILL');
  await web?.close();
  for (const name of [before, after]) await destroyServer(dataDir(name));
  rmSync(home, { recursive: true, force: true });
});

const envOf = (name: string): Record<string, string> => ({
  OUTRIDER_DATA_DIR: dataDir(name),
  OUTRIDER_FETCH_HOSTS_FILE: join(home, 'hosts'),
  OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${web.port}`,
  OUTRIDER_FETCH_DEFAULT_DELAY_MS: '20',
  OUTRIDER_POLLING_SITEMAP_MAX_AGE_HOURS: '87600',
  OUTRIDER_UP_FETCHERS: '1',
  LOG_FORMAT: 'json',
});
const run = (name: string, args: string[]): Promise<Ended> => host.run(args, { home, env: envOf(name) });
async function start(name: string, args: string[], words: string): Promise<Outrider> {
  const one = new Outrider(args, { home, env: envOf(name) });
  started.push(one);
  await one.says(words, 120_000);
  return one;
}
/** Asked of the database itself: a command for each look would take the engine's time. */
async function waitForDocuments(name: string, wanted: number): Promise<void> {
  const database = await openDatabase({ dataDir: dataDir(name), migrate: false, maxConnections: 1 });
  try {
    await waitUntil('its articles are there', async () => {
      const { rows } = await database.pool.query<{ n: number }>(
        'SELECT count(*)::integer AS n FROM documents',
      );
      return rows[0]!.n >= wanted || `${rows[0]!.n} of ${wanted}`;
    });
  } finally {
    await database.close();
  }
}

test('where there is no database none is made', async () => {
  const { code, stderr } = await run('nowhere', ['backup', backups()]);
  expect(code).toBe(1);
  expect(stderr).toContain('There is no database');
  expect(existsSync(dataDir('nowhere'))).toBe(false);
});

test('a running engine is saved, lost, brought back and goes on without asking again', async () => {
  const up = await start(before, ['up', '--port', '0'], 'Outrider is running');
  const [known, other] = web
    .groundTruth()
    .map(({ articles }) => articles.filter((one) => one.expected.outcome === 'document'));
  const documents = known!.length;
  expect(await run(before, ['add', `http://${web.publishers[0]!.host}/`])).toMatchObject({ code: 0 });
  await waitForDocuments(before, documents);
  const saved = await run(before, ['backup', backups()]);
  expect(saved.stdout, saved.stderr).toMatch(
    new RegExp(`^Saved 1 source, ${documents} documents, \\d+ URLs .*read again and whole\\.$`, 'm'),
  );
  const refused = await run(before, ['restore', backups(), '--force']);
  expect(refused.stderr).toContain('3 processes of the engine work with this database');
  expect(refused.code).toBe(1);

  await up.stop('SIGKILL');
  await destroyServer(dataDir(before));
  expect(existsSync(dataDir(before))).toBe(false);

  const checked = await run(after, ['restore', backups(), '--check']);
  expect(checked.stdout).toContain(`is whole: 1 source, ${documents} documents`);
  expect(existsSync(dataDir(after))).toBe(false);
  const restored = await run(after, ['restore', backups()]);
  expect(restored.stdout, restored.stderr).toContain('every sum was right');

  const seen = web.log.nextSeq;
  const again = await start(after, ['fetch'], 'fetch is running');
  // That it goes on is shown by another publisher; the one it knows has nothing new.
  expect(await run(after, ['submit', other![0]!.url])).toMatchObject({ code: 0 });
  await waitForDocuments(after, documents + 1);
  const articles = new Set(web.groundTruth()[0]!.articles.map((one) => new URL(one.url).pathname));
  const repeated = web.log
    .read(seen)
    .filter((one) => one.host.startsWith(web.publishers[0]!.domain) && articles.has(one.path.split('?')[0]!));
  expect(repeated).toEqual([]);
  expect(await again.stop()).toMatchObject({ code: 0 });
}, 300_000);
