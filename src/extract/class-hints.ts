import { copyString, findAttribute, type PageNode } from '../html/index.ts';
import type { ClassNames } from './class-names.ts';
import { clearedLender, lender } from './lent-memory.ts';
import { hashNames } from './name-hashes.ts';
import { MAX_NAME_CHARS } from './name-words.ts';

/**
 * What classes, ids and tags tell of the text below them, learnt from pages with reference texts: a weight for each name
 * and each word of one, and for how near it stands. The groups of name-groups.ts are what we know of names; these are the
 * names of content systems, themes and page builders nobody would think of.
 */
export type Hints = { base: number; scale: number; weights: Int8Array; checks: Uint8Array };

/** How many weights there is room for. A name has its slot by its hash, and a check against others that would have it. */
export const HINT_SLOTS = 65_536;
const SLOT_BITS = 16;
/** The slot of a key. */
export const slotOf = (key: number): number => key & (HINT_SLOTS - 1);
/**
 * What must stand in the slot for the weight to be this key's; 0 stands in those nobody has. Most names of a new site are
 * unknown, and must say nothing.
 */
export const checkOf = (key: number): number => key >>> SLOT_BITS || 1;
// What stands further up is shared by most of the page.
const MAX_LEVELS = 7;
const NEAR_LEVELS = 3;
const DISTANCES = 3;

/** Own, near or far. */
const distanceOf = (level: number) => (level === 0 ? 0 : level < NEAR_LEVELS ? 1 : 2);

/** A name at a distance, in 24 bits. */
function keyOf(hash: number, distance: number): number {
  const mixed = Math.imul(hash ^ Math.imul(distance + 1, 0x9e3779b1), 0x85ebca6b);
  return Math.imul(mixed ^ (mixed >>> 15), 0xc2b2ae35) >>> 8;
}

const NONE: readonly number[] = [];

/** The id of an element and its words, as hashes. */
function hashesOfId(node: PageNode): readonly number[] {
  const id = findAttribute(node, 'id');
  if (id < 0) return NONE;
  const table = node.attributes!;
  const start = table.start(id);
  return hashNames(table.source.codes, start, Math.min(table.end(id), start + MAX_NAME_CHARS));
}

const tagHashes = new Map<string, number>();
const MAX_TAGS = 500;

function hashOfTag(tag: string): number {
  const known = tagHashes.get(tag);
  if (known !== undefined) return known;
  let hash = TAG_SEED;
  for (let i = 0; i < tag.length; i++) hash = (Math.imul(hash, 31) + tag.charCodeAt(i)) | 0;
  // Pages may make up tags, and a part of a page would keep all of it.
  if (tagHashes.size < MAX_TAGS) tagHashes.set(copyString(tag), hash);
  return hash;
}

const TAG_SEED = 3;

/** The keys of the names around a text, each as often as it stands there. */
export function keysAround(owner: PageNode, classes: ClassNames): number[] {
  const keys: number[] = [];
  let node: PageNode | null = owner;
  for (let level = 0; level < MAX_LEVELS && node !== null; level++, node = node.parent)
    for (const hash of [...classes.hashes(node.index), ...hashesOfId(node), hashOfTag(node.tag)])
      keys.push(keyOf(hash, distanceOf(level)));
  return keys;
}

/** What some weights say together: many names say little more than few. */
export const weigh = (base: number, sum: number, count: number): number => base + sum / Math.sqrt(count + 1);

const borrowKnown = clearedLender((size) => new Uint8Array(size));
const borrowCounts = lender((size) => new Int32Array(size));
const borrowSums = lender((size) => new Float32Array(size));

/** Tells for each element what the names around it say; blocks share the elements above them, so sums are kept. */
export function hintReader(
  nodeCount: number,
  classes: ClassNames,
  hints: Hints,
): (owner: PageNode) => number {
  const size = (nodeCount + 1) * DISTANCES;
  const known = borrowKnown(size);
  const counts = borrowCounts(nodeCount + 1);
  const sums = borrowSums(size);
  const look = (node: PageNode, distance: number): void => {
    const ofClass = classes.hashes(node.index);
    const ofId = hashesOfId(node);
    counts[node.index] = ofClass.length + ofId.length + 1;
    const at = node.index * DISTANCES + distance;
    known[at] = 1;
    sums[at] =
      sumOf(hints, ofClass, distance) +
      sumOf(hints, ofId, distance) +
      weightOf(hints, hashOfTag(node.tag), distance);
  };
  return (owner) => {
    let sum = 0;
    let count = 0;
    let node: PageNode | null = owner;
    for (let level = 0; level < MAX_LEVELS && node !== null; level++, node = node.parent) {
      const distance = distanceOf(level);
      const at = node.index * DISTANCES + distance;
      if (known[at] === 0) look(node, distance);
      count += counts[node.index]!;
      sum += sums[at]!;
    }
    return weigh(hints.base, sum * hints.scale, count);
  };
}

function sumOf(hints: Hints, hashes: readonly number[], distance: number): number {
  let sum = 0;
  for (let k = 0; k < hashes.length; k++) sum += weightOf(hints, hashes[k]!, distance);
  return sum;
}

function weightOf({ weights, checks }: Hints, hash: number, distance: number): number {
  const key = keyOf(hash, distance);
  const slot = slotOf(key);
  return checks[slot] === checkOf(key) ? weights[slot]! : 0;
}

const HEADER_BYTES = 8;

/** Packs hints for `decodeHints`: base, scale, then weights and checks in order. */
export function encodeHints({ base, scale, weights, checks }: Hints): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES + 2 * HINT_SLOTS);
  bytes.writeFloatLE(base, 0);
  bytes.writeFloatLE(scale, 4);
  bytes.set(Buffer.from(weights.buffer, weights.byteOffset, HINT_SLOTS), HEADER_BYTES);
  bytes.set(checks, HEADER_BYTES + HINT_SLOTS);
  return bytes;
}

/** Unpacks what `encodeHints` packed. */
export function decodeHints(bytes: Buffer): Hints {
  return {
    base: bytes.readFloatLE(0),
    scale: bytes.readFloatLE(4),
    weights: Int8Array.from(bytes.subarray(HEADER_BYTES, HEADER_BYTES + HINT_SLOTS)),
    checks: Uint8Array.from(bytes.subarray(HEADER_BYTES + HINT_SLOTS, HEADER_BYTES + 2 * HINT_SLOTS)),
  };
}
