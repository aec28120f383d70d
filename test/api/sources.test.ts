import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createChannel } from '../../src/channels/index.ts';
import { slowPage, slowSelector } from '../setup/page-response.ts';
import { storeDocuments } from '../sinks/store.ts';
import { createChecked, hostileTexts, hostileValues } from './checked.ts';
import { type ApiLab, startApiLab } from './lab.ts';

let lab: ApiLab;
let ask: ApiLab['ask'];
let site: Server;
let port: number;
beforeAll(async () => {
  site = createServer((request, response): unknown => {
    if (request.url === '/robots.txt') return response.end('User-agent: *\nDisallow: /closed/\n');
    if (request.url === '/moved') return response.writeHead(302, { location: '/story' }).end();
    if (request.url === '/counted' && request.headers.cookie !== 'n=1,2')
      return response.writeHead(302, { location: '/counted', 'set-cookie': ['n=1,2', 'm=0; Secure'] }).end();
    if (request.url === '/slow') return response.setHeader('content-type', 'text/html').end(slowPage);
    const paragraphs = Array.from({ length: 30 }, (_, n) => `<p>Paragraph ${n} tells of the harbour.</p>`);
    response.setHeader('content-type', 'text/html');
    return response.end(
      `<html><head><title>Site</title></head><body><h1 class="t">The harbour</h1><span class="by">Ada</span><div class="story">${paragraphs.join('')}</div></body></html>`,
    );
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  ({ port } = site.address() as AddressInfo);
  lab = await startApiLab({
    settings: { 'fetch.allow_networks': [`127.0.0.1/32:${port}`], 'fetch.default_delay_ms': 10 },
  });
  ask = await createChecked(lab);
});
afterAll(async () => {
  await lab.close();
  site.close();
});

const rows = async (sql: string, values: unknown[] = []) => (await lab.database.pool.query(sql, values)).rows;

describe('adding', () => {
  test('a source is added with its settings, and its feeds are looked for', async () => {
    const { status, body } = await ask('POST', '/api/v1/sources', {
      url: 'herald.example',
      name: 'The Herald',
      ingestionMode: 'both',
      priority: 7,
      rateLimitMs: 2500,
      settings: { include: ['/news/'], selectors: { title: 'h1' } },
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ slug: 'the_herald', url: 'https://herald.example/', priority: 7 });
    expect(await rows('SELECT settings, rate_limit_ms, ingestion_mode FROM sources')).toEqual([
      {
        settings: { include: ['/news/'], selectors: { title: 'h1' } },
        rate_limit_ms: 2500,
        ingestion_mode: 'both',
      },
    ]);
    expect(await rows('SELECT state FROM discoveries')).toEqual([{ state: 'pending' }]);
    expect(await rows(`SELECT actor, subject FROM audit WHERE action = 'source_add'`)).toEqual([
      { actor: 'token:test admin', subject: 'the_herald' },
    ]);
    const again = await ask('POST', '/api/v1/sources', { url: 'https://herald.example/', name: 'Other' });
    expect(again).toMatchObject({ status: 200, body: { slug: 'the_herald' } });
  });

  test('a word alone is no address, of a source or a channel', async () => {
    const before = await rows('SELECT count(*) FROM sources');
    expect(await ask('POST', '/api/v1/sources', { url: 'herold' })).toMatchObject({
      status: 422,
      body: { code: 'source_url_invalid', detail: '"herold" is not an address that can be crawled' },
    });
    expect(await ask('POST', '/api/v1/channels', { source: 'the_herald', url: 'herold' })).toMatchObject({
      status: 422,
      body: { code: 'source_url_invalid' },
    });
    expect(await rows('SELECT count(*) FROM sources')).toEqual(before);
    expect(await rows('SELECT FROM channels')).toEqual([]);
  });

  test.each([
    'http://127.0.0.1/',
    'http://127.0.0.1:1/',
    'http://0x7f.1/',
    'http://2130706433/',
    'http://[::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://169.254.169.254/latest/',
    'http://10.1.2.3/',
    'http://localhost/',
    'http://a.localhost./',
    'https://herald.example:22/',
  ])('an address in a private network is refused: %s', async (url) => {
    expect((await ask('POST', '/api/v1/sources', { url })).status).toBe(422);
    expect(await rows('SELECT FROM sources')).toHaveLength(1);
  });

  test('an address that is allowed is taken', async () => {
    const url = `http://127.0.0.1:${port}/`;
    expect((await ask('POST', '/api/v1/sources', { url, name: 'Local' })).status).toBe(201);
    expect(await ask('DELETE', '/api/v1/sources/local')).toMatchObject({
      status: 200,
      body: { deleted: true, documents: 0 },
    });
  });

  test('settings that nobody can use are refused', async () => {
    for (const settings of [
      { include: ['('] },
      { proxies: ['ftp://x'] },
      { proxies: ['http://user:********@proxy.example'] },
    ])
      expect(await ask('POST', '/api/v1/sources', { url: 'https://b.example/', settings })).toMatchObject({
        status: 422,
        body: { code: 'settings_invalid' },
      });
    for (const settings of [
      { unknown: 1 },
      { images: 'all' },
      { selectors: { nothing: 'p' } },
      { maxDepth: -2 },
    ])
      expect((await ask('POST', '/api/v1/sources', { url: 'https://b.example/', settings })).status).toBe(
        400,
      );
  });
});

describe('listing', () => {
  beforeAll(async () => {
    for (let n = 0; n < 25; n += 1)
      await ask('POST', '/api/v1/sources', { url: `https://paper${n}.example/`, name: `Paper ${n}` });
    await ask('POST', '/api/v1/sources/paper_3/disable', { reason: 'asked to' });
    const [four] = await rows(`SELECT id FROM sources WHERE slug = 'paper_4'`);
    const { channel } = await createChannel(lab.database.pool, {
      sourceId: four.id,
      kind: 'feed',
      url: 'https://paper4.example/feed',
      intervalSeconds: 900,
      foundBy: 'manual',
    });
    await lab.database.pool.query(
      `INSERT INTO channel_state (bucket, channel_id, errors_in_row, error_kind) SELECT bucket, id, 3, 'http' FROM channels WHERE id = $1`,
      [channel.id],
    );
  });

  const walk = async (query: string): Promise<string[]> => {
    const slugs: string[] = [];
    let cursor: string | null = null;
    do {
      const { body }: { body: { items: { slug: string }[]; cursor: string | null } } = await ask(
        'GET',
        `/api/v1/sources?${query}${cursor === null ? '' : `&cursor=${cursor}`}`,
      );
      slugs.push(...body.items.map((item) => item.slug));
      cursor = body.cursor;
    } while (cursor !== null);
    return slugs;
  };

  test('pages follow each other without gap or double', async () => {
    const all = await walk('limit=7');
    expect(all).toHaveLength(26);
    expect(new Set(all).size).toBe(26);
    expect((await ask('GET', '/api/v1/sources')).body.total).toEqual({ count: 26, exact: true });
  });

  test('the address of a feed that is followed names its source', async () => {
    expect(await ask('POST', '/api/v1/sources', { url: 'https://paper4.example/feed' })).toMatchObject({
      status: 200,
      body: { slug: 'paper_4' },
    });
  });

  test('filters find what they name', async () => {
    expect(await walk('q=APER%201&limit=3')).toHaveLength(11);
    expect(await walk('q=paper7.exam')).toEqual(['paper_7']);
    expect(await walk('q=%25')).toEqual([]);
    expect(await walk('enabled=false')).toEqual(['paper_3']);
    expect(await walk('status=disabled')).toEqual(['paper_3']);
    expect(await walk('status=failing')).toEqual(['paper_4']);
    expect(await walk('status=searching&limit=5')).toHaveLength(24);
    expect(await walk('mode=both')).toEqual(['the_herald']);
    expect((await ask('GET', '/api/v1/sources?q=paper')).body.total).toBeNull();
  });

  test('one source tells how it goes', async () => {
    expect((await ask('GET', '/api/v1/sources/paper_4')).body).toMatchObject({
      status: 'failing',
      channels: 1,
      failing: 1,
      discovery: { state: 'pending', candidates: [] },
    });
    expect((await ask('GET', '/api/v1/sources/nobody')).status).toBe(404);
  });

  test('a list stands in the place of one short name, so nobody has it', async () => {
    const { body } = await ask('POST', '/api/v1/sources', { url: 'https://export.example/', name: 'Export' });
    expect(body.slug).toBe('export_source');
    const long = await ask('POST', '/api/v1/sources', {
      url: 'https://long.example/',
      name: 'n'.repeat(200),
    });
    const twin = await ask('POST', '/api/v1/sources', {
      url: 'https://twin.example/',
      name: 'n'.repeat(200),
    });
    for (const slug of [body.slug, long.body.slug, twin.body.slug])
      expect((await ask('DELETE', `/api/v1/sources/${slug}`)).status).toBe(200);
  });

  test('a cursor of elsewhere is refused', async () => {
    for (const cursor of [
      'x',
      'W10',
      'e30',
      'WyJhIl0',
      'WzJd.',
      'bnVsbA',
      'Wzk5OTk5OTk5OTk5OTk5XQ',
      'Wy0xXQ',
    ])
      expect(await ask('GET', `/api/v1/sources?cursor=${cursor}`), cursor).toMatchObject({
        status: 400,
        body: { code: 'cursor_invalid' },
      });
  });
});

describe('changing', () => {
  test('what is given changes, null takes back, the rest stays', async () => {
    const { body } = await ask('PATCH', '/api/v1/sources/the_herald', {
      name: 'Herald',
      ingestionMode: 'feed',
      feedPollIntervalMinutes: 30,
      rateLimitMs: null,
      settings: {
        images: 'store',
        include: null,
        fixedInterval: true,
        pages: 'first',
        proxies: ['http://me:secret@proxy.example:3128'],
      },
    });
    expect(body).toMatchObject({
      slug: 'the_herald',
      name: 'Herald',
      ingestionMode: 'feed',
      feedPollIntervalMinutes: 30,
      priority: 7,
      rateLimitMs: null,
    });
    // A password is nobody's to read.
    expect(body.settings).toEqual({
      selectors: { title: 'h1' },
      images: 'store',
      fixedInterval: true,
      pages: 'first',
      proxies: ['http://********@proxy.example:3128'],
    });
    expect(JSON.stringify((await ask('GET', '/api/v1/sources/the_herald')).body)).not.toContain('secret');
    expect(JSON.stringify((await ask('GET', '/api/v1/audit')).body)).not.toContain('secret');
    const [stored] = await rows(`SELECT settings FROM sources WHERE slug = 'the_herald'`);
    expect(stored.settings.proxies).toEqual(['http://me:secret@proxy.example:3128']);
    for (const bad of [
      {},
      { slug: 'x' },
      { priority: 11 },
      { settings: { copies: 'none' } },
      { settings: { pages: 'last' } },
    ])
      expect((await ask('PATCH', '/api/v1/sources/the_herald', bad)).status).toBe(400);
    expect((await ask('PATCH', '/api/v1/sources/nobody', { priority: 1 })).status).toBe(404);
  });

  test('how its pages are rendered is one of three words, and can be taken back', async () => {
    const url = '/api/v1/sources/the_herald';
    const set = (render: unknown) => ask('PATCH', url, { settings: { render } });
    expect((await set('sometimes')).status).toBe(400);
    expect((await set('always')).body.settings).toMatchObject({ render: 'always' });
    expect((await set(null)).body.settings).not.toHaveProperty('render');
  });

  test('robots.txt is ignored only with a reason, which is kept', async () => {
    const url = '/api/v1/sources/the_herald';
    expect((await ask('PATCH', url, { respectRobots: false })).status).toBe(400);
    const { body } = await ask('PATCH', url, { respectRobots: false, reason: 'they agreed' });
    expect(body.settings.respectRobots).toBe(false);
    expect(await rows(`SELECT actor, detail FROM audit WHERE action = 'respect_robots'`)).toEqual([
      { actor: 'token:test admin', detail: { on: false, reason: 'they agreed' } },
    ]);
    const back = await ask('PATCH', url, { respectRobots: true, reason: 'no more' });
    expect(back.body.settings).not.toHaveProperty('respectRobots');
  });

  test('a source is disabled with a reason and enabled again', async () => {
    const url = '/api/v1/sources/paper_5';
    expect((await ask('POST', `${url}/disable`, {})).status).toBe(400);
    expect((await ask('POST', `${url}/disable`)).status).toBe(400);
    expect((await ask('POST', `${url}/disable`, { reason: 'too loud' })).body).toMatchObject({
      enabled: false,
      disableReason: 'too loud',
    });
    expect((await ask('POST', `${url}/enable`)).body).toMatchObject({ enabled: true, disabledAt: null });
    expect(
      (await rows(`SELECT action FROM audit WHERE subject = 'paper_5' ORDER BY id`)).map((row) => row.action),
    ).toEqual(['source_add', 'source_disable', 'source_enable']);
    expect((await ask('POST', '/api/v1/sources/nobody/enable')).status).toBe(404);
    expect((await ask('POST', '/api/v1/sources/nobody/disable', { reason: 'x' })).status).toBe(404);
  });

  test('its feeds are looked for again', async () => {
    await lab.database.pool.query(`UPDATE discoveries SET state = 'nothing', finished_at = now()`);
    expect(await ask('POST', '/api/v1/sources/paper_6/discover')).toMatchObject({
      status: 202,
      body: { discovery: { state: 'pending' } },
    });
    expect(await rows(`SELECT FROM discoveries WHERE finished_at IS NULL`)).toHaveLength(1);
    expect((await ask('POST', '/api/v1/sources/nobody/discover')).status).toBe(404);
  });

  test('a source goes with its documents, or without', async () => {
    const idOf = async (slug: string): Promise<number> =>
      (await rows('SELECT id FROM sources WHERE slug = $1', [slug]))[0].id;
    await storeDocuments(lab.database.pool, [
      { url: 'https://paper8.example/a', sourceId: await idOf('paper_8') },
      { url: 'https://paper9.example/a', sourceId: await idOf('paper_9') },
    ]);
    expect((await ask('DELETE', '/api/v1/sources/paper_8')).body.documents).toBe(0);
    expect((await ask('DELETE', '/api/v1/sources/paper_9?documents=delete')).body.documents).toBe(1);
    expect((await rows('SELECT url FROM documents')).map((row) => row.url)).toEqual([
      'https://paper8.example/a',
    ]);
    expect((await ask('GET', '/api/v1/sources/paper_9')).status).toBe(404);
    expect((await ask('DELETE', '/api/v1/sources/paper_9')).status).toBe(404);
  });
});

describe('testing selectors', () => {
  const url = '/api/v1/sources/test-selectors';
  /** Turns are the database's: what was borrowed a moment ago is given back. */
  const giveBack = () => lab.database.pool.query('UPDATE domain_slots SET next_at = now()');

  test('each says what it gives on the page', async () => {
    const { status, body } = await ask('POST', url, {
      url: `http://127.0.0.1:${port}/moved`,
      selectors: { title: 'h1.t', author: '.by', date: 'time', body: ':::' },
      source: 'the_herald',
    });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({ url: `http://127.0.0.1:${port}/story`, status: 200, matched: 2, rates: [] });
    expect(body.selectors).toMatchObject([
      { field: 'title', outcome: 'matched', matches: 1, texts: ['The harbour'] },
      { field: 'author', outcome: 'matched', texts: ['Ada'] },
      { field: 'date', outcome: 'no_match', matches: 0, texts: [] },
      { field: 'body', outcome: 'invalid_selector' },
    ]);
    expect(body.extraction.title).toBe('The harbour');
  });

  test('a page is read that wants its cookie back first', async () => {
    await giveBack();
    const wish = { url: `http://127.0.0.1:${port}/counted`, selectors: { title: 'h1.t' } };
    expect(await ask('POST', url, wish)).toMatchObject({ status: 200, body: { matched: 1 } });
  });

  test('the domain is asked in its turn', async () => {
    const body = { url: `http://127.0.0.1:${port}/story`, selectors: { title: 'h1' } };
    expect(await ask('POST', url, body)).toMatchObject({ status: 409, body: { code: 'domain_busy' } });
    await giveBack();
    expect((await ask('POST', url, body)).status).toBe(200);
  });

  test('robots.txt and the address guard hold', async () => {
    await giveBack();
    const selectors = { title: 'h1' };
    expect(await ask('POST', url, { url: `http://127.0.0.1:${port}/closed/a`, selectors })).toMatchObject({
      status: 422,
      body: { code: 'robots_disallowed' },
    });
    expect(await ask('POST', url, { url: 'http://127.0.0.1:1/', selectors })).toMatchObject({
      status: 422,
      body: { code: 'address_refused' },
    });
    expect((await ask('POST', url, { url: 'not an address', selectors })).status).toBe(422);
  });

  test('a selector that takes for ever is ended', async () => {
    await giveBack();
    expect(
      await ask('POST', url, { url: `http://127.0.0.1:${port}/slow`, selectors: { title: slowSelector } }),
    ).toMatchObject({ status: 422, body: { code: 'page_unreadable' } });
  });
});

test('whatever comes, nothing breaks', async () => {
  for (const value of hostileValues) {
    for (const field of ['url', 'name', 'ingestionMode', 'priority', 'rateLimitMs', 'settings'])
      await ask('POST', '/api/v1/sources', { url: 'https://hostile.example/', [field]: value });
    for (const field of ['name', 'priority', 'settings', 'respectRobots', 'reason'])
      await ask('PATCH', '/api/v1/sources/paper_1', { [field]: value });
    for (const field of ['include', 'proxies', 'selectors', 'maxDepth', 'images'])
      await ask('PATCH', '/api/v1/sources/paper_1', { settings: { [field]: value } });
    await ask('PATCH', '/api/v1/sources/paper_1', { settings: { include: [value] } });
    await ask('PATCH', '/api/v1/sources/paper_1', { settings: { selectors: { title: value } } });
    await ask('POST', '/api/v1/sources/paper_1/disable', { reason: value });
    await ask('POST', '/api/v1/sources/test-selectors', { url: value, selectors: value });
  }
  for (const text of hostileTexts) {
    const part = new URLSearchParams({ v: text }).toString().slice(2);
    for (const name of ['q', 'cursor', 'limit', 'status', 'enabled', 'mode', 'other'])
      await ask('GET', `/api/v1/sources?${name}=${part}`);
    if (part === '') continue;
    await ask('GET', `/api/v1/sources/${part}`);
    await ask('GET', `/api/v1/sources/paper_1/selectors?last=${part}`);
    await ask('DELETE', `/api/v1/sources/${part}?documents=${part}`);
  }
});

describe('a group of fetchers', () => {
  const pools = () =>
    rows(`SELECT d.name, s.pool FROM domains d JOIN domain_slots s USING (bucket, domain_key)
           WHERE d.name = 'grouped.example'`);
  test('is given with a source, changed, and told where another source had one', async () => {
    const add = (url: string, group: string) => ask('POST', '/api/v1/sources', { url, settings: { group } });
    const first = await add('https://grouped.example/', 'north');
    expect([first.status, first.body.overruled]).toEqual([201, []]);
    expect(await pools()).toEqual([{ name: 'grouped.example', pool: 'north' }]);
    const second = await add('https://grouped.example/two', 'south');
    expect(second.body.overruled).toEqual([
      { domain: 'grouped.example', source: first.body.slug, group: 'north' },
    ]);
    const card = (await ask('GET', '/api/v1/domains/grouped.example')).body;
    expect(card.pins).toMatchObject([{ group: 'south' }, { group: 'north' }]);
    const path = `/api/v1/sources/${second.body.slug}`;
    expect((await ask('PATCH', path, { settings: { group: null } })).status).toBe(200);
    expect(await pools()).toEqual([{ name: 'grouped.example', pool: 'north' }]);
    await ask('DELETE', `/api/v1/sources/${first.body.slug}`);
    expect(await pools()).toEqual([{ name: 'grouped.example', pool: 'default' }]);
  });
  test('has a short name, and not the one of pages that need a browser', async () => {
    const give = async (group: unknown) =>
      (await ask('POST', '/api/v1/sources', { url: 'https://named.example/', settings: { group } })).status;
    expect(await give('North Pole')).toBe(400);
    expect(await give('render')).toBe(422);
    for (const value of hostileValues) expect(await give(value)).toBeLessThan(500);
  });
});

describe('adding, as a person does it', () => {
  test('the answer tells what is new from what was there, and a feed from its source', async () => {
    const add = (url: string) => ask('POST', '/api/v1/sources', { url });
    expect(await add('https://gazette.example/')).toMatchObject({
      status: 201,
      body: { created: true, channelId: null },
    });
    expect(await add('https://gazette.example/')).toMatchObject({
      status: 200,
      body: { created: false, channelId: null },
    });
    const channel = { source: 'gazette_example', url: 'https://gazette.example/feed' };
    const { body } = await ask('POST', '/api/v1/channels', channel);
    expect(body.created).toBe(true);
    expect((await add('https://gazette.example/feed')).body).toMatchObject({
      slug: 'gazette_example',
      created: false,
      channelId: body.id,
    });
    expect((await ask('GET', '/api/v1/sources/gazette_example')).body.discovery.found).toEqual([]);
  });

  test('what was added a moment ago and brought nothing is taken back, and nothing else', async () => {
    await ask('POST', '/api/v1/sources', { url: 'https://empty.example/' });
    await ask('POST', '/api/v1/sources', { url: 'https://old.example/' });
    await rows(`UPDATE sources SET created_at = now() - interval '2 hours' WHERE slug = 'old_example'`);
    const discard = async (slug: string) => (await ask('POST', `/api/v1/sources/${slug}/discard`)).body;
    expect(await discard('empty_example')).toEqual({ slug: 'empty_example', discarded: true });
    expect(await discard('empty_example')).toMatchObject({ code: 'source_unknown' });
    expect(await discard('old_example')).toMatchObject({ discarded: false });
    expect(await discard('gazette_example')).toMatchObject({ discarded: false });
    expect(await rows(`SELECT subject FROM audit WHERE action = 'source_discard'`)).toEqual([
      { subject: 'empty_example' },
    ]);
  });

  test('enabling takes a reason and needs none', async () => {
    const url = '/api/v1/sources/gazette_example';
    await ask('POST', `${url}/disable`, { reason: 'a pause' });
    expect((await ask('POST', `${url}/enable`, { reason: 'it is over' })).body.enabled).toBe(true);
    await ask('POST', `${url}/disable`, { reason: 'another' });
    expect((await ask('POST', `${url}/enable`)).body.enabled).toBe(true);
    expect((await ask('POST', `${url}/enable`, { why: 'x' })).status).toBe(400);
    const told = await rows(
      `SELECT detail->>'reason' AS reason FROM audit WHERE action = 'source_enable' AND subject = 'gazette_example' ORDER BY id`,
    );
    expect(told).toEqual([{ reason: 'it is over' }, { reason: null }]);
  });
});
