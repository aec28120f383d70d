import type { Page, PageNode } from '../html/index.ts';
import type { Block } from './blocks.ts';
import type { Sums } from './container.ts';
import { HeadlineView } from './headline-view.ts';
import { lender } from './lent-memory.ts';
import type { NodeFacts } from './node-facts.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Names of the features below, in order. */
export const STRUCTURE_NAMES: readonly string[] = [
  'alike0',
  'alike1',
  'alike2',
  'alike3',
  'alike4',
  'itemChars',
  'itemLinkShare',
  'itemBlocks',
  'itemAlike',
  'itemLeadLink',
  'upToPrevious',
  'downFromPrevious',
  'upToNext',
  'upToHeadline',
  'headingLinkShare',
  'headingWords',
  'titleWords',
  'pageVocabulary',
  'mainVocabulary',
  'linkRun',
];

type Sink = { add(value: number): void };

/** What a block's structure is measured against. */
export type Structure = {
  facts: NodeFacts;
  /** Whether there is a headline to look from. */
  hasHeadline: boolean;
  view: HeadlineView;
  vocabulary: Vocabulary;
  /** By block, see stepsAfter; -1 where nobody has asked. */
  steps: Int32Array;
};

const LEVELS = 5;
const MAX_WALK = 40;

const borrowSteps = lender((size) => new Int32Array(size));

/** Prepares the comparisons that span the page: its vocabulary, its title's words, the way up from the headline. */
export function readStructure(
  page: Page,
  blocks: Block[],
  facts: NodeFacts,
  vocabulary: Vocabulary,
  headline: PageNode | null,
): Structure {
  return {
    facts,
    hasHeadline: headline !== null,
    view: new HeadlineView(page, headline),
    vocabulary,
    steps: borrowSteps(blocks.length).fill(-1, 0, blocks.length),
  };
}

/** Steps from each of two elements up to the one that holds both, in one number. */
function stepsToCommon(a: PageNode, b: PageNode, facts: NodeFacts): number {
  let up = 0;
  let down = 0;
  let x: PageNode | null = a;
  let y: PageNode | null = b;
  let dx = facts.depth(a);
  let dy = facts.depth(b);
  while (x !== null && y !== null && x !== y) {
    if (dx >= dy) {
      x = x.parent;
      dx--;
      up++;
    } else {
      y = y.parent;
      dy--;
      down++;
    }
  }
  return pack(Math.min(up, MAX_WALK), Math.min(down, MAX_WALK));
}

const pack = (up: number, down: number) => (up << 8) | down;
const upOf = (steps: number) => steps >> 8;
const downOf = (steps: number) => steps & 255;
const FAR_APART = pack(MAX_WALK, MAX_WALK);

/** Steps up from a block, and from the one after it, to the element that holds both; worked out once for both. */
function stepsAfter(i: number, blocks: Block[], { steps, facts }: Structure): number {
  if (i < 0 || i + 1 >= blocks.length) return FAR_APART;
  if (steps[i]! < 0) steps[i] = stepsToCommon(blocks[i]!.owner, blocks[i + 1]!.owner, facts);
  return steps[i]!;
}

/** Adds the structural features of one block. */
export function addStructure(
  sink: Sink,
  i: number,
  blocks: Block[],
  structure: Structure,
  sums: Sums,
  heading: number,
): void {
  const block = blocks[i]!;
  let item: PageNode | null = null;
  let itemAlike = 0;
  let node: PageNode | null = block.owner;
  for (let level = 0; level < LEVELS; level++) {
    const alike: number = node === null ? 0 : structure.facts.alike(node);
    sink.add(Math.min(alike, 30));
    if (item === null && node !== null && level > 0 && alike > 1) {
      item = node;
      itemAlike = alike;
    }
    node = node?.parent ?? null;
  }
  const at = item?.index ?? block.owner.index;
  const chars = sums.chars[at] ?? 0;
  sink.add(Math.min(chars, 5_000));
  sink.add(chars > 0 ? (sums.linkChars[at] ?? 0) / chars : 0);
  sink.add(Math.min(sums.blocks[at] ?? 0, 60));
  sink.add(Math.min(itemAlike, 30));
  sink.add(item === null ? -1 : leadsWithLink(i, blocks, item) ? 1 : 0);

  const before = stepsAfter(i - 1, blocks, structure);
  sink.add(downOf(before));
  sink.add(upOf(before));
  sink.add(upOf(stepsAfter(i, blocks, structure)));
  sink.add(structure.hasHeadline ? Math.min(structure.view.steps(block.owner), MAX_WALK) : -1);

  const above = heading < 0 ? undefined : blocks[heading];
  sink.add(above === undefined ? -1 : above.linkChars / above.chars);
  sink.add(above === undefined ? -1 : Math.min(above.words, 40));
  addVocabulary(sink, i, structure);
  let run = 0;
  for (let j = i; j >= 0 && i - j < 20 && blocks[j]!.linkChars > blocks[j]!.chars * 0.7; j--) run++;
  for (let j = i + 1; j < blocks.length && j - i < 20 && blocks[j]!.linkChars > blocks[j]!.chars * 0.7; j++)
    run++;
  sink.add(run);
}

function leadsWithLink(i: number, blocks: Block[], item: PageNode): boolean {
  let first = i;
  while (first > 0 && i - first < 10 && blocks[first - 1]!.from > item.index) first--;
  const lead = blocks[first]!;
  return lead.linkChars > lead.chars * 0.7;
}

function addVocabulary(sink: Sink, i: number, structure: Structure): void {
  const { words, inTitle, shared, inMain } = structure.vocabulary.sharesOf(i);
  sink.add(words === 0 ? -1 : inTitle / words);
  sink.add(words === 0 ? -1 : shared / words);
  sink.add(words === 0 ? -1 : inMain / words);
}
