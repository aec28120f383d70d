import { brotliDecompressSync, constants, deflateSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { encodePng, paint, pngHeader } from '../../../test/images/encoders.ts';
import {
  makeArticle,
  makeResponse,
  makeSettings,
  slowPage,
  slowSelector,
} from '../../../test/setup/page-response.ts';
import { handleResponse } from '../handle.ts';
import { ingest, type PageResponse } from '../index.ts';
import { decideReader } from './index.ts';
import { ReaderThread } from './reader-thread.ts';

const kilobyte = 1024;
const page = (bytes: number) => makeResponse(Buffer.alloc(bytes, 'x'));
const channel = (bytes: number) => {
  const response = page(bytes);
  return { ...response, row: { ...response.row, kind: 'channel' as const } };
};

describe('where a response is read', () => {
  it.each([
    ['a page', page(512 * kilobyte), makeSettings(), 'here'],
    ['a bigger page', page(512 * kilobyte + 1), makeSettings(), 'thread'],
    ['a feed or sitemap', channel(1024 * kilobyte), makeSettings(), 'here'],
    ['a bigger one', channel(1024 * kilobyte + 1), makeSettings(), 'thread'],
    ['a source without rules', page(1000), makeSettings({ settings: { selectors: {} } }), 'here'],
    ['selectors', page(1000), makeSettings({ settings: { selectors: { body: 'main' } } }), 'thread'],
    [
      'patterns of a spidered source',
      page(1000),
      makeSettings({ ingestionMode: 'spider', settings: { include: ['/news/'] } }),
      'thread',
    ],
    [
      'patterns that its items are held against',
      channel(1000),
      makeSettings({ ingestionMode: 'feed', settings: { exclude: ['/sport/'] } }),
      'thread',
    ],
    [
      'patterns that nothing uses',
      page(1000),
      makeSettings({ ingestionMode: 'feed', settings: { include: ['/news/'] } }),
      'here',
    ],
  ] as const)('%s: %#', (_name, response, settings, expected) => {
    expect(decideReader(response, settings)).toBe(expected);
  });
});

describe('the reading thread', () => {
  let thread = new ReaderThread();
  afterEach(async () => {
    await thread.close();
    thread = new ReaderThread();
  });
  const slow = { task: 'whole', deadlineMs: 300 } as const;
  const patient = { task: 'whole', deadlineMs: 60_000 } as const;
  const slowSettings = makeSettings({ settings: { selectors: { body: slowSelector } } });

  it('reads what this thread reads, bytes and hashes included', async () => {
    // Big enough to be moved and not copied.
    const html = makeArticle(400).replace('</body>', `<!--${'.'.repeat(100_000)}--></body>`);
    const here = await handleResponse(makeResponse(html), makeSettings());
    const there = await thread.read(makeResponse(html), makeSettings(), patient);
    expect(here.outcome).toBe('document');
    expect(there).toEqual(here);
    if (there.outcome !== 'document') return;
    expect(brotliDecompressSync(there.document.raw!.body).toString()).toBe(html);
    expect(Buffer.isBuffer(there.document.contentHash)).toBe(true);
  });

  it('carries the compressed bytes through without sending them', async () => {
    const wireBody = Buffer.from('what came over the wire');
    const response = makeResponse(makeArticle(400), { wireBody, contentEncoding: 'br' });
    const read = await thread.read(response, makeSettings(), patient);
    expect(read.outcome === 'document' && read.document.raw?.body).toBe(wireBody);
    const bare = await thread.read(response, { ...makeSettings(), keepHtml: 'none' }, patient);
    expect(bare.outcome === 'document' && bare.document.raw).toBe(null);
  });

  it('is ended when a page takes too long, and the next page is read by another', async () => {
    const stuck = thread.read(makeResponse(slowPage), slowSettings, slow);
    const next = thread.read(makeResponse(makeArticle(40)), makeSettings(), patient);
    expect(await stuck).toMatchObject({ outcome: 'unreadable', reason: 'read_timeout' });
    expect((await next).outcome).toBe('document');
  });

  it('names a page that needs too much memory', async () => {
    const small = new ReaderThread({ memoryMb: 24 });
    const response = makeResponse(`<html><body>${'<p a=1 b=2 c=3 d=4>t</p>'.repeat(200_000)}</body></html>`);
    expect(await small.read(response, makeSettings(), patient)).toMatchObject({
      outcome: 'unreadable',
      reason: 'read_memory',
    });
    expect((await small.read(makeResponse(makeArticle(40)), makeSettings(), patient)).outcome).toBe(
      'document',
    );
    await small.close();
  });

  it('hands on what nobody foresaw', async () => {
    const response = makeResponse(
      '<rss version="2.0"><channel><item><link>/a</link></item></channel></rss>',
      {
        finalUrl: 'no address',
      },
    );
    const feed = { ...response, row: { ...response.row, kind: 'channel' as const } };
    await expect(thread.read(feed, makeSettings(), patient)).rejects.toThrow();
    expect((await thread.read(makeResponse(makeArticle(40)), makeSettings(), patient)).outcome).toBe(
      'document',
    );
  });

  it('rejects what waits when it is closed', async () => {
    const waiting = thread.read(makeResponse(slowPage), slowSettings, patient);
    const failed = expect(waiting).rejects.toThrow('closed');
    await thread.close();
    await failed;
  });

  it('lets the first reading stand when Readability does not come back', async () => {
    // Our reader needs a tenth of a second and knows that it found nothing; Readability needs a minute and a half.
    const nested = '<div><a href="/x">link text here</a>'.repeat(19_000);
    const html = `<html><head><title>A story</title></head><body>${nested}</body></html>`;
    const own = await handleResponse(makeResponse(html), makeSettings());
    expect(own.outcome === 'document' && own.document.confidence).toBeLessThan(0.4);
    expect(await thread.read(makeResponse(html), makeSettings(), { ...slow, deadlineMs: 4000 })).toEqual(own);
  });
});

describe('an image', () => {
  const asImage = (body: Buffer): PageResponse => {
    const response = makeResponse(body);
    return { ...response, row: { ...response.row, kind: 'image' } };
  };

  it('is always read on the other thread, and its bytes stay here', async () => {
    const size = { width: 400, height: 400 };
    const body = encodePng(size, paint(3, size));
    const response = asImage(body);
    expect(decideReader(response, makeSettings())).toBe('thread');
    const read = await ingest(response, makeSettings());
    expect(read).toEqual(await handleResponse(response, makeSettings()));
    expect(read.outcome === 'image' && Buffer.isBuffer(read.sha256)).toBe(true);
    expect(response.body.equals(body)).toBe(true);
  });

  it('that takes too long to decode has format and size all the same', async () => {
    // Eight bytes a pixel, each line to be worked out from the one above: seconds.
    const size = { width: 5400, height: 5400 };
    const line = Buffer.concat([Buffer.from([4]), Buffer.alloc(size.width * 8)]);
    const packed = deflateSync(Buffer.concat(Array.from({ length: 600 }, () => line)), {
      finishFlush: constants.Z_FULL_FLUSH,
    });
    const part = packed.subarray(2);
    const data = Buffer.concat([packed.subarray(0, 2), ...Array.from({ length: 9 }, () => part)]);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    const body = Buffer.concat([
      pngHeader(size, { depth: 16, colour: 6 }),
      length,
      Buffer.from('IDAT'),
      data,
      Buffer.alloc(4),
    ]);
    const thread = new ReaderThread();
    const read = await thread.read(asImage(body), makeSettings(), { task: 'whole', deadlineMs: 700 });
    await thread.close();
    expect(read).toMatchObject({ outcome: 'image', facts: { ...size, format: 'png', perceptualHash: null } });
  });
});

describe('a page that would stop this thread', () => {
  it('does not: timers go on, and it ends with a name', async () => {
    let ticks = 0;
    const timer = setInterval(() => {
      ticks += 1;
    }, 5);
    const settings = makeSettings({ settings: { selectors: { body: slowSelector } } });
    const ingested = await ingest(makeResponse(slowPage), settings);
    clearInterval(timer);
    expect(ingested).toMatchObject({ outcome: 'unreadable', reason: 'read_timeout' });
    // On this thread the page would have taken minutes without a single tick.
    expect(ticks).toBeGreaterThan(10);
  });
});
