import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { destroyServer } from '../../src/db/embedded/index.ts';
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
async function json<T>(name: string, args: string[]): Promise<T> {
  const { code, stdout, stderr } = await run(name, [...args, '--json']);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as T;
}
async function startUp(name: string): Promise<Outrider> {
  const up = new Outrider(['up', '--port', '0'], { home, env: envOf(name) });
  started.push(up);
  await up.says('Outrider is running');
  return up;
}
async function follow(name: string, publisher: number): Promise<void> {
  const truth = web.groundTruth()[publisher]!;
  expect(await run(name, ['add', `http://${web.publishers[publisher]!.host}/`])).toMatchObject({ code: 0 });
  const wanted = truth.articles.filter((one) => one.expected.outcome === 'document').length;
  await waitUntil('its articles are there', async () => {
    const args = ['docs', 'list', '--domain', web.publishers[publisher]!.domain, '--limit', '100'];
    const { length } = await json<object[]>(name, args);
    return length >= wanted || `${length} of ${wanted}`;
  });
}

test('where there is no database none is made', async () => {
  const { code, stderr } = await run('nowhere', ['backup', backups()]);
  expect(code).toBe(1);
  expect(stderr).toContain('There is no database');
  expect(existsSync(dataDir('nowhere'))).toBe(false);
});

test('a running engine is saved, lost, brought back and goes on without asking again', async () => {
  const up = await startUp(before);
  await follow(before, 0);
  const documents = (await json<object[]>(before, ['docs', 'list', '--limit', '100'])).length;
  const saved = await run(before, ['backup', backups()]);
  expect(saved.stdout, saved.stderr).toMatch(
    new RegExp(`^Saved 1 sources, ${documents} documents, \\d+ URLs .*read again and whole\\.$`, 'm'),
  );
  const refused = await run(before, ['restore', backups(), '--force']);
  expect(refused.stderr).toContain('3 processes of the engine work with this database');
  expect(refused.code).toBe(1);

  await up.stop('SIGKILL');
  await destroyServer(dataDir(before));
  expect(existsSync(dataDir(before))).toBe(false);

  const checked = await run(after, ['restore', backups(), '--check']);
  expect(checked.stdout).toContain(`is whole: 1 sources, ${documents} documents`);
  expect(existsSync(dataDir(after))).toBe(false);
  const restored = await run(after, ['restore', backups()]);
  expect(restored.stdout, restored.stderr).toContain('every sum was right');

  const seen = web.log.nextSeq;
  const again = await startUp(after);
  // That it goes on is shown by another publisher; the one it knows has nothing new.
  await follow(after, 1);
  expect(await json<object[]>(after, ['docs', 'list', '--limit', '100'])).toHaveLength(
    documents + web.groundTruth()[1]!.articles.filter((one) => one.expected.outcome === 'document').length,
  );
  const articles = new Set(web.groundTruth()[0]!.articles.map((one) => new URL(one.url).pathname));
  const repeated = web.log
    .read(seen)
    .filter((one) => one.host.startsWith(web.publishers[0]!.domain) && articles.has(one.path.split('?')[0]!));
  expect(repeated).toEqual([]);
  expect(await again.stop()).toMatchObject({ code: 0 });
}, 120_000);
