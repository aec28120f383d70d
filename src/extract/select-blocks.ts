import type { Page, PageNode } from '../html/index.ts';
import type { Block } from './blocks.ts';
import { findContainer, isInside, sumBlocks } from './container.ts';
import type { LdFacts } from './json-ld.ts';
import type { MetaTags } from './meta-tags.ts';

/** What is known about the page beside its blocks. */
export type BlockContext = { tags: MetaTags; ld: LdFacts; headline: PageNode | null };

/** Keeps the blocks that belong to the article. */
export function selectBlocks(
  page: Page,
  blocks: Block[],
  context: BlockContext,
): { kept: Block[]; confidence: number } {
  void context;
  const sums = sumBlocks(page, blocks);
  const container = findContainer(page.body, sums, 0.6);
  const kept = blocks.filter(
    (block) =>
      isInside(block.owner, container) &&
      block.linkChars < block.chars * 0.5 &&
      !block.inControl &&
      (block.words > 8 || /^h[2-6]$/.test(block.owner.tag)),
  );
  return { kept, confidence: kept.length > 0 ? 0.7 : 0 };
}
