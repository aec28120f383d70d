import type { Socket } from 'node:net';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createHttpClient, type HttpClient, type HttpClientOptions } from './index.ts';
import { type RawHandler, type RawServer, respond, startRawServer } from './raw-server.fixture.ts';

const MB = 1024 * 1024;
// The default quality takes seconds for a few megabytes.
const br = (body: Buffer | string): Buffer =>
  brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve(
  handler: RawHandler,
  options: Partial<HttpClientOptions> = {},
): Promise<{ server: RawServer; client: HttpClient; url: string }> {
  const server = await startRawServer(handler);
  cleanups.push(() => server.close());
  const client = createHttpClient({
    userAgent: 't',
    allowNetworks: [`127.0.0.0/8:${server.port}`],
    networkLimits: { maxPerDomain: 0, maxPerNetwork: 0, gapMs: 0 },
    ...options,
  });
  cleanups.push(() => client.close());
  return { server, client, url: `http://127.0.0.1:${server.port}/` };
}

/** Writes for as long as the other side takes it. */
function pour(socket: Socket, chunk: Buffer): void {
  const go = (): void => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', go);
  go();
}

/** The outcome, and the proof that nothing is left behind. */
async function outcomeOf(
  handler: RawHandler,
  options: Partial<HttpClientOptions> = {},
  request: { maxBodyBytes?: number; signal?: AbortSignal } = {},
): Promise<unknown> {
  const { server, client, url } = await serve(handler, options);
  const result = await client.request({ url, ...request });
  if (result.outcome === 'failed') {
    expect(result.detail.length).toBeLessThan(400);
    expect(result.timings.endedAt).toBeGreaterThanOrEqual(result.timings.startedAt);
    // A body that came whole and cannot be decoded leaves its connection idle; every other failure ends it.
    const { openConnections, idleConnections } = client.stats();
    expect(openConnections).toBe(idleConnections);
    await vi.waitUntil(() => server.open() === idleConnections);
    expect(client.stats()).toMatchObject({ active: 0, waiting: 0 });
    return result.kind;
  }
  return result.outcome === 'response' ? result.body.toString('latin1') : result.outcome;
}

describe('time', () => {
  test('no headers', async () => {
    expect(await outcomeOf(() => undefined, { headersTimeoutMs: 20 })).toBe('timeout');
  });

  test('headers that drip', async () => {
    const drip: RawHandler = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('x-a: 1\r\n'), 2);
      socket.on('close', () => clearInterval(timer));
    };
    expect(await outcomeOf(drip, { headersTimeoutMs: 100 })).toBe('timeout');
  });

  test('a body that drips for ever is cut by the total deadline', async () => {
    const drip: RawHandler = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n');
      const timer = setInterval(() => socket.write('x'), 2);
      socket.on('close', () => clearInterval(timer));
    };
    expect(await outcomeOf(drip, { timeoutMs: 300 })).toBe('timeout');
  });

  test('endless informational responses', async () => {
    const hints: RawHandler = (socket) =>
      pour(socket, Buffer.from('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'));
    expect(await outcomeOf(hints)).toBe('bad_response');
  });

  test('the caller gives up', async () => {
    const controller = new AbortController();
    const result = outcomeOf(() => controller.abort(), {}, { signal: controller.signal });
    expect(await result).toBe('aborted');
  });

  test('the caller had given up before', async () => {
    const { server, client, url } = await serve(() => undefined);
    expect(await client.request({ url, signal: AbortSignal.abort() })).toMatchObject({ kind: 'aborted' });
    expect(server.connections()).toBe(0);
  });
});

describe('size', () => {
  test('an endless body is cut at its cap, whatever arrives after', async () => {
    let sent = 0;
    const endless: RawHandler = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n');
      socket.on('close', () => {
        sent = socket.bytesWritten;
      });
      pour(socket, Buffer.alloc(64 * 1024, 'x'));
    };
    expect(await outcomeOf(endless, {}, { maxBodyBytes: 200_000 })).toBe('body_too_large');
    // What was in flight in socket buffers may have left; nothing near "endless" did.
    expect(sent).toBeLessThan(32 * MB);
  });

  test('an endless chunked body', async () => {
    const endless: RawHandler = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      pour(socket, Buffer.from(`1000\r\n${'x'.repeat(4096)}\r\n`));
    };
    expect(await outcomeOf(endless, {}, { maxBodyBytes: 100_000 })).toBe('body_too_large');
  });

  test('an announced length over the cap is refused before the body', async () => {
    const big: RawHandler = (socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n');
    expect(await outcomeOf(big)).toBe('body_too_large');
  });

  test('exactly the cap passes', async () => {
    const body = 'x'.repeat(1000);
    expect(
      await outcomeOf((socket) => socket.write(respond('200 OK', {}, body)), {}, { maxBodyBytes: 1000 }),
    ).toBe(body);
  });

  test.each([
    ['many', (socket: Socket) => pour(socket, Buffer.from('x-a: bbbbbbbbbbbbbbbb\r\n'.repeat(500)))],
    ['one long', (socket: Socket) => pour(socket, Buffer.alloc(1000, 'x'))],
  ])('a flood of headers (%s)', async (_name, flood) => {
    const handler: RawHandler = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx-first: ');
      flood(socket);
    };
    expect(await outcomeOf(handler)).toBe('headers_too_large');
  });

  test('a flood of trailers', async () => {
    const handler: RawHandler = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n');
      pour(socket, Buffer.from('x-a: bbbbbbbbbbbbbbbb\r\n'.repeat(500)));
    };
    expect(await outcomeOf(handler)).toBe('headers_too_large');
  });
});

describe('broken responses', () => {
  const text =
    (bytes: string): RawHandler =>
    (socket) =>
      void socket.end(bytes);

  test.each<[string, string, string]>([
    ['not HTTP', 'SSH-2.0-OpenSSH_9.0\r\n', 'bad_response'],
    ['garbage', '\u0000\u0001\u0002\u0003\r\n\r\n', 'bad_response'],
    ['HTTP/0.9', '<html>old</html>', 'bad_response'],
    [
      'chunk garbage',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nZZZ\r\nhello\r\n0\r\n\r\n',
      'bad_response',
    ],
    ['cut chunked', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel', 'bad_response'],
    ['cut length', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello', 'bad_response'],
    [
      'cut length, close',
      'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 100\r\n\r\nhello',
      'bad_response',
    ],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello', 'bad_response'],
    ['negative length', 'HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\nhello', 'bad_response'],
    [
      'length and chunks',
      'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      'bad_response',
    ],
    ['cut headers', 'HTTP/1.1 200 OK\r\ncontent-ty', 'reset'],
    ['nothing', '', 'reset'],
    [
      'uninvited upgrade',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      'bad_response',
    ],
    [
      'three encodings',
      'HTTP/1.1 200 OK\r\ncontent-encoding: gzip, br, gzip\r\ncontent-length: 1\r\n\r\nx',
      'bad_response',
    ],
    [
      'compress',
      'HTTP/1.1 200 OK\r\ncontent-encoding: compress\r\ncontent-length: 1\r\n\r\nx',
      'bad_response',
    ],
    [
      'gzip that is none',
      'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 5\r\n\r\nhello',
      'bad_response',
    ],
  ])('%s', async (_name, bytes, kind) => {
    expect(await outcomeOf(text(bytes))).toBe(kind);
  });

  test.each<[string, string, string]>([
    [
      'early hints',
      'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
      'ok',
    ],
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nold', 'old'],
    ['no reason', 'HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok', 'ok'],
    ['empty gzip', 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 0\r\n\r\n', ''],
    [
      'odd encoding word',
      'HTTP/1.1 200 OK\r\ncontent-encoding: UTF-8, identity, none\r\ncontent-length: 2\r\n\r\nok',
      'ok',
    ],
    [
      'odd header names',
      'HTTP/1.1 200 OK\r\n__proto__: x\r\nconstructor: y\r\ncontent-length: 2\r\n\r\nok',
      'ok',
    ],
    ['204', 'HTTP/1.1 204 No Content\r\n\r\n', ''],
  ])('%s is understood', async (_name, bytes, body) => {
    expect(await outcomeOf(text(bytes))).toBe(body);
  });

  test('a reset in the body', async () => {
    const handler: RawHandler = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello', () => socket.resetAndDestroy());
    };
    expect(await outcomeOf(handler)).toMatch(/^(reset|bad_response)$/);
  });

  test('a reset before any answer on a new connection is not repeated', async () => {
    const { server, client, url } = await serve((socket) => socket.resetAndDestroy());
    expect(await client.request({ url })).toMatchObject({ kind: 'reset' });
    expect(server.requests).toHaveLength(1);
  });

  test('bytes nobody asked for poison nobody else', async () => {
    const { server, client, url } = await serve((socket, _head, index) => {
      socket.write(respond('200 OK', {}, `answer ${index}`));
      if (index === 0) socket.write(respond('200 OK', {}, 'smuggled'));
    });
    const first = await client.request({ url });
    expect(first).toMatchObject({ outcome: 'response' });
    const second = await client.request({ url });
    expect(second.outcome === 'response' && second.body.toString()).toBe('answer 1');
    expect(server.connections()).toBe(2);
  });
});

describe('encodings', () => {
  const page = `<p>${'Grüße aus der Redaktion. '.repeat(2000)}</p>`;
  const big = Buffer.from(Array.from({ length: 250_000 }, (_, i) => `${(i * 7919) % 100_003} `).join(''));
  const encoded =
    (encoding: string, body: Buffer): RawHandler =>
    (socket) =>
      void socket.write(respond('200 OK', { 'content-encoding': encoding }, body));

  test.each<[string, (body: Buffer) => Buffer]>([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['GZIP', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', br],
    ['gzip, br', (body) => br(gzipSync(body))],
    ['deflate, gzip', (body) => gzipSync(deflateRawSync(body))],
    ['identity', (body) => body],
  ])('%s, small and large', async (encoding, encode) => {
    for (const body of [Buffer.from(page), big]) {
      const wire = encode(body);
      const { client, url } = await serve(encoded(encoding, wire));
      const result = await client.request({ url });
      if (result.outcome !== 'response') throw new Error(JSON.stringify(result));
      expect(result.body.equals(body)).toBe(true);
      expect(result.wireBody?.equals(wire)).toBe(true);
      expect(result.wireBytes).toBe(wire.length);
    }
  });

  test('several gzip members are one body, and what follows them is ignored', async () => {
    const wire = Buffer.concat([gzipSync('one '), gzipSync('two'), Buffer.alloc(10)]);
    expect(await outcomeOf(encoded('gzip', wire))).toBe('one two');
  });

  test('a gzip file inside is unpacked on request', async () => {
    const { client, url } = await serve(encoded('gzip', gzipSync(gzipSync('<urlset/>'))));
    const result = await client.request({ url, unwrapGzip: true });
    expect(result.outcome === 'response' && result.body.toString()).toBe('<urlset/>');
  });

  test.each<[string, Buffer]>([
    ['gzip', gzipSync(page)],
    ['deflate', deflateSync(page)],
    ['br', br(page)],
    ['gzip', gzipSync(big)],
  ])('%s cut short', async (encoding, wire) => {
    expect(await outcomeOf(encoded(encoding, wire.subarray(0, wire.length - 20)))).toBe('bad_response');
  });

  const zeros = Buffer.alloc(6 * MB);
  test.each<[string, Buffer]>([
    ['gzip', gzipSync(Buffer.alloc(4 * MB))],
    ['deflate', deflateSync(Buffer.alloc(4 * MB))],
    ['br', br(Buffer.alloc(4 * MB))],
    ['gzip, gzip', gzipSync(gzipSync(zeros))],
    ['br, br', br(br(zeros))],
    ['gzip, br', br(gzipSync(zeros))],
  ])('a %s bomb stops at the ratio', async (encoding, wire) => {
    expect(await outcomeOf(encoded(encoding, wire))).toBe('decompress_bomb');
  });

  test('a large body that is compressed honestly stops at the byte cap', async () => {
    const wire = gzipSync(big);
    expect(await outcomeOf(encoded('gzip', wire), {}, { maxBodyBytes: wire.length + 1000 })).toBe(
      'body_too_large',
    );
  });

  test('below a megabyte the ratio is free, and a request may be exempt', async () => {
    expect(await outcomeOf(encoded('gzip', gzipSync(Buffer.alloc(MB))))).toHaveLength(MB);
    const { client, url } = await serve(encoded('gzip', gzipSync(Buffer.alloc(4 * MB))));
    const result = await client.request({ url, exemptFromRatio: true });
    expect(result.outcome === 'response' && result.body.length).toBe(4 * MB);
    const capped = await client.request({ url, exemptFromRatio: true, maxBodyBytes: 3 * MB });
    expect(capped).toMatchObject({ outcome: 'failed', kind: 'body_too_large' });
  });
});

describe('memory', () => {
  test('many endless bodies leave nothing behind', async () => {
    const { server, client, url } = await serve(
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        pour(socket, Buffer.alloc(64 * 1024, 'x'));
      },
      { maxBodyBytes: MB },
    );
    for (let i = 0; i < 30; i += 1)
      expect(await client.request({ url })).toMatchObject({ outcome: 'failed', kind: 'body_too_large' });
    await vi.waitUntil(() => server.open() === 0);
    expect(client.stats()).toMatchObject({ openConnections: 0, active: 0, failed: 30 });
  });
});
