import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type Decoded, gridSide, LumaGrid, lumaOf } from './grid.ts';

type Pixels = { data: Uint8ClampedArray; width: number; height: number };
type Codec = { init(module: unknown): Promise<void>; default(body: ArrayBuffer): Promise<Pixels> };
// Of a runtime that knows WebAssembly but not by its types.
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<unknown> };

const samples = 16 * gridSide;
let codec: Promise<Codec> | null = null;

/** libwebp as WebAssembly: 138 kB, loaded by the first picture that needs it. */
async function loadCodec(): Promise<Codec> {
  const own = createRequire(import.meta.url);
  const file = await readFile(own.resolve('@jsquash/webp/codec/dec/webp_dec.wasm'));
  // The decoder hands its pixels over in an object that only browsers have.
  const browser = globalThis as { ImageData?: unknown };
  browser.ImageData ??= class {
    readonly data: Uint8ClampedArray;
    readonly width: number;
    readonly height: number;

    constructor(data: Uint8ClampedArray, width: number, height: number) {
      this.data = data;
      this.width = width;
      this.height = height;
    }
  };
  const loaded = (await import('@jsquash/webp/decode.js')) as unknown as Codec;
  await loaded.init(await WebAssembly.compile(file));
  return loaded;
}

/** Decodes a still WebP. null: it moves, or the decoder gave up for reasons of its own (memory). */
export async function decodeWebp(body: Buffer): Promise<Decoded | null> {
  const isAnimated = body.toString('latin1', 12, 16) === 'VP8X' && (body[20]! & 0x02) !== 0;
  if (isAnimated) return null;
  codec ??= loadCodec();
  try {
    const { default: decode } = await codec;
    // A copy: small bodies share their memory with others.
    const picture = await decode(new Uint8Array(body).buffer);
    return { grid: gridOf(picture), share: 1 };
  } catch (error) {
    // What libwebp cannot read no browser shows.
    if (error instanceof Error && error.message === 'Decoding error')
      return { grid: new Float64Array(gridSide * gridSide), share: 0 };
    // An instance that ran out of memory is of no more use.
    codec = null;
    return null;
  }
}

function gridOf({ data, width, height }: Pixels): Float64Array {
  const grid = new LumaGrid(width, height);
  const stepX = Math.max(1, Math.floor(width / samples));
  const stepY = Math.max(1, Math.floor(height / samples));
  for (let y = 0; y < height; y += stepY) {
    grid.goTo(y);
    for (let x = 0; x < width; x += stepX) {
      const at = (y * width + x) * 4;
      const luma = lumaOf(data[at]!, data[at + 1]!, data[at + 2]!);
      grid.add(x, 255 + ((luma - 255) * data[at + 3]!) / 255);
    }
  }
  return grid.values();
}
