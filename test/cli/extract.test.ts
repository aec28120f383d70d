import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CliHost, type Ended } from '../process/outrider.ts';

const paragraph =
  '<p>The harbour was quiet on Monday morning when the first boats came in, and nobody on the quay could say why the gulls had left, although several people had ideas about it.</p>';
const html = `<html lang="en"><head><title>A quiet harbour | The Post</title><meta property="article:published_time" content="2024-05-03T10:00:00Z"></head><body><nav><a href="/w">World</a></nav><main><h1>A quiet harbour</h1><p class="by">By Ada Lund</p>${paragraph}<p>Fishermen who had worked there for forty years, among them the oldest captain of the town, said that they had never seen anything like it in their lives.</p></main></body></html>`;

let home: string;
let file: string;
let server: Server;
let origin: string;
const asked: string[] = [];

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-extract-'));
  file = join(home, 'page.html');
  writeFileSync(file, html);
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.url === '/old') response.writeHead(301, { location: '/new' }).end();
    else if (request.url === '/gate')
      response.end(`<title>Just a moment...</title><p>Checking your browser.</p>${' '.repeat(600)}`);
    else if (request.url === '/away') response.writeHead(503, { 'content-type': 'text/html' }).end(html);
    else if (request.url === '/data') response.setHeader('content-type', 'application/json').end('{}');
    else response.setHeader('content-type', 'text/html; charset=utf-8').end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await host.close();
  await new Promise((resolve) => server.close(resolve));
  rmSync(home, { recursive: true, force: true });
});

const host = new CliHost();
const run = (...args: string[]): Promise<Ended> => host.run(['extract', ...args], { home });
const allowed = () => ['--allow-network', `127.0.0.0/8:${new URL(origin).port}`];

describe('extract', () => {
  test('prints fields and text of a file, and the text alone', async () => {
    const { code, stdout } = await run(file, '--url', 'https://post.example/a');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^verdict +valid$/m);
    expect(stdout).toMatch(/^title +A quiet harbour$/m);
    expect(stdout).toMatch(/^published +2024-05-03T10:00:00\.000Z$/m);
    const text = await run(file, '--text');
    expect(text.stdout.startsWith('The harbour was quiet')).toBe(true);
    expect(text.stdout).not.toContain('Ada Lund');
    const piped = await host.run(['extract', '-', '--text'], { home, input: html });
    expect(piped.stdout).toBe(text.stdout);
  });

  test('tells a date by the clock of the page', async () => {
    const late = join(home, 'late.html');
    writeFileSync(late, html.replace('2024-05-03T10:00:00Z', '2024-05-03T22:30:00-05:00'));
    const { stdout } = await run(late, '--explain');
    expect(stdout).toMatch(/^published +2024-05-03T22:30:00\.000-05:00$/m);
    expect(stdout).toMatch(/^ {2}won {2}2024-05-03T22:30:00\.000-05:00 /m);
    const told = JSON.parse((await run(late, '--json')).stdout);
    expect(told.extraction.publishedAt).toBe('2024-05-03T22:30:00.000-05:00');
  });

  test('explains, as text and as JSON', async () => {
    const { stdout } = await run(file, '--explain', '--selectors', '{"title":"h1","author":".nobody"}');
    expect(stdout).toMatch(/^ {2}won {2}A quiet harbour {2}\(selector\)$/m);
    expect(stdout).toMatch(/^selector\.author +no_match$/m);
    expect(stdout).toMatch(/^ {2}\+ \d\.\d\d The harbour was quiet/m);
    const told = JSON.parse((await run(file, '--explain', '--json')).stdout);
    expect(told).toMatchObject({
      validation: { outcome: 'valid' },
      extraction: { title: 'A quiet harbour' },
    });
    expect(told.blocks.some((block: { kept: boolean }) => block.kept)).toBe(true);
  });

  test('reads selectors from a file and says what is wrong with them', async () => {
    const selectors = join(home, 'selectors.json');
    writeFileSync(selectors, '{"body":"main p"}');
    expect((await run(file, '--selectors', selectors)).stdout).toMatch(/^text by +selector$/m);
    for (const bad of ['{"titel":"h1"}', '{"title":1}', '{', join(home, 'missing.json')]) {
      const { code, stderr } = await run(file, '--selectors', bad);
      expect(code, bad).toBe(2);
      expect(stderr).toMatch(/^error: /);
    }
  });

  test('asks an address once, follows redirects, and reports a gate with exit code 1', async () => {
    const { code, stdout } = await run(`${origin}/old`, ...allowed());
    expect(code).toBe(0);
    expect(stdout).toMatch(/^title +A quiet harbour$/m);
    expect(asked).toEqual(['/old', '/new']);
    expect(stdout).toMatch(/^answer +200 text\/html; charset=utf-8$/m);
    expect(stdout).toContain(`${origin}/new (asked)`);
    const gate = await run(`${origin}/gate`, ...allowed());
    expect(gate.code).toBe(1);
    expect(gate.stdout).toMatch(/^verdict +rejected: challenge/m);
  });

  test('says of an answer what a crawl would', async () => {
    const away = await run(`${origin}/away`, ...allowed());
    expect(away.code).toBe(1);
    expect(away.stdout).toMatch(/^verdict +rejected: max_retries \(the server answered 503\)$/m);
    expect(away.stdout).toMatch(/^title +A quiet harbour$/m);
    const data = await run(`${origin}/data`, ...allowed());
    expect([data.code, data.stdout]).toEqual([1, '']);
    expect(data.stderr).toContain('unsupported_type: application/json');
  });

  test('takes a file to be from where it says', async () => {
    const declared = html.replace(
      '<head>',
      '<head><link rel="canonical" href="https://post.example/2024/harbour">',
    );
    const told = await host.run(['extract', '-'], { home, input: declared });
    expect(told.stdout).toMatch(
      /^address +https:\/\/post\.example\/2024\/harbour \(declared by the page\)$/m,
    );
    expect((await run(file)).stdout).toMatch(/^address +http:\/\/localhost\/page \(unknown; give --url\)$/m);
  });

  test('reads packed files, and no monsters', async () => {
    const packed = join(home, 'page.html.gz');
    writeFileSync(packed, gzipSync(html));
    expect((await run(packed, '--text')).stdout).toBe((await run(file, '--text')).stdout);
    const bomb = join(home, 'bomb.gz');
    writeFileSync(bomb, gzipSync(Buffer.alloc(30_000_000)));
    const large = join(home, 'large.html');
    writeFileSync(large, Buffer.alloc(11_000_000, 'x'));
    for (const refused of [bomb, large]) expect((await run(refused)).code, refused).toBe(2);
  });

  test('prints nothing that moves a terminal', async () => {
    const input = html.replaceAll('The harbour', '\u001b]0;owned\u0007The harbour');
    const { stdout } = await host.run(['extract', '-'], { home, input });
    expect(stdout).toContain('The harbour was quiet');
    const bytes = Buffer.from(Array.from({ length: 20_000 }, (_, i) => (i * 31) % 256));
    const junk = join(home, 'junk.bin');
    writeFileSync(junk, bytes);
    const binary = await run(junk);
    expect(binary.code).toBe(1);
    for (const printed of [stdout, binary.stdout])
      expect(printed).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    expect(binary.stdout.length).toBeLessThan(3_000);
  });

  test.each([
    [['https://'], /no address/],
    [['-', '--url', 'nowhere'], /no address/],
    [['-', '--text', '--json'], /exclude each other/],
    [['-', '--selectors', '["h1"]'], /selectors cannot be read/],
    [['-', '--selectors', 'no-such-file.json'], /Give JSON such as/],
  ])('%j is a mistake', async (args, words) => {
    const { code, stderr } = await host.run(['extract', ...args], { home, input: html });
    expect(code).toBe(2);
    expect(stderr).toMatch(words);
  });

  test('refuses private addresses unless they are allowed', async () => {
    const { code, stderr } = await run(`${origin}/new`);
    expect(code).toBe(1);
    expect(stderr).toContain('could not be fetched (refused_');
    expect(stderr).toContain('--allow-network');
  });
});
