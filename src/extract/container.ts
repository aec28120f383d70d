import type { Page, PageNode } from '../html/index.ts';
import type { Block } from './blocks.ts';

/** Sums over the subtree of every node, by node index. */
export type Sums = {
  chars: Int32Array;
  linkChars: Int32Array;
  /** Characters in blocks that read like prose. */
  prose: Int32Array;
  blocks: Int32Array;
};

const PROSE_END = /[.!?…。！？:"”»’')\]]$/;

/** Whether a block reads like a paragraph: some length, few links, an end of sentence. */
export function isProse(block: Block): boolean {
  if (block.chars < 80 || block.inControl) return false;
  if (block.linkChars > block.chars * 0.4) return false;
  return block.chars > 200 || PROSE_END.test(block.text);
}

/** Adds up the blocks for every element, children before parents. */
export function sumBlocks(page: Page, blocks: Block[]): Sums {
  const size = page.nodeCount + 1;
  const sums: Sums = {
    chars: new Int32Array(size),
    linkChars: new Int32Array(size),
    prose: new Int32Array(size),
    blocks: new Int32Array(size),
  };
  const owners: PageNode[] = [];
  for (const block of blocks) {
    const at = block.owner.index;
    if (sums.blocks[at] === 0) owners.push(block.owner);
    sums.chars[at]! += block.chars;
    sums.linkChars[at]! += block.linkChars;
    sums.blocks[at]! += 1;
    if (isProse(block)) sums.prose[at]! += block.chars;
  }
  // Each owner's own numbers climb to the root; owners share few ancestors' levels, so this stays near linear.
  const own = owners.map(
    (node) =>
      [
        node,
        sums.chars[node.index]!,
        sums.linkChars[node.index]!,
        sums.prose[node.index]!,
        sums.blocks[node.index]!,
      ] as const,
  );
  for (const [node, chars, linkChars, prose, count] of own) {
    for (let up = node.parent; up !== null; up = up.parent) {
      sums.chars[up.index]! += chars;
      sums.linkChars[up.index]! += linkChars;
      sums.prose[up.index]! += prose;
      sums.blocks[up.index]! += count;
    }
  }
  return sums;
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
    at = heir;
  }
}

/** Whether `node` stands inside `ancestor` (or is it). */
export function isInside(node: PageNode, ancestor: PageNode): boolean {
  for (let at: PageNode | null = node; at !== null && at.index >= ancestor.index; at = at.parent)
    if (at === ancestor) return true;
  return false;
}
