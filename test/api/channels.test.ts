import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { learnRhythm, packRhythm } from '../../src/channels/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { createChecked, hostileTexts, hostileValues } from './checked.ts';
import { type ApiLab, startApiLab } from './lab.ts';

let lab: ApiLab;
let ask: ApiLab['ask'];
let first: number;
beforeAll(async () => {
  lab = await startApiLab();
  ask = await createChecked(lab);
  await createSource(lab.database.pool, { url: 'https://herald.example/', name: 'Herald' });
  await createSource(lab.database.pool, { url: 'https://other.example/', name: 'Other' });
});
afterAll(() => lab.close());

const rows = async (sql: string, values: unknown[] = []) => (await lab.database.pool.query(sql, values)).rows;
const add = (url: string, more: object = {}) =>
  ask('POST', '/api/v1/channels', { source: 'herald', url, ...more });

describe('adding', () => {
  test('an address is polled for a source', async () => {
    const { status, body } = await add('herald.example/feed', { title: 'News' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      url: 'https://herald.example/feed',
      kind: 'feed',
      title: 'News',
      intervalSeconds: 900,
      foundBy: 'manual',
      polls: 0,
      push: null,
    });
    first = body.id;
    expect(await rows(`SELECT kind, status FROM url_frontier`)).toEqual([
      { kind: 'channel', status: 'pending' },
    ]);
    expect(await add('https://herald.example/feed')).toMatchObject({ status: 200, body: { id: first } });
    expect((await add('https://herald.example/map.xml', { kind: 'sitemap' })).body.intervalSeconds).toBe(
      21_600,
    );
    expect(await rows(`SELECT action FROM audit`)).toHaveLength(2);
  });

  test.each([
    [{ source: 'nobody', url: 'https://x.example/' }, 404],
    [{ source: 'herald', url: 'http://192.168.0.1/feed' }, 422],
    [{ source: 'herald', url: 'mailto:x@y.example' }, 422],
    [{ source: 'herald', url: 'https://x.example/', kind: 'podcast' }, 400],
    [{ source: 'herald', url: 'https://x.example/', intervalSeconds: 29 }, 400],
    [{ url: 'https://x.example/' }, 400],
  ])('%j is refused with %i', async (body, status) => {
    expect((await ask('POST', '/api/v1/channels', body)).status).toBe(status);
  });
});

describe('listing', () => {
  beforeAll(async () => {
    for (let n = 0; n < 20; n += 1) await add(`https://herald.example/feed/${n}`);
    await ask('POST', '/api/v1/channels', { source: 'other', url: 'https://other.example/feed' });
    await lab.database.pool.query(
      `INSERT INTO channel_state (bucket, channel_id, errors_in_row, error_kind)
       SELECT bucket, id, CASE WHEN id % 5 = 0 THEN id % 3 ELSE 0 END, 'http' FROM channels WHERE id % 2 = 0 OR id % 5 = 0`,
    );
  });

  const walk = async (query: string): Promise<{ id: number; errorsInRow: number }[]> => {
    const items: { id: number; errorsInRow: number }[] = [];
    let cursor: string | null = null;
    do {
      const { body }: { body: { items: typeof items; cursor: string | null } } = await ask(
        'GET',
        `/api/v1/channels?${query}${cursor === null ? '' : `&cursor=${cursor}`}`,
      );
      items.push(...body.items);
      cursor = body.cursor;
    } while (cursor !== null);
    return items;
  };

  test.each([1, 3, 7, 100])('trouble comes first, in pages of %i without gap or double', async (limit) => {
    const all = await walk(`limit=${limit}`);
    const expected = await rows(
      `SELECT c.id FROM channels c LEFT JOIN channel_state s ON s.channel_id = c.id ORDER BY coalesce(s.errors_in_row, 0) DESC, c.id`,
    );
    expect(all.map((one) => one.id)).toEqual(expected.map((row) => row.id));
    expect(all[0]?.errorsInRow).toBeGreaterThan(0);
  });

  test('filters find what they name', async () => {
    expect(await walk('source=other')).toHaveLength(1);
    expect(await walk('kind=sitemap')).toHaveLength(1);
    expect(await walk('pushed=true')).toHaveLength(0);
    const failing = await walk('failing=true&limit=2');
    expect(failing.length).toBeGreaterThan(0);
    expect(failing.every((one) => one.errorsInRow > 0)).toBe(true);
    expect((await ask('GET', '/api/v1/channels?source=nobody')).status).toBe(404);
    expect((await ask('GET', '/api/v1/channels?cursor=WzFd')).body.code).toBe('cursor_invalid');
  });

  test('whose a channel is and how often it is polled now are told', async () => {
    const paceOf = async () => (await ask('GET', `/api/v1/channels/${first}`)).body;
    expect(await paceOf()).toMatchObject({ sourceSlug: 'herald', sourceName: 'Herald', paceSeconds: 900 });
    // A publisher that asks for more patience gets it, whatever the interval.
    await lab.database.pool.query(
      `INSERT INTO channel_state (bucket, channel_id, floor_seconds) SELECT bucket, id, 7200 FROM channels WHERE id = $1
       ON CONFLICT (bucket, channel_id) DO UPDATE SET floor_seconds = 7200`,
      [first],
    );
    expect(await paceOf()).toMatchObject({ intervalSeconds: 900, paceSeconds: 7200 });
    await lab.database.pool.query('UPDATE channel_state SET floor_seconds = NULL');
    // One that published all day is polled more often than its interval says, unless that is fixed.
    const nowMs = Date.now();
    const rhythm = learnRhythm(null, {
      nowMs,
      dates: Array.from({ length: 2000 }, (_, n) => nowMs - n * 60_000),
      undated: 0,
    })!;
    await lab.database.pool.query('UPDATE channel_state SET rhythm = $2 WHERE channel_id = $1', [
      first,
      JSON.stringify(packRhythm(rhythm)),
    ]);
    const { paceSeconds } = await paceOf();
    expect(paceSeconds).not.toBe(900);
    await ask('PATCH', '/api/v1/sources/herald', { settings: { fixedInterval: true } });
    expect(await paceOf()).toMatchObject({ paceSeconds: 900 });
    await ask('PATCH', '/api/v1/sources/herald', { settings: { fixedInterval: null } });
  });

  test('one channel is shown with the addresses it left', async () => {
    await lab.database.pool.query(
      `INSERT INTO channel_addresses (url_hash, channel_id, url) VALUES ('\\x01', $1, 'https://herald.example/old')`,
      [first],
    );
    expect((await ask('GET', `/api/v1/channels/${first}`)).body).toMatchObject({
      id: first,
      addresses: [{ url: 'https://herald.example/old' }],
    });
    for (const id of ['999999', '2147483647'])
      expect((await ask('GET', `/api/v1/channels/${id}`)).status).toBe(404);
    for (const id of ['0', '2147483648', 'x'])
      expect((await ask('GET', `/api/v1/channels/${id}`)).status).toBe(400);
  });

  test('its polls are told from the log, newest first, in pages', async () => {
    await lab.database.pool.query(
      `INSERT INTO crawl_log (at, bucket, status, domain_key, epoch, kind, outcome, url_hash, url, worker, bytes, total_ms)
       SELECT now() - n * interval '1 minute', c.bucket, 200, c.domain_key, 1, 'channel', 'fetched',
              CASE WHEN n % 2 = 0 THEN c.url_hash ELSE '\\x02' END, c.url, 'w', n, 5
         FROM channels c, generate_series(1, 20) n WHERE c.id = $1`,
      [first],
    );
    const seen: number[] = [];
    let cursor: string | null = null;
    do {
      const { body }: { body: { items: { bytes: number }[]; cursor: string | null } } = await ask(
        'GET',
        `/api/v1/channels/${first}/polls?limit=3${cursor === null ? '' : `&cursor=${cursor}`}`,
      );
      seen.push(...body.items.map((item) => item.bytes));
      cursor = body.cursor;
    } while (cursor !== null);
    expect(seen).toEqual([2, 4, 6, 8, 10, 12, 14, 16, 18, 20]);
    expect((await ask('GET', '/api/v1/channels/999999/polls')).status).toBe(404);
    // Far beyond what a timestamp holds.
    const far = Buffer.from('["9000000000000000000"]').toString('base64url');
    expect((await ask('GET', `/api/v1/channels/${first}/polls?cursor=${far}`)).status).toBe(400);
  });
});

describe('acts', () => {
  const state = async (id: number) =>
    (
      await rows(
        `SELECT s.errors_in_row AS errors, s.slept_at IS NOT NULL AS asleep, f.tries, f.due_at <= now() AS due, c.enabled
           FROM channels c JOIN channel_state s ON s.channel_id = c.id
           JOIN url_frontier f ON f.url_hash = c.url_hash WHERE c.id = $1`,
        [id],
      )
    )[0];
  const fail = async (id: number) => {
    await lab.database.pool.query(
      `INSERT INTO channel_state (bucket, channel_id, errors_in_row, error_kind, slept_at, sleep_reason)
       SELECT bucket, id, 5, 'http', now(), 'http' FROM channels WHERE id = $1
       ON CONFLICT (bucket, channel_id) DO UPDATE SET errors_in_row = 5, error_kind = 'http', slept_at = now(), sleep_reason = 'http'`,
      [id],
    );
    await lab.database.pool.query(
      `UPDATE url_frontier f SET due_at = now() + interval '1 day', tries = 3, ready = false FROM channels c WHERE c.id = $1 AND f.url_hash = c.url_hash`,
      [id],
    );
  };

  test('a poll now leaves the errors, a reset forgets them', async () => {
    await fail(first);
    expect((await ask('POST', `/api/v1/channels/${first}/poll`)).status).toBe(200);
    expect(await state(first)).toEqual({ errors: 5, asleep: true, tries: 3, due: true, enabled: true });
    await fail(first);
    expect((await ask('POST', `/api/v1/channels/${first}/reset`)).body).toMatchObject({
      errorsInRow: 0,
      asleep: false,
    });
    expect(await state(first)).toEqual({ errors: 0, asleep: false, tries: 0, due: true, enabled: true });
  });

  test('what is disabled is not polled', async () => {
    expect((await ask('POST', `/api/v1/channels/${first}/disable`)).body.enabled).toBe(false);
    for (const act of ['poll', 'reset'])
      expect(await ask('POST', `/api/v1/channels/${first}/${act}`)).toMatchObject({
        status: 409,
        body: { code: 'channel_busy' },
      });
    expect((await ask('POST', `/api/v1/channels/${first}/enable`)).body.enabled).toBe(true);
    await ask('POST', '/api/v1/sources/herald/disable', { reason: 'for a while' });
    expect((await ask('POST', `/api/v1/channels/${first}/poll`)).status).toBe(409);
    await ask('POST', '/api/v1/sources/herald/enable');
    expect((await ask('POST', `/api/v1/channels/${first}/poll`)).status).toBe(200);
    expect(
      (await rows(`SELECT action FROM audit WHERE subject = $1 ORDER BY id`, [String(first)])).map(
        (row) => row.action,
      ),
    ).toEqual([
      'channel_add',
      'channel_poll',
      'channel_reset',
      'channel_disable',
      'channel_enable',
      'channel_poll',
    ]);
  });

  test('a channel is changed', async () => {
    const url = `/api/v1/channels/${first}`;
    expect((await ask('PATCH', url, { intervalSeconds: 600, title: null })).body).toMatchObject({
      intervalSeconds: 600,
      title: null,
    });
    for (const bad of [{}, { intervalSeconds: 1 }, { url: 'https://x.example/' }, { title: '' }])
      expect((await ask('PATCH', url, bad)).status).toBe(400);
    expect((await ask('PATCH', '/api/v1/channels/999999', { title: 'x' })).status).toBe(404);
  });

  test('a channel is removed, and its row ends', async () => {
    expect((await ask('DELETE', `/api/v1/channels/${first}`)).body).toEqual({ id: first, deleted: true });
    expect(
      await rows(`SELECT status, error_code FROM url_frontier WHERE url = 'https://herald.example/feed'`),
    ).toEqual([{ status: 'dead', error_code: 'channel_removed' }]);
    for (const act of ['poll', 'reset', 'enable', 'disable'])
      expect((await ask('POST', `/api/v1/channels/${first}/${act}`)).status).toBe(404);
    expect((await ask('DELETE', `/api/v1/channels/${first}`)).status).toBe(404);
  });
});

test('whatever comes, nothing breaks', async () => {
  const [{ id }] = await rows('SELECT id FROM channels LIMIT 1');
  for (const value of hostileValues) {
    for (const field of ['source', 'url', 'kind', 'intervalSeconds', 'title'])
      await ask('POST', '/api/v1/channels', { source: 'herald', url: 'https://h.example/f', [field]: value });
    for (const field of ['intervalSeconds', 'title'])
      await ask('PATCH', `/api/v1/channels/${id}`, { [field]: value });
  }
  for (const text of hostileTexts) {
    const part = new URLSearchParams({ v: text }).toString().slice(2);
    for (const name of ['source', 'cursor', 'limit', 'kind', 'failing', 'pushed', 'files', 'other'])
      await ask('GET', `/api/v1/channels?${name}=${part}`);
    for (const name of ['cursor', 'limit']) await ask('GET', `/api/v1/channels/${id}/polls?${name}=${part}`);
    if (part === '') continue;
    await ask('GET', `/api/v1/channels/${part}`);
    await ask('POST', `/api/v1/channels/${part}/poll`);
  }
});

describe('what a person asks', () => {
  test('a channel by an address that it has, with or without a scheme', async () => {
    const { id } = (await add('https://herald.example/asked')).body;
    for (const url of ['https://herald.example/asked', 'herald.example/asked'])
      expect((await ask('GET', `/api/v1/channels?url=${encodeURIComponent(url)}`)).body).toMatchObject({
        items: [{ id, url: 'https://herald.example/asked' }],
        cursor: null,
      });
    expect((await ask('GET', '/api/v1/channels?url=herald.example/nothing')).body.items).toEqual([]);
    // A number is no address: it would name some channel.
    expect((await ask('GET', `/api/v1/channels?url=${id}`)).body.items).toEqual([]);
    const both = await ask('GET', '/api/v1/channels?url=herald.example/asked&kind=feed');
    expect(both).toMatchObject({ status: 400, body: { code: 'request_invalid' } });
    for (const text of hostileTexts)
      await ask('GET', `/api/v1/channels?url=${encodeURIComponent(text.toWellFormed())}`);
  });

  test('how late everything is', async () => {
    expect((await ask('GET', '/api/v1/channels/delay')).body).toMatchObject({ items: expect.any(Number) });
  });
});
