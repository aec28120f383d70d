import { afterAll, beforeAll, expect, test } from 'vitest';
import { wakeChannel } from '../../src/channels/index.ts';
import { findSlotProblems } from '../../src/frontier/index.ts';
import { checkCrawl, checkEnd } from '../fetch/end.ts';
import { Lab, plain } from '../fetch/lab.ts';
import type { Outrider } from '../process/outrider.ts';
import type { FaultSpec } from '../web/index.ts';
import { channelsOf, feedTrouble, pollAgain, searchAll } from './channel-lab.ts';

const delayMs = 50;
const hour = 3600;
const answers = (status: number, more: Partial<FaultSpec> = {}): FaultSpec => ({
  name: 'status',
  on: ['feed'],
  pathPrefix: '/feed',
  options: { status },
  ...more,
});
const pages = (more: Partial<FaultSpec> = {}): FaultSpec => ({
  name: 'feed-html',
  pathPrefix: '/feed',
  ...more,
});

const maintenance =
  '<!doctype html><title>Maintenance</title><h1>Briefly unavailable for scheduled maintenance. Check back in a minute.</h1>';

/** Channels that fail, each in its own way. */
const troubles = [
  feedTrouble('lost', [answers(404)]),
  feedTrouble('gone', [answers(410)]),
  feedTrouble('refused', [answers(403)]),
  feedTrouble('page', [pages()]),
  feedTrouble('checked', [{ name: 'challenge', on: ['feed'], pathPrefix: '/feed' }]),
  feedTrouble('closed', [
    {
      name: 'fixed',
      on: ['feed'],
      pathPrefix: '/feed',
      options: { status: 200, text: maintenance },
      untilRequest: 2,
    },
  ]),
  // What the site names instead, or not.
  feedTrouble('renamed', [answers(404)], ['/news.rss']),
  feedTrouble('reborn', [answers(410, { untilRequest: 1 })]),
  feedTrouble('redesigned', [pages()], ['/news.rss']),
  feedTrouble('hiccup', [pages({ untilRequest: 1 })]),
  feedTrouble('mixed', [answers(404, { untilRequest: 2 }), answers(500, { untilRequest: 1 }), answers(404)]),
  feedTrouble('slow-down', [answers(429)]),
  feedTrouble('unchanged', []),
];
const names = troubles.map(({ host }) => host!.replace(/\.test$/, ''));

let lab: Lab;
let fetcher: Outrider;

const feed = (name: string) => lab.row(`http://${name}.test/feed`, 'feed');
const dueH = async (name: string): Promise<number> => ((await feed(name))?.dueS ?? Number.NaN) / hour;

/** Refusals rest a whole domain as well; this is about its channel. */
async function pollUnheld(which: readonly string[], times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await lab.database.pool.query(
      `UPDATE domain_slots SET refusals = NULL, circuit_good = NULL, circuit_opens = NULL, circuit_reasons = NULL, penalty_ms = 0,
              rest_until = NULL, next_at = least(next_at, now() + interval '60 ms') WHERE lease_owner IS NULL`,
    );
    await pollAgain(lab, which);
  }
}

beforeAll(async () => {
  lab = await Lab.open({ publishers: [...troubles, plain('spare')] });
  for (const name of names) await lab.follow(name, 'feed');
  fetcher = lab.start();
  await lab.idle();
});
afterAll(() => lab?.close());

test('backs off first: the interval times two for each error', async () => {
  expect(await feed('lost')).toMatchObject({ status: 'pending', code: 'channel_404', tries: 1, http: 404 });
  expect(await dueH('lost')).toBeGreaterThan(0.44);
  expect(await dueH('lost')).toBeLessThan(0.56);
  await pollAgain(lab, ['lost']);
  expect(await dueH('lost')).toBeGreaterThan(0.89);
});

test('a challenge in a feed’s place is a refusal of its domain, not a lost feed', async () => {
  expect(await feed('checked')).toMatchObject({ status: 'pending', code: 'channel_403', http: 200 });
  expect((await channelsOf(lab, 'checked'))[0]).toMatchObject({ kind: '403', errors: 1, asleep: false });
  const { rows } = await lab.database.pool.query(
    `SELECT (SELECT refusals FROM domain_slots s JOIN domains d USING (domain_key) WHERE d.name = 'checked.test') AS refusals,
            (SELECT count(*)::integer FROM discoveries i JOIN sources s ON s.id = i.source_id WHERE s.name = 'checked.test') AS searches`,
  );
  expect(rows).toEqual([{ refusals: ['challenge'], searches: 0 }]);
});

test('maintenance in a feed’s place is the server’s trouble, and nothing is searched for', async () => {
  expect(await feed('closed')).toMatchObject({ status: 'pending', code: 'channel_5xx', http: 200 });
  const searches = await lab.database.pool.query(
    `SELECT FROM discoveries i JOIN sources s ON s.id = i.source_id WHERE s.name = 'closed.test'`,
  );
  expect(searches.rowCount).toBe(0);
  await pollUnheld(['closed'], 2);
  expect((await channelsOf(lab, 'closed'))[0]).toMatchObject({ errors: 0, url: 'http://closed.test/feed' });
});

test('404 sleeps after three in a row, 410 at once, and each failure sleeps again', async () => {
  expect((await channelsOf(lab, 'gone'))[0]).toMatchObject({ kind: '410', asleep: true });
  expect(await dueH('gone')).toBeCloseTo(72, 1);
  expect((await channelsOf(lab, 'lost'))[0]).toMatchObject({ errors: 2, asleep: false });
  await pollAgain(lab, ['lost', 'gone']);
  expect((await channelsOf(lab, 'lost'))[0]).toMatchObject({ errors: 3, kind: '404', asleep: true });
  expect(await dueH('lost')).toBeCloseTo(48, 1);
  expect(await dueH('gone')).toBeCloseTo(72, 1);
});

test('403 and parse sleep after five, 429 never', async () => {
  await pollUnheld(['refused', 'page', 'slow-down'], 3);
  for (const name of ['refused', 'page'])
    expect((await channelsOf(lab, name))[0]).toMatchObject({ errors: 4, asleep: false });
  await pollUnheld(['refused', 'page', 'slow-down'], 1);
  for (const name of ['refused', 'page']) {
    expect((await channelsOf(lab, name))[0]).toMatchObject({ errors: 5, asleep: true });
    expect(await dueH(name)).toBeCloseTo(24, 1);
  }
  expect((await channelsOf(lab, 'slow-down'))[0]).toMatchObject({ kind: '429', asleep: false });
});

test('errors are counted by kind', async () => {
  await pollAgain(lab, ['mixed'], 3);
  // 404, 404, 500, 404: four errors, none of them the third of its kind in a row.
  expect(await feed('mixed')).toMatchObject({ tries: 4, http: 404 });
  expect((await channelsOf(lab, 'mixed'))[0]).toMatchObject({ errors: 1, kind: '404', asleep: false });
});

test('the tenth error in a row, and no other, is worth waking somebody', async () => {
  await pollUnheld(['slow-down'], 6);
  const lines = fetcher.stderr
    .split('\n')
    .filter((line) => line.includes('a poll failed') && line.includes('slow-down.test'))
    .map((line) => JSON.parse(line) as { level: string; failures: number });
  expect(lines.map(({ failures }) => failures)).toEqual(lines.map((_, nth) => nth + 1));
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.filter(({ level }) => level === 'error').map(({ failures }) => failures)).toEqual([10]);
});

test('an operator wakes a channel; success forgets everything', async () => {
  const [channel] = await channelsOf(lab, 'reborn');
  expect(channel).toMatchObject({ kind: '410', asleep: true });
  expect(await wakeChannel(lab.database.pool, channel!.id)).toBe(true);
  await lab.idle();
  expect((await channelsOf(lab, 'reborn'))[0]).toMatchObject({ errors: 0, kind: null, asleep: false });
  expect(await feed('reborn')).toMatchObject({ status: 'pending', code: null, tries: 0, http: 200 });
  expect(await wakeChannel(lab.database.pool, 1_000_000)).toBe(false);
});

test('what a site names instead takes the place of a channel that sleeps', async () => {
  await pollAgain(lab, ['renamed'], 2);
  expect((await channelsOf(lab, 'renamed'))[0]).toMatchObject({ asleep: true, kind: '404' });
  await searchAll(lab);
  await lab.idle();
  expect(await channelsOf(lab, 'renamed')).toMatchObject([
    { url: 'http://renamed.test/news.rss', left: ['http://renamed.test/feed'], errors: 0, asleep: false },
  ]);
  expect(await feed('renamed')).toMatchObject({ status: 'dead', code: 'moved' });
  expect(await lab.row(lab.article('renamed'))).toMatchObject({ status: 'fetched', documents: 1 });
});

test('a page in a feed’s place is looked into at once; the old channel stays until it sleeps', async () => {
  // The search of the test before has seen to this one as well.
  expect((await channelsOf(lab, 'redesigned')).map(({ url }) => url)).toEqual([
    'http://redesigned.test/feed',
    'http://redesigned.test/news.rss',
  ]);
  await pollAgain(lab, ['redesigned'], 4);
  await searchAll(lab);
  expect(await channelsOf(lab, 'redesigned')).toMatchObject([
    { url: 'http://redesigned.test/news.rss', left: ['http://redesigned.test/feed'], errors: 0 },
  ]);
  expect(await feed('redesigned')).toMatchObject({ status: 'dead', code: 'moved' });
});

test('a channel that works again is only woken, and one without a substitute stays', async () => {
  await lab.idle();
  expect(await channelsOf(lab, 'hiccup')).toMatchObject([
    { url: 'http://hiccup.test/feed', errors: 0, asleep: false, left: null },
  ]);
  for (const name of ['lost', 'gone', 'page']) {
    expect(await channelsOf(lab, name)).toMatchObject([{ url: `http://${name}.test/feed`, asleep: true }]);
    expect(await feed(name)).toMatchObject({ status: 'pending' });
  }
  const searches = await lab.database.pool.query<{ name: string; searches: number; mode: string }>(
    `SELECT s.name, count(*)::integer AS searches, min(s.ingestion_mode) AS mode FROM discoveries d JOIN sources s ON s.id = d.source_id
      WHERE s.name IN ('lost.test', 'gone.test') GROUP BY 1 ORDER BY 1`,
  );
  // One search for each sleep of a day, and no source became a spidered one.
  expect(searches.rows).toEqual([
    { name: 'gone.test', searches: 1, mode: 'feed' },
    { name: 'lost.test', searches: 1, mode: 'feed' },
  ]);
});

test('not modified for ever is a success for ever', async () => {
  await pollAgain(lab, ['unchanged'], 3);
  const [channel] = await channelsOf(lab, 'unchanged');
  expect(channel).toMatchObject({ errors: 0, polls: 4 });
});

test('a poll that ends its worker three times counts as a parse error', async () => {
  const { pool } = lab.database;
  await lab.follow('spare', 'feed');
  await lab.idle();
  await checkEnd(lab, fetcher);
  const [before] = await channelsOf(lab, 'spare');
  await pool.query(
    `UPDATE url_frontier SET ready = true, due_at = now(), crashes = 2 WHERE url = 'http://spare.test/feed' AND kind = 'channel'`,
  );
  await pool.query(
    `UPDATE domain_slots s SET queued = queued + 1, top = 11, lease_owner = 'dead', leased_at = now(),
            lease_until = now() - interval '1 second', next_at = now() - interval '1 second', expired_runs = 2,
            in_flight = ARRAY(SELECT f.url_hash FROM url_frontier f WHERE f.url = 'http://spare.test/feed' AND f.kind = 'channel')
       FROM domains d WHERE d.bucket = s.bucket AND d.domain_key = s.domain_key AND d.name = 'spare.test'`,
  );
  fetcher = lab.start();
  await lab.idle();
  expect(await feed('spare')).toMatchObject({ status: 'pending', code: 'crash_loop', tries: 1 });
  expect((await channelsOf(lab, 'spare'))[0]).toMatchObject({
    polls: before!.polls + 1,
    errors: 1,
    kind: 'parse',
    asleep: false,
  });
});

test('in the end slots agree with their rows and nobody was hurried', async () => {
  expect(await findSlotProblems(lab.database.pool)).toEqual([]);
  await checkCrawl(lab, delayMs);
  await checkEnd(lab, fetcher);
});
