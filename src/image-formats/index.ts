import { decodeGif } from './gif.ts';
import type { Decoded } from './grid.ts';
import { type ImageFormat, parseImageHeader } from './header.ts';
import { decodeJpeg } from './jpeg.ts';
import { perceptualHash } from './perceptual-hash.ts';
import { decodePng } from './png.ts';
import { decodeWebp } from './webp.ts';

export { type ImageFormat, type ImageHeader, parseImageHeader } from './header.ts';
export { perceptualHash } from './perceptual-hash.ts';

/** What a stored image is. */
export type ImageFacts = {
  format: ImageFormat;
  width: number;
  height: number;
  /** null: nothing we have decodes it, or it is plain. */
  perceptualHash: bigint | null;
};

/** What may be stored. */
export type ImageLimits = {
  minSide: number;
  maxPixels: number;
  /** false: the header is enough. */
  decode?: boolean;
};

export type ImageReading =
  | { outcome: 'image'; facts: ImageFacts }
  | {
      outcome: 'rejected';
      reason:
        | 'svg'
        | 'unsupported_format'
        | 'not_an_image'
        | 'image_truncated'
        | 'image_too_small'
        | 'image_too_many_pixels';
      detail: string;
    };

// A picture that lacks its last lines is shown all the same; one that lacks more was cut.
const wholeShare = 0.9;
// What is inflated and unfiltered byte by byte: some 30 million pixels a second on a free core.
const maxDecodedPixels = 30_000_000;
const maxHeldPixels = 16_000_000;

/** Reads an image: format, size and resemblance. Bounded by the limits; never throws. */
export async function readImage(body: Buffer, limits: ImageLimits): Promise<ImageReading> {
  const header = parseImageHeader(body);
  if (header.outcome === 'rejected')
    return header.reason === 'truncated'
      ? reject('image_truncated', 'the file ends before it tells its size')
      : reject(header.reason, described[header.reason]);
  const { format, width, height } = header;
  const size = `${width} × ${height} pixels`;
  if (width < limits.minSide || height < limits.minSide)
    return reject('image_too_small', `${size}; ${limits.minSide} on either side are wanted`);
  if (width * height > limits.maxPixels) return reject('image_too_many_pixels', size);
  const decoded = limits.decode === false ? null : await decode(format, body, width * height);
  if (decoded !== null && decoded.share < wholeShare)
    return reject('image_truncated', `only ${Math.floor(decoded.share * 100)} % of the picture is there`);
  const hash = decoded === null ? null : perceptualHash(decoded.grid);
  return { outcome: 'image', facts: { format, width, height, perceptualHash: hash } };
}

const described = {
  svg: 'a drawing (SVG); only raster images are stored',
  unsupported_format: 'a format that is not stored; JPEG, PNG, GIF, WebP and AVIF are',
  not_an_image: 'the bytes are no image',
} as const;

const reject = (
  reason: Extract<ImageReading, { outcome: 'rejected' }>['reason'],
  detail: string,
): ImageReading => ({ outcome: 'rejected', reason, detail });

async function decode(format: ImageFormat, body: Buffer, pixels: number): Promise<Decoded | null> {
  if (format === 'jpeg') return decodeJpeg(body);
  if (pixels > maxDecodedPixels) return null;
  if (format === 'png') return decodePng(body);
  if (format === 'gif') return decodeGif(body);
  // Four bytes a pixel, outside of what the thread's limit sees.
  return format === 'webp' && pixels <= maxHeldPixels ? decodeWebp(body) : null;
}
