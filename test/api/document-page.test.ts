import { createHash } from 'node:crypto';
import { brotliCompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSource } from '../../src/sources/index.ts';
import { idOf, storeDocuments } from '../sinks/store.ts';
import { type ApiLab, startApiLab } from './lab.ts';

// What people look at in a frame of the dashboard: pages of anybody on the web.
let lab: ApiLab;
const kept = 'https://herald.example/kept';
const chosen = 'https://chosen.example/kept';
const bare = 'https://herald.example/bare';
const broken = 'https://herald.example/broken';
const huge = 'https://herald.example/huge';
const bomb = 'https://herald.example/bomb';

const sentence = 'The ferry to the island leaves every hour until the end of the summer, the council said.';
const hostile = `<html><head><title>T</title><meta http-equiv="refresh" content="0;url=https://evil.example/">
  <base href="https://herald.example/deep/"><link rel="stylesheet" href="https://evil.example/x.css"></head>
  <body onload="alert(1)"><nav><a href="/">Home</a></nav><article><h1>Ferry</h1>
  ${Array.from({ length: 15 }, (_, n) => `<p onclick="x()">Part ${n}: ${sentence}</p>`).join('')}
  <p>More is in <a href="../fares" onclick="steal()">the fares</a> and <a href="javascript:alert(1)">a trap</a> of the year.</p>
  <script>alert(1)</script><iframe src="https://evil.example/"></iframe><form action="/x"><input name=a></form>
  <svg onload="alert(1)"><script>alert(2)</script></svg><img src="https://evil.example/pixel.gif" alt="A boat">
  <p>The last paragraph says this: ${sentence} ${sentence}</p></article></body></html>`;
const packed = (html: string) => ({
  body: brotliCompressSync(Buffer.from(html)),
  encoding: 'br',
  contentType: 'text/html; charset=utf-8',
});

beforeAll(async () => {
  lab = await startApiLab();
  const { pool } = lab.database;
  const { source } = await createSource(pool, {
    url: 'https://chosen.example/',
    settings: { selectors: { body: '.own' } },
  });
  await storeDocuments(pool, [
    { url: kept, title: 'The <i>ferry</i>', raw: packed(hostile), text: 'what was extracted' },
    {
      url: chosen,
      sourceId: source.id,
      raw: packed(`<p>${sentence}</p><div class="own">Only this is the text of the article.</div>`),
    },
    { url: bare, title: null, text: `One <script>.\n\nTwo & three.`, raw: null },
    {
      url: broken,
      text: 'The text stands.',
      raw: { body: Buffer.from('no brotli'), encoding: 'br', contentType: null },
    },
    { url: huge, text: `${'&'.repeat(3000)}\n\n`.repeat(300), language: 'de' },
    { url: bomb, text: 'The text of the bomb.', raw: packed(`<p>${' '.repeat(11_000_000)}`) },
  ]);
});
afterAll(() => lab.close());

const open = async (url: string, headers: Record<string, string> = lab.headersOf('read')) => {
  const response = await fetch(`${lab.address}/api/v1/documents/${idOf(url)}/html`, { headers });
  return { status: response.status, headers: response.headers, page: await response.text() };
};

test('a hostile page is shown as its article, and nothing else of it', async () => {
  const { status, headers, page } = await open(kept);
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page).toContain('<h1>The &lt;i&gt;ferry&lt;/i&gt;</h1>');
  expect(page).toContain(`<p>Part 7: ${sentence}</p>`);
  expect(page).toContain(
    '<a href="https://herald.example/fares" rel="noopener noreferrer nofollow" target="_blank">the fares</a>',
  );
  expect(page).toContain('and a trap of the year');
  expect(page).toContain('[A boat, https://evil.example/pixel.gif]');
  expect(page).not.toMatch(
    /<script|<iframe|<form|<input|<svg|<img|<link|<base|refresh|javascript:| on\w+=|Home/i,
  );
});

test('the policy lets nothing run or load, and only our own pages frame it', async () => {
  const { headers, page } = await open(kept);
  const style = /<style>(.*?)<\/style>/s.exec(page)![1]!;
  const hash = createHash('sha256').update(style).digest('base64');
  expect(headers.get('content-security-policy')).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; sandbox; frame-ancestors 'self'; base-uri 'none'; form-action 'none'`,
  );
  expect(headers.get('x-frame-options')).toBe('SAMEORIGIN');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('cache-control')).toBe('no-store');
  const other = await fetch(`${lab.address}/api/v1/documents/${idOf(kept)}`, {
    headers: lab.headersOf('read'),
  });
  expect(other.headers.get('x-frame-options')).toBe('DENY');
});

test('a session opens it in a frame; nobody else does', async () => {
  const made = await fetch(`${lab.address}/api/v1/session`, {
    method: 'POST',
    headers: lab.headersOf('read'),
  });
  const cookie = made.headers.get('set-cookie')!.split(';')[0]!;
  const frame = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' };
  expect((await open(kept, { cookie, ...frame })).status).toBe(200);
  expect((await open(kept, frame)).status).toBe(401);
});

test("the source's selectors hold here too", async () => {
  const { page } = await open(chosen);
  expect(page).toContain('Only this is the text of the article.');
  expect(page).not.toContain('ferry to the island');
});

test('without a page that can be read it is the text', async () => {
  expect((await open(bare)).page).toContain('<p>One &lt;script&gt;.</p>\n<p>Two &amp; three.</p>');
  expect((await open(broken)).page).toContain('<p>The text stands.</p>');
  expect((await open(bomb)).page).toContain('<p>The text of the bomb.</p>');
});

test('it has an end', async () => {
  const { page } = await open(huge);
  expect(Buffer.byteLength(page)).toBeLessThan(1_000_000);
  expect(page).toContain('The rest is left out.');
  expect(page).toContain('<html lang="de">');
});

test('one that is not there is a problem', async () => {
  const { status, body } = await lab.ask('GET', '/api/v1/documents/nothing/html');
  expect({ status, code: body.code }).toEqual({ status: 404, code: 'document_unknown' });
});
