import type { Block } from '../../../src/extract/blocks.ts';

const WORD = /[\p{L}\p{N}_]+/gu;
const wordsOf = (text: string): string[] => text.match(WORD) ?? [];

/** For each block the share of its words that the reference text holds, its word count, and the reference's own. */
export type Labels = { share: Float64Array; words: number[]; truthWords: number };

// A block counts as placed in the reference when this share of it is found there.
const PLACED = 0.3;
// How far from its neighbours' place a short line may be found.
const REACH = 60;

/**
 * Aligns blocks with a reference text: blocks of four words and more by shared runs of four words, the longest first so
 * that a teaser does not take the place of the paragraph it repeats; shorter ones by place between their neighbours.
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
  alignLong(words, reference, share, place);
  alignShort(words, reference, share, place);
  return { share, words: words.map((list) => list.length), truthWords: reference.length };
}

function alignLong(words: number[][], reference: number[], share: Float64Array, place: Int32Array): void {
  const runs = new Map<string, number[]>();
  for (let i = 0; i + 4 <= reference.length; i++) {
    const key = reference.slice(i, i + 4).join();
    const list = runs.get(key);
    if (list === undefined) runs.set(key, [i]);
    else list.push(i);
  }
  const used = new Uint8Array(reference.length);
  const order = words.map((_, i) => i).filter((i) => words[i]!.length >= 4);
  order.sort((a, b) => words[b]!.length - words[a]!.length);
  for (const i of order) {
    const list = words[i]!;
    const hit = new Uint8Array(list.length);
    const taken: number[] = [];
    let expected = -1;
    let first = -1;
    for (let j = 0; j + 4 <= list.length; j++) {
      const found = runs.get(list.slice(j, j + 4).join());
      const at =
        found === undefined
          ? -1
          : found.includes(expected) && used[expected] === 0
            ? expected
            : (found.find((q) => used[q] === 0) ?? -1);
      expected = at < 0 ? -1 : at + 1;
      if (at < 0) continue;
      taken.push(at);
      hit.fill(1, j, j + 4);
      if (first < 0) first = at;
    }
    share[i] = hit.reduce((sum, one) => sum + one, 0) / list.length;
    if (share[i]! <= PLACED) continue;
    place[i] = first;
    for (const at of taken) used[at] = 1;
  }
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
