import type { Block } from '../../../src/extract/blocks.ts';
import {
  checkOf,
  HINT_SLOTS,
  type Hints,
  keysAround,
  slotOf,
  weigh,
} from '../../../src/extract/class-hints.ts';
import type { ClassNames } from '../../../src/extract/class-names.ts';
import type { Labels } from './labels.ts';
import { seededRandom } from './random.ts';

/** What the class names around the blocks of one page ask for, with what each block should be told. */
export type NamedBlocks = { site: string; keys: Uint32Array[]; target: number[]; weight: number[] };

/** Notes the names around every block with words; the classes are only good until the next page is read. */
export function readNames(
  site: string,
  blocks: readonly Block[],
  classes: ClassNames,
  labels: Labels,
  weightOf: (words: number) => number,
): NamedBlocks {
  const named: NamedBlocks = { site, keys: [], target: [], weight: [] };
  blocks.forEach(({ owner }, i) => {
    if (labels.words[i] === 0) return;
    named.keys.push(Uint32Array.from(keysAround(owner, classes)));
    named.target.push(labels.share[i]!);
    named.weight.push(Math.min(MAX_WEIGHT, weightOf(labels.words[i]!)));
  });
  return named;
}

// One block of a short page must not pull a name to its side.
const MAX_WEIGHT = 3;
const ROUNDS = 6;
const RATE = 0.15;
const SHRINK = 2e-6;
const BASE_RATE = 0.02;
// Names of fewer sites than this say nothing about the sites to come.
const MIN_SITES = 3;

/** Learns what names tell: a logistic regression over all of them, by small steps that shrink with use. */
export function learnHints(pages: readonly NamedBlocks[]): Hints {
  const checks = findShared(pages);
  const weights = new Float32Array(HINT_SLOTS);
  const squares = new Float32Array(HINT_SLOTS).fill(1e-3);
  let base = 0;
  const known = pages.map(({ keys }) =>
    keys.map((asked) =>
      Uint16Array.from(
        asked.filter((key) => checks[slotOf(key)] === checkOf(key)),
        slotOf,
      ),
    ),
  );
  const places = pages.flatMap((page, p) => page.keys.map((_, i) => [p, i] as const));
  const random = seededRandom(5);
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = places.length - 1; i > 0; i--) {
      const other = Math.floor(random() * (i + 1));
      [places[i], places[other]] = [places[other]!, places[i]!];
    }
    for (const [p, i] of places) {
      const { keys, target, weight } = pages[p]!;
      const asked = known[p]![i]!;
      const count = keys[i]!.length;
      const share = 1 / Math.sqrt(count + 1);
      let sum = 0;
      for (const slot of asked) sum += weights[slot]!;
      const error = (chance(weigh(base, sum, count)) - target[i]!) * weight[i]!;
      base -= BASE_RATE * error;
      for (const slot of asked) {
        const slope = error * share + SHRINK * weights[slot]!;
        squares[slot]! += slope * slope;
        weights[slot]! -= (RATE * slope) / Math.sqrt(squares[slot]!);
      }
    }
  }
  return { ...pack(base, weights), checks };
}

const chance = (sum: number) => 1 / (1 + Math.exp(-sum));

/** By slot the check of the name that has it: of those on enough sites the one on most. */
function findShared(pages: readonly NamedBlocks[]): Uint8Array {
  const sites = new Map<number, Set<string>>();
  for (const { site, keys } of pages) {
    for (const key of new Set(keys.flatMap((asked) => [...asked]))) {
      const seen = sites.get(key);
      if (seen === undefined) sites.set(key, new Set([site]));
      else seen.add(site);
    }
  }
  const checks = new Uint8Array(HINT_SLOTS);
  const most = new Uint32Array(HINT_SLOTS);
  for (const [key, { size }] of sites) {
    const slot = slotOf(key);
    if (size < MIN_SITES || size <= most[slot]!) continue;
    most[slot] = size;
    checks[slot] = checkOf(key);
  }
  return checks;
}

function pack(base: number, weights: Float32Array): Omit<Hints, 'checks'> {
  const most = weights.reduce((max, weight) => Math.max(max, Math.abs(weight)), 1e-6);
  const scale = most / 127;
  return { base, scale, weights: Int8Array.from(weights, (weight) => Math.round(weight / scale)) };
}
