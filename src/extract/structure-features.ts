import type { PageNode } from '../html/index.ts';
import type { Block } from './blocks.ts';
import type { Sums } from './container.ts';

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
  alike: (node: PageNode) => number;
  /** Whether there is a headline to look from. */
  hasHeadline: boolean;
  view: (node: PageNode) => HeadlineView;
  titleWords: Set<number>;
  vocabulary: Map<number, number>;
  mainVocabulary: Set<number>;
  words: number[][];
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

/**
 * The look of an element as a number: its tag and first class without digits. The whole class attribute tells items of
 * one list apart (WordPress writes `post-123 category-x` on each), the tag alone throws everything together. A hash by
 * hand, as building strings for every sibling took a twentieth of a page's time.
 */
export function signature(node: PageNode): number {
  let hash = 7;
  for (let i = 0; i < node.tag.length; i++) hash = (Math.imul(hash, 31) + node.tag.charCodeAt(i)) | 0;
  const list = node.attributes;
  if (list === null) return hash;
  for (let i = 0; i < list.length; i += 2) {
    if (list[i] !== 'class') continue;
    const name = list[i + 1]!;
    let seen = false;
    for (let j = 0; j < name.length && j < 60; j++) {
      const code = name.charCodeAt(j);
      if (code <= 32) {
        if (seen) break;
        continue;
      }
      seen = true;
      if (code < 48 || code > 57) hash = (Math.imul(hash, 31) + code) | 0;
    }
    break;
  }
  return hash;
}

/** Counts, for every element asked about, the siblings that look the same. */
function alikeCounter(): (node: PageNode) => number {
  const byParent = new Map<PageNode, Map<number, number>>();
  return (node) => {
    if (node.parent === null) return 1;
    let counts = byParent.get(node.parent);
    if (counts === undefined) {
      counts = new Map();
      let seen = 0;
      for (let child = node.parent.first; child !== null && seen < 2_000; child = child.next, seen++) {
        if (child.tag === '#text') continue;
        const name = signature(child);
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
      byParent.set(node.parent, counts);
    }
    return counts.get(signature(node)) ?? 1;
  };
}

/** Looks from elements to the headline; remembered, as neighbours share nearly all of the way up. */
function headlineViewer(headlineChain: Set<PageNode>): (node: PageNode) => HeadlineView {
  const known = new Map<PageNode, HeadlineView>();
  const outside: HeadlineView = { steps: 0, article: null, sharesArticle: false };
  const inside: HeadlineView = { steps: 0, article: null, sharesArticle: true };
  let view = outside;
  for (const node of [...headlineChain].reverse()) {
    if (node.tag === 'article') view = inside;
    known.set(node, view);
  }
  return (node) => {
    const way: PageNode[] = [];
    let view = outside;
    for (let at: PageNode | null = node; at !== null; at = at.parent) {
      const ready = known.get(at);
      if (ready !== undefined) {
        view = ready;
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
      known.set(at, view);
    }
    return view;
  };
}

const MAX_WORDS_CHARS = 600;
const MIN_LETTERS = 5;

/** Hashes of the words of five letters and more at the start of a text; letters beyond ASCII all count as letters. */
function longWords(text: string): number[] {
  const found: number[] = [];
  const end = Math.min(text.length, MAX_WORDS_CHARS);
  let hash = 0;
  let letters = 0;
  for (let i = 0; i <= end; i++) {
    let code = i < end ? text.charCodeAt(i) : 32;
    if (code >= 65 && code <= 90) code += 32;
    if ((code >= 97 && code <= 122) || (code >= 0xc0 && code < 0x2000) || code >= 0x3040) {
      hash = (Math.imul(hash, 31) + code) | 0;
      letters++;
      continue;
    }
    if (letters >= MIN_LETTERS) found.push(hash);
    hash = 0;
    letters = 0;
  }
  return found;
}

/** Prepares the comparisons that span the page: its vocabulary, its title's words, the way up from the headline. */
export function readStructure(
  blocks: Block[],
  prose: Uint8Array,
  main: (block: Block) => boolean,
  title: string,
  headline: PageNode | null,
): Structure {
  const headlineChain = new Set<PageNode>();
  for (let at = headline; at !== null; at = at.parent) headlineChain.add(at);
  const vocabulary = new Map<number, number>();
  const mainVocabulary = new Set<number>();
  const words: number[][] = [];
  blocks.forEach((block, i) => {
    const found = block.words < 4 ? [] : longWords(block.text);
    words.push(found);
    if (prose[i] !== 1) return;
    const inMain = main(block);
    for (const word of found.length > 1 ? new Set(found) : found) {
      vocabulary.set(word, (vocabulary.get(word) ?? 0) + 1);
      if (inMain) mainVocabulary.add(word);
    }
  });
  return {
    alike: alikeCounter(),
    hasHeadline: headlineChain.size > 0,
    view: headlineViewer(headlineChain),
    titleWords: new Set(longWords(title)),
    vocabulary,
    mainVocabulary,
    words,
    steps: new Array(blocks.length),
  };
}

function depthOf(node: PageNode): number {
  let depth = 0;
  for (let at: PageNode | null = node; at !== null; at = at.parent) depth++;
  return depth;
}

/** Steps from each of two elements up to the one that holds both. */
function stepsToCommon(a: PageNode, b: PageNode): [number, number] {
  let [up, down] = [0, 0];
  let x: PageNode | null = a;
  let y: PageNode | null = b;
  let [dx, dy] = [depthOf(a), depthOf(b)];
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
  const found = stepsToCommon(block.owner, next.owner);
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
    const alike: number = node === null ? 0 : structure.alike(node);
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
  const words = structure.words[i]!;
  let inTitle = 0;
  let shared = 0;
  let main = 0;
  for (const word of words) {
    if (structure.titleWords.has(word)) inTitle++;
    if ((structure.vocabulary.get(word) ?? 0) > 1) shared++;
    if (structure.mainVocabulary.has(word)) main++;
  }
  sink.add(words.length === 0 ? -1 : inTitle / words.length);
  sink.add(words.length === 0 ? -1 : shared / words.length);
  sink.add(words.length === 0 ? -1 : main / words.length);
}
