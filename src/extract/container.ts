import type { Page, PageNode } from '../html/index.ts';
import type { Block } from './blocks.ts';
import { clearedLender, lender } from './lent-memory.ts';

/** Sums over the subtree of every node, by node index. */
export type Sums = {
  chars: Int32Array;
  linkChars: Int32Array;
  /** Characters in blocks that read like prose. */
  prose: Int32Array;
  blocks: Int32Array;
};

const PROSE_END = /[.!?…。！？:"”»’')\]]$/;

const PARAGRAPH_CHARS = 80;
// So many words of Chinese or Japanese are forty letters; of other languages they have eighty anyway.
const PARAGRAPH_WORDS = 20;

/** Whether a block reads like a paragraph: some length, few links, an end of sentence. */
function isProse(block: Block): boolean {
  if ((block.chars < PARAGRAPH_CHARS && block.words < PARAGRAPH_WORDS) || block.inControl) return false;
  if (block.linkChars > block.chars * 0.4) return false;
  return block.chars > 200 || PROSE_END.test(block.text);
}

const borrowParagraphs = lender((size) => new Uint8Array(size));

/** Which blocks read like paragraphs; only good until the next page is read. */
export function readProse(blocks: Block[]): Uint8Array {
  const prose = borrowParagraphs(blocks.length);
  for (let i = 0; i < blocks.length; i++) prose[i] = isProse(blocks[i]!) ? 1 : 0;
  return prose;
}

const borrowChars = clearedLender((size) => new Int32Array(size));
const borrowLinkChars = clearedLender((size) => new Int32Array(size));
const borrowProse = clearedLender((size) => new Int32Array(size));
const borrowBlocks = clearedLender((size) => new Int32Array(size));

/** Adds up the blocks for every element, children before parents; only good until the next page is read. */
export function sumBlocks(page: Page, blocks: Block[], isParagraph: Uint8Array): Sums {
  const size = page.nodeCount + 1;
  const chars = borrowChars(size);
  const linkChars = borrowLinkChars(size);
  const prose = borrowProse(size);
  const counts = borrowBlocks(size);
  for (let i = 0; i < blocks.length; i++) {
    const block = blocks[i]!;
    const at = block.owner.index;
    chars[at]! += block.chars;
    linkChars[at]! += block.linkChars;
    counts[at]! += 1;
    if (isParagraph[i] === 1) prose[at]! += block.chars;
  }
  // A child's index is above its parent's.
  for (let at = page.nodeCount - 1; at > 0; at--) {
    if (counts[at] === 0) continue;
    const up = page.nodes[at]!.parent!.index;
    chars[up]! += chars[at]!;
    linkChars[up]! += linkChars[at]!;
    prose[up]! += prose[at]!;
    counts[up]! += counts[at]!;
  }
  return { chars, linkChars, prose, blocks: counts };
}

/** The smallest element that holds the given share of the prose: descend while one child still holds it. */
export function findContainer(root: PageNode, sums: Sums, share: number): PageNode {
  const wanted = (sums.prose[root.index] ?? 0) * share;
  let at = root;
  for (;;) {
    let heir: PageNode | null = null;
    for (let child = at.first; child !== null; child = child.next) {
      const prose = sums.prose[child.index] ?? 0;
      if (prose > 0 && prose >= wanted && (heir === null || prose > (sums.prose[heir.index] ?? 0)))
        heir = child;
    }
    if (heir === null || heir.tag === 'p') return at;
    if (heir.tag === 'pre') return around(at, sums);
    at = heir;
  }
}

/** What stands around a piece of code: where it is most of a page, the lines about it are no less of the article. */
function around(frame: PageNode, sums: Sums): PageNode {
  let at = frame;
  while (at.parent !== null && sums.blocks[at.index]! <= 1) at = at.parent;
  return at;
}

/** Whether `node` stands inside `ancestor` (or is it). */
export function isInside(node: PageNode, ancestor: PageNode): boolean {
  for (let at: PageNode | null = node; at !== null && at.index >= ancestor.index; at = at.parent)
    if (at === ancestor) return true;
  return false;
}
