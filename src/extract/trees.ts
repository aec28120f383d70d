import { lender } from './lent-memory.ts';

/**
 * A sum of small decision trees over a row of features, as flat arrays. A node is followed by its left child; its link
 * holds the feature it asks for in the low byte and the distance to the other child in the high one, so that a step
 * reads two places and not three. A leaf has the feature 255 and its value in `value`.
 */
export type Trees = {
  base: number;
  roots: Int32Array;
  links: Uint16Array;
  value: Float32Array;
};

const LEAF = 255;
/** Whether a link is that of a leaf. */
export const isLeaf = (link: number): boolean => (link & LEAF) === LEAF;
const HEADER_BYTES = 12;
// Where a score is looked at on the way: the share of all trees, the sum on either side from which it is sure, and how
// much further such a sum goes from there on average. On a quarter of the larger benchmark, which the model had
// learnt from, three of four blocks end before the middle and one of nine thousand changes sides.
const STOPS = [
  { share: 0.12, sure: 2, growth: 2.4 },
  { share: 0.18, sure: 2, growth: 1.8 },
  { share: 0.24, sure: 2, growth: 1.6 },
  { share: 0.35, sure: 1.9, growth: 1.45 },
  { share: 0.47, sure: 1.7, growth: 1.35 },
  { share: 0.6, sure: 1.5, growth: 1.25 },
  { share: 0.8, sure: 1.2, growth: 1.1 },
];

/** Packs trees for `decodeTrees`: base, counts, roots, then the three columns. */
export function encodeTrees(trees: Trees): string {
  const nodes = trees.links.length;
  const bytes = Buffer.alloc(HEADER_BYTES + trees.roots.length * 4 + nodes * 6);
  bytes.writeFloatLE(trees.base, 0);
  bytes.writeUInt32LE(trees.roots.length, 4);
  bytes.writeUInt32LE(nodes, 8);
  let at = HEADER_BYTES;
  for (const root of trees.roots) at = bytes.writeUInt32LE(root, at);
  for (let i = 0; i < nodes; i++) bytes[at++] = trees.links[i]! & LEAF;
  for (let i = 0; i < nodes; i++) bytes[at++] = trees.links[i]! >> 8;
  for (let i = 0; i < nodes; i++) at = bytes.writeFloatLE(trees.value[i]!, at);
  return bytes.toString('base64');
}

/** Unpacks what `encodeTrees` packed. */
export function decodeTrees(packed: string): Trees {
  const bytes = Buffer.from(packed, 'base64');
  const count = bytes.readUInt32LE(4);
  const nodes = bytes.readUInt32LE(8);
  const roots = new Int32Array(count);
  let at = HEADER_BYTES;
  for (let i = 0; i < count; i++, at += 4) roots[i] = bytes.readUInt32LE(at);
  const links = new Uint16Array(nodes);
  for (let i = 0; i < nodes; i++) links[i] = bytes[at + i]! | (bytes[at + nodes + i]! << 8);
  at += 2 * nodes;
  const value = new Float32Array(nodes);
  for (let i = 0; i < nodes; i++, at += 4) value[i] = bytes.readFloatLE(at);
  return { base: bytes.readFloatLE(0), roots, links, value };
}

const borrowOpen = lender((size) => new Int32Array(size));

/**
 * Writes the probability of every wanted row, of `width` features each, into `chances`. All rows go through the trees
 * before a stop before any goes on: those few kilobytes stay in the processor's nearest memory.
 */
export function scoreRows(
  trees: Trees,
  { rows, width, wanted }: { rows: Float32Array; width: number; wanted: Uint8Array },
  chances: Float64Array,
): void {
  const open = borrowOpen(chances.length);
  let left = 0;
  for (let i = 0; i < chances.length; i++) {
    if (wanted[i] === 0) continue;
    open[left++] = i;
    chances[i] = trees.base;
  }
  const count = trees.roots.length;
  let from = 0;
  for (const { share, sure, growth } of STOPS) {
    const to = Math.floor(share * count);
    let undecided = 0;
    for (let k = 0; k < left; k++) {
      const i = open[k]!;
      const sum = chances[i]! + sumLeaves(trees, rows, i * width, from, to);
      const isSure = sum > sure || sum < -sure;
      chances[i] = isSure ? chanceOf(sum * growth) : sum;
      if (!isSure) open[undecided++] = i;
    }
    left = undecided;
    from = to;
  }
  for (let k = 0; k < left; k++) {
    const i = open[k]!;
    chances[i] = chanceOf(chances[i]! + sumLeaves(trees, rows, i * width, from, count));
  }
}

const chanceOf = (sum: number) => 1 / (1 + Math.exp(-sum));

function sumLeaves(trees: Trees, rows: Float32Array, offset: number, from: number, to: number): number {
  const { roots, links, value } = trees;
  let sum = 0;
  for (let t = from; t < to; t++) {
    let at = roots[t]!;
    let link = links[at]!;
    while ((link & LEAF) !== LEAF) {
      at += rows[offset + (link & LEAF)]! <= value[at]! ? 1 : link >> 8;
      link = links[at]!;
    }
    sum += value[at]!;
  }
  return sum;
}
