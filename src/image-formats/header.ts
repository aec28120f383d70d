/** The formats that are stored. */
export type ImageFormat = 'jpeg' | 'png' | 'gif' | 'webp' | 'avif';

/** What the first bytes of a picture say. */
export type ImageHeader =
  | { outcome: 'image'; format: ImageFormat; width: number; height: number }
  /** A drawing, another picture format, or no picture at all; or one that ends before it says its size. */
  | { outcome: 'rejected'; reason: 'svg' | 'unsupported_format' | 'not_an_image' | 'truncated' };

const ascii = (body: Buffer, from: number, to: number): string => body.toString('latin1', from, to);
const truncated: ImageHeader = { outcome: 'rejected', reason: 'truncated' };

/** Reads format and size by the first bytes, whatever the server called them. Never throws, reads no further than needed. */
export function parseImageHeader(body: Buffer): ImageHeader {
  const format = sniffFormat(body);
  if (format === 'svg' || format === 'unsupported_format' || format === 'not_an_image')
    return { outcome: 'rejected', reason: format };
  const size = readers[format](body);
  if (size === null) return truncated;
  // A picture of nothing is as damaged as one that ends too early.
  if (size.width < 1 || size.height < 1) return truncated;
  return { outcome: 'image', format, ...size };
}

/** The format by its magic bytes. */
function sniffFormat(body: Buffer): ImageFormat | 'svg' | 'unsupported_format' | 'not_an_image' {
  if (body.length < 12) return 'not_an_image';
  if (body[0] === 0xff && body[1] === 0xd8 && body[2] === 0xff) return 'jpeg';
  if (body.readUInt32BE(0) === 0x89504e47 && body.readUInt32BE(4) === 0x0d0a1a0a) return 'png';
  const start = ascii(body, 0, 12);
  if (start.startsWith('GIF87a') || start.startsWith('GIF89a')) return 'gif';
  if (start.startsWith('RIFF') && start.endsWith('WEBP')) return 'webp';
  if (start.slice(4, 8) === 'ftyp') return isAvif(body) ? 'avif' : 'unsupported_format';
  if (/^(?:BM|II\*\0|MM\0\*|8BPS|\0\0\x01\0|\0\0\x02\0|\xff\x0a|%PDF)/.test(start))
    return 'unsupported_format';
  // JPEG XL and JPEG 2000 as boxes.
  if (start.slice(4, 6) === 'JX' || start.slice(4, 6) === 'jP') return 'unsupported_format';
  return /<svg[\s>]/i.test(ascii(body, 0, 4096)) && !/<html[\s>]/i.test(ascii(body, 0, 4096))
    ? 'svg'
    : 'not_an_image';
}

// The major brand or one of the compatible ones, in the file's first box.
function isAvif(body: Buffer): boolean {
  const end = Math.min(body.readUInt32BE(0), body.length, 256);
  for (let at = 8; at + 4 <= end; at += 4) {
    const brand = ascii(body, at, at + 4);
    if (brand === 'avif' || brand === 'avis') return true;
  }
  return false;
}

type Size = { width: number; height: number };

const readers: Readonly<Record<ImageFormat, (body: Buffer) => Size | null>> = {
  jpeg: readJpegSize,
  png: (body) =>
    body.length < 33 || ascii(body, 12, 16) !== 'IHDR'
      ? null
      : { width: body.readUInt32BE(16), height: body.readUInt32BE(20) },
  gif: (body) => (body.length < 13 ? null : { width: body.readUInt16LE(6), height: body.readUInt16LE(8) }),
  webp: readWebpSize,
  avif: readAvifSize,
};

/** Whether a marker begins a frame: SOF0 to SOF15 without DHT, JPG and DAC. */
export const isFrameMarker = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

/** Goes through a JPEG's segments up to its first scan; each is given with the range of its content. */
export function* jpegSegments(
  body: Buffer,
  from = 2,
): Generator<{ marker: number; start: number; end: number }> {
  let at = from;
  while (at + 4 <= body.length) {
    if (body[at] !== 0xff) return;
    const marker = body[at + 1]!;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    // Markers without content: TEM and restarts, which nobody should write here.
    if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) {
      at += 2;
      continue;
    }
    if (marker === 0xd9) return;
    const end = at + 2 + body.readUInt16BE(at + 2);
    if (end < at + 4 || end > body.length) return;
    yield { marker, start: at + 4, end };
    at = end;
  }
}

function readJpegSize(body: Buffer): Size | null {
  for (const { marker, start, end } of jpegSegments(body)) {
    if (isFrameMarker(marker))
      return end - start < 6
        ? null
        : { width: body.readUInt16BE(start + 3), height: body.readUInt16BE(start + 1) };
    if (marker === 0xda) return null;
  }
  return null;
}

function readWebpSize(body: Buffer): Size | null {
  // The container says how long it is: a shorter file was cut.
  if (body.length < 30 || body.readUInt32LE(4) + 8 > body.length) return null;
  switch (ascii(body, 12, 16)) {
    case 'VP8 ':
      return body.readUIntBE(23, 3) === 0x9d012a
        ? { width: body.readUInt16LE(26) & 0x3fff, height: body.readUInt16LE(28) & 0x3fff }
        : null;
    case 'VP8L': {
      if (body[20] !== 0x2f) return null;
      const bits = body.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: body.readUIntLE(24, 3) + 1, height: body.readUIntLE(27, 3) + 1 };
    default:
      return null;
  }
}

const containers = new Set(['meta', 'iprp', 'ipco']);
const mostBoxes = 1000;

/** The largest `ispe` property (ISO/IEC 23008-12, 6.5.3): the picture's own, as thumbnails and tiles are smaller. */
function readAvifSize(body: Buffer): Size | null {
  let best: Size | null = null;
  const ranges: { at: number; end: number }[] = [{ at: 0, end: body.length }];
  for (let boxes = 0; boxes < mostBoxes; ) {
    const range = ranges.at(-1);
    if (range === undefined) return best;
    if (range.at + 8 > range.end) {
      ranges.pop();
      continue;
    }
    boxes += 1;
    const at = range.at;
    const declared = body.readUInt32BE(at);
    const type = ascii(body, at + 4, at + 8);
    // 0: up to the end; 1: eight bytes of length follow, which only the data of a huge file needs.
    const length = declared === 0 ? range.end - at : declared;
    if (length < 8 || at + length > range.end) return declared === 1 ? best : null;
    range.at = at + length;
    if (containers.has(type)) ranges.push({ at: at + (type === 'meta' ? 12 : 8), end: at + length });
    if (type === 'ispe' && length >= 20) {
      const size = { width: body.readUInt32BE(at + 12), height: body.readUInt32BE(at + 16) };
      if (best === null || size.width * size.height > best.width * best.height) best = size;
    }
  }
  return best;
}
