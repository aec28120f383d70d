import { type Decoded, LumaGrid, lumaOf } from './grid.ts';

/** Reads the first picture of a GIF. null: not one we can read. */
export function decodeGif(body: Buffer): Decoded | null {
  if (body.length < 13) return null;
  const [screenWidth, screenHeight, flags] = [body.readUInt16LE(6), body.readUInt16LE(8), body[10]!];
  let at = 13;
  let colours = coloursAt(body, at, flags);
  at += colours?.bytes ?? 0;
  for (;;) {
    const kind = body[at];
    if (kind === 0x21) {
      at = skipBlocks(body, at + 2);
      continue;
    }
    if (kind !== 0x2c || at + 10 > body.length) return null;
    const own = coloursAt(body, at + 10, body[at + 9]!);
    colours = own ?? colours;
    if (colours === null) return null;
    const frame: Frame = {
      left: body.readUInt16LE(at + 1),
      top: body.readUInt16LE(at + 3),
      width: body.readUInt16LE(at + 5),
      height: body.readUInt16LE(at + 7),
      interlaced: (body[at + 9]! & 0x40) !== 0,
    };
    const grid = new LumaGrid(screenWidth, screenHeight);
    const drawn = drawFrame(body, at + 10 + (own?.bytes ?? 0), frame, colours.lumas, grid);
    const all = frame.width * frame.height;
    return all === 0 ? null : { grid: grid.values(), share: drawn / all };
  }
}

type Frame = { left: number; top: number; width: number; height: number; interlaced: boolean };

function coloursAt(body: Buffer, at: number, flags: number): { bytes: number; lumas: Uint8Array } | null {
  if ((flags & 0x80) === 0) return null;
  const count = 2 << (flags & 7);
  const lumas = new Uint8Array(256);
  for (let i = 0; i < count && at + i * 3 + 2 < body.length; i += 1)
    lumas[i] = lumaOf(body[at + i * 3]!, body[at + i * 3 + 1]!, body[at + i * 3 + 2]!);
  return { bytes: count * 3, lumas };
}

function skipBlocks(body: Buffer, from: number): number {
  let at = from;
  while (at < body.length && body[at] !== 0) at += body[at]! + 1;
  return at + 1;
}

/** The data of a frame without the lengths of its blocks. */
function joinBlocks(body: Buffer, from: number): Buffer {
  const parts: Buffer[] = [];
  for (let at = from; at < body.length && body[at] !== 0; at += body[at]! + 1)
    parts.push(body.subarray(at + 1, at + 1 + body[at]!));
  return Buffer.concat(parts);
}

/** Rows in the order in which they come. */
function rowsOf({ height, interlaced }: Frame): (nth: number) => number {
  if (!interlaced) return (nth) => nth;
  const order: number[] = [];
  for (const [start, step] of [
    [0, 8],
    [4, 8],
    [2, 4],
    [1, 2],
  ] as const)
    for (let y = start; y < height; y += step) order.push(y);
  return (nth) => order[nth] ?? -1;
}

const mostCodes = 4096;

/** LZW as GIF has it; answers how many pixels there were. */
function drawFrame(body: Buffer, at: number, frame: Frame, lumas: Uint8Array, grid: LumaGrid): number {
  const minBits = body[at] ?? 0;
  if (minBits < 1 || minBits > 11) return 0;
  const data = joinBlocks(body, at + 1);
  const clear = 1 << minBits;
  const prefix = new Int16Array(mostCodes);
  const suffix = new Uint8Array(mostCodes);
  for (let i = 0; i < clear; i += 1) suffix[i] = i;
  const stack = new Uint8Array(mostCodes + 1);
  const rowAt = rowsOf(frame);
  const all = frame.width * frame.height;
  let [next, bits, last, first] = [clear + 2, minBits + 1, -1, 0];
  let [held, count, drawn, x, nth] = [0, 0, 0, 0, 0];
  let isInside = grid.goTo(frame.top + rowAt(0));
  for (let from = 0; from < data.length && drawn < all; ) {
    while (count < bits && from < data.length) {
      held |= data[from]! << count;
      from += 1;
      count += 8;
    }
    if (count < bits) break;
    let code = held & ((1 << bits) - 1);
    held >>>= bits;
    count -= bits;
    if (code === clear) {
      [next, bits, last] = [clear + 2, minBits + 1, -1];
      continue;
    }
    if (code === clear + 1 || code > next || (last === -1 && code >= clear)) break;
    const given = code;
    let depth = 0;
    if (code === next) {
      stack[depth++] = first;
      code = last;
    }
    while (code >= clear) {
      stack[depth++] = suffix[code]!;
      code = prefix[code]!;
    }
    first = suffix[code]!;
    stack[depth++] = first;
    if (last !== -1 && next < mostCodes) {
      prefix[next] = last;
      suffix[next] = first;
      next += 1;
      if (next === 1 << bits && bits < 12) bits += 1;
    }
    last = given;
    while (depth > 0 && drawn < all) {
      depth -= 1;
      if (isInside) grid.add(frame.left + x, lumas[stack[depth]!]!);
      drawn += 1;
      x += 1;
      if (x === frame.width) {
        x = 0;
        nth += 1;
        isInside = grid.goTo(frame.top + rowAt(nth));
      }
    }
  }
  return drawn;
}
