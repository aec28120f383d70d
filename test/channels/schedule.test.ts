import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadMultipliers, parseRhythm, sharePolls } from '../../src/channels/index.ts';
import { saveSwitch } from '../../src/switches/index.ts';
import { Lab, plain } from '../fetch/lab.ts';
import type { Outrider } from '../process/outrider.ts';
import type { FaultSpec } from '../web/index.ts';
import { pollAgain } from './channel-lab.ts';

const asks = (text: string): FaultSpec[] => [
  { name: 'fixed', on: ['feed'], options: { status: 200, type: 'application/rss+xml', text } },
];
const ttlFeed = `<rss version="2.0"><channel><title>t</title><ttl>90</ttl></channel></rss>`;
const names = ['busy', 'slow', 'slower', 'pinned', 'ttl'];

let lab: Lab;
let fetcher: Outrider;

beforeAll(async () => {
  lab = await Lab.open({
    publishers: [
      plain('busy', [], { ratePerDay: 300, backlog: 20 }),
      plain('slow', [], { ratePerDay: 0.4, backlog: 20 }),
      plain('slower', [], { ratePerDay: 0.3, backlog: 20 }),
      plain('pinned', [], { ratePerDay: 300, backlog: 20 }),
      plain('ttl', asks(ttlFeed)),
    ],
    startMs: Date.now(),
  });
  for (const name of names) await lab.follow(name, 'feed');
  await lab.database.pool.query(
    `UPDATE sources SET settings = '{"fixedInterval": true}' WHERE name = 'pinned.test'`,
  );
  fetcher = lab.start();
  await lab.idle();
});
afterAll(() => lab?.close());

const dueMinutes = async (name: string): Promise<number> =>
  ((await lab.row(`http://${name}.test/feed`, 'feed'))!.dueS ?? Number.NaN) / 60;

async function state(
  name: string,
): Promise<{ rhythm: unknown; weight: number | null; floor: number | null }> {
  const result = await lab.database.pool.query<{
    rhythm: unknown;
    weight: number | null;
    floor: number | null;
  }>(
    `SELECT s.rhythm, s.weight, s.floor_seconds AS floor FROM channels c
       JOIN channel_state s ON s.bucket = c.bucket AND s.channel_id = c.id WHERE c.url = $1`,
    [`http://${name}.test/feed`],
  );
  return result.rows[0]!;
}

test('the first poll learns a rate from the dates it shows', async () => {
  const busy = await state('busy');
  const slow = await state('slow');
  expect(parseRhythm(busy.rhythm)!.count / parseRhythm(busy.rhythm)!.spanH).toBeGreaterThan(
    20 * (parseRhythm(slow.rhythm)!.count / parseRhythm(slow.rhythm)!.spanH),
  );
  expect(busy.weight).toBeGreaterThan(slow.weight!);
});

test('polls are shared by what channels weigh, as many as before', async () => {
  await sharePolls(lab.database.pool);
  const multiplier = (await loadMultipliers(lab.database.pool))['900']!;
  const weights = [];
  for (const name of ['busy', 'slow', 'slower']) weights.push((await state(name)).weight!);
  const total = weights.reduce((sum, one) => sum + one, 0);
  // The pinned one and the one whose publisher asks for more patience take no part.
  expect(multiplier * total).toBeCloseTo(3 / 900, 6);
});

test('a fetcher polls the busy ones more often and nobody beyond three intervals', async () => {
  await fetcher.stop();
  fetcher = lab.start();
  await pollAgain(lab, names);
  // How much more often depends on the hour at which this test runs.
  expect(await dueMinutes('busy')).toBeLessThan(0.75 * (await dueMinutes('slow')));
  expect(await dueMinutes('slow')).toBeLessThan(47);
  expect(await dueMinutes('pinned')).toBeGreaterThan(14.4);
  expect(await dueMinutes('pinned')).toBeLessThan(15.6);
});

test('what the publisher asks for is a floor, also when nothing has changed', async () => {
  expect(await state('ttl')).toMatchObject({ floor: 5400 });
  expect(await dueMinutes('ttl')).toBeGreaterThan(87);
  expect(await dueMinutes('ttl')).toBeLessThan(93);
});

test('the switch gives every channel its interval back', async () => {
  await saveSwitch(lab.database.pool, 'adaptive_intervals', false, 'test');
  await fetcher.stop();
  fetcher = lab.start();
  await pollAgain(lab, names);
  for (const name of ['busy', 'slow', 'pinned']) {
    expect(await dueMinutes(name)).toBeGreaterThan(14.4);
    expect(await dueMinutes(name)).toBeLessThan(15.6);
  }
});

test('how late polls are and how old news is, is measured', async () => {
  // Publication stands still with the web's clock, so that the new ones are as old as this test.
  lab.web.publish('busy.test', 3);
  await pollAgain(lab, ['busy']);
  const result = await lab.database.pool.query<{
    delays: number;
    seconds: number;
    late: number;
    polls: number;
  }>(
    `SELECT s.delays::integer AS delays, s.delay_seconds AS seconds, s.late_seconds AS late, s.polls::integer AS polls FROM channels c
       JOIN channel_state s ON s.bucket = c.bucket AND s.channel_id = c.id WHERE c.url = 'http://busy.test/feed'`,
  );
  const { delays, seconds, late, polls } = result.rows[0]!;
  expect(delays).toBe(3);
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThan(3 * 600);
  expect(late).toBeGreaterThanOrEqual(0);
  expect(polls).toBe(4);
});
