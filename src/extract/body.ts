import { copyString, openNoscripts, type Page, type PageNode } from '../html/index.ts';
import { type OtherText, readArticleBody } from './article-body.ts';
import type { BlockModel } from './block-model.ts';
import { type Block, readBlocks } from './blocks.ts';
import { isBesideText } from './decorations.ts';
import { readabilityBlocks } from './fallback.ts';
import type { BlockContext } from './features.ts';
import { ListNumbers } from './list-numbers.ts';
import type { Marks } from './marks.ts';
import { selectBlocks } from './select-blocks.ts';
import { type Selectors, selectNodes } from './selectors.ts';
import { findTables, writeTable } from './tables.ts';

// A page that says less may keep its text for readers without scripts.
const FEW_WORDS = 50;
// Of a text the page declares as its own.
const DECLARED_CONFIDENCE = 0.9;
// Below this the main path says itself that it may have missed the article.
const LOW_CONFIDENCE = 0.4;

/** The elements a source's selectors chose. */
export type Chosen = Partial<Record<keyof Selectors, PageNode[]>>;

/** Runs the source's selectors; what each did is kept as evidence, so that a redesign is noticed. */
export function runSelectors(page: Page, selectors: Selectors, evidence: Record<string, string>): Chosen {
  const chosen: Chosen = {};
  for (const name of Object.keys(selectors) as (keyof Selectors)[]) {
    const selector = selectors[name];
    if (typeof selector !== 'string' || selector.trim() === '') continue;
    const selected = selectNodes(page, selector);
    evidence[`selector.${name}`] =
      selected.outcome === 'invalid_selector' ? `invalid_selector: ${selected.message}` : selected.outcome;
    if (selected.outcome === 'matched') chosen[name] = selected.nodes;
  }
  return chosen;
}

/** The text of the article, the blocks of the page and those of them that belong to it. */
export type Body = {
  text: string;
  wordCount: number;
  confidence: number;
  blocks: Block[];
  kept: Block[];
  /** What the text is made of where it is not what was kept. */
  elsewhere?: OtherText;
};
/** What choosing the text needs to know beside the page; `unseen`: elements that are not for this page. */
export type BodyContext = BlockContext & { allowFallback: boolean; model: BlockModel; unseen: PageNode[] };

/** The elements that are not read: those the source excludes, and those nobody sees. */
export function leftAside(chosen: Chosen, unseen: readonly PageNode[]): Set<PageNode> | undefined {
  const all = [...(chosen.exclude ?? []), ...unseen];
  return all.length === 0 ? undefined : new Set(all);
}

/** Finds the text: by the source's selector, by scoring blocks, in the JSON-LD, or (when asked) by Readability. */
export function extractBody(
  page: Page,
  chosen: Chosen,
  context: BodyContext,
  evidence: Record<string, string>,
): Body {
  const excluded = leftAside(chosen, context.unseen);
  if (chosen.body !== undefined) {
    const blocks = outermost(chosen.body).flatMap((node) => readBlocks(page, node, excluded));
    if (blocks.length > 0) {
      evidence.text = 'selector';
      return { ...joinBlocks(blocks), confidence: 1, blocks, kept: blocks };
    }
  }
  const root = chosen.container?.[0] ?? page.body;
  const read = (): Body => {
    const blocks = readBlocks(page, root, excluded);
    const { kept, confidence } = selectBlocks(page, blocks, context, context.model);
    return { ...joinBlocks(kept), confidence, blocks, kept };
  };
  evidence.text = 'blocks';
  let body = read();
  if (body.wordCount < FEW_WORDS && openNoscripts(page)) body = read();
  // Who names a container has said where the text stands.
  const elsewhere = chosen.container === undefined ? readArticleBody(page, body, context) : null;
  if (elsewhere !== null) {
    evidence.text = 'json-ld articleBody';
    return { ...body, ...joinBlocks(elsewhere.blocks), confidence: DECLARED_CONFIDENCE, elsewhere };
  }
  const { confidence } = body;
  if (confidence >= LOW_CONFIDENCE || !context.allowFallback) return body;
  const kept = readabilityBlocks(page, body.blocks);
  if (kept === null) return body;
  const second = joinBlocks(kept);
  if (second.wordCount <= body.wordCount) return body;
  evidence.text = 'readability';
  return { ...body, ...second, kept };
}

/** The text of some blocks, paragraphs apart, with their line breaks, the numbers of lists and the rows of tables. */
export function joinBlocks(blocks: Block[]): { text: string; wordCount: number } {
  const numbers = new ListNumbers();
  const texts: string[] = [];
  const write = (from: number, to: number) => {
    for (const block of blocks.slice(from, to))
      texts.push(numbers.before(block) + (block.lines ?? block.text));
  };
  let done = 0;
  for (const table of findTables(blocks)) {
    write(done, table.from);
    texts.push(writeTable(table));
    done = table.to;
  }
  write(done, blocks.length);
  return {
    // Joining copies; a single block would still be a slice of the page.
    text: texts.length === 1 ? copyString(texts[0]!) : texts.join('\n\n'),
    wordCount: blocks.reduce((sum, block) => sum + block.words, 0),
  };
}

function outermost(nodes: PageNode[]): PageNode[] {
  const all = new Set(nodes);
  return nodes.filter((node) => {
    for (let at = node.parent; at !== null; at = at.parent) if (all.has(at)) return false;
    return true;
  });
}

// Beyond these a page is a gallery, and the first tell as much.
const MAX_LOOKED_AT = 200;

/** Images that stand between the first and the last kept block, and shortly before, in the same part of the page. */
export function imagesBetween({ images, classes }: Marks, kept: Block[]): PageNode[] {
  const first = kept[0];
  const last = kept[kept.length - 1];
  if (first === undefined || last === undefined) return [];
  return images
    .filter((image) => image.index > first.from - 60 && image.index < last.to + 10)
    .slice(0, MAX_LOOKED_AT)
    .filter((image) => !isBesideText(image, kept, classes));
}
