import { crc32, deflateSync } from 'node:zlib';
import { hashOf } from '../random.ts';

const sizes: readonly (readonly [number, number])[] = [
  [640, 360],
  [800, 450],
  [512, 512],
  [960, 540],
];

/** The dimensions of the picture that belongs to a number, known without drawing it. */
export function imageSize(id: number): { width: number; height: number } {
  const [width, height] = sizes[hashOf('size', id) % sizes.length] as readonly [number, number];
  return { width, height };
}

/** A PNG of two colours, one bit a pixel: stripes whose width and phase belong to the number. */
export function renderImage(id: number): Buffer {
  const { width, height } = imageSize(id);
  const rowBytes = Math.ceil(width / 8);
  const raw = Buffer.alloc((rowBytes + 1) * height);
  const stripe = 8 + (hashOf('stripe', id) % 40);
  const pattern = hashOf('pattern', id);
  for (let y = 0; y < height; y++) {
    const value = (pattern >>> ((Math.floor(y / stripe) % 4) * 8)) & 0xff;
    raw.fill(value, y * (rowBytes + 1) + 1, (y + 1) * (rowBytes + 1));
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // One bit a pixel, palette colour.
  header[8] = 1;
  header[9] = 3;
  const palette = Buffer.alloc(6);
  palette.writeUIntBE(hashOf('ink', id) & 0xffffff, 0, 3);
  palette.writeUIntBE(hashOf('paper', id) & 0xffffff, 3, 3);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngChunk('IHDR', header),
    pngChunk('PLTE', palette),
    pngChunk('IDAT', deflateSync(raw, { level: 1 })),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

function pngChunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const chunk = Buffer.alloc(8 + named.length);
  chunk.writeUInt32BE(data.length, 0);
  named.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(named), 4 + named.length);
  return chunk;
}

/** The publisher's icon. */
export function renderIcon(index: number): string {
  const colour = (hashOf('icon', index) & 0xffffff).toString(16).padStart(6, '0');
  return `<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32"><circle cx="16" cy="16" r="15" fill="#${colour}"/></svg>\n`;
}
