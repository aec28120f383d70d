import { crc32, deflateSync } from 'node:zlib';

/** A picture as a function: red, green and blue of a pixel, 0 to 255. */
export type Picture = (x: number, y: number) => readonly [number, number, number];
export type Size = { width: number; height: number };

/** A picture unlike others with another number: soft waves and a few discs, the same at every size. */
export function paint(seed: number, { width, height }: Size): Picture {
  const wave = (n: number): number => ((Math.sin(seed * 127.1 + n * 311.7) * 43_758.5453) % 1) * 0.5 + 0.5;
  return (x, y) => {
    const [u, v] = [x / width, y / height];
    let light = 90 + 60 * Math.sin(6 * (wave(1) * u + wave(2) * v) + 6 * wave(3));
    for (let i = 0; i < 6; i += 1) {
      const distance = Math.hypot(u - wave(10 + i), v - wave(20 + i));
      if (distance < 0.08 + 0.2 * wave(30 + i)) light += 110 * (wave(40 + i) - 0.5);
    }
    const clamp = (value: number): number => Math.round(Math.max(0, Math.min(255, value)));
    return [clamp(light + 20 * wave(50)), clamp(light), clamp(light - 20 * wave(51))];
  };
}

const chunk = (type: string, content: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type), content]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
};

/** The first 33 bytes of a PNG of this size. */
export function pngHeader(
  { width, height }: Size,
  { depth = 8, colour = 2, interlaced = false } = {},
): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, colour, 0, 0, interlaced ? 1 : 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
  ]);
}

const adam7 = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** A PNG in true colour, with each of its filters in turn. */
export function encodePng(size: Size, picture: Picture, { interlaced = false } = {}): Buffer {
  const lines: Buffer[] = [];
  for (const [left, top, stepX, stepY] of interlaced ? adam7 : ([[0, 0, 1, 1]] as const)) {
    let before = Buffer.alloc(0);
    for (let y = top, nth = 0; y < size.height && left < size.width; y += stepY, nth += 1) {
      const plain: number[] = [];
      for (let x = left; x < size.width; x += stepX) plain.push(...picture(x, y));
      const filter = nth % 5;
      const up = (i: number): number => (i >= 0 ? (before[i] ?? 0) : 0);
      const line = Buffer.alloc(plain.length + 1, filter);
      for (let i = 0; i < plain.length; i += 1) {
        const [a, b, c] = [i >= 3 ? plain[i - 3]! : 0, up(i), i >= 3 ? up(i - 3) : 0];
        const guess = a + b - c;
        const near = [a, b, c].reduce((best, one) =>
          Math.abs(guess - one) < Math.abs(guess - best) ? one : best,
        );
        line[i + 1] = plain[i]! - [0, a, b, (a + b) >> 1, near][filter]!;
      }
      lines.push(line);
      before = Buffer.from(plain);
    }
  }
  const data = deflateSync(Buffer.concat(lines), { level: 6 });
  const half = data.length >> 1;
  return Buffer.concat([
    pngHeader(size, { interlaced }),
    chunk('IDAT', data.subarray(0, half)),
    chunk('IDAT', data.subarray(half)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A grey GIF without real compression: a clear code before the codes would grow. */
export function encodeGif({ width, height }: Size, picture: Picture, { interlaced = false } = {}): Buffer {
  const head = Buffer.alloc(13);
  head.write('GIF89a');
  head.writeUInt16LE(width, 6);
  head.writeUInt16LE(height, 8);
  head[10] = 0xf6;
  const colours = Buffer.from(Array.from({ length: 128 }, (_, i) => [i * 2, i * 2, i * 2]).flat());
  const frame = Buffer.alloc(10);
  frame[0] = 0x2c;
  frame.writeUInt16LE(width, 5);
  frame.writeUInt16LE(height, 7);
  frame[9] = interlaced ? 0x40 : 0;
  const rows = Array.from({ length: height }, (_, y) => y);
  const order = interlaced
    ? [
        [0, 8],
        [4, 8],
        [2, 4],
        [1, 2],
      ].flatMap(([start, step]) => rows.filter((y) => y >= start! && (y - start!) % step! === 0))
    : rows;
  // Codes of eight bits: 128 is clear, and after 120 pixels the table has not outgrown them.
  const codes: number[] = [];
  let sinceClear = 120;
  for (const y of order)
    for (let x = 0; x < width; x += 1) {
      if (sinceClear === 120) {
        codes.push(128);
        sinceClear = 0;
      }
      codes.push(picture(x, y)[1] >> 1);
      sinceClear += 1;
    }
  codes.push(129);
  const blocks: Buffer[] = [];
  for (let at = 0; at < codes.length; at += 255) {
    const part = codes.slice(at, at + 255);
    blocks.push(Buffer.from([part.length, ...part]));
  }
  const comment = Buffer.from([0x21, 0xfe, 2, 0x68, 0x69, 0]);
  return Buffer.concat([head, colours, comment, frame, Buffer.from([7]), ...blocks, Buffer.from([0, 0x3b])]);
}

const box = (type: string, ...contents: Buffer[]): Buffer => {
  const content = Buffer.concat(contents);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(content.length + 8);
  head.write(type, 4);
  return Buffer.concat([head, content]);
};

/** The boxes of an AVIF that tell its size, with a thumbnail's before it; its data is noise. */
export function makeAvif({ width, height }: Size): Buffer {
  const size = (w: number, h: number): Buffer => {
    const content = Buffer.alloc(12);
    content.writeUInt32BE(w, 4);
    content.writeUInt32BE(h, 8);
    return box('ispe', content);
  };
  return Buffer.concat([
    box('ftyp', Buffer.from('avif\0\0\0\0mif1avif')),
    box('meta', Buffer.alloc(4), box('iprp', box('ipco', size(16, 16), size(width, height)))),
    box('mdat', Buffer.alloc(500, 7)),
  ]);
}

/** The head of a WebP of one of its three kinds; its data is noise. */
export function makeWebp({ width, height }: Size, kind: 'VP8 ' | 'VP8L' | 'VP8X'): Buffer {
  const content = Buffer.alloc(400, 3);
  if (kind === 'VP8 ') {
    content.set([0, 0, 0, 0x9d, 0x01, 0x2a]);
    content.writeUInt16LE(width, 6);
    content.writeUInt16LE(height, 8);
  } else if (kind === 'VP8L') {
    content[0] = 0x2f;
    content.writeUInt32LE(((width - 1) | ((height - 1) << 14)) >>> 0, 1);
  } else {
    content.writeUIntLE(width - 1, 4, 3);
    content.writeUIntLE(height - 1, 7, 3);
  }
  const head = Buffer.alloc(20);
  head.write('RIFF');
  head.writeUInt32LE(content.length + 12, 4);
  head.write(`WEBP${kind}`, 8);
  head.writeUInt32LE(content.length, 16);
  return Buffer.concat([head, content]);
}

/** A lossless WebP without any compression: every channel has a code of eight bits for each value. */
export function encodeWebp({ width, height }: Size, picture: Picture): Buffer {
  const bytes: number[] = [];
  let [held, count] = [0, 0];
  // The least bit first.
  const put = (value: number, bits: number): void => {
    for (let i = 0; i < bits; i += 1) {
      held |= ((value >> i) & 1) << count;
      count += 1;
      if (count < 8) continue;
      bytes.push(held);
      [held, count] = [0, 0];
    }
  };
  const putCode = (symbol: number): void => {
    for (let i = 7; i >= 0; i -= 1) put(symbol >> i, 1);
  };
  put(0x2f, 8);
  put(width - 1, 14);
  put(height - 1, 14);
  // No alpha, version 0, no transform, no cache, one group of codes.
  for (const bits of [1, 3, 1, 1, 1]) put(0, bits);
  // Green with the codes for lengths, red, blue: lengths of 8 for the values, 0 for the rest.
  for (const extra of [24, 0, 0]) {
    put(0, 1);
    put(12 - 4, 4);
    for (const length of [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1]) put(length, 3);
    put(0, 1);
    for (let i = 0; i < 256 + extra; i += 1) put(i < 256 ? 1 : 0, 1);
  }
  // Alpha is always 255, distances are never used.
  for (const [value, bits] of [
    [1, 1],
    [0, 1],
    [1, 1],
    [255, 8],
    [1, 1],
    [0, 1],
    [0, 1],
    [0, 1],
  ] as const)
    put(value, bits);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const [red, green, blue] = picture(x, y);
      for (const value of [green, red, blue]) putCode(value);
    }
  put(0, 8 + (8 - count));
  const content = Buffer.from(bytes.length % 2 === 0 ? bytes : [...bytes, 0]);
  const head = Buffer.alloc(20);
  head.write('RIFF');
  head.writeUInt32LE(content.length + 12, 4);
  head.write('WEBPVP8L', 8);
  head.writeUInt32LE(content.length, 16);
  return Buffer.concat([head, content]);
}
