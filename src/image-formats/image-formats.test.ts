import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  encodeGif,
  encodePng,
  encodeWebp,
  makeAvif,
  makeWebp,
  paint,
  pngHeader,
  type Size,
} from '../../test/images/encoders.ts';
import { encodeJpeg } from '../../test/images/jpeg-encoder.ts';
import { parseImageHeader, readImage } from './index.ts';

const size: Size = { width: 333, height: 270 };
const picture = paint(1, size);
const limits = { minSide: 256, maxPixels: 100_000_000 };

const encoded: [string, Buffer][] = [
  ['png', encodePng(size, picture)],
  ['png', encodePng(size, picture, { interlaced: true })],
  ['webp', encodeWebp(size, picture)],
  ['gif', encodeGif(size, picture)],
  ['gif', encodeGif(size, picture, { interlaced: true })],
  ['jpeg', encodeJpeg(size, picture)],
  ['jpeg', encodeJpeg(size, picture, { grey: true, quantizer: 20 })],
  ['jpeg', encodeJpeg(size, picture, { progressive: true })],
  ['jpeg', encodeJpeg(size, picture, { restartEvery: 7 })],
  ['jpeg', encodeJpeg(size, picture, { progressive: true, restartEvery: 42 })],
];

async function hashOf(body: Buffer): Promise<bigint> {
  const reading = await readImage(body, limits);
  if (reading.outcome !== 'image' || reading.facts.perceptualHash === null) throw new Error('no hash');
  return reading.facts.perceptualHash;
}

const bitsOf = (number: bigint): number => number.toString(2).replaceAll('0', '').length;

describe('images', () => {
  it.each(encoded)(
    '%s: format and size are read, and the picture is the same in every format: %#',
    async (format, body) => {
      expect(await readImage(body, limits)).toMatchObject({ outcome: 'image', facts: { format, ...size } });
      expect(bitsOf((await hashOf(body)) ^ (await hashOf(encoded[0]![1])))).toBeLessThanOrEqual(4);
    },
  );

  it('look like themselves at another size and unlike others', async () => {
    const smaller = { width: 300, height: 256 };
    const same = await hashOf(encodeJpeg(smaller, paint(1, smaller), { quantizer: 12 }));
    expect(bitsOf(same ^ (await hashOf(encoded[0]![1])))).toBeLessThanOrEqual(8);
    for (let seed = 2; seed < 8; seed += 1)
      expect(bitsOf(same ^ (await hashOf(encodePng(smaller, paint(seed, smaller)))))).toBeGreaterThan(12);
  });

  it.each([
    ['webp', makeWebp(size, 'VP8 ')],
    ['webp', makeWebp(size, 'VP8L')],
    ['webp', makeWebp(size, 'VP8X')],
    ['avif', makeAvif(size)],
  ])('%s: the header is read: %#', (format, body) => {
    expect(parseImageHeader(body)).toEqual({ outcome: 'image', format, ...size });
  });

  it('a plain area resembles nothing', async () => {
    const plain = encodePng(size, () => [200, 200, 200]);
    expect(await readImage(plain, limits)).toMatchObject({
      outcome: 'image',
      facts: { perceptualHash: null },
    });
  });
});

describe('what is not stored', () => {
  const svg =
    '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  const bodyOf = (format: string): Buffer => encoded.find(([one]) => one === format)![1];
  const [png, gif, jpeg] = [bodyOf('png'), bodyOf('gif'), bodyOf('jpeg')];
  const cut = (body: Buffer): Buffer => body.subarray(0, body.length >> 1);
  const bomb = Buffer.concat([
    pngHeader({ width: 5000, height: 5000 }),
    Buffer.from('\0\0\0\0IDAT', 'latin1'),
    deflateSync(Buffer.alloc(1000)),
  ]);
  it.each<[string, string, Buffer]>([
    ['svg', 'a drawing with a script', Buffer.from(svg)],
    ['not_an_image', 'a page', Buffer.from('<!doctype html><html><body><svg></svg>Not found</body></html>')],
    ['not_an_image', 'nothing', Buffer.alloc(0)],
    ['not_an_image', 'zeros', Buffer.alloc(1000)],
    ['unsupported_format', 'a bitmap', Buffer.concat([Buffer.from('BM'), Buffer.alloc(100)])],
    [
      'unsupported_format',
      'a photograph of another phone',
      Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic'),
    ],
    ['image_too_small', 'a pixel', encodePng({ width: 1, height: 1 }, () => [0, 0, 0])],
    ['image_too_small', 'a banner', encodePng({ width: 700, height: 90 }, () => [0, 0, 0])],
    ['image_too_many_pixels', 'a bomb', pngHeader({ width: 60_000, height: 60_000 })],
    ['image_truncated', 'half a png', cut(png)],
    ['image_truncated', 'half a gif', cut(gif)],
    ['image_truncated', 'half a jpeg', cut(jpeg)],
    ['image_truncated', 'half a webp', cut(makeWebp(size, 'VP8 '))],
    ['image_truncated', 'a webp of noise', makeWebp(size, 'VP8 ')],
    ['image_truncated', 'half an avif', makeAvif(size).subarray(0, 40)],
    ['image_truncated', 'a jpeg without a frame', jpeg.subarray(0, 100)],
    ['image_truncated', 'a png of no size', encodePng({ width: 0, height: 0 }, picture)],
    ['image_truncated', 'a header and next to nothing', bomb],
  ])('%s: %s', async (reason, _name, body) => {
    expect(await readImage(body, limits)).toMatchObject({ outcome: 'rejected', reason });
  });

  it('ends with a name whatever the bytes are', async () => {
    const bodies = encoded.map(([, body]) => body).concat(makeAvif(size), makeWebp(size, 'VP8X'));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...bodies),
        fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(255)), { maxLength: 20 }),
        fc.boolean(),
        async (body, changes, early) => {
          const broken = Buffer.from(body);
          // Early: in the header, where it hurts.
          const range = early ? Math.min(700, broken.length) : broken.length;
          for (const [where, value] of changes) broken[Math.floor(where * (range - 1))] = value;
          const reading = await readImage(broken, { minSide: 1, maxPixels: 1_000_000 });
          expect(['image', 'rejected']).toContain(reading.outcome);
        },
      ),
      { numRuns: 300 },
    );
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), async (bytes) => {
        for (const head of bodies) {
          const reading = await readImage(Buffer.concat([head.subarray(0, 40), bytes]), {
            minSide: 1,
            maxPixels: 1_000_000,
          });
          expect(['image', 'rejected']).toContain(reading.outcome);
        }
      }),
      { numRuns: 50 },
    );
  });
});
