import { connect } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { askRaw, askWeb } from '../client.ts';
import type { FaultSpec, Web } from '../index.ts';
import { startFaultyWeb } from './fixture.ts';

let web: Web;
let article: string;

beforeAll(async () => {
  ({ web, article } = await startFaultyWeb());
});
afterEach(() => web.clearFault());
afterAll(() => web.close());

const at = (path: string) => `http://faulty.test${path}`;
const set = (spec: FaultSpec) => web.setFault('faulty.test', spec);
const ask = (url = article) => askWeb(web, url);

describe('on the wire', () => {
  it('reset', async () => {
    set({ name: 'reset' });
    const { bytes, error } = await askRaw(web, article);
    expect([bytes.length, error]).toEqual([0, 'ECONNRESET']);
  });

  it('truncated closes before Content-Length', async () => {
    set({ name: 'truncated' });
    await expect(ask()).rejects.toThrow(/aborted/);
  });

  it('header-flood, garbage and bad-chunks are refused by an HTTP parser', async () => {
    for (const [name, code] of [
      ['header-flood', 'HPE_HEADER_OVERFLOW'],
      ['garbage', 'HPE_INVALID_CONSTANT'],
      ['bad-chunks', 'HPE_INVALID_CHUNK_SIZE'],
    ] as const) {
      web.clearFault();
      set({ name });
      await expect(ask()).rejects.toMatchObject({ code });
    }
  });

  it('stall sends nothing, and the log says so when the client leaves', async () => {
    set({ name: 'stall' });
    const since = web.log.nextSeq;
    const socket = connect(web.port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: faulty.test\r\n\r\n');
    await until(() => web.log.nextSeq > since);
    socket.destroy();
    await until(() => (web.log.read(since)[0]?.endedAtMs ?? -1) > 0);
    expect(web.log.read(since)[0]).toMatchObject({ status: 0, headersSentAtMs: -1, aborted: true });
  });

  it('drip-headers never ends its headers', async () => {
    set({ name: 'drip-headers', options: { everyMs: 1 } });
    const since = web.log.nextSeq;
    const { bytes } = await askRaw(web, article, (received) => received.length > 40);
    expect(bytes.toString()).toMatch(/^HTTP\/1\.1 200 OK\r\nX-Wait: a+$/);
    await until(() => (web.log.read(since)[0]?.endedAtMs ?? -1) > 0);
    expect(web.log.read(since)[0]).toMatchObject({ status: 0, aborted: true });
  });

  it('slow answers whole, but after what was asked later', async () => {
    const healthy = (await ask()).body;
    set({ name: 'slow', options: { delayMs: 400 } });
    const order: string[] = [];
    const slow = ask().then(({ body }) => {
      order.push('slow');
      return body;
    });
    await ask(at('/robots.txt'));
    order.push('robots');
    expect(await slow).toEqual(healthy);
    expect(order).toEqual(['robots', 'slow']);
  });

  it('drip sends piece after piece', async () => {
    const healthy = (await ask(at('/robots.txt'))).body;
    set({ name: 'drip', on: ['robots'], options: { bytes: 30, everyMs: 1 } });
    const since = web.log.nextSeq;
    expect((await ask(at('/robots.txt'))).body).toEqual(healthy);
    await until(() => (web.log.read(since)[0]?.endedAtMs ?? -1) > 0);
    expect(web.log.read(since)[0]).toMatchObject({ bytes: healthy.length, aborted: false });
  });

  it('endless goes on until the client has enough', async () => {
    set({ name: 'endless' });
    const since = web.log.nextSeq;
    const { bytes } = await askRaw(web, article, (received) => received.length > 3_000_000);
    expect(bytes.length).toBeGreaterThan(3_000_000);
    await until(() => web.log.read(since)[0]?.aborted === true);
  });

  it('bombs are small on the wire and big unpacked', async () => {
    set({ name: 'gzip-bomb', options: { mb: 5 } });
    const gzip = await ask();
    expect(gunzipSync(gzip.body).length / gzip.body.length).toBeGreaterThan(500);
    web.clearFault();
    set({ name: 'brotli-bomb', options: { mb: 5 } });
    const brotli = await ask();
    expect(brotli.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(brotli.body).length / brotli.body.length).toBeGreaterThan(5_000);
  });

  it('stacked-encodings unpack to the page', async () => {
    const healthy = (await ask()).body;
    set({ name: 'stacked-encodings', options: { layers: 3 } });
    const answer = await ask();
    expect(answer.headers['content-encoding']).toBe('gzip, gzip, gzip');
    expect(gunzipSync(gunzipSync(gunzipSync(answer.body)))).toEqual(healthy);
  });
});

describe('when and where', () => {
  const statuses = async (count: number, url = article) => {
    const list: number[] = [];
    for (let i = 0; i < count; i++) list.push((await ask(url)).status);
    return list;
  };

  it('by number of request', async () => {
    set({ name: 'forbidden', fromRequest: 1, untilRequest: 3 });
    expect(await statuses(5)).toEqual([200, 403, 403, 200, 200]);
  });

  it('by the web’s clock', async () => {
    const now = web.clock.now();
    set({ name: 'forbidden', fromMs: now + 1_000, untilMs: now + 2_000 });
    expect(await statuses(1)).toEqual([200]);
    web.clock.advance(1_000);
    expect(await statuses(1)).toEqual([403]);
    web.clock.advance(1_000);
    expect(await statuses(1)).toEqual([200]);
  });

  it('by prefix, kind and share of addresses, the same ones every time', async () => {
    set({ name: 'forbidden', pathPrefix: '/no-such/' });
    expect(await statuses(1)).toEqual([200]);
    web.clearFault();
    const id = set({ name: 'forbidden', on: ['feed'] });
    expect([await statuses(1), await statuses(1, at('/feed'))]).toEqual([[200], [403]]);
    web.clearFault({ domain: 'faulty.test', id });
    set({ name: 'forbidden', on: ['article'], share: 0.5 });
    const { articles = [] } = web.groundTruth('faulty.test')[0] ?? {};
    const hit = new Set<number>();
    for (const { url, expected } of articles.slice(-12)) {
      const [first, second] = await statuses(2, url);
      expect(second).toBe(first);
      expect(expected.outcome).toBe(first === 403 ? 'dead' : 'document');
      hit.add(first ?? 0);
    }
    expect(hit.size).toBe(2);
  });

  it('flaky fails now and then, rate-limit only the hasty', async () => {
    set({ name: 'flaky', options: { rate: 0.5 } });
    expect(new Set(await statuses(20))).toEqual(new Set([200, 503]));
    web.clearFault();
    // Whatever was asked before it, an address fails at the same attempts, and never twice in a row.
    const [first = '', second = ''] = (web.groundTruth('faulty.test')[0]?.articles ?? []).map(
      ({ url }) => url,
    );
    set({ name: 'flaky', options: { rate: 0.5 } });
    const alone = await statuses(12, first);
    web.clearFault();
    set({ name: 'flaky', options: { rate: 0.5 } });
    const between: number[] = [];
    for (let attempt = 0; attempt < 12; attempt += 1) {
      await statuses(attempt % 3, second);
      between.push(...(await statuses(1, first)));
    }
    expect(between).toEqual(alone);
    expect(alone.join()).toContain('503');
    expect(alone.join()).not.toContain('503,503');
    web.clearFault();
    set({ name: 'rate-limit', options: { minGapMs: 60_000 } });
    expect(await statuses(2)).toEqual([200, 429]);
  });

  it('refuses names that are not in the table', () => {
    expect(() => set({ name: 'no-such' })).toThrow(/no fault is called/);
    expect(() => web.setFault('no-such.test', { name: 'reset' })).toThrow(/no publisher/);
  });

  it('leaves other domains alone', async () => {
    set({ name: 'forbidden' });
    expect((await askWeb(web, 'http://neighbour.test/')).status).toBe(200);
  });
});

/** Waits for the server's side of a connection to notice; bounded by the test's own time-out. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
