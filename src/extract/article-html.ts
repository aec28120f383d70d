import { indexAfter, type Page, type PageNode, sanitise } from '../html/index.ts';
import { BLOCK_MODEL } from './block-model.ts';
import type { Block } from './blocks.ts';
import { isByline } from './bylines.ts';
import { isLineNumberInCode } from './code-lines.ts';
import { decideExtraction, type ExtractOptions, readFindings } from './extract-page.ts';
import { isLeftOut } from './left-out.ts';

/** The article of a page as harmless HTML; `isCut`: there was more than fits. */
export type ArticleHtml = { html: string; isCut: boolean };

/** The blocks that become the text of a document, as HTML: its headings, lists, links and emphasis stay. */
export function articleHtml(given: Page, options: ExtractOptions & { maxBytes: number }): ArticleHtml {
  const findings = readFindings(given, options, BLOCK_MODEL);
  const { authors } = decideExtraction(findings);
  const { body, page } = findings;
  const source = body.elsewhere ?? { page, blocks: body.kept };
  const kept = source.blocks.filter((block) => !isByline(block.text, authors));
  const unseen = new Set(findings.marks.unseen);
  return sanitise(source.page, {
    maxBytes: options.maxBytes,
    keeps: within(kept),
    skips: (node) => unseen.has(node) || isLeftOut(node, source.page) || isLineNumberInCode(node),
  });
}

/** Whether a node belongs to one of the blocks; asked in document order, so that one walk along them is enough. */
function within(blocks: readonly Block[]): (node: PageNode) => boolean {
  const ranges = blocks
    // The last block of a page has no end of its own.
    .map((block) => ({ from: block.from, to: Math.min(block.to, indexAfter(block.owner)) }))
    .sort((a, b) => a.from - b.from);
  const [first, last] = [ranges[0], ranges.at(-1)];
  let place = 0;
  return (node) => {
    // Images stand between blocks.
    if (node.tag === 'img')
      return first !== undefined && last !== undefined && node.index >= first.from && node.index < last.to;
    while (place < ranges.length && ranges[place]!.to <= node.index) place++;
    const range = ranges[place];
    return range !== undefined && node.index >= range.from;
  };
}
