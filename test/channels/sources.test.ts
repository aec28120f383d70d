import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeDocuments } from '../../src/documents/index.ts';
import { findSlotProblems } from '../../src/frontier/index.ts';
import {
  applyHolds,
  deleteSource,
  findSourceBySlug,
  setSourceEnabled,
  sweepDisabled,
  updateSource,
} from '../../src/sources/index.ts';
import { waitUntil } from '../e2e/wait.ts';
import { checkCrawl, checkEnd } from '../fetch/end.ts';
import { Lab, plain } from '../fetch/lab.ts';
import type { Outrider } from '../process/outrider.ts';
import { pollAgain } from './channel-lab.ts';

const delayMs = 50;
const names = ['held', 'kept', 'purged', 'spidered'];
const by = { actor: 'test', reason: 'why not' };

let lab: Lab;
let fetcher: Outrider;

const slug = (name: string): string => `${name}_test`;
const feed = (name: string) => lab.row(`http://${name}.test/feed`, 'feed');

async function rows(
  name: string,
): Promise<{ kind: string; status: string; ready: boolean; dueY: number | null }[]> {
  const result = await lab.database.pool.query<{
    kind: string;
    status: string;
    ready: boolean;
    dueY: number | null;
  }>(
    `SELECT f.kind, f.status, f.ready, round(extract(epoch FROM f.due_at - now()) / 31557600)::integer AS "dueY"
       FROM url_frontier f JOIN domains d USING (bucket, domain_key) WHERE d.name = $1 ORDER BY f.url`,
    [`${name}.test`],
  );
  return result.rows;
}

async function documents(name: string): Promise<number> {
  const result = await lab.database.pool.query<{ documents: number }>(
    'SELECT count(*)::integer AS documents FROM documents WHERE url LIKE $1',
    [`http://${name}.test/%`],
  );
  return result.rows[0]!.documents;
}

beforeAll(async () => {
  lab = await Lab.open({ publishers: names.map((name) => plain(name)) });
  for (const name of names) await lab.follow(name, 'feed');
  fetcher = lab.start();
  await lab.idle();
});
afterAll(() => lab?.close());

test('a disabled source is neither polled nor fetched, and keeps its due times', async () => {
  const { pool } = lab.database;
  const before = await feed('held');
  // A fetcher follows within five seconds; a new one at once, so that nobody has to wait here.
  await fetcher.stop();
  const source = (await findSourceBySlug(pool, slug('held')))!;
  expect(await setSourceEnabled(pool, slug('held'), false, by)).toMatchObject({ enabled: false });
  fetcher = lab.start();
  const requests = lab.requests('held').length;
  await lab.ask('http://held.test/2024/06/05/another-story-abcde', { sourceId: source.id });
  // A fetcher may hold the row at this moment; it hands it back, and the schedule role's sweep takes it then.
  await waitUntil('all its rows are held', async () => {
    await sweepDisabled(pool);
    return (await rows('held')).every(({ ready }) => !ready);
  });
  for (const row of await rows('held')) {
    expect(row.ready).toBe(false);
    if (row.dueY !== null) expect(row.dueY).toBeGreaterThan(999);
  }
  await lab.database.pool.query('UPDATE domain_slots SET wake_at = now()');
  await lab.idle();
  expect(lab.requests('held').length).toBe(requests);
  expect(await findSlotProblems(pool)).toEqual([]);

  expect(await setSourceEnabled(pool, slug('held'), true, by)).toMatchObject({ enabled: true });
  await lab.idle();
  expect(lab.requests('held').length).toBeGreaterThan(requests);
  expect((await feed('held'))!.status).toBe('pending');
  // Its time is what it was, give or take the request that came in between.
  expect(Math.abs((await feed('held'))!.dueS! - before!.dueS!)).toBeLessThan(120);
});

test('a source that is followed by links only is not polled', async () => {
  const { pool } = lab.database;
  const change = async (mode: 'spider' | 'feed'): Promise<void> => {
    await applyHolds(pool, (await updateSource(pool, slug('spidered'), { mode }, 'test'))!);
  };
  await change('spider');
  expect((await rows('spidered')).filter(({ kind }) => kind === 'channel')).toMatchObject([
    { ready: false, dueY: 1000 },
  ]);
  await change('feed');
  const polls = lab.requests('spidered').filter(({ path }) => path === '/feed').length;
  await pollAgain(lab, ['spidered']);
  expect(lab.requests('spidered').filter(({ path }) => path === '/feed').length).toBe(polls + 1);
});

test('an interval that is changed is that of the feeds at once', async () => {
  const { pool } = lab.database;
  const changed = await updateSource(
    pool,
    slug('spidered'),
    { intervalMinutes: 60, fixedInterval: true },
    'test',
  );
  expect(changed).toMatchObject({ feedPollIntervalMinutes: 60, settings: { fixedInterval: true } });
  await fetcher.stop();
  fetcher = lab.start();
  await pollAgain(lab, ['spidered']);
  const { dueS } = (await feed('spidered'))!;
  expect(dueS! / 60).toBeGreaterThan(57);
  expect(dueS! / 60).toBeLessThan(63);
});

test('deleting a source ends what waits and keeps its documents', async () => {
  const { pool } = lab.database;
  const before = await documents('kept');
  expect(before).toBeGreaterThan(3);
  const source = (await findSourceBySlug(pool, slug('kept')))!;
  await setSourceEnabled(pool, slug('kept'), false, by);
  await lab.ask('http://kept.test/2024/06/05/another-story-abcde', { sourceId: source.id });
  expect(await deleteSource(pool, slug('kept'), by)).toBe(true);
  expect(await deleteSource(pool, slug('kept'), by)).toBe(false);
  // A row that was in a fetcher's hands ends there.
  await lab.idle();
  expect(await documents('kept')).toBe(before);
  expect(await feed('kept')).toMatchObject({ status: 'dead', code: 'source_deleted', dueS: null });
  for (const row of await rows('kept')) expect(['fetched', 'dead']).toContain(row.status);
  const left = await pool.query('SELECT FROM channels WHERE source_id = $1', [source.id]);
  expect(left.rowCount).toBe(0);
});

test('or deletes them, with all that hangs on them', async () => {
  const { pool, db } = lab.database;
  const { id } = (await findSourceBySlug(pool, slug('purged')))!;
  const before = await documents('purged');
  await setSourceEnabled(pool, slug('purged'), false, by);
  expect(await removeDocuments(db, id)).toBe(before);
  expect(await deleteSource(pool, slug('purged'), by)).toBe(true);
  expect(await documents('purged')).toBe(0);
  const orphans = await pool.query(
    `SELECT FROM outbox o WHERE NOT EXISTS (SELECT FROM documents d WHERE d.bucket = o.bucket AND d.domain_key = o.domain_key AND d.url_hash = o.url_hash)`,
  );
  expect(orphans.rowCount).toBe(0);
  const totals = await pool.query<{ documents: number }>(
    `SELECT documents::integer AS documents FROM domains WHERE name = 'purged.test'`,
  );
  expect(totals.rows[0]!.documents).toBe(0);
  // The sums of everything ever stored keep them; here they are put right for the check at the end.
  await pool.query(
    'INSERT INTO counter_deltas (bucket, minute, source_id, documents) VALUES (0, now(), $1, $2)',
    [id, -before],
  );
});

test('in the end slots agree with their rows and nobody was hurried', async () => {
  expect(await findSlotProblems(lab.database.pool)).toEqual([]);
  await checkCrawl(lab, delayMs);
  await checkEnd(lab, fetcher);
});
