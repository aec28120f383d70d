import type { Page } from '../html/index.ts';
import type { BlockModel } from './block-model.ts';
import type { Block } from './blocks.ts';
import { FEATURE_COUNT } from './feature-names.ts';
import { type BlockContext, computeFeatures, type Features } from './features.ts';
import type { Headline } from './headline.ts';
import { isLayoutLine } from './layout-lines.ts';
import { lender } from './lent-memory.ts';
import { applyPriors } from './priors.ts';
import { findTables } from './tables.ts';
import { scoreRows, type Trees } from './trees.ts';

/** The blocks of the article and how sure the choice is, 0 to 1. */
export type Selection = { kept: Block[]; confidence: number };

const isHeading = (tag: string) => tag.length === 2 && tag[0] === 'h' && tag[1]! >= '2' && tag[1]! <= '6';
// A heading belongs to what it heads: this share of its probability comes from the block below it.
const HEADING_SHARE = 0.3;
// The bar is set a little below the one that maximises the expected F1: a lost paragraph hurts more than a kept line.
const BAR_SHARE = 0.78;
const MIN_BAR = 0.2;
const MAX_BAR = 0.6;
// Of the chances below this every one gives the lowest bar.
const LOWEST_CHANCE = MIN_BAR / BAR_SHARE;
// Cost of going in or out of the article, against evidence that grows with the square root of a block's words.
const SWITCH_COST = 1;

// The chance of a menu entry that is not even scored.
const HOPELESS = 0.002;

/** The chance of every block, the bar it must reach, which are kept, and the first that is of the next story. */
export type Judgement = {
  features: Features;
  chances: Float64Array;
  bar: number;
  keep: boolean[];
  nextStory: number;
};

/** Scores every block and decides which are kept. */
export function judgeBlocks(
  page: Page,
  blocks: Block[],
  context: BlockContext,
  model: BlockModel,
): Judgement {
  const features = computeFeatures(page, blocks, context, model.hints);
  const chances = scoreBlocks(blocks, features, model.trees);
  applyPriors(blocks, features, chances);
  const { bar, keep } = chooseBlocks(blocks, chances);
  keepFormulas(blocks, keep);
  keepCode(blocks, keep);
  decideTables(blocks, keep);
  dropCopies(blocks, keep);
  const nextStory = findNextStory(page, blocks, keep, context.headline);
  keep.fill(false, nextStory);
  for (let i = 0; i < blocks.length; i++) if (keep[i] && isLayoutLine(blocks[i]!)) keep[i] = false;
  return { features, chances, bar, keep, nextStory };
}

/** The probability of every block to belong to the article. */
export function scoreBlocks(blocks: Block[], { rows, wanted }: Features, trees: Trees): Float64Array {
  const chances = new Float64Array(blocks.length).fill(HOPELESS);
  scoreRows(trees, { rows, width: FEATURE_COUNT, wanted }, chances);
  for (let i = blocks.length - 2; i >= 0; i--) {
    if (isHeading(blocks[i]!.owner.tag))
      chances[i] = chances[i]! * (1 - HEADING_SHARE) + chances[i + 1]! * HEADING_SHARE;
  }
  return chances;
}

/**
 * The probability at which taking one more block stops raising the F1 one can expect of the page: pages we understand
 * get a bar near one half, doubtful ones a lower one.
 */
function decideBar(blocks: Block[], chances: Float64Array): number {
  let expected = 0;
  for (let i = 0; i < blocks.length; i++) expected += chances[i]! * blocks[i]!.words;
  let hits = 0;
  let words = 0;
  let best = 0;
  let bar = 1;
  const take = (above: number, upTo: number) => {
    const order: number[] = [];
    for (let i = 0; i < blocks.length; i++) if (chances[i]! > above && chances[i]! <= upTo) order.push(i);
    for (const i of order.sort((a, b) => chances[b]! - chances[a]!)) {
      hits += chances[i]! * blocks[i]!.words;
      words += blocks[i]!.words;
      const f1 = (2 * hits) / (words + expected + 1);
      if (f1 <= best) continue;
      best = f1;
      bar = chances[i]!;
    }
  };
  // Sorting all blocks took longer than all the rest: one of less than half the F1 so far cannot raise it.
  take(LOWEST_CHANCE, 1);
  if (best < 2 * LOWEST_CHANCE) take(best / 2, LOWEST_CHANCE);
  return Math.min(MAX_BAR, Math.max(MIN_BAR, bar * BAR_SHARE));
}

const borrowFromIn = lender((size) => new Uint8Array(size));
const borrowFromOut = lender((size) => new Uint8Array(size));

/** The most probable run of kept and dropped blocks (Viterbi over two states). */
function decideRuns(blocks: Block[], chances: Float64Array, bar: number): boolean[] {
  const count = blocks.length;
  const fromIn = borrowFromIn(count);
  const fromOut = borrowFromOut(count);
  let out = 0;
  let inside = 0;
  for (let i = 0; i < count; i++) {
    const chance = Math.min(0.999, Math.max(0.001, chances[i]!));
    const weight = Math.sqrt(blocks[i]!.words + 1);
    const leave = inside - SWITCH_COST;
    const enter = out - SWITCH_COST;
    fromOut[i] = out >= leave ? 0 : 1;
    fromIn[i] = inside >= enter ? 1 : 0;
    const nextOut = Math.max(out, leave) + Math.log((1 - chance) / (1 - bar)) * weight;
    inside = Math.max(inside, enter) + Math.log(chance / bar) * weight;
    out = nextOut;
  }
  const kept = new Array<boolean>(count).fill(false);
  let state = inside > out ? 1 : 0;
  for (let i = count - 1; i >= 0; i--) {
    kept[i] = state === 1;
    state = state === 1 ? fromIn[i]! : fromOut[i]!;
  }
  return kept;
}

/** A formula that stands alone goes with the text before it or, where there is none, after it. */
function keepFormulas(blocks: Block[], keep: boolean[]): void {
  for (let i = 1; i < blocks.length; i++) if (blocks[i]!.isFormula && keep[i - 1]) keep[i] = true;
  for (let i = blocks.length - 2; i >= 0; i--) if (blocks[i]!.isFormula && keep[i + 1]) keep[i] = true;
}

/** Code between two kept lines is what they speak of, however little it looks like text. */
function keepCode(blocks: Block[], keep: boolean[]): void {
  for (let from = 0; from < blocks.length; from++) {
    if (blocks[from]!.owner.tag !== 'pre') continue;
    let to = from + 1;
    while (to < blocks.length && blocks[to]!.owner.tag === 'pre') to++;
    if (keep[from - 1] && keep[to]) keep.fill(true, from, to);
    from = to;
  }
}

// Of a table inside the text more than this share must be kept by itself, of another more than half.
const TABLE_SHARE = 0.1;

/** A table of data is kept whole or not at all: half of one says something else. */
function decideTables(blocks: Block[], keep: boolean[]): void {
  for (const { from, to } of findTables(blocks)) {
    let words = 0;
    let kept = 0;
    for (let i = from; i < to; i++) {
      words += blocks[i]!.words;
      if (keep[i]) kept += blocks[i]!.words;
    }
    const isInside = keep[from - 1] === true && keep[to] === true;
    keep.fill(kept > words * (isInside ? TABLE_SHARE : 0.5), from, to);
  }
}

// Shorter lines may well come twice in an article.
const COPY_WORDS = 8;

/** Pages carry paragraphs twice, for wide and for narrow screens; the reader sees one. */
function dropCopies(blocks: Block[], keep: boolean[]): void {
  const seen = new Set<string>();
  for (let i = 0; i < blocks.length; i++) {
    const { text, words } = blocks[i]!;
    if (!keep[i] || words < COPY_WORDS) continue;
    if (seen.has(text)) keep[i] = false;
    seen.add(text);
  }
}

// A text before the next story has more words than a teaser.
const STORY_WORDS = 50;

/** Where this story ends on pages that go on with the next: at a headline, not at a heading beside paragraphs. */
function findNextStory(page: Page, blocks: Block[], keep: boolean[], headline: Headline | null): number {
  const until = headline?.until ?? Infinity;
  const end = until === Infinity ? -1 : blocks.findIndex((block) => block.from >= until);
  if (end < 0) return blocks.length;
  const around = page.nodes[until]!.parent;
  let words = 0;
  for (let i = 0; i < end; i++) {
    if (!keep[i]) continue;
    if (blocks[i]!.owner.parent === around) return blocks.length;
    words += blocks[i]!.words;
  }
  return words >= STORY_WORDS ? end : blocks.length;
}

/** The blocks to keep, given the probability of each. */
function chooseBlocks(blocks: Block[], chances: Float64Array): { bar: number; keep: boolean[] } {
  const bar = decideBar(blocks, chances);
  const keep = decideRuns(blocks, chances, bar);
  // A page of one doubtful paragraph is not worth entering for the runs; it is still the best there is.
  return { bar, keep: keep.includes(true) ? keep : Array.from(chances, (chance) => chance >= bar) };
}

/** Keeps the blocks that belong to the article. */
export function selectBlocks(
  page: Page,
  blocks: Block[],
  context: BlockContext,
  model: BlockModel,
): Selection {
  const { chances, keep } = judgeBlocks(page, blocks, context, model);
  const kept: Block[] = [];
  let sure = 0;
  let words = 0;
  for (let i = 0; i < blocks.length; i++) {
    if (!keep[i]) continue;
    kept.push(blocks[i]!);
    sure += chances[i]! * blocks[i]!.words;
    words += blocks[i]!.words;
  }
  return { kept, confidence: words === 0 ? 0 : sure / words };
}
