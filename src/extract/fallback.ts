import { createRequire } from 'node:module';
import { type Page, parsePage } from '../html/index.ts';
import { type Block, readBlocks } from './blocks.ts';
import { isLayoutLine } from './layout-lines.ts';

type ReadabilityResult = { content?: string | null } | null;
type ReadabilityModule = {
  Readability: new (document: unknown, options: object) => { parse(): ReadabilityResult };
};
type LinkedomModule = { parseHTML(html: string): { document: unknown } };

const require = createRequire(import.meta.url);
// Both recurse over the tree: past this many nested elements they overflow the stack.
const MAX_ELEMENTS = 20_000;

/**
 * The blocks of a page that stand in what Readability takes for the article; null where that is no text. Its own text is
 * glued where elements meet and knows nothing of what the source leaves out, so it only chooses among the blocks we read.
 * It costs ten times our own extractor or more and recurses, so only a caller in a worker thread asks for it.
 */
export function readabilityBlocks(page: Page, blocks: readonly Block[]): Block[] | null {
  const content = readabilityContent(page.source.read(0, page.source.raw.length));
  if (content === null) return null;
  const found = chooseBlocks(blocks, readBlocks(parsePage(content, { url: page.url })));
  return isText(found) ? found : null;
}

/** Loaded on first use because most processes never do. */
function readabilityContent(html: string): string | null {
  const { parseHTML } = require('linkedom') as LinkedomModule;
  const { Readability } = require('@mozilla/readability') as ReadabilityModule;
  try {
    const { document } = parseHTML(html);
    return new Readability(document, { maxElemsToParse: MAX_ELEMENTS }).parse()?.content ?? null;
  } catch (error) {
    // Too many elements, a stack overflow or a page it cannot read: no second opinion then.
    if (error instanceof Error) return null;
    throw error;
  }
}

// Short lines count only so near to a paragraph: the words of a menu stand in articles too.
const NEAR_BLOCKS = 3;
// A block that begins with so many letters of another is the same one, even where a credit or a mark is gone.
const SAME_LETTERS = 40;
const SAME_SHARE = 0.6;

/** Those of the page's blocks that say what a part of it says, each as often as that does. */
export function chooseBlocks(blocks: readonly Block[], part: readonly Block[]): Block[] {
  const wanted = new Map<string, number>();
  const begun = new Map<string, number>();
  for (const { text } of part) {
    const key = letters(text);
    wanted.set(key, (wanted.get(key) ?? 0) + 1);
    if (key.length >= SAME_LETTERS) begun.set(key.slice(0, SAME_LETTERS), key.length);
  }
  const places: number[] = [];
  for (const [i, block] of blocks.entries()) {
    if (isLayoutLine(block)) continue;
    const key = letters(block.text);
    const left = wanted.get(key) ?? 0;
    const start = key.slice(0, SAME_LETTERS);
    if (left > 0) wanted.set(key, left - 1);
    else if ((begun.get(start) ?? 0) < key.length * SAME_SHARE) continue;
    begun.delete(start);
    places.push(i);
  }
  const paragraphs = places.filter((i) => hasSentence(blocks[i]!));
  const from = (paragraphs[0] ?? Infinity) - NEAR_BLOCKS;
  const to = (paragraphs.at(-1) ?? -Infinity) + NEAR_BLOCKS;
  return places.filter((i) => i >= from && i <= to).map((i) => blocks[i]!);
}

/** Readability moves elements about, and white space with them. */
const letters = (text: string) => text.replace(/\s+/g, '');

const SENTENCE_CHARS = 40;
const LONG_CHARS = 200;
const SENTENCE_END = /[.!?…。！？।؟]/;

/** Whether a block holds a sentence; a caption may end with a credit instead. Thai and Lao have no mark for its end. */
const hasSentence = ({ text, chars, linkChars, inControl }: Block) =>
  !inControl &&
  chars >= SENTENCE_CHARS &&
  linkChars <= chars * 0.4 &&
  (chars >= LONG_CHARS || SENTENCE_END.test(text));

/** Whether there is a sentence, and not mostly links. */
function isText(blocks: Block[]): boolean {
  const chars = blocks.reduce((sum, block) => sum + block.chars, 0);
  const linkChars = blocks.reduce((sum, block) => sum + block.linkChars, 0);
  return blocks.some(hasSentence) && linkChars <= chars / 2;
}
