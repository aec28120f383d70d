import type { Picture, Size } from './encoders.ts';

export type JpegOptions = {
  progressive?: boolean;
  /** Units between restart markers. */
  restartEvery?: number;
  /** 0: fine, 31: coarse. */
  quantizer?: number;
  /** Only the brightness. */
  grey?: boolean;
};

const zigzag = (() => {
  const order = Array.from({ length: 64 }, (_, i) => i);
  const key = (i: number): number => {
    const [x, y] = [i % 8, i >> 3];
    return (x + y) * 100 + ((x + y) % 2 === 0 ? x : y);
  };
  return order.sort((a, b) => key(a) - key(b));
})();

// Tables of our own: every code of the first coefficients has four bits, every other one eight.
const dcSymbols = Array.from({ length: 12 }, (_, i) => i);
const acSymbols = [0x00, 0xf0];
for (let run = 0; run < 16; run += 1)
  for (let size = 1; size <= 10; size += 1) acSymbols.push((run << 4) | size);

class Bits {
  readonly bytes: number[] = [];
  #held = 0;
  #count = 0;

  put(value: number, count: number): void {
    for (let i = count - 1; i >= 0; i -= 1) {
      this.#held = (this.#held << 1) | ((value >> i) & 1);
      this.#count += 1;
      if (this.#count === 8) this.#byte();
    }
  }

  #byte(): void {
    this.bytes.push(this.#held);
    if (this.#held === 0xff) this.bytes.push(0);
    [this.#held, this.#count] = [0, 0];
  }

  flush(): void {
    while (this.#count !== 0) this.put(1, 1);
  }
}

const sizeOf = (value: number): number => (value === 0 ? 0 : 32 - Math.clz32(Math.abs(value)));
const putValue = (bits: Bits, value: number, size: number): void =>
  bits.put(value < 0 ? value + (1 << size) - 1 : value, size);

function putFirst(bits: Bits, difference: number): void {
  const size = sizeOf(difference);
  bits.put(dcSymbols.indexOf(size), 4);
  putValue(bits, difference, size);
}

function putOthers(bits: Bits, block: readonly number[]): void {
  let run = 0;
  for (const at of zigzag.slice(1)) {
    const value = block[at]!;
    if (value === 0) {
      run += 1;
      continue;
    }
    for (; run > 15; run -= 16) bits.put(acSymbols.indexOf(0xf0), 8);
    const size = sizeOf(value);
    bits.put(acSymbols.indexOf((run << 4) | size), 8);
    putValue(bits, value, size);
    run = 0;
  }
  if (run > 0) bits.put(acSymbols.indexOf(0x00), 8);
}

const cosines = Array.from({ length: 8 }, (_, u) =>
  Array.from(
    { length: 8 },
    (_, x) => Math.cos(((2 * x + 1) * u * Math.PI) / 16) * (u === 0 ? Math.SQRT1_2 : 1),
  ),
);

function transform(pixels: readonly number[], quantizer: number): number[] {
  const rows: number[] = [];
  for (let y = 0; y < 8; y += 1)
    for (let u = 0; u < 8; u += 1)
      rows.push(cosines[u]!.reduce((sum, cosine, x) => sum + cosine * pixels[y * 8 + x]!, 0));
  const block: number[] = [];
  for (let v = 0; v < 8; v += 1)
    for (let u = 0; u < 8; u += 1)
      block.push(
        Math.round(
          cosines[v]!.reduce((sum, cosine, y) => sum + cosine * rows[y * 8 + u]!, 0) / 4 / quantizer,
        ),
      );
  return block;
}

const segment = (marker: number, content: readonly number[]): Buffer =>
  Buffer.from([0xff, marker, (content.length + 2) >> 8, (content.length + 2) & 255, ...content]);
const table = (id: number, bits: number, symbols: readonly number[]): Buffer =>
  segment(0xc4, [
    id,
    ...Array.from({ length: 16 }, (_, i) => (i === bits - 1 ? symbols.length : 0)),
    ...symbols,
  ]);

/** A JPEG with colours as fine as its brightness, baseline or progressive in four scans. */
export function encodeJpeg({ width, height }: Size, picture: Picture, options: JpegOptions = {}): Buffer {
  const { progressive = false, restartEvery = 0, quantizer = 4, grey = false } = options;
  const parts = [
    ([r, g, b]: readonly number[]) => 0.299 * r! + 0.587 * g! + 0.114 * b! - 128,
    ([r, g, b]: readonly number[]) => -0.1687 * r! - 0.3313 * g! + 0.5 * b!,
    ([r, g, b]: readonly number[]) => 0.5 * r! - 0.4187 * g! - 0.0813 * b!,
  ].slice(0, grey ? 1 : 3);
  const units: number[][][] = [];
  for (let top = 0; top < height; top += 8)
    for (let left = 0; left < width; left += 8) {
      const pixels = Array.from({ length: 64 }, (_, i) =>
        picture(Math.min(left + (i % 8), width - 1), Math.min(top + (i >> 3), height - 1)),
      );
      units.push(parts.map((part) => transform(pixels.map(part), quantizer)));
    }
  const scan = (
    which: readonly number[],
    range: readonly [number, number],
    put: (bits: Bits, unit: number[][], before: number[]) => void,
  ): Buffer => {
    let bits = new Bits();
    const out: Buffer[] = [];
    const before = parts.map(() => 0);
    for (const [nth, unit] of units.entries()) {
      if (restartEvery > 0 && nth > 0 && nth % restartEvery === 0) {
        bits.flush();
        out.push(Buffer.from(bits.bytes), Buffer.from([0xff, 0xd0 + ((nth / restartEvery - 1) % 8)]));
        bits = new Bits();
        before.fill(0);
      }
      put(bits, unit, before);
    }
    bits.flush();
    const head = segment(0xda, [which.length, ...which.flatMap((id) => [id + 1, 0]), ...range, 0]);
    return Buffer.concat([head, ...out, Buffer.from(bits.bytes)]);
  };
  const first = (bits: Bits, unit: number[][], before: number[], nth: number): void => {
    putFirst(bits, unit[nth]![0]! - before[nth]!);
    before[nth] = unit[nth]![0]!;
  };
  const all = parts.map((_, nth) => nth);
  const scans = progressive
    ? [
        scan(all, [0, 0], (bits, unit, before) => {
          for (const nth of all) first(bits, unit, before, nth);
        }),
        ...all.map((nth) => scan([nth], [1, 63], (bits, unit) => putOthers(bits, unit[nth]!))),
      ]
    : [
        scan(all, [0, 63], (bits, unit, before) => {
          for (const nth of all) {
            first(bits, unit, before, nth);
            putOthers(bits, unit[nth]!);
          }
        }),
      ];
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xe0, [...Buffer.from('JFIF\0'), 1, 1, 0, 0, 1, 0, 1, 0, 0]),
    segment(0xdb, [0, ...Array.from({ length: 64 }, () => quantizer)]),
    table(0x00, 4, dcSymbols),
    table(0x10, 8, acSymbols),
    ...(restartEvery > 0 ? [segment(0xdd, [restartEvery >> 8, restartEvery & 255])] : []),
    segment(progressive ? 0xc2 : 0xc0, [
      8,
      height >> 8,
      height & 255,
      width >> 8,
      width & 255,
      parts.length,
      ...all.flatMap((nth) => [nth + 1, 0x11, 0]),
    ]),
    ...scans,
    Buffer.from([0xff, 0xd9]),
  ]);
}
