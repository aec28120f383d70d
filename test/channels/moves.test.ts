import { afterAll, beforeAll, expect, test } from 'vitest';
import { findSlotProblems } from '../../src/frontier/index.ts';
import { checkCrawl, checkEnd } from '../fetch/end.ts';
import { Lab, plain } from '../fetch/lab.ts';
import type { Outrider } from '../process/outrider.ts';
import type { FaultSpec } from '../web/index.ts';
import { channelsOf, feedTrouble, pollAgain } from './channel-lab.ts';

const delayMs = 50;
const away = (to: string, status = 302): FaultSpec[] => [
  { name: 'redirect-away', on: ['feed'], options: { to, status } },
];
const names = ['afar', 'ping', 'pong', 'twice', 'other', 'for-good', 'for-now', 'wavering', 'chain-1'];

let lab: Lab;
let fetcher: Outrider;

beforeAll(async () => {
  lab = await Lab.open({
    publishers: [
      plain('afar', away('http://service.test/feed')),
      plain('service'),
      plain('ping', away('http://pong.test/feed')),
      plain('pong', away('http://ping.test/feed')),
      feedTrouble('twice', away('http://shared.test/feed'), ['/second']),
      plain('other', away('http://shared.test/feed')),
      plain('shared'),
      feedTrouble('for-good', [{ name: 'moved', on: ['feed', 'other'] }]),
      feedTrouble('for-now', [{ name: 'moved', on: ['feed', 'other'], options: { status: 302 } }]),
      feedTrouble('wavering', [{ name: 'moved', on: ['feed', 'other'], untilRequest: 4 }]),
      ...[1, 2, 3, 4, 5, 6, 7].map((n) => plain(`chain-${n}`, away(`http://chain-${n + 1}.test/feed`))),
      plain('chain-8'),
    ],
  });
  for (const name of names.filter((one) => one !== 'pong')) await lab.follow(name, 'feed');
  await lab.follow('twice', 'feed', 'http://twice.test/second');
  fetcher = lab.start();
  await lab.idle();
});
afterAll(() => lab?.close());

test('a hop to another domain makes its end the channel, under that domain', async () => {
  const [channel] = await channelsOf(lab, 'afar');
  expect(channel).toMatchObject({
    url: 'http://service.test/feed',
    left: ['http://afar.test/feed'],
    polls: 1,
    errors: 0,
  });
  expect(await lab.row('http://afar.test/feed', 'feed')).toMatchObject({
    status: 'dead',
    code: 'moved',
    redirectedTo: 'http://service.test/feed',
    dueS: null,
  });
  expect(await lab.row('http://service.test/feed', 'feed')).toMatchObject({ status: 'pending', http: 200 });
  // Its items belong to the source as before, and robots.txt of the new domain was read first.
  expect(
    lab
      .requests('service')
      .map(({ path }) => path)
      .slice(0, 2),
  ).toEqual(['/robots.txt', '/feed']);
  expect(await lab.row(lab.article('service'))).toMatchObject({ status: 'fetched', documents: 1 });
  const before = lab.requests('afar').length;
  await pollAgain(lab, ['afar', 'service']);
  expect(lab.requests('afar').length).toBe(before);
  expect((await channelsOf(lab, 'afar'))[0]).toMatchObject({ polls: 2 });
});

test('redirects that go in a circle end after one round, as an error', async () => {
  const [channel] = await channelsOf(lab, 'ping');
  expect(channel).toMatchObject({ url: 'http://pong.test/feed', errors: 1, kind: 'moved' });
  expect(lab.requests('ping').filter(({ path }) => path === '/feed')).toHaveLength(1);
  expect(lab.requests('pong').filter(({ path }) => path === '/feed')).toHaveLength(1);
});

test('a chain over many domains ends after five of them', async () => {
  const [channel] = await channelsOf(lab, 'chain-1');
  expect(channel).toMatchObject({ url: 'http://chain-6.test/feed', kind: 'moved' });
  expect(channel?.left).toHaveLength(5);
  expect(lab.requests('chain-7')).toEqual([]);
});

test('two channels of a source that lead to one address become one; another source keeps its own', async () => {
  const twice = await channelsOf(lab, 'twice');
  const other = await channelsOf(lab, 'other');
  // Whoever is polled first has it: this source with its two channels as one, or the other.
  const won = (channels: typeof twice) => channels.some(({ url }) => url === 'http://shared.test/feed');
  expect([won(twice), won(other)].filter(Boolean)).toHaveLength(1);
  expect(twice).toHaveLength(won(twice) ? 1 : 2);
  expect(other).toHaveLength(1);
  for (const loser of won(twice) ? other : twice) expect(loser).toMatchObject({ kind: 'moved' });
});

test('a permanent redirect inside the domain moves the channel when three polls have met it', async () => {
  const [first] = await channelsOf(lab, 'for-good');
  expect(first).toMatchObject({ url: 'http://for-good.test/feed', redirects: 1, errors: 0, polls: 1 });
  const row = await lab.row('http://for-good.test/feed', 'feed');
  // What the other address said about its age is not told to this one.
  expect(row).toMatchObject({ status: 'pending', etag: null, lastModified: null });
  await pollAgain(lab, ['for-good']);
  expect((await channelsOf(lab, 'for-good'))[0]).toMatchObject({ redirects: 2 });
  await pollAgain(lab, ['for-good']);
  expect((await channelsOf(lab, 'for-good'))[0]).toMatchObject({
    id: first!.id,
    url: 'http://for-good.test/moved/feed',
    left: ['http://for-good.test/feed'],
  });
  expect(await lab.row('http://for-good.test/feed', 'feed')).toMatchObject({ status: 'dead', code: 'moved' });
  const next = await lab.row('http://for-good.test/moved/feed', 'feed');
  expect(next).toMatchObject({ status: 'pending', etag: null });
  expect(next!.dueS).toBeGreaterThan(600);
  await pollAgain(lab, ['for-good']);
  const polls = lab.requests('for-good').filter(({ path }) => path.endsWith('/feed'));
  expect(polls.at(-1)).toMatchObject({ path: '/moved/feed', status: 200, conditional: false });
  expect((await channelsOf(lab, 'for-good'))[0]).toMatchObject({ redirects: 0, errors: 0 });
});

test('a temporary one is followed and never moves it, one that ends begins anew', async () => {
  await pollAgain(lab, ['for-now', 'wavering'], 4);
  expect((await channelsOf(lab, 'for-now'))[0]).toMatchObject({
    url: 'http://for-now.test/feed',
    redirects: 0,
    errors: 0,
    polls: 5,
  });
  expect((await channelsOf(lab, 'wavering'))[0]).toMatchObject({
    url: 'http://wavering.test/feed',
    redirects: 0,
  });
});

test('a channel that is added again where it was is the one that moved', async () => {
  const before = await channelsOf(lab, 'afar');
  await lab.follow('afar', 'feed');
  expect(await channelsOf(lab, 'afar')).toEqual(before);
  expect(await lab.row('http://afar.test/feed', 'feed')).toMatchObject({ status: 'dead', code: 'moved' });
});

test('a worker that dies between the move and its settle loses nothing', async () => {
  // As it stands in the database then: the channel has moved, the new row is missing and the old one is due.
  await lab.database.pool.query(
    `DELETE FROM url_frontier WHERE url = 'http://service.test/feed';
     INSERT INTO counter_deltas (bucket, minute, inserted) VALUES (0, now(), -1);
     SELECT counts_mend();
     UPDATE url_frontier SET status = 'pending', ready = true, due_at = now(), error_code = NULL WHERE url = 'http://afar.test/feed' AND kind = 'channel';
     UPDATE domain_slots s SET queued = queued + 1, top = 11, next_at = now() FROM domains d
      WHERE d.bucket = s.bucket AND d.domain_key = s.domain_key AND d.name = 'afar.test'`,
  );
  const before = lab.requests('afar').length;
  await lab.idle();
  expect(lab.requests('afar').length).toBe(before);
  expect(await lab.row('http://service.test/feed', 'feed')).toMatchObject({ status: 'pending', http: 200 });
  expect(await lab.row('http://afar.test/feed', 'feed')).toMatchObject({ status: 'dead', code: 'moved' });
});

test('in the end slots agree with their rows and nobody was hurried', async () => {
  expect(await findSlotProblems(lab.database.pool)).toEqual([]);
  await checkCrawl(lab, delayMs);
  await checkEnd(lab, fetcher);
});
