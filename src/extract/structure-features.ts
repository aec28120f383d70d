import type { Page, PageNode } from '../html/index.ts';
import type { Block } from './blocks.ts';
import type { Sums } from './container.ts';
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
  view: (node: PageNode) => HeadlineView;
  vocabulary: Vocabulary;
  /** Steps up from each block, and from the one after it, to the element that holds both. */
  steps: ([number, number] | undefined)[];
};

/**
 * How an element stands to the headline: steps up to what holds both, the innermost `<article>` on that way, and whether
 * what holds both stands in one.
 */
export type HeadlineView = { steps: number; article: PageNode | null; sharesArticle: boolean };

const LEVELS = 5;
const MAX_WALK = 40;

/** Looks from elements to the headline; remembered, as neighbours share nearly all of the way up. */
function headlineViewer(headlineChain: PageNode[], size: number): (node: PageNode) => HeadlineView {
  const known = new Array<HeadlineView | undefined>(size);
  const outside: HeadlineView = { steps: 0, article: null, sharesArticle: false };
  const inside: HeadlineView = { steps: 0, article: null, sharesArticle: true };
  let view = outside;
  for (let i = headlineChain.length - 1; i >= 0; i--) {
    const node = headlineChain[i]!;
    if (node.tag === 'article') view = inside;
    known[node.index] = view;
  }
  return (node) => {
    const ready = known[node.index];
    if (ready !== undefined) return ready;
    const way: PageNode[] = [];
    let view = outside;
    for (let at: PageNode | null = node; at !== null; at = at.parent) {
      const above = known[at.index];
      if (above !== undefined) {
        view = above;
        break;
      }
      way.push(at);
    }
    for (let i = way.length - 1; i >= 0; i--) {
      const at = way[i]!;
      view = {
        steps: view.steps + 1,
        article: at.tag === 'article' ? at : view.article,
        sharesArticle: view.sharesArticle,
      };
      known[at.index] = view;
    }
    return view;
  };
}

/** Prepares the comparisons that span the page: its vocabulary, its title's words, the way up from the headline. */
export function readStructure(
  page: Page,
  blocks: Block[],
  facts: NodeFacts,
  vocabulary: Vocabulary,
  headline: PageNode | null,
): Structure {
  const headlineChain: PageNode[] = [];
  for (let at = headline; at !== null; at = at.parent) headlineChain.push(at);
  return {
    facts,
    hasHeadline: headlineChain.length > 0,
    view: headlineViewer(headlineChain, page.nodeCount + 1),
    vocabulary,
    steps: new Array(blocks.length),
  };
}

/** Steps from each of two elements up to the one that holds both. */
function stepsToCommon(a: PageNode, b: PageNode, facts: NodeFacts): [number, number] {
  let [up, down] = [0, 0];
  let x: PageNode | null = a;
  let y: PageNode | null = b;
  let [dx, dy] = [facts.depth(a), facts.depth(b)];
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
  return [Math.min(up, MAX_WALK), Math.min(down, MAX_WALK)];
}

const FAR_APART: [number, number] = [MAX_WALK, MAX_WALK];

/** Steps between a block and the one after it, worked out once for both. */
function stepsAfter(i: number, blocks: Block[], structure: Structure): [number, number] {
  const [block, next] = [blocks[i], blocks[i + 1]];
  if (block === undefined || next === undefined) return FAR_APART;
  const known = structure.steps[i];
  if (known !== undefined) return known;
  const found = stepsToCommon(block.owner, next.owner, structure.facts);
  structure.steps[i] = found;
  return found;
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

  const [down, up] = stepsAfter(i - 1, blocks, structure);
  sink.add(up);
  sink.add(down);
  sink.add(stepsAfter(i, blocks, structure)[0]);
  sink.add(structure.hasHeadline ? Math.min(structure.view(block.owner).steps, MAX_WALK) : -1);

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
