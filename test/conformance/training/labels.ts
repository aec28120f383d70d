import type { Block } from '../../../src/extract/blocks.ts';

// Where no spaces part the words every letter stands for one.
const WORD =
  /[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]|(?:(?![\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff])[\p{L}\p{N}_])+/gu;
const wordsOf = (text: string): string[] => text.match(WORD) ?? [];

/** For each block the share of its words that the reference text holds, its word count, and the reference's own. */
export type Labels = { share: Float64Array; words: number[]; truthWords: number };

// A block counts as placed in the reference when this share of it is found there.
const PLACED = 0.3;
// How far from its neighbours' place a short line may be found.
const REACH = 60;

// From this many words on a block is found in the reference without looking at its neighbours.
const SURE_WORDS = 10;
const RUN = 4;
// Slack in words around the neighbours' places.
const SLACK = 6;

/**
 * Aligns blocks with a reference text by shared runs of four words: long blocks first, the longest before all, so that
 * a teaser does not take the place of the paragraph it repeats; then lines of some words where their neighbours stand,
 * so that an entry in a table of contents does not take the place of the heading it names; then what is left wherever
 * it is found. Blocks of fewer than four words go by place alone.
 */
export function labelBlocks(blocks: Block[], truth: string): Labels {
  const ids = new Map<string, number>();
  const reference = wordsOf(truth).map((word) => {
    const id = ids.get(word) ?? ids.size + 1;
    ids.set(word, id);
    return id;
  });
  const words = blocks.map((block) => wordsOf(block.text).map((word) => ids.get(word) ?? 0));
  const share = new Float64Array(blocks.length);
  const place = new Int32Array(blocks.length).fill(-1);
  alignRuns(words, reference, share, place);
  alignShort(words, reference, share, place);
  return { share, words: words.map((list) => list.length), truthWords: reference.length };
}

function alignRuns(words: number[][], reference: number[], share: Float64Array, place: Int32Array): void {
  const runs = new Map<string, number[]>();
  for (let i = 0; i + RUN <= reference.length; i++) {
    const key = reference.slice(i, i + RUN).join();
    const list = runs.get(key);
    if (list === undefined) runs.set(key, [i]);
    else list.push(i);
  }
  const used = new Uint8Array(reference.length);
  const order = words.map((_, i) => i).filter((i) => words[i]!.length >= RUN);
  order.sort((a, b) => words[b]!.length - words[a]!.length);
  const alignOne = (i: number, low: number, high: number): void => {
    const list = words[i]!;
    const hit = new Uint8Array(list.length);
    const taken: number[] = [];
    let expected = -1;
    let first = -1;
    for (let j = 0; j + RUN <= list.length; j++) {
      const found = runs.get(list.slice(j, j + RUN).join());
      const free = (q: number) => used[q] === 0 && q >= low && q <= high;
      const at =
        found === undefined
          ? -1
          : found.includes(expected) && free(expected)
            ? expected
            : (found.find(free) ?? -1);
      expected = at < 0 ? -1 : at + 1;
      if (at < 0) continue;
      taken.push(at);
      hit.fill(1, j, j + RUN);
      if (first < 0) first = at;
    }
    share[i] = hit.reduce((sum, one) => sum + one, 0) / list.length;
    if (share[i]! <= PLACED) return;
    place[i] = first;
    for (const at of taken) used[at] = 1;
  };
  const whole = reference.length;
  for (const i of order) if (words[i]!.length >= SURE_WORDS) alignOne(i, 0, whole);
  const [after, before] = neighbourPlaces(words, place, whole);
  const lines = order.filter((i) => words[i]!.length < SURE_WORDS);
  for (const i of lines) if (after[i]! <= before[i]!) alignOne(i, after[i]! - SLACK, before[i]! + SLACK);
  for (const i of lines) if (place[i]! < 0) alignOne(i, 0, whole);
}

/** Between which places of the reference a block should stand, by the blocks placed before and after it. */
function neighbourPlaces(words: number[][], place: Int32Array, whole: number): [Int32Array, Int32Array] {
  const after = new Int32Array(place.length);
  const before = new Int32Array(place.length);
  for (let i = 0, at = 0; i < place.length; i++) {
    after[i] = at;
    if (place[i]! >= 0) at = place[i]! + words[i]!.length;
  }
  for (let i = place.length - 1, at = whole; i >= 0; i--) {
    before[i] = at;
    if (place[i]! >= 0) at = place[i]!;
  }
  return [after, before];
}

function alignShort(words: number[][], reference: number[], share: Float64Array, place: Int32Array): void {
  const starts = new Map<number, number[]>();
  reference.forEach((word, i) => {
    const list = starts.get(word);
    if (list === undefined) starts.set(word, [i]);
    else list.push(i);
  });
  const next = new Int32Array(words.length);
  for (let i = words.length - 1, at = reference.length; i >= 0; i--) {
    next[i] = at;
    if (place[i]! >= 0) at = place[i]!;
  }
  const taken = new Uint8Array(reference.length);
  let end = 0;
  let started = false;
  for (let i = 0; i < words.length; i++) {
    const list = words[i]!;
    if (place[i]! >= 0) {
      end = place[i]! + list.length;
      started = true;
      continue;
    }
    if (list.length === 0 || list.length >= 4 || list[0] === 0) continue;
    const low = Math.max(0, end - 3);
    const high = Math.min(next[i]! + 3, started ? end + REACH : reference.length);
    for (const at of starts.get(list[0]!) ?? []) {
      if (at < low || at > high) continue;
      if (!list.every((word, m) => reference[at + m] === word && taken[at + m] === 0)) continue;
      if (!started && at > 0 && (next[i] === reference.length || next[i]! - at > 40)) continue;
      share[i] = 1;
      taken.fill(1, at, at + list.length);
      end = at + list.length;
      break;
    }
  }
}
