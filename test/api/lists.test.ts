import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listFormats } from '../../src/source-lists/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { type ApiLab, type Asker, startApiLab } from './lab.ts';

let lab: ApiLab;
beforeAll(async () => {
  lab = await startApiLab();
});
afterAll(() => lab.close());

// biome-ignore lint/suspicious/noExplicitAny: answers are compared, not used
type Answer = { status: number; body: any };

const post = async (
  to: ApiLab,
  query: string,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<Answer> => {
  const response = await fetch(`${to.address}/api/v1/sources/import?${query}`, {
    method: 'POST',
    body: body as string,
    headers: { ...to.headersOf('admin'), 'content-type': 'application/octet-stream', ...headers },
  });
  const answered = { status: response.status, body: await response.json() };
  expect(answered.status, JSON.stringify(answered.body).slice(0, 500)).toBeLessThan(500);
  return answered;
};
const count = async (table: string): Promise<number> =>
  (await lab.database.pool.query(`SELECT count(*)::integer AS n FROM ${table}`)).rows[0].n;

describe('importing', () => {
  test('a dry run tells what would be, and does nothing', async () => {
    const list = 'https://a.example/\nhttps://b.example/\nhttps://a.example/\nnonsense\n';
    const { status, body } = await post(lab, 'format=lines&dry_run=true', list);
    expect(status).toBe(200);
    expect(body).toMatchObject({ lines: 4, added: 2, known: 0, searches: 2, bad: 1, dryRun: true });
    expect(body.badLines).toMatchObject([{ line: 4 }]);
    for (const table of ['sources', 'discoveries', 'audit']) expect(await count(table), table).toBe(0);
  });

  test('10,000 lines become sources, and a second time nothing new', async () => {
    const list = Array.from({ length: 10_000 }, (_, n) => `https://paper${n}.example/`).join('\n');
    const dry = await post(lab, 'dry_run=true', list);
    expect(dry.body).toMatchObject({ lines: 10_000, added: 10_000, bad: 0 });
    const { status, body } = await post(lab, '', list);
    expect(status).toBe(200);
    expect(body).toMatchObject({ lines: 10_000, added: 10_000, known: 0, searches: 10_000, bad: 0 });
    expect(await count('sources')).toBe(10_000);
    expect((await post(lab, '', list)).body).toMatchObject({ added: 0, known: 10_000, searches: 0 });
    expect((await lab.ask('GET', '/api/v1/sources?limit=1')).body.total).toEqual({
      count: 10_000,
      exact: true,
    });
  });

  test('a part of a list may have nothing in it, and tells all of that', async () => {
    const list = 'nonsense\n'.repeat(150);
    expect((await post(lab, 'format=lines', list)).body).toMatchObject({
      status: 422,
      code: 'list_unusable',
    });
    const { status, body } = await post(lab, 'format=lines&part=true', list);
    expect(status).toBe(200);
    expect(body).toMatchObject({ added: 0, bad: 150 });
    expect(body.badLines).toHaveLength(150);
  });

  test('known sources take over what a list says only when asked to', async () => {
    const list = JSON.stringify([{ url: 'https://paper1.example/', priority: 9 }]);
    await post(lab, 'format=json', list);
    const priority = async () => (await lab.ask('GET', '/api/v1/sources/paper1_example')).body.priority;
    expect(await priority()).toBe(5);
    expect((await post(lab, 'format=json&update=true', list)).body.updated).toBe(1);
    expect(await priority()).toBe(9);
  });

  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
  const entities = Array.from({ length: 20 }, (_, n) => `<!ENTITY a${n + 1} "&a${n};&a${n};&a${n};&a${n};">`);
  test.each([
    ['nothing', 'format=json', ''],
    ['no JSON', 'format=json', '{"a":'],
    ['a list of nonsense', 'format=json', '[1, null, true, {"url": 5}, []]'],
    ['a deep list', 'format=json', nested(100_000)],
    [
      'deep settings',
      'format=ndjson',
      `{"url":"https://x1.example/","settings":{"include":${nested(50_000)}}}`,
    ],
    ['NUL in settings', 'format=ndjson', '{"url":"https://x2.example/","settings":{"future":"a\\u0000"}}'],
    [
      'half a pair in settings',
      'format=ndjson',
      '{"url":"https://x3.example/","settings":{"future":"\\ud800"}}',
    ],
    [
      'an XML bomb',
      'format=opml',
      `<!DOCTYPE o [<!ENTITY a0 "x">${entities.join('')}]><opml><body>&a20;</body></opml>`,
    ],
    ['binary', '', Uint8Array.from({ length: 5000 }, (_, n) => (n * 7919) % 256)],
    ['private addresses', 'format=lines', 'http://127.0.0.1/\nhttp://10.0.0.1/feed\nhttp://localhost/\n'],
    ['a private feed', 'format=csv', 'url,feed_url\nhttps://x4.example/,http://192.168.1.1/feed\n'],
    ['a line without end', 'format=csv', `url\n"${'x'.repeat(2_000_000)}`],
  ])('a broken list is refused with what is wrong: %s', async (_name, query, body) => {
    const before = await count('sources');
    const answered = await post(lab, query, body);
    expect(answered).toMatchObject({ status: 422, body: { code: 'list_unusable' } });
    expect(answered.body.detail).toMatch(/line \d+: |no entries/);
    expect(await count('sources')).toBe(before);
  });

  test('too much, compressed or unknown is refused', async () => {
    expect((await post(lab, 'format=lines', Buffer.alloc(33 * 1024 * 1024, 'x'))).status).toBe(413);
    expect((await post(lab, 'format=lines', 'x', { 'content-encoding': 'gzip' })).status).toBe(415);
    for (const query of ['format=pdf', 'dry_run=maybe', 'other=1'])
      expect((await post(lab, query, 'x')).status).toBe(400);
    // After a refusal the next one has its turn.
    expect((await post(lab, 'dry_run=true', 'https://a.example/')).status).toBe(200);
  });

  test('one import at a time', async () => {
    const list = Array.from({ length: 3000 }, (_, n) => `https://twice${n}.example/`).join('\n');
    const answers = await Promise.all([post(lab, '', list), post(lab, '', list), post(lab, '', list)]);
    const statuses = answers.map((one) => one.status);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0);
    expect(statuses.every((status) => status === 200 || status === 409)).toBe(true);
    expect(answers.reduce((sum, one) => sum + (one.body.added ?? 0), 0)).toBe(3000);
  });
});

describe('there and back', () => {
  let small: ApiLab;
  let writer: ApiLab;
  const proxy = 'http://me:secret@proxy.example:3128';
  beforeAll(async () => {
    small = await startApiLab();
    writer = await startApiLab();
    const { pool } = small.database;
    await createSource(pool, { url: 'https://plain.example/' });
    await createSource(pool, {
      url: 'https://rich.example/',
      name: '=HYPERLINK("http://evil.example")',
      mode: 'both',
      priority: 9,
      rateLimitMs: 1500,
      settings: { include: ['/a,"b"/'], selectors: { title: 'h1' }, images: 'store', proxies: [proxy] },
    });
    for (const [url, kind] of [
      ['https://rich.example/feed', 'feed'],
      ['https://rich.example/map.xml', 'sitemap'],
    ])
      await small.ask('POST', '/api/v1/channels', {
        source: 'hyperlink_http_evil_example',
        url,
        kind,
        title: '+1',
      });
    await small.ask('POST', '/api/v1/sources/plain_example/disable', { reason: '@home' });
  });
  afterAll(async () => {
    await small.close();
    await writer.close();
  });

  const exported = async (from: ApiLab, format: string, asker: Asker = 'admin'): Promise<Response> => {
    const response = await fetch(`${from.address}/api/v1/sources/export?format=${format}`, {
      headers: from.headersOf(asker),
    });
    expect(response.status).toBe(200);
    return response;
  };
  const everything = async (from: ApiLab): Promise<unknown[]> =>
    JSON.parse(await (await exported(from, 'json')).text());

  test.each(listFormats.filter((format) => format !== 'lines'))('%s keeps everything', async (format) => {
    const file = await (await exported(small, format)).text();
    const other = await startApiLab();
    try {
      expect((await post(other, `format=${format}`, file)).body).toMatchObject({
        added: 2,
        channelsAdded: 2,
        bad: 0,
      });
      expect(await everything(other)).toEqual(await everything(small));
    } finally {
      await other.close();
    }
  });

  test('cells of a table are no formulas', async () => {
    const response = await exported(small, 'csv');
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="sources.csv"');
    const cells = (await response.text()).split(/[,\r\n]+/);
    expect(cells.filter((cell) => /^"?[=+@-]/.test(cell))).toEqual([]);
    expect(await (await exported(small, 'lines')).text()).toBe(
      'https://plain.example/\nhttps://rich.example/\n',
    );
    expect((await small.ask('GET', '/api/v1/sources/export?format=xls')).status).toBe(400);
  });

  test('proxies and promises are for admins', async () => {
    const file = await (await exported(small, 'json')).text();
    expect(file).toContain('secret');
    const { body } = await post(writer, 'format=json', file, writer.headersOf('write'));
    expect(body).toMatchObject({ added: 1, bad: 1 });
    expect(body.badLines[0].reason).toBe('settings.proxies needs the admin role');
    const robots = JSON.stringify([{ url: 'https://r.example/', settings: { respectRobots: false } }]);
    expect((await post(writer, 'format=json', robots, writer.headersOf('write'))).status).toBe(422);
    await writer.database.pool.query(`UPDATE sources SET settings = $1`, [
      JSON.stringify({ proxies: [proxy] }),
    ]);
    expect(await (await exported(writer, 'json', 'write')).text()).not.toContain('secret');
    const url = '/api/v1/sources/plain_example';
    for (const change of [{ settings: { proxies: [proxy] } }, { respectRobots: false, reason: 'because' }])
      expect(await writer.ask('PATCH', url, change, 'write')).toMatchObject({
        status: 403,
        body: { code: 'forbidden' },
      });
    expect(
      (
        await writer.ask(
          'POST',
          '/api/v1/sources',
          {
            url: 'https://n.example/',
            settings: { proxies: [proxy] },
          },
          'write',
        )
      ).status,
    ).toBe(403);
  });
});
