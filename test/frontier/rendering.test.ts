import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  findSlotProblems,
  promote,
  removeWorker,
  saveLeaseMode,
  saveWorker,
  tendRendering,
} from '../../src/frontier/index.ts';
import { saveSwitch } from '../../src/switches/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { answers, done, finish, item, rowOf, take } from './fixtures.ts';

let test: TestDatabase;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterEach(async () => {
  expect(await findSlotProblems(test.pool)).toEqual([]);
  await test.pool.query(
    'TRUNCATE url_frontier, domain_slots, domains, crawl_log, counter_deltas, workers, settings, domain_runs',
  );
});
afterAll(() => test.drop());

const waits = { status: 'needs_render', errorCode: 'needs_javascript' } as const;
const browser = (change: { pool?: string; renders?: boolean } = {}) =>
  saveWorker(test.pool, {
    id: `b-${change.pool ?? 'default'}`,
    role: 'fetch',
    pool: 'default',
    version: '1',
    host: 'h',
    pid: 1,
    renders: true,
    state: {},
    ...change,
  });
const slot = async (): Promise<Record<string, unknown>> =>
  (await test.pool.query('SELECT * FROM domain_slots')).rows[0] as Record<string, unknown>;
const wake = async (skewMs = 0): Promise<number> => {
  await tendRendering(test.pool, skewMs);
  return promote(test.pool, { slots: 100, skewMs });
};
const urlsOf = (leases: Awaited<ReturnType<typeof take>>): string[] =>
  leases.flatMap((one) => one.urls.map(({ url }) => new URL(url).pathname.slice(1)));

/** Submits pages and finds that each needs a browser. */
async function needBrowser(paths: string[], change: Parameters<typeof item>[2] = {}): Promise<void> {
  await answers(
    test.db,
    paths.map((path) => item(1, path, change)),
  );
  const [held] = await take(test.db);
  await finish(test.db, held!, { items: held!.urls.map(({ hash }) => done(hash, waits)) });
}

describe.each(['single', 'bucket'] as const)('in %s mode', (mode) => {
  beforeAll(() => saveLeaseMode(test.pool, mode, 'test'));
  afterAll(() => saveLeaseMode(test.pool, 'single', 'test'));

  it('without a browser the rows wait and nobody is handed them; one that comes has them at once', async () => {
    await saveLeaseMode(test.pool, mode, 'test');
    await needBrowser(['a', 'b']);
    expect(await slot()).toMatchObject({ pool: 'default', top: null, awaits_render: true, queued: 0 });
    expect(await wake()).toBe(0);
    expect(await take(test.db, { pool: 'render', skewMs: 60_000 })).toEqual([]);
    await browser();
    expect(await wake()).toBe(1);
    expect(await slot()).toMatchObject({ pool: 'render', own_pool: 'default', top: 5 });
    expect(await take(test.db, { skewMs: 60_000 })).toEqual([]);
    const held = await take(test.db, { pool: 'render', skewMs: 60_000 });
    expect(urlsOf(held)).toEqual(['a', 'b']);
    await finish(test.db, held[0]!, { items: [done(held[0]!.urls[0]!.hash)], skewMs: 60_000 });
    // What was not reached waits on.
    expect(await slot()).toMatchObject({ pool: 'render', top: 5, queued: 0, awaits_render: true });
    const [rest] = await take(test.db, { pool: 'render', skewMs: 120_000 });
    await finish(test.db, rest!, {
      items: [done(rest!.urls[0]!.hash, { status: 'dead', errorCode: 'render_empty' })],
      skewMs: 120_000,
    });
    expect(await slot()).toMatchObject({ pool: 'default', top: null, awaits_render: false, queued: 0 });
  });

  it('a browser that goes away leaves its rows waiting and the other rows to their fetchers', async () => {
    await saveLeaseMode(test.pool, mode, 'test');
    await browser();
    await needBrowser(['a']);
    expect(await slot()).toMatchObject({ pool: 'render', top: 5 });
    await test.pool.query(`UPDATE workers SET heartbeat_at = now() - interval '1 minute'`);
    expect(await wake()).toBe(1);
    expect(await slot()).toMatchObject({ pool: 'default', top: null, awaits_render: true });
    expect(await rowOf(test.db, 'a')).toMatchObject({ status: 'needs_render', ready: false });
    expect(await wake()).toBe(0);
    await browser();
    expect(await wake()).toBe(1);
    await removeWorker(test.pool, 'b-default');
    expect(await wake()).toBe(1);
    expect(await slot()).toMatchObject({ pool: 'default' });
  });
});

describe('turns', () => {
  it('plain rows end the turn of a browser that has not begun', async () => {
    await browser();
    await needBrowser(['a']);
    await answers(test.db, [item(1, 'new', { priority: 2 })]);
    await wake();
    expect(await slot()).toMatchObject({ pool: 'default', top: 2 });
    expect(urlsOf(await take(test.db, { skewMs: 60_000 }))).toEqual(['new']);
  });

  it('after each plain lease the browser has five seconds, and neither waits for ever', async () => {
    await browser();
    await answers(
      test.db,
      Array.from({ length: 9 }, (_, n) => item(1, `p${n}`)),
    );
    const [first] = await take(test.db, { batch: 2 });
    await finish(test.db, first!, { items: [done(first!.urls[0]!.hash, waits), done(first!.urls[1]!.hash)] });
    expect(await slot()).toMatchObject({ pool: 'render', top: 5, queued: 7 });
    expect(await wake(3000)).toBe(0);
    // It let its turn pass: the others go on.
    expect(await wake(60_000)).toBe(1);
    expect(await slot()).toMatchObject({ pool: 'default', top: 5 });
    const [second] = await take(test.db, { batch: 1, skewMs: 60_000 });
    await finish(test.db, second!, { items: [done(second!.urls[0]!.hash)], skewMs: 60_000 });
    const [rendered] = await take(test.db, { pool: 'render', skewMs: 62_000 });
    expect(rendered!.urls.map(({ hash }) => hash)).toEqual([first!.urls[0]!.hash]);
    // Nobody else has the domain meanwhile.
    expect(await take(test.db, { skewMs: 62_000 })).toEqual([]);
    await finish(test.db, rendered!, { items: [done(rendered!.urls[0]!.hash)], skewMs: 62_000 });
    expect(await slot()).toMatchObject({ pool: 'default', awaits_render: false, queued: 6 });
  });

  it('the gap holds across both', async () => {
    await browser();
    await answers(test.db, [item(1, 'a'), item(1, 'b')]);
    const [first] = await take(test.db, { batch: 1 });
    await finish(test.db, first!, { items: [done(first!.urls[0]!.hash, waits)] });
    expect(await take(test.db, { pool: 'render', skewMs: 500 })).toEqual([]);
    const [rendered] = await take(test.db, { pool: 'render', skewMs: 1500 });
    await finish(test.db, rendered!, { items: [done(rendered!.urls[0]!.hash)], skewMs: 1500 });
    expect(await take(test.db, { skewMs: 2000 })).toEqual([]);
    expect(urlsOf(await take(test.db, { skewMs: 3000 }))).toEqual(['b']);
  });

  it('a group is rendered by its own browsers only, and keeps its name', async () => {
    await browser();
    await needBrowser(['a']);
    const { bucket, domain_key: key } = await slot();
    await test.pool.query(`SELECT domain_configure($1::smallint, $2, NULL, NULL, 'eu', 1000)`, [bucket, key]);
    await wake();
    expect(await slot()).toMatchObject({ pool: 'eu', own_pool: 'eu' });
    await browser({ pool: 'eu' });
    await wake();
    expect(await slot()).toMatchObject({ pool: 'render:eu', own_pool: 'eu' });
  });

  it('the switch holds them, and lets them go', async () => {
    await browser();
    await needBrowser(['a']);
    await saveSwitch(test.pool, 'rendering', false, 'test');
    await wake();
    expect(await slot()).toMatchObject({ pool: 'default', top: null });
    await saveSwitch(test.pool, 'rendering', true, 'test');
    await wake();
    expect(await slot()).toMatchObject({ pool: 'render', top: 5 });
  });
});

it('a page pays its budget once, when it is found to need a browser', async () => {
  await browser();
  await answers(test.db, [item(1, 'a', { origin: 'spider' }), item(1, 'b', { origin: 'spider' })]);
  const [plain] = await take(test.db, { budget: 10 });
  await finish(test.db, plain!, {
    budget: 10,
    items: plain!.urls.map(({ hash }) => done(hash, { ...waits, fetched: false })),
  });
  expect(await slot()).toMatchObject({ budget_left: 8, budgeted: 0 });
  const [held] = await take(test.db, { pool: 'render', budget: 10, skewMs: 60_000 });
  expect(await slot()).toMatchObject({ budget_left: 8 });
  await finish(test.db, held!, { budget: 10, items: [done(held!.urls[0]!.hash)], skewMs: 60_000 });
  expect(await slot()).toMatchObject({ budget_left: 8, queued: 0, budgeted: 0 });
  const { rows } = await test.pool.query('SELECT pages FROM domain_runs');
  expect(rows).toEqual([{ pages: 2 }]);
});

it('a page that kills its worker three times is given up', async () => {
  await browser();
  await needBrowser(['a']);
  await test.pool.query(`UPDATE domain_slots SET expired_runs = 2`);
  let skewMs = 60_000;
  for (let n = 0; n < 4; n += 1) {
    await take(test.db, { pool: 'render', skewMs });
    skewMs += 120_000;
  }
  expect(await rowOf(test.db, 'a')).toMatchObject({ status: 'dead', error_code: 'crash_loop' });
  expect(await slot()).toMatchObject({ queued: 0, lease_owner: null });
  await wake(skewMs);
});
