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
import { isWritten, leaveOut, outermost, type Selectors, selectNodes } from './selectors.ts';
import { findTables, writeTable } from './tables.ts';

// A page that says less may keep its text for readers without scripts.
const FEW_WORDS = 50;
// Of a text the page declares as its own.
const DECLARED_CONFIDENCE = 0.9;
// Below this the main path says itself that it may have missed the article.
const LOW_CONFIDENCE = 0.4;

/** The elements a source's selectors chose. */
export type Chosen = Partial<Record<Exclude<keyof Selectors, 'exclude'>, PageNode[]>>;

/** The page without what the source excludes, and what its other selectors choose of it. */
export type Selection = { page: Page; excluded: PageNode[]; chosen: Chosen };

/** Runs the source's selectors; what each did is kept as evidence, so that a redesign is noticed. */
export function runSelectors(
  source: Page,
  selectors: Selectors,
  evidence: Record<string, string>,
): Selection {
  const { page, excluded, selected } = leaveOut(source, selectors);
  const chosen: Chosen = {};
  for (const name of Object.keys(selectors) as (keyof Selectors)[]) {
    const selector = selectors[name];
    if (!isWritten(selector)) continue;
    const found = name === 'exclude' && selected !== null ? selected : selectNodes(page, selector);
    evidence[`selector.${name}`] =
      found.outcome === 'invalid_selector' ? `invalid_selector: ${found.message}` : found.outcome;
    if (found.outcome !== 'matched') continue;
    if (name !== 'exclude') chosen[name] = found.nodes;
    else if (excluded.length === 0) noteMiss(evidence, name);
  }
  return { page, excluded, chosen };
}

/** Says of a selector that what it matches holds nothing to use: a miss like one that matches nothing. */
export function noteMiss(evidence: Record<string, string>, name: keyof Selectors): void {
  evidence[`selector.${name}`] = 'no_value';
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

/** Finds the text: by the source's selector, by scoring blocks, in the JSON-LD, or (when asked) by Readability. */
export function extractBody(
  page: Page,
  chosen: Chosen,
  context: BodyContext,
  evidence: Record<string, string>,
): Body {
  // What a cap has kept from being read, so that a text that ends early says why.
  const cuts = new Set<string>(page.truncated ? ['nodes'] : []);
  const body = findBody(page, chosen, context, { evidence, onCut: () => cuts.add('blocks') });
  if (cuts.size > 0) evidence.truncated = [...cuts].join(', ');
  return body;
}

function findBody(
  page: Page,
  chosen: Chosen,
  context: BodyContext,
  { evidence, onCut }: { evidence: Record<string, string>; onCut: () => void },
): Body {
  const unseen = context.unseen.length === 0 ? undefined : new Set(context.unseen);
  if (chosen.body !== undefined) {
    const blocks = outermost(chosen.body).flatMap((node) => readBlocks(page, node, unseen, onCut));
    if (blocks.length > 0) {
      evidence.text = 'selector';
      return { ...joinBlocks(blocks), confidence: 1, blocks, kept: blocks };
    }
    noteMiss(evidence, 'body');
  }
  const container = chosen.container?.find((node) => readBlocks(page, node, unseen).length > 0);
  if (chosen.container !== undefined && container === undefined) noteMiss(evidence, 'container');
  const root = container ?? page.body;
  const read = (): Body => {
    const blocks = readBlocks(page, root, unseen, onCut);
    const { kept, confidence } = selectBlocks(page, blocks, context, context.model);
    return { ...joinBlocks(kept), confidence, blocks, kept };
  };
  evidence.text = 'blocks';
  let body = read();
  if (body.wordCount < FEW_WORDS && openNoscripts(page)) body = read();
  // Who names a container has said where the text stands.
  const elsewhere = container === undefined ? readArticleBody(page, body, context) : null;
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
