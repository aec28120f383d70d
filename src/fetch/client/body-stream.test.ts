import type { Socket } from 'node:net';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createHttpClient, HttpBodyError, type HttpClient, type HttpStreamResult } from './index.ts';
import { type RawHandler, type RawServer, respond, startRawServer } from './raw-server.fixture.ts';

const MB = 1024 * 1024;
const br = (body: Buffer): Buffer =>
  brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve(handler: RawHandler): Promise<{ server: RawServer; client: HttpClient; url: string }> {
  const server = await startRawServer(handler);
  const client = createHttpClient({
    userAgent: 't',
    allowNetworks: [`127.0.0.0/8:${server.port}`],
    networkLimits: { maxPerDomain: 0, maxPerNetwork: 0, gapMs: 0 },
  });
  cleanups.push(
    () => server.close(),
    () => client.close(),
  );
  return { server, client, url: `http://127.0.0.1:${server.port}/` };
}

async function readAll(result: HttpStreamResult): Promise<Buffer> {
  if (result.outcome !== 'response') throw new Error(JSON.stringify(result));
  const chunks: Buffer[] = [];
  for await (const chunk of result.body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function failureOf(reading: Promise<unknown>): Promise<string> {
  const error = await reading.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(HttpBodyError);
  return (error as HttpBodyError).kind;
}

const body = Buffer.from(
  Array.from({ length: 150_000 }, (_, i) => `<loc>${(i * 7919) % 100_003}</loc>`).join(''),
);

describe('decoding', () => {
  test.each<[string, (input: Buffer) => Buffer]>([
    ['identity', (input) => input],
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', br],
    ['deflate, gzip', (input) => gzipSync(deflateSync(input))],
    ['gzip, deflate', (input) => deflateRawSync(gzipSync(input))],
  ])('%s', async (encoding, encode) => {
    const { client, url } = await serve((socket) =>
      socket.write(respond('200 OK', { 'content-encoding': encoding }, encode(body))),
    );
    const read = await readAll(await client.requestStream({ url }));
    expect(read.equals(body)).toBe(true);
    await vi.waitUntil(() => client.stats().idleConnections === 1);
    expect(client.stats().active).toBe(0);
  });

  test('a gzip file is unwrapped on request only', async () => {
    const { client, url } = await serve((socket) => socket.write(respond('200 OK', {}, gzipSync(body))));
    expect((await readAll(await client.requestStream({ url, unwrapGzip: true }))).equals(body)).toBe(true);
    expect((await readAll(await client.requestStream({ url }))).equals(gzipSync(body))).toBe(true);
  });

  test.each<[string, Buffer, boolean]>([
    ['deflate', deflateRawSync(body), false],
    ['identity', gzipSync(body), true],
  ])('first bytes that come one by one (%s)', async (encoding, wire, unwrapGzip) => {
    const { client, url } = await serve((socket) => {
      const whole = respond('200 OK', { 'content-encoding': encoding }, wire);
      const start = whole.length - wire.length;
      socket.write(whole.subarray(0, start));
      let at = start;
      const next = (): void => {
        if (at === start + 6) return void socket.write(whole.subarray(at));
        socket.write(whole.subarray(at, at + 1), () => setImmediate(() => setImmediate(next)));
        at += 1;
      };
      next();
    });
    expect((await readAll(await client.requestStream({ url, unwrapGzip }))).equals(body)).toBe(true);
  });

  test.each(['', 'x'])('a body of "%s" may be unwrapped too', async (text) => {
    const { client, url } = await serve((socket) => socket.write(respond('200 OK', {}, text)));
    expect((await readAll(await client.requestStream({ url, unwrapGzip: true }))).toString()).toBe(text);
  });

  test('outcomes without a body are the same', async () => {
    const { client, url } = await serve((socket) => socket.write(respond('301 Moved', { location: '/b' })));
    expect(await client.requestStream({ url })).toMatchObject({ outcome: 'redirect', location: `${url}b` });
  });
});

describe('failing half way', () => {
  const encoded =
    (encoding: string, wire: Buffer): RawHandler =>
    (socket: Socket) =>
      void socket.write(respond('200 OK', { 'content-encoding': encoding }, wire));

  test.each<[string, Buffer, string]>([
    ['gzip', gzipSync(body).subarray(0, 50_000), 'bad_response'],
    ['gzip', Buffer.from('not gzip at all'), 'bad_response'],
    ['gzip', gzipSync(Buffer.alloc(6 * MB)), 'decompress_bomb'],
    ['gzip, gzip', gzipSync(gzipSync(Buffer.alloc(6 * MB))), 'decompress_bomb'],
    // Empty stored blocks: the inner stage puts nothing out however much goes in.
    ['deflate, gzip', gzipSync(Buffer.alloc(10 * MB, Buffer.from([0, 0, 0, 0xff, 0xff]))), 'decompress_bomb'],
  ])('%s', async (encoding, wire, kind) => {
    const { server, client, url } = await serve(encoded(encoding, wire));
    expect(await failureOf(client.requestStream({ url }).then(readAll))).toBe(kind);
    await vi.waitUntil(() => client.stats().active === 0);
    await client.close();
    await vi.waitUntil(() => server.open() === 0);
  });

  test('caps on received and decoded bytes', async () => {
    const { client, url } = await serve(encoded('gzip', gzipSync(body)));
    const decoded = client.requestStream({ url, maxBodyBytes: 100_000 }).then(readAll);
    expect(await failureOf(decoded)).toBe('body_too_large');
    expect(await client.requestStream({ url, maxWireBytes: 1000 })).toMatchObject({ kind: 'body_too_large' });
  });

  test('a body cut by the server', async () => {
    const { client, url } = await serve((socket) => {
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhello');
    });
    expect(await failureOf(client.requestStream({ url }).then(readAll))).toBe('bad_response');
  });

  test('a body that drips is cut by the deadline', async () => {
    const { client, url } = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n');
      const timer = setInterval(() => socket.write('x'), 2);
      socket.on('close', () => clearInterval(timer));
    });
    expect(await failureOf(client.requestStream({ url, timeoutMs: 300 }).then(readAll))).toBe('timeout');
  });

  test('a reader that stops early ends the connection', async () => {
    const { server, client, url } = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const go = (): void => {
        while (!socket.destroyed && socket.write(Buffer.alloc(65_536)));
      };
      socket.on('drain', go);
      go();
    });
    const result = await client.requestStream({ url });
    if (result.outcome !== 'response') throw new Error(result.outcome);
    let chunks = 0;
    for await (const _chunk of result.body) {
      chunks += 1;
      if (chunks === 3) break;
    }
    await vi.waitUntil(() => server.open() === 0);
    expect(client.stats()).toMatchObject({ active: 0, openConnections: 0 });
  });

  test('a reader that never comes is not waited for, and holds the server back', async () => {
    let written = 0;
    const { server, client, url } = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const go = (): void => {
        while (!socket.destroyed && socket.write(Buffer.alloc(65_536))) written += 65_536;
      };
      socket.on('drain', go);
      go();
    });
    const result = await client.requestStream({ url, timeoutMs: 300 });
    expect(result.outcome).toBe('response');
    await vi.waitUntil(() => server.open() === 0);
    expect(written).toBeLessThan(32 * MB);
    expect(client.stats()).toMatchObject({ active: 0, openConnections: 0 });
    expect(await failureOf(readAll(result))).toBe('timeout');
  });
});
