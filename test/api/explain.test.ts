import { afterAll, beforeAll, expect, test } from 'vitest';
import { createChannel, setChannelEnabled } from '../../src/channels/index.ts';
import { blockDomain, keyOfDomain } from '../../src/domains/index.ts';
import { submit } from '../../src/frontier/index.ts';
import { createSource, setSourceEnabled } from '../../src/sources/index.ts';
import { item } from '../frontier/fixtures.ts';
import { type ApiLab, startApiLab } from './lab.ts';

let lab: ApiLab;
let channel: number;
beforeAll(async () => {
  lab = await startApiLab();
  const { pool } = lab.database;
  const { source } = await createSource(pool, { url: 'https://herald.test/', name: 'The Herald' });
  const made = await createChannel(pool, {
    sourceId: source.id,
    kind: 'feed',
    url: 'https://herald.test/feed.xml',
    intervalSeconds: 900,
    foundBy: 'link',
  });
  channel = made.channel.id;
  await submit(pool, [
    item('herald.test', 'first', { priority: 9, sourceId: source.id }),
    item('herald.test', 'second', {
      priority: 5,
      sourceId: source.id,
      parentUrl: 'https://herald.test/feed.xml',
    }),
    item('shut.test', 'page'),
    item('herald.test', 'over'),
  ]);
});
afterAll(() => lab.close());

const ask = async (query: string) => lab.ask('GET', `/api/v1/explain?${query}`);
const urlQuery = (url: string) => `url=${encodeURIComponent(url)}`;

test('a waiting URL: where it came from, who goes first, and that nobody fetches', async () => {
  const { body } = await ask(urlQuery('https://herald.test/second'));
  expect(body.items).toHaveLength(1);
  const [answer] = body.items;
  expect(answer).toMatchObject({ subject: 'url', state: 'waiting', name: 'https://herald.test/second' });
  expect(answer.text).toMatch(
    /discovered \d+ s ago by feed for The Herald, found on https:\/\/herald\.test\/feed\.xml\./,
  );
  expect(answer.text).toContain('2 URLs of the domain go first.');
  expect(answer.text).toContain('No fetcher is running');
  expect(answer.facts).toMatchObject({ ahead: 2, row: { status: 'pending' } });
});

test('a blocked, a dead and an unknown one', async () => {
  await blockDomain(lab.database.pool, keyOfDomain('shut.test')!, { reason: 'they asked us', actor: 'ann' });
  const blocked = (await ask(urlQuery('https://shut.test/page'))).body.items[0];
  expect(blocked.text).toContain('Its domain is blocked: they asked us.');
  expect(blocked.expectedAt).toBeNull();
  const { id } = (await lab.ask('GET', `/api/v1/frontier?${urlQuery('https://herald.test/over')}`)).body
    .items[0];
  await lab.ask('DELETE', `/api/v1/frontier/${id}`);
  const dead = (await ask(urlQuery('https://herald.test/over'))).body.items[0];
  expect(dead).toMatchObject({ state: 'dead' });
  expect(dead.text).toContain('It was given up: an operator removed it (by token:test admin).');
  const unknown = (await ask(urlQuery('https://never.test/'))).body.items[0];
  expect(unknown).toMatchObject({ state: 'unknown', text: 'unknown. This URL was never submitted.' });
});

test('a domain', async () => {
  const { body } = await ask('domain=www.shut.test');
  expect(body.items[0]).toMatchObject({ subject: 'domain', name: 'shut.test', state: 'blocked' });
  expect(body.items[0].advice).toContain('outrider domain reset shut.test --reason "…"');
  expect((await ask('domain=nowhere.test')).body.code).toBe('domain_unknown');
});

test('a channel by its number and by its address: what it is, how it went, and why it waits', async () => {
  const [answer] = (await ask(`channel=${channel}`)).body.items;
  expect(answer).toMatchObject({
    subject: 'channel',
    name: 'https://herald.test/feed.xml',
    state: 'waiting',
  });
  expect(answer.text).toContain(
    `Channel ${channel}, a feed of The Herald; a page of the publisher links to it.`,
  );
  expect(answer.text).toContain('It is to be polled every 15 min');
  expect(answer.text).toContain('It was never polled.');
  expect(answer.text).toContain('No fetcher is running');
  const byUrl = await ask(`channel=${encodeURIComponent('https://herald.test/feed.xml')}`);
  expect(byUrl.body.items[0].name).toBe(answer.name);
  expect(byUrl.body.items[0].facts.channel).toMatchObject({ id: channel, polls: 0 });
});

test('a channel that fails, sleeps, is disabled, or whose source is', async () => {
  await lab.database.pool.query(
    `INSERT INTO channel_state (bucket, channel_id, polls, not_modified, items_seen, items_new, errors_in_row, error_kind,
       failing_since, last_success_at, slept_at, sleep_reason)
     SELECT bucket, id, 40, 12, 300, 20, 5, 'parse', now() - interval '3 hours', now() - interval '4 hours', now(), 'parse'
       FROM channels WHERE id = $1`,
    [channel],
  );
  const asleep = (await ask(`channel=${channel}`)).body.items[0];
  expect(asleep.state).toBe('asleep');
  expect(asleep.text).toContain('5 polls in a row failed (parse), for 3 h.');
  expect(asleep.text).toContain('It was polled 40 times, 12 of them without news, and last answered 4 h ago');
  expect(asleep.advice).toEqual([`outrider channels wake ${channel}`]);
  await lab.database.pool.query('UPDATE channel_state SET last_success_at = NULL WHERE channel_id = $1', [
    channel,
  ]);
  expect((await ask(`channel=${channel}`)).body.items[0].text).toContain(
    'and never answered; 300 items seen',
  );
  await setChannelEnabled(lab.database.pool, channel, false);
  expect((await ask(`channel=${channel}`)).body.items[0]).toMatchObject({
    state: 'disabled',
    expectedAt: null,
    advice: [`outrider channels enable ${channel}`],
  });
  await setSourceEnabled(lab.database.pool, 'the_herald', false, { actor: 'test', reason: 'a quiet week' });
  expect((await ask(`channel=${channel}`)).body.items[0].text).toContain(
    'Its source is disabled (a quiet week), so nothing of it is polled.',
  );
});

test('what cannot be answered is said', async () => {
  for (const query of [
    '',
    'url=x',
    urlQuery('ftp://a.test/'),
    'url=https://a.test/&domain=a.test',
    'host=a',
    'domain=',
  ])
    expect((await ask(query)).status, query).toBe(400);
  for (const query of [
    'channel=999999999',
    'channel=nothing',
    'channel=%00',
    'domain=%00',
    'channel=99999999999999999999',
  ])
    expect((await ask(query)).status, query).toBe(404);
});
