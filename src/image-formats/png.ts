import { createInflate, type Inflate } from 'node:zlib';
import { type Decoded, gridSide, LumaGrid, lumaOf } from './grid.ts';

type Layout = { width: number; height: number; depth: number; colour: number; interlaced: boolean };
type Pass = { x: number; y: number; stepX: number; stepY: number };

const samples = 16 * gridSide;
const channelsOf: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const wholePass: readonly Pass[] = [{ x: 0, y: 0, stepX: 1, stepY: 1 }];
// Adam7 (PNG specification, 8.2).
const passes: readonly Pass[] = [
  { x: 0, y: 0, stepX: 8, stepY: 8 },
  { x: 4, y: 0, stepX: 8, stepY: 8 },
  { x: 0, y: 4, stepX: 4, stepY: 8 },
  { x: 2, y: 0, stepX: 4, stepY: 4 },
  { x: 0, y: 2, stepX: 2, stepY: 4 },
  { x: 1, y: 0, stepX: 2, stepY: 2 },
  { x: 0, y: 1, stepX: 1, stepY: 2 },
];

/** Reads a PNG row by row as it is inflated: memory for two rows, whatever its size. null: not one we can read. */
export async function decodePng(body: Buffer): Promise<Decoded | null> {
  const layout = readLayout(body);
  if (layout === null) return null;
  const { palette, data } = readChunks(body);
  if (layout.colour === 3 && palette === null) return null;
  const reader = new RowReader(layout, palette);
  const inflate = createInflate();
  inflate.on('error', () => undefined);
  const feeding = (async () => {
    for (const part of data) {
      if (inflate.destroyed) return;
      if (!inflate.write(part)) await drained(inflate);
    }
    inflate.end();
  })();
  try {
    for await (const chunk of inflate as AsyncIterable<Buffer>) if (!reader.take(chunk)) break;
  } catch {
    // Damaged or cut data: the rows before it count, and the share says how many they were.
  } finally {
    inflate.destroy();
    await feeding;
  }
  return reader.end();
}

/** Until more may be written, or nobody reads any more. */
function drained(stream: Inflate): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
}

function readLayout(body: Buffer): Layout | null {
  if (body.length < 33) return null;
  const [depth, colour, interlace] = [body[24]!, body[25]!, body[28]!];
  if (channelsOf[colour] === undefined || ![1, 2, 4, 8, 16].includes(depth) || interlace > 1) return null;
  if (depth < 8 && colour !== 0 && colour !== 3) return null;
  return {
    width: body.readUInt32BE(16),
    height: body.readUInt32BE(20),
    depth,
    colour,
    interlaced: interlace === 1,
  };
}

function readChunks(body: Buffer): { palette: Buffer | null; data: Buffer[] } {
  let palette: Buffer | null = null;
  const data: Buffer[] = [];
  for (let at = 8; at + 12 <= body.length; ) {
    const length = body.readUInt32BE(at);
    const type = body.toString('latin1', at + 4, at + 8);
    const content = body.subarray(at + 8, Math.min(at + 8 + length, body.length));
    if (type === 'PLTE') palette ??= content;
    if (type === 'IDAT') data.push(content);
    if (type === 'IEND') break;
    at += 12 + length;
  }
  return { palette, data };
}

/** Undoes the filters of rows and hands their brightness to the grid. */
class RowReader {
  readonly #layout: Layout;
  readonly #palette: Uint8Array | null;
  readonly #grid: LumaGrid;
  readonly #bytesPerPixel: number;
  readonly #passes: readonly Pass[];
  #pass = -1;
  #row = 0;
  #rows = 0;
  #columns = 0;
  #skipRows = 1;
  #skipColumns = 1;
  #line = Buffer.alloc(0);
  #before = Buffer.alloc(0);
  #filled = 0;
  #rowsSeen = 0;
  #rowsAll = 0;

  constructor(layout: Layout, palette: Buffer | null) {
    this.#layout = layout;
    this.#grid = new LumaGrid(layout.width, layout.height);
    this.#bytesPerPixel = Math.max(1, (channelsOf[layout.colour]! * layout.depth) / 8);
    this.#passes = layout.interlaced ? passes : wholePass;
    this.#palette = palette === null ? null : lumasOf(palette);
    for (const pass of this.#passes) this.#rowsAll += this.#sizeOf(pass).rows;
    this.#nextPass();
  }

  #sizeOf({ x, y, stepX, stepY }: Pass): { columns: number; rows: number } {
    const columns = Math.max(0, Math.ceil((this.#layout.width - x) / stepX));
    return { columns, rows: columns === 0 ? 0 : Math.max(0, Math.ceil((this.#layout.height - y) / stepY)) };
  }

  #nextPass(): void {
    do {
      this.#pass += 1;
      const pass = this.#passes[this.#pass];
      if (pass === undefined) return;
      ({ columns: this.#columns, rows: this.#rows } = this.#sizeOf(pass));
    } while (this.#rows === 0);
    this.#row = 0;
    // Sixteen samples on each side of a cell are plenty.
    this.#skipColumns = Math.max(1, Math.floor(this.#columns / samples));
    this.#skipRows = Math.max(1, Math.floor(this.#rows / samples));
    const bits = this.#columns * channelsOf[this.#layout.colour]! * this.#layout.depth;
    this.#line = Buffer.alloc(1 + Math.ceil(bits / 8));
    this.#before = Buffer.alloc(this.#line.length);
    this.#filled = 0;
  }

  /** Takes inflated bytes; false: there is nothing left to read. */
  take(chunk: Buffer): boolean {
    let at = 0;
    while (at < chunk.length) {
      if (this.#pass >= this.#passes.length) return false;
      const count = Math.min(this.#line.length - this.#filled, chunk.length - at);
      chunk.copy(this.#line, this.#filled, at, at + count);
      this.#filled += count;
      at += count;
      if (this.#filled === this.#line.length) this.#endRow();
    }
    return this.#pass < this.#passes.length;
  }

  #endRow(): void {
    this.#unfilter();
    this.#addRow();
    [this.#before, this.#line] = [this.#line, this.#before];
    this.#filled = 0;
    this.#row += 1;
    this.#rowsSeen += 1;
    if (this.#row === this.#rows) this.#nextPass();
  }

  // PNG specification, 9.2; byte 0 of a line is its filter. A loop for each: nearly all of the time is spent here.
  #unfilter(): void {
    const line = this.#line;
    const before = this.#before;
    const step = this.#bytesPerPixel;
    const length = line.length;
    const start = Math.min(step + 1, length);
    switch (line[0]) {
      case 1:
        for (let i = start; i < length; i += 1) line[i]! += line[i - step]!;
        return;
      case 2:
        for (let i = 1; i < length; i += 1) line[i]! += before[i]!;
        return;
      case 3:
        for (let i = 1; i < start; i += 1) line[i]! += before[i]! >> 1;
        for (let i = start; i < length; i += 1) line[i]! += (line[i - step]! + before[i]!) >> 1;
        return;
      case 4:
        for (let i = 1; i < start; i += 1) line[i]! += before[i]!;
        for (let i = start; i < length; i += 1)
          line[i]! += paeth(line[i - step]!, before[i]!, before[i - step]!);
    }
  }

  #addRow(): void {
    const { x, y, stepX, stepY } = this.#passes[this.#pass]!;
    if (this.#row % this.#skipRows !== 0) return;
    if (!this.#grid.goTo(y + this.#row * stepY)) return;
    for (let column = 0; column < this.#columns; column += this.#skipColumns)
      this.#grid.add(x + column * stepX, this.#lumaAt(column));
  }

  #lumaAt(column: number): number {
    const { depth, colour } = this.#layout;
    const line = this.#line;
    if (depth < 8) {
      const bit = column * depth;
      const value = (line[1 + (bit >> 3)]! >> (8 - depth - (bit & 7))) & ((1 << depth) - 1);
      return colour === 3 ? (this.#palette![value] ?? 0) : (value * 255) / ((1 << depth) - 1);
    }
    // Of sixteen bits the first eight are enough.
    const wide = depth / 8;
    const at = 1 + column * this.#bytesPerPixel;
    switch (colour) {
      case 0:
        return line[at]!;
      case 2:
        return lumaOf(line[at]!, line[at + wide]!, line[at + 2 * wide]!);
      case 3:
        return this.#palette![line[at]!] ?? 0;
      case 4:
        return onWhite(line[at]!, line[at + wide]!);
      default:
        return onWhite(lumaOf(line[at]!, line[at + wide]!, line[at + 2 * wide]!), line[at + 3 * wide]!);
    }
  }

  end(): Decoded {
    return { grid: this.#grid.values(), share: this.#rowsAll === 0 ? 0 : this.#rowsSeen / this.#rowsAll };
  }
}

function lumasOf(palette: Buffer): Uint8Array {
  const lumas = new Uint8Array(256);
  for (let i = 0; i * 3 + 2 < palette.length && i < 256; i += 1)
    lumas[i] = lumaOf(palette[i * 3]!, palette[i * 3 + 1]!, palette[i * 3 + 2]!);
  return lumas;
}

const onWhite = (luma: number, alpha: number): number => 255 + ((luma - 255) * alpha) / 255;

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const toLeft = Math.abs(guess - left);
  const toUp = Math.abs(guess - up);
  const toCorner = Math.abs(guess - corner);
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}
