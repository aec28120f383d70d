import { describe, expect, it } from 'vitest';
import { encodePng, paint } from '../../test/images/encoders.ts';
import { makeResponse, makeSettings } from '../../test/setup/page-response.ts';
import type { PageImage } from '../extract/index.ts';
import { findImages, imageModeOf, ingestImage } from './images.ts';
import type { ImageMode, IngestSettings } from './response.ts';

const image = (url: string, change: Partial<PageImage> = {}): PageImage => ({
  url,
  alt: null,
  width: null,
  height: null,
  from: 'body',
  ...change,
});
const configured = (mode: ImageMode): NonNullable<IngestSettings['images']> => ({
  mode,
  maxPerPage: 3,
  minSide: 256,
  maxPixels: 1_000_000,
});
const storing = { ...makeSettings({ settings: { images: 'store' } }), images: configured('reference') };
const response = makeResponse('');
const urlsOf = (images: readonly PageImage[]): string[] =>
  findImages(images, response, storing).map((item) => item.url);

describe('what is done with images', () => {
  it.each<[ImageMode, ImageMode | undefined, ImageMode]>([
    ['reference', undefined, 'reference'],
    ['reference', 'store', 'store'],
    ['store', undefined, 'store'],
    ['store', 'off', 'off'],
    ['off', 'reference', 'reference'],
  ])('configured %s, the source says %s: %s', (mode, own, expected) => {
    const settings = makeSettings({ settings: own === undefined ? {} : { images: own } });
    expect(imageModeOf({ ...settings, images: configured(mode) })).toBe(expected);
  });

  it('is to keep their addresses where nothing is said', () => {
    expect(imageModeOf(makeSettings())).toBe('reference');
    expect(findImages([image('https://cdn.example/a.jpg')], response, makeSettings())).toEqual([]);
  });
});

describe('the images of an article that are fetched', () => {
  it('are the first ones, each address once, and none that says it is small or is the page itself', () => {
    expect(
      urlsOf([
        image('https://paper.example/news/a-story'),
        image('https://cdn.example/lead.jpg?utm_source=feed'),
        image('https://cdn.example/small.jpg', { width: 120, height: 600 }),
        image('https://cdn.example/lead.jpg'),
        image('javascript:alert(1)'),
        image('https://cdn.example/b.jpg', { width: 1200 }),
        image('https://cdn.example/c.jpg'),
        image('https://cdn.example/d.jpg'),
      ]),
    ).toEqual([
      'https://cdn.example/lead.jpg?utm_source=feed',
      'https://cdn.example/b.jpg',
      'https://cdn.example/c.jpg',
    ]);
  });

  it('stand at the lowest level, know their page, and say whose host it is', () => {
    const items = findImages(
      [image('https://img.paper.example/a.jpg'), image('https://cdn.example/b.jpg')],
      response,
      storing,
    );
    expect(
      items.map(({ kind, origin, priority, parentUrl, own }) => [kind, origin, priority, parentUrl, own]),
    ).toEqual([
      ['image', 'spider', 1, response.finalUrl, true],
      ['image', 'spider', 1, response.finalUrl, false],
    ]);
  });
});

describe('an image', () => {
  const size = { width: 300, height: 290 };
  const png = encodePng(size, paint(1, size));
  it('is told by its bytes; without decoding it has no likeness', async () => {
    const whole = await ingestImage(makeResponse(png), storing);
    expect(whole).toMatchObject({
      outcome: 'image',
      facts: { ...size, format: 'png', perceptualHash: expect.any(BigInt) },
    });
    const quick = await ingestImage(makeResponse(png), storing, { decode: false });
    expect(quick).toMatchObject({
      outcome: 'image',
      facts: { ...size, format: 'png', perceptualHash: null },
    });
    const wide = { ...storing, images: { ...configured('store'), maxPixels: 80_000 } };
    expect(await ingestImage(makeResponse(png), wide)).toMatchObject({
      outcome: 'rejected',
      reason: 'image_too_many_pixels',
    });
  });
});
