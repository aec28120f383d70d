import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportDatabase, importDatabase } from '../../src/db/index.ts';
import { hashOf, isQuiet, loadBalances, loadKnown } from '../e2e/crawl-state.ts';
import { waitUntil } from '../e2e/wait.ts';
import { Lab, plain } from '../fetch/lab.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { passTime } from '../setup/rewind.ts';
import { findPolitenessViolations } from '../web/index.ts';

const names = ['one', 'two', 'three', 'four', 'five', 'six'];
const weekMs = 7 * 86_400_000;
const delayMs = 50;
let lab: Lab;
let restored: TestDatabase;
let home: string;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-backup-'));
  lab = await Lab.open({
    publishers: names.map((name) => plain(name, [{ name: 'slow', options: { delayMs: 100 } }])),
    env: { OUTRIDER_FETCH_LEASE_SECONDS: '5' },
  });
  restored = await createTestDatabase();
}, 60_000);
afterAll(async () => {
  await lab?.close();
  await restored?.drop();
  rmSync(home, { recursive: true, force: true });
});

test('a backup that is restored a week later: no page it knows is asked for again, and each feed once', async () => {
  for (const name of names) await lab.follow(name, 'feed');
  const first = lab.start();
  const articles = lab.web.groundTruth().flatMap((one) => one.articles.map(({ url }) => url));
  const fetchedIn = async ({ pool }: TestDatabase): Promise<string[]> => {
    const known = await loadKnown(pool);
    return articles.filter((url) => known.get(hashOf(url))?.status === 'fetched');
  };
  await waitUntil('it is half done', async () => (await fetchedIn(lab.database)).length >= names.length * 2);
  // In the middle of the work: leases are held, and some pages are fetched that the backup does not know of.
  await exportDatabase(lab.database.pool, join(home, 'backup'));
  await first.stop('SIGKILL');

  await importDatabase(restored.pool, join(home, 'backup'));
  await passTime(restored.pool, weekMs);
  const before = await fetchedIn(restored);
  expect(before.length).toBeGreaterThan(0);
  const since = lab.web.log.nextSeq;
  const second = lab.start({ DATABASE_URL: restored.url });
  await waitUntil('all of it is done', async () => {
    const { rowCount } = await restored.pool.query(
      `SELECT FROM url_frontier WHERE kind = 'channel' AND last_fetched_at < now() - interval '1 day'`,
    );
    const missing = articles.length - (await fetchedIn(restored)).length;
    return rowCount! + missing === 0 || `${missing} articles and ${rowCount} feeds to go`;
  });
  expect((await second.stop('SIGTERM')).code, second.stderr).toBe(0);

  const log = lab.web.log.read(since);
  const times = (url: string): number => {
    const { hostname, pathname } = new URL(url);
    return log.filter(({ host, path }) => host === hostname && path === pathname).length;
  };
  expect(before.filter((url) => times(url) > 0)).toEqual([]);
  expect(articles.filter((url) => !before.includes(url) && times(url) !== 1)).toEqual([]);
  expect(names.map((name) => times(lab.address(name, 'feed')))).toEqual(names.map(() => 1));
  expect(findPolitenessViolations(log, { delayMs: () => delayMs })).toEqual([]);
  // The next polls lie ahead and apart: nobody makes up for the week.
  const polls = await restored.pool.query<{ ahead: boolean; at: string }>(
    `SELECT due_at > now() + interval '1 minute' AS ahead, due_at::text AS at FROM url_frontier WHERE kind = 'channel'`,
  );
  expect(polls.rows.map(({ ahead }) => ahead)).toEqual(names.map(() => true));
  expect(new Set(polls.rows.map(({ at }) => at)).size).toBe(names.length);
  const versions = await restored.pool.query('SELECT FROM documents WHERE version > 1');
  expect(versions.rowCount).toBe(0);
  expect(await isQuiet(restored.pool)).toMatch(/"ready":0,"due":0,"leased":0/);
  for (const [what, one, other] of await loadBalances(restored.pool))
    expect([what, one]).toEqual([what, other]);
}, 120_000);
