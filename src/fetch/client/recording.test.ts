import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { createHttpClient, HttpBodyError, type HttpClient, Recording, RecordingRoom } from './index.ts';
import { type RawHandler, type RawServer, respond, startRawServer } from './raw-server.fixture.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve(handler: RawHandler): Promise<{ server: RawServer; client: HttpClient; url: string }> {
  const server = await startRawServer(handler);
  cleanups.push(() => server.close());
  const client = createHttpClient({
    userAgent: 't/1',
    allowNetworks: [`127.0.0.0/8:${server.port}`],
    networkLimits: { maxPerDomain: 0, maxPerNetwork: 0, gapMs: 0 },
    timeoutMs: 500,
  });
  cleanups.push(() => client.close());
  return { server, client, url: `http://127.0.0.1:${server.port}/a?b` };
}

const roomOf = (bytes = 1_000_000): RecordingRoom => new RecordingRoom(bytes);

/** Makes one request, reads its body if there is one, and answers what was recorded of it. */
async function recordOf(
  handler: RawHandler,
  how: {
    stream?: boolean;
    most?: number;
    room?: RecordingRoom;
    accept?: () => boolean;
    maxBodyBytes?: number;
  } = {},
): Promise<{ recording: Recording; server: RawServer; outcome: string }> {
  const { client, server, url } = await serve(handler);
  const recording = new Recording(how.room ?? roomOf(), how.most ?? 100_000);
  const request = {
    url,
    recording,
    etag: '"v\xe9"',
    ...(how.accept === undefined ? {} : { accept: how.accept }),
    ...(how.maxBodyBytes === undefined ? {} : { maxBodyBytes: how.maxBodyBytes }),
  };
  const result = how.stream === true ? await client.requestStream(request) : await client.request(request);
  let outcome: string = result.outcome;
  if (how.stream === true && result.outcome === 'response')
    try {
      for await (const _ of result.body as AsyncIterable<Buffer>);
    } catch (error) {
      if (!(error instanceof HttpBodyError)) throw error;
      outcome = error.kind;
    }
  if (recording.head !== null) await recording.ended;
  return { recording, server, outcome };
}

describe.each([false, true])('streamed: %s', (stream) => {
  test('the request as it was written, the head as it came, the body still packed', async () => {
    const packed = gzipSync('<p>hello</p>');
    const answer = respond(
      '200 Quite Fine',
      { ETag: '"n"', 'X-Odd': 'caf\xe9', 'Content-Encoding': 'gzip' },
      packed,
    );
    const { recording, server } = await recordOf((socket) => socket.write(answer), { stream });
    expect(recording.requestHead.toString('latin1')).toBe(`${server.requests[0]}\r\n\r\n`);
    expect(recording.requestHead.toString('latin1')).toContain('if-none-match: "v\xe9"\r\n');
    expect(Buffer.concat([recording.head!.lines, recording.body()])).toEqual(answer);
    expect(recording).toMatchObject({ method: 'GET', address: '127.0.0.1', truncated: null });
    expect(recording.head).toMatchObject({ status: 200, validators: { etag: '"n"', lastModified: null } });
  });

  test('chunks are taken out of their coding, repeated headers stay apart', async () => {
    const head =
      'HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nTransfer-Encoding: chunked\r\n\r\n';
    const { recording } = await recordOf(
      (socket) => socket.write(`${head}3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n`),
      { stream },
    );
    expect(recording.head!.lines.toString()).toBe(head);
    expect(recording.body().toString()).toBe('abcdefg');
    expect(recording.truncated).toBeNull();
  });

  test.each([
    [
      'the connection breaks',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc'),
      'disconnect',
      'abc',
    ],
    [
      'the deadline comes',
      (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc'),
      'time',
      'abc',
    ],
  ] as [string, RawHandler, string, string][])(
    'what came before %s is kept',
    async (_, handler, why, body) => {
      const { recording } = await recordOf(handler, { stream });
      expect(recording.truncated).toBe(why);
      expect(recording.body().toString()).toBe(body);
    },
  );

  test('no more is kept of a body than may be, and than there is room for', async () => {
    const handler: RawHandler = (socket) => socket.write(respond('200 OK', {}, 'x'.repeat(5000)));
    const most = (await recordOf(handler, { stream, most: 1000 })).recording;
    expect([most.truncated, most.body().length]).toEqual(['length', 1000]);
    const room = roomOf(3000);
    const first = (await recordOf(handler, { stream, room })).recording;
    expect([first.truncated, first.body().length, room.used]).toEqual(['length', 3000, 3000]);
    const second = (await recordOf(handler, { stream, room })).recording;
    expect([second.truncated, second.body().length]).toEqual(['length', 0]);
    first.release();
    second.release();
    expect(room.used).toBe(0);
  });

  test('bodies that nobody reads are recorded too', async () => {
    const location = { Location: '/elsewhere' };
    const moved = await recordOf((socket) => socket.write(respond('301 Moved', location, 'it went away')), {
      stream,
    });
    expect(moved.outcome).toBe('redirect');
    expect([moved.recording.truncated, moved.recording.body().toString()]).toEqual([null, 'it went away']);
    const long = 'x'.repeat(40_000);
    const refused = await recordOf((socket) => socket.write(respond('200 OK', {}, long)), {
      stream,
      accept: () => false,
    });
    expect(refused.outcome).toBe('unsupported_type');
    expect(refused.recording.truncated).toBe('unspecified');
  });

  test('a 304 is whole without a body', async () => {
    const { recording } = await recordOf(
      (socket) => socket.write('HTTP/1.1 304 Not Modified\r\nContent-Length: 50000\r\n\r\n'),
      { stream },
    );
    expect(recording.head!.status).toBe(304);
    expect([recording.truncated, recording.bytes]).toEqual([null, 0]);
  });

  test('where nothing was answered there is nothing', async () => {
    const { recording } = await recordOf((socket) => socket.destroy(), { stream });
    expect(recording.head).toBeNull();
    expect(recording.requestHead.length).toBeGreaterThan(0);
  });
});

test('a reader that stops has cut the body', async () => {
  const room = roomOf();
  const { client, url } = await serve((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n');
    socket.write('x'.repeat(400_000));
  });
  const recording = new Recording(room, 1_000_000);
  const result = await client.requestStream({ url, recording });
  if (result.outcome !== 'response') throw new Error(result.outcome);
  for await (const _ of result.body) break;
  await recording.ended;
  expect(recording.truncated).toBe('length');
  expect(recording.bytes).toBeGreaterThan(0);
});
