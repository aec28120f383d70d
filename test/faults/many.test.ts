import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SubmitItem, submit } from '../../src/frontier/index.ts';
import { saveSwitch } from '../../src/switches/index.ts';
import { waitUntil } from '../e2e/wait.ts';
import { checkCrawl, checkEnd } from '../fetch/end.ts';
import { Lab, plain } from '../fetch/lab.ts';

// Larger by hand: OUTRIDER_FAULT_FETCHERS=20 OUTRIDER_FAULT_URLS=1000000 (docs/benchmarks.md has the figures).
const fetchers = Number(process.env.OUTRIDER_FAULT_FETCHERS ?? 3);
const giantUrls = Number(process.env.OUTRIDER_FAULT_URLS ?? 5000);
const delayMs = 50;
const hourMs = 3_600_000;
const backlog = 10;
const busy = Array.from({ length: 12 }, (_, n) => `busy${n}`);
const small = Array.from({ length: 8 }, (_, n) => `small${n}`);
const late = ['late0', 'late1'];
let lab: Lab;

beforeAll(async () => {
  const slow = [{ name: 'slow', options: { delayMs: 100 } }];
  lab = await Lab.open({
    publishers: [
      ...busy.map((name) => plain(name, slow, { backlog })),
      ...small.map((name) => plain(name)),
      ...late.map((name) => plain(name)),
      plain('giant'),
    ],
  });
}, 60_000);
afterAll(() => lab?.close());

/** A process whose wall clock is wrong by so much: whatever asks Date is told another time. */
function wrongClock(byMs: number): Record<string, string> {
  const preload = `const Right = Date;
    globalThis.Date = class extends Right {
      constructor(...given) { if (given.length === 0) super(Right.now() + ${byMs}); else super(...given); }
      static now() { return Right.now() + ${byMs}; }
    };`;
  return { NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(preload).toString('base64')}` };
}

const item = (url: string, change: Partial<SubmitItem> = {}): SubmitItem => ({
  url,
  kind: 'article',
  origin: 'feed',
  sourceId: null,
  priority: 5,
  own: true,
  ...change,
});

test('fetchers whose clocks are an hour ahead and behind hurry nobody, and one told to end under load gives back what it holds', async () => {
  const offsets = Array.from({ length: fetchers }, (_, at) => [hourMs, -hourMs, 0][at % 3]!);
  const running = offsets.map((byMs) =>
    lab.start({ ...wrongClock(byMs), OUTRIDER_FETCH_DOMAINS_AT_ONCE: '6' }),
  );
  await waitUntil('all are at work', async () => {
    const { rowCount } = await lab.database.pool.query('SELECT FROM workers');
    return rowCount === fetchers || `${rowCount} of ${fetchers}`;
  });
  for (const name of busy) await lab.follow(name, 'feed');
  const articles = busy.flatMap((name) =>
    lab.web.groundTruth(`${name}.test`)[0]!.articles.map(({ url }) => url),
  );
  await submit(
    lab.database.pool,
    articles.map((url) => item(url)),
  );

  await waitUntil('they are in the middle of it', () => lab.web.log.nextSeq >= articles.length / 3);
  const first = running.shift()!;
  expect((await first.stop('SIGTERM')).code, first.stderr).toBe(0);
  const held = await lab.database.pool.query<{ n: number }>(
    `SELECT count(*)::integer AS n FROM domain_slots WHERE lease_owner LIKE '%-' || $1::text || '-%'`,
    [first.pid],
  );
  expect(held.rows[0]!.n).toBe(0);

  await lab.idle();
  const paths = new Map<string, number>();
  for (const { host, path } of lab.web.log.read())
    paths.set(`http://${host}${path}`, (paths.get(`http://${host}${path}`) ?? 0) + 1);
  const odd = articles.filter((url) => paths.get(url) !== 1);
  // What was logged of the domain tells why.
  const told = await Promise.all(
    odd.map(async (url) => ({
      url,
      times: paths.get(url) ?? 0,
      row: await lab.row(url),
      log: await lab.logged(new URL(url).hostname.replace(/\.test$/, '')),
    })),
  );
  expect(told).toEqual([]);
  await checkCrawl(lab, delayMs);
  // What is stored is the database's time: nothing lies in the future or before the test, and the next polls are near.
  const times = await lab.database.pool.query<{ astray: number; late: number }>(
    `SELECT (SELECT count(*)::integer FROM crawl_log WHERE at NOT BETWEEN now() - interval '10 minutes' AND now())
          + (SELECT count(*)::integer FROM documents WHERE crawled_at NOT BETWEEN now() - interval '10 minutes' AND now()) AS astray,
            (SELECT count(*)::integer FROM url_frontier WHERE kind = 'channel'
                AND due_at NOT BETWEEN now() AND now() + interval '50 minutes') AS late`,
  );
  expect(times.rows[0]).toEqual({ astray: 0, late: 0 });
  for (const one of running) await checkEnd(lab, one);
}, 240_000);

test(`a domain with ${giantUrls} URLs starves nobody`, async () => {
  const { pool } = lab.database;
  const batch = 5000;
  for (let from = 0; from < giantUrls; from += batch)
    await submit(
      pool,
      Array.from({ length: Math.min(batch, giantUrls - from) }, (_, n) =>
        item(`http://giant.test/${from + n}`, { priority: 7 }),
      ),
    );
  // Two domains at a time: the giant, which is also more important, always wants one of them.
  const fetcher = lab.start({ OUTRIDER_FETCH_DOMAINS_AT_ONCE: '2', OUTRIDER_FETCH_BATCH: '20' });
  await waitUntil('the giant is under way', () => lab.requests('giant').length > 10);
  const urls = small.flatMap((name) =>
    lab.web.groundTruth(`${name}.test`)[0]!.articles.map(({ url }) => url),
  );
  const startedAt = performance.now();
  const before = lab.requests('giant').length;
  await submit(
    pool,
    urls.map((url) => item(url)),
  );
  await waitUntil('all the others are done', async () => {
    const done = await Promise.all(small.map(async (name) => (await lab.statuses(name)).fetched ?? 0));
    return done.every((one) => one === 6) || done.join();
  });
  const spent = lab.requests('giant').length - before;
  console.log(
    `${urls.length} pages of ${small.length} domains beside ${giantUrls} URLs: ${Math.round(performance.now() - startedAt)} ms, ${spent} requests of the giant meanwhile`,
  );
  // It had its own share and no more: far from all of it was done before the others had their turn.
  const left = await lab.statuses('giant');
  expect(left.pending).toBeGreaterThan(giantUrls / 2);
  expect(spent).toBeGreaterThan(0);
  await fetcher.stop('SIGKILL');
}, 600_000);

test('what is leased while a fetcher is told to end goes back unasked', async () => {
  const { pool } = lab.database;
  await saveSwitch(pool, 'fetching', false, 'test');
  await submit(
    pool,
    late.map((name) => item(lab.article(name))),
  );
  const fetcher = lab.start({ LOG_LEVEL: 'info' });
  await waitUntil('it is at work', async () => {
    const { rowCount } = await pool.query(`SELECT FROM workers WHERE id LIKE '%-' || $1::text || '-%'`, [
      fetcher.pid,
    ]);
    return rowCount === 1;
  });
  const session = await pool.connect();
  try {
    await session.query('BEGIN; LOCK TABLE domain_slots IN ACCESS EXCLUSIVE MODE');
    await saveSwitch(pool, 'fetching', true, 'test');
    await waitUntil('its lease is under way', async () => {
      const { rowCount } = await pool.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%frontier_lease%'
            AND datname = current_database()`,
      );
      return rowCount === 1;
    });
    const ended = fetcher.stop('SIGTERM');
    await waitUntil('it has heard of it', () => fetcher.stderr.includes('fetch is stopping'));
    await session.query('COMMIT');
    expect((await ended).code, fetcher.stderr).toBe(0);
  } finally {
    session.release(true);
  }
  const slots = await pool.query<{ epoch: bigint; isHeld: boolean }>(
    `SELECT s.lease_epoch AS epoch, s.lease_owner IS NOT NULL AS "isHeld" FROM domain_slots s
       JOIN domains d USING (bucket, domain_key) WHERE d.name LIKE 'late%'`,
  );
  expect(slots.rows).toEqual(late.map(() => ({ epoch: 1n, isHeld: false })));
  expect(late.flatMap((name) => lab.requests(name))).toEqual([]);
}, 60_000);
