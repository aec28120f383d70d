import { createHmac } from 'node:crypto';
import { get } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { loadPushStates } from '../../src/channels/index.ts';
import { makeDue } from '../e2e/crawl-state.ts';
import { waitUntil } from '../e2e/wait.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { startWebSubLab, type WebSubLab } from './websub-lab.ts';

let database: TestDatabase;
let lab: WebSubLab;

beforeAll(async () => {
  database = await createTestDatabase();
  lab = await startWebSubLab({ databaseUrl: database.url, publishers: 6 });
  await lab.subscribed();
});
afterAll(async () => {
  await lab?.close();
  await database.drop();
});
beforeEach(() => lab.hub.behave({}));

type Row = { status: string; origin: string; fetch_count: number };
const rowOf = async (url: string): Promise<Row | undefined> =>
  (
    await database.pool.query<Row>('SELECT status, origin, fetch_count FROM url_frontier WHERE url = $1', [
      url,
    ])
  ).rows[0];
const isStored = async (url: string): Promise<boolean | string> =>
  (await database.pool.query('SELECT FROM documents WHERE url = $1', [url])).rowCount === 1 ||
  JSON.stringify((await rowOf(url)) ?? 'unknown');
const domainOf = (index: number): string => lab.web.publishers[index]!.domain;
const topicOf = (index: number): string =>
  `http://${lab.web.publishers[index]!.host}${lab.web.publishers[index]!.feeds[0]!.path}`;
const subscriptionOf = async (index: number) =>
  (
    await database.pool.query(
      `SELECT w.*, c.source_id FROM websub_subscriptions w JOIN channels c ON c.id = w.channel_id WHERE w.topic = $1`,
      [topicOf(index)],
    )
  ).rows[0];
const ask = (index: number) =>
  database.pool.query('UPDATE websub_subscriptions SET next_at = now() WHERE topic = $1', [topicOf(index)]);

test('what a publisher pushes becomes a document without a poll', async () => {
  const polls = async () =>
    (await database.pool.query('SELECT sum(polls)::integer AS n FROM channel_state')).rows[0]!.n;
  const before = await polls();
  const since = lab.hub.events.length;
  const urls = [0, 1, 2].flatMap((index) => lab.web.publish(domainOf(index), 2));
  for (const url of urls) await waitUntil(`${url} is a document`, () => isStored(url));
  for (const index of [0, 1, 2]) await lab.noted('pushed', topicOf(index), since);
  expect(await polls()).toBe(before);
  expect((await rowOf(urls[0]!))?.origin).toBe('push');
  const { channel_id: channelId } = await subscriptionOf(0);
  expect((await loadPushStates(database.pool, [channelId])).get(channelId)).toMatchObject({
    state: 'active',
    pushes: 1,
    unsigned: 0,
  });
  const pushed = await database.pool.query(
    'SELECT FROM channel_state WHERE channel_id = $1 AND pushed_until > now()',
    [channelId],
  );
  expect(pushed.rowCount).toBe(1);
});

test.each(['sha1', 'sha384', 'sha512'] as const)('a hub may sign with %s', async (algorithm) => {
  lab.hub.behave({ algorithm });
  const [url] = lab.web.publish(domainOf(0), 1);
  await waitUntil('it is known', async () => (await rowOf(url!)) !== undefined);
});

test.each(['bad', 'none'] as const)(
  'a push with a %s signature is answered, dropped and counted',
  async (signature) => {
    const before = (await subscriptionOf(1)).unsigned;
    lab.hub.behave({ signature });
    const since = lab.hub.events.length;
    // Without it, a publisher that knows only seconds would say that nothing has changed.
    lab.web.clock.advance(2000);
    const [url] = lab.web.publish(domainOf(1), 1);
    expect((await lab.noted('pushed', topicOf(1), since)).status).toBe(202);
    expect(await rowOf(url!)).toBeUndefined();
    expect((await subscriptionOf(1)).unsigned).toBe(before + 1n);
    // The poll brings it all the same.
    await makeDue(database.pool, 'polls');
    await waitUntil('the poll has found it', async () => (await rowOf(url!))?.origin === 'feed');
    const { channel_id: channelId } = await subscriptionOf(1);
    await waitUntil('the hub that let a poll find the news is not relied on', async () => {
      const relied = await database.pool.query(
        'SELECT FROM channel_state WHERE channel_id = $1 AND pushed_until IS NULL',
        [channelId],
      );
      return relied.rowCount === 1;
    });
  },
);

test('the same push again and again is one row, and what is no feed is counted', async () => {
  lab.hub.behave({ repeats: 3 });
  const [url] = lab.web.publish(domainOf(2), 1);
  await waitUntil('it is a document', () => isStored(url!));
  expect((await database.pool.query('SELECT FROM url_frontier WHERE url = $1', [url])).rowCount).toBe(1);
  lab.hub.behave({ body: '<html><body>not a feed</body></html>' });
  lab.web.publish(domainOf(2), 1);
  await waitUntil('it is counted', async () => (await subscriptionOf(2)).unreadable === 1n);
});

test('a subscription is renewed before its lease ends', async () => {
  const before = await subscriptionOf(3);
  expect(Number(before.lease_until) - Date.now()).toBeGreaterThan(9 * 86_400_000);
  expect(Number(before.next_at)).toBeLessThan(Number(before.lease_until) - 86_400_000);
  const since = lab.hub.events.length;
  lab.hub.behave({ leaseSeconds: 3600 });
  await ask(3);
  await lab.noted('verified', topicOf(3), since);
  const after = await subscriptionOf(3);
  expect(after).toMatchObject({ state: 'active', tries: 0, token: before.token });
  expect(Number(after.lease_until)).toBeLessThan(Number(before.lease_until));
});

test('what was not asked for is not confirmed', async () => {
  const { token, topic } = await subscriptionOf(3);
  const verify = async (query: Record<string, string>, path = token): Promise<[number, string]> => {
    const response = await fetch(`${lab.callback}/websub/${path}?${new URLSearchParams(query)}`);
    return [response.status, await response.text()];
  };
  const good = {
    'hub.mode': 'subscribe',
    'hub.topic': topic,
    'hub.challenge': 'c<b>',
    'hub.lease_seconds': '864000',
  };
  expect(await verify(good)).toEqual([200, 'c<b>']);
  expect((await verify({ ...good, 'hub.topic': `${topic}x` }))[0]).toBe(404);
  expect((await verify({ ...good, 'hub.mode': 'unsubscribe' }))[0]).toBe(404);
  expect((await verify({ ...good, 'hub.mode': 'else' }))[0]).toBe(404);
  expect((await verify({ ...good, 'hub.challenge': '' }))[0]).toBe(400);
  expect((await verify(good, '0'.repeat(32)))[0]).toBe(404);
  expect((await verify(good, 'short'))[0]).toBe(404);
  expect((await subscriptionOf(3)).state).toBe('active');
});

test('a denial is kept with its reason and asked again days later', async () => {
  lab.hub.behave({ denies: true });
  await ask(4);
  await waitUntil('it is denied', async () => (await subscriptionOf(4)).state === 'denied');
  const denied = await subscriptionOf(4);
  expect(denied.error).toBe('not for you');
  expect(Number(denied.next_at) - Date.now()).toBeGreaterThan(2 * 86_400_000);
  lab.hub.behave({ status: 403 });
  await ask(4);
  await waitUntil('it is refused', async () => (await subscriptionOf(4)).error !== 'not for you');
  expect(await subscriptionOf(4)).toMatchObject({ state: 'denied', error: 'the hub answered 403: no: 403' });
  lab.hub.behave({ status: 503 });
  await ask(4);
  await waitUntil(
    'it fails',
    async () => (await subscriptionOf(4)).error === 'the hub answered 503: no: 503',
  );
  expect((await subscriptionOf(4)).state).toBe('requested');
  lab.hub.behave({});
  await ask(4);
  await waitUntil('it is active again', async () => (await subscriptionOf(4)).state === 'active');
});

test('a hub may say what no database holds', async () => {
  lab.hub.behave({ denies: true, says: 'go\0 away' });
  await ask(4);
  await waitUntil('it is denied', async () => (await subscriptionOf(4)).error === 'go away');
  for (const [status, state] of [
    [403, 'denied'],
    [500, 'requested'],
  ] as const) {
    lab.hub.behave({ status, says: `not\0 with ${status}` });
    await ask(4);
    await waitUntil('its words are kept', async () =>
      String((await subscriptionOf(4)).error).endsWith(`: not with ${status}`),
    );
    expect((await subscriptionOf(4)).state).toBe(state);
  }
  const { token } = await subscriptionOf(3);
  const query = new URLSearchParams({
    'hub.mode': 'subscribe',
    'hub.topic': 'http://a.example/\0',
    'hub.challenge': 'c',
  });
  expect((await fetch(`${lab.callback}/websub/${token}?${query}`)).status).toBe(404);
  lab.hub.behave({});
  await ask(4);
  await waitUntil('it is active again', async () => (await subscriptionOf(4)).state === 'active');
});

test('a subscription that is not verified is no subscription', async () => {
  lab.hub.behave({ wrongTopic: true });
  await database.pool.query(
    `UPDATE websub_subscriptions SET state = 'requested', lease_until = NULL WHERE topic = $1`,
    [topicOf(4)],
  );
  const since = lab.hub.events.length;
  await ask(4);
  expect((await lab.noted('unverified', topicOf(4), since)).status).toBe(404);
  expect((await subscriptionOf(4)).state).toBe('requested');
  lab.hub.behave({});
  await ask(4);
  await waitUntil('it is active', async () => (await subscriptionOf(4)).state === 'active');
});

test('a disabled channel is unsubscribed, a removed one too', async () => {
  for (const [index, how] of [
    [4, 'UPDATE channels SET enabled = false WHERE id = $1'],
    [5, 'DELETE FROM channels WHERE id = $1'],
  ] as const) {
    const { channel_id: id, token, secret } = await subscriptionOf(index);
    expect(lab.hub.subscribers().some((one) => one.topic === topicOf(index))).toBe(true);
    await database.pool.query(how, [id]);
    await waitUntil('the hub has forgotten us', () =>
      lab.hub.subscribers().every((one) => one.topic !== topicOf(index)),
    );
    await waitUntil(
      'and we it',
      async () =>
        (await database.pool.query('SELECT FROM websub_subscriptions WHERE channel_id = $1', [id]))
          .rowCount === 0,
    );
    // A late push, well signed, finds nobody.
    const body = '<rss/>';
    const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    expect(
      await lab.hub.send(`${lab.callback}/websub/${token}`, {
        body,
        headers: { 'x-hub-signature': signature },
      }),
    ).toBe(404);
  }
});

test('what a hub pushes counts for the delay until news is found', async () => {
  const { token, secret, channel_id: id } = await subscriptionOf(0);
  const delaysOf = async () =>
    (
      await database.pool.query<{ items: number; seconds: number }>(
        'SELECT delays::integer AS items, delay_seconds AS seconds FROM channel_state WHERE channel_id = $1',
        [id],
      )
    ).rows[0]!;
  const before = await delaysOf();
  const at = new Date(Date.now() - 5000).toUTCString();
  const link = `http://${lab.web.publishers[0]!.host}/pushed-by-hand`;
  const body = `<rss version="2.0"><channel><title>x</title><item><title>y</title><link>${link}</link><pubDate>${at}</pubDate></item></channel></rss>`;
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const headers = { 'x-hub-signature': signature, 'content-type': 'application/rss+xml' };
  expect(await lab.hub.send(`${lab.callback}/websub/${token}`, { body, headers })).toBe(202);
  const after = await delaysOf();
  expect(after.items).toBe(before.items + 1);
  expect(after.seconds - before.seconds).toBeGreaterThanOrEqual(5);
});

test('the callback has strict limits', async () => {
  const { token } = await subscriptionOf(0);
  const url = `${lab.callback}/websub/${token}`;
  expect(await lab.hub.send(url, { body: 'x'.repeat(1_048_577) })).toBe(413);
  const statuses: number[] = [];
  for (let n = 0; n < 80; n += 1) statuses.push(await lab.hub.send(url, { body: '' }));
  expect(statuses).toContain(429);
  expect(statuses[0]).toBe(202);
  const reached = (path: string, host: string) =>
    new Promise<number>((resolve, reject) => {
      get(`${lab.callback}${path}`, { headers: { host } }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      }).on('error', reject);
    });
  expect(await reached('/api/v1/sources', 'evil.example')).toBe(421);
  expect(await reached(`/websub/${'0'.repeat(32)}`, 'evil.example')).toBe(421);
});
