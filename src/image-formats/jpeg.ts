import { type Decoded, LumaGrid } from './grid.ts';
import { isFrameMarker, jpegSegments } from './header.ts';
import { BitReader, type HuffmanTable, readHuffmanTables } from './jpeg-bits.ts';

type Component = { id: number; across: number; down: number; table: number };
type Frame = { width: number; height: number; progressive: boolean; components: Component[] };
type Scan = { components: { of: Component; dc: HuffmanTable; ac: HuffmanTable | null }[]; shift: number };

/**
 * Reads a JPEG's brightness at an eighth of its size, from the first coefficient of each 8 × 8 block alone: no cosine
 * transform, no colours, and memory for nothing but the grid. Of a progressive file only the first scan is read. null:
 * lossless, arithmetic or hierarchical files, which no browser shows, and files for print (four colours), whose first
 * one is not their brightness.
 */
export function decodeJpeg(body: Buffer): Decoded | null {
  let frame: Frame | null = null;
  let restartEvery = 0;
  const quantizers = new Map<number, number>();
  const tables = new Map<number, HuffmanTable>();
  for (const { marker, start, end } of jpegSegments(body)) {
    if (marker === 0xdb) readQuantizers(body, start, end, quantizers);
    else if (marker === 0xc4) readHuffmanTables(body, start, end, tables);
    else if (marker === 0xdd && end - start >= 2) restartEvery = body.readUInt16BE(start);
    else if (isFrameMarker(marker)) {
      if (marker > 0xc2 || frame !== null) return null;
      frame = readFrame(body, start, end, marker === 0xc2);
      if (frame === null) return null;
    } else if (marker === 0xda) {
      // The first scan has the brightness: alone, or together with the colours.
      const scan: Scan | null = frame === null ? null : readScan(body, start, end, frame, tables);
      if (frame === null || scan === null) return null;
      const quantizer = quantizers.get(frame.components[0]!.table) ?? 1;
      return decodeScan(new BitReader(body, end), frame, scan, { restartEvery, quantizer });
    }
  }
  return null;
}

function readQuantizers(body: Buffer, start: number, end: number, into: Map<number, number>): void {
  for (let at = start; at < end; ) {
    const wide = body[at]! >> 4;
    const length = 1 + 64 * (wide + 1);
    if (wide > 1 || at + length > end) return;
    into.set(body[at]! & 15, wide === 0 ? body[at + 1]! : body.readUInt16BE(at + 1));
    at += length;
  }
}

function readFrame(body: Buffer, start: number, end: number, progressive: boolean): Frame | null {
  const count = body[start + 5] ?? 0;
  if (end - start < 6 + count * 3 || count < 1 || count > 3 || body[start] !== 8) return null;
  const components: Component[] = [];
  for (let i = 0; i < count; i += 1) {
    const at = start + 6 + i * 3;
    const [across, down] = [body[at + 1]! >> 4, body[at + 1]! & 15];
    if (across < 1 || across > 4 || down < 1 || down > 4) return null;
    components.push({ id: body[at]!, across, down, table: body[at + 2]! });
  }
  return {
    width: body.readUInt16BE(start + 3),
    height: body.readUInt16BE(start + 1),
    progressive,
    components,
  };
}

function readScan(
  body: Buffer,
  start: number,
  end: number,
  frame: Frame,
  tables: ReadonlyMap<number, HuffmanTable>,
): Scan | null {
  const count = body[start] ?? 0;
  if (end - start < 4 + count * 2 || count < 1 || count > 4) return null;
  const after = start + 1 + count * 2;
  const components: Scan['components'] = [];
  for (let i = 0; i < count; i += 1) {
    const [id, which] = [body[start + 1 + i * 2]!, body[start + 2 + i * 2]!];
    const of = frame.components.find((one) => one.id === id);
    const dc = tables.get(which >> 4);
    const ac = frame.progressive ? null : (tables.get(0x10 | (which & 15)) ?? null);
    if (of === undefined || dc === undefined || (ac === null && !frame.progressive)) return null;
    components.push({ of, dc, ac });
  }
  if (components[0]!.of !== frame.components[0]) return null;
  // A progressive file begins with the first coefficients, whole or without their last bits.
  if (frame.progressive && (body[after] !== 0 || body[after + 1] !== 0 || body[after + 2]! >> 4 !== 0))
    return null;
  return { components, shift: frame.progressive ? body[after + 2]! & 15 : 0 };
}

function decodeScan(
  bits: BitReader,
  frame: Frame,
  { components, shift }: Scan,
  { restartEvery, quantizer }: { restartEvery: number; quantizer: number },
): Decoded {
  const most = { across: 1, down: 1 };
  for (const { across, down } of frame.components) {
    most.across = Math.max(most.across, across);
    most.down = Math.max(most.down, down);
  }
  const lead = frame.components[0]!;
  // Pixels of the picture that one block of brightness covers: 8 unless the colours are finer than it.
  const [blockWidth, blockHeight] = [(8 * most.across) / lead.across, (8 * most.down) / lead.down];
  const blocksAcross = Math.ceil(frame.width / blockWidth);
  const blocksDown = Math.ceil(frame.height / blockHeight);
  const alone = components.length === 1;
  const unitsAcross = alone ? blocksAcross : Math.ceil(frame.width / (8 * most.across));
  const unitsDown = alone ? blocksDown : Math.ceil(frame.height / (8 * most.down));
  const grid = new LumaGrid(frame.width / blockWidth, frame.height / blockHeight);
  const before = new Int32Array(components.length);
  const units = unitsAcross * unitsDown;
  let unit = 0;
  for (; unit < units && !bits.isEnded; unit += 1) {
    if (restartEvery > 0 && unit > 0 && unit % restartEvery === 0) {
      if (!bits.restart()) break;
      before.fill(0);
    }
    const [unitX, unitY] = [unit % unitsAcross, Math.floor(unit / unitsAcross)];
    for (const [nth, { of, dc, ac }] of components.entries()) {
      const [across, down] = alone ? [1, 1] : [of.across, of.down];
      for (let y = 0; y < down; y += 1)
        for (let x = 0; x < across; x += 1) {
          before[nth]! += bits.difference(dc);
          if (ac !== null) bits.skipBlock(ac);
          if (nth > 0) continue;
          const luma = 128 + ((before[0]! << shift) * quantizer) / 8;
          if (grid.goTo(unitY * down + y)) grid.add(unitX * across + x, Math.min(255, Math.max(0, luma)));
        }
    }
  }
  return { grid: grid.values(), share: units === 0 ? 0 : unit / units };
}
