import { attribute, type PageNode, TEXT, textOf } from '../html/index.ts';
import type { Place, PlacedLine } from './beside-dates.ts';
import type { Block } from './blocks.ts';
import { makeComparable } from './comparable.ts';
import { type Headline, LIKE_THE_TITLE } from './headline.ts';
import type { NearLine } from './line-dates.ts';
import { ENTRY } from './written-dates.ts';

// Lines before and after the headline among which dates and bylines stand.
const LINES_BEFORE = 10;
const LINES_AFTER = 25;
const MAX_LINE_CHARS = 160;

/**
 * Short lines around the headline in their order. Where no heading names the article, the line that reads as one of the
 * titles in the head is the headline: some pages set it as an h3, a paragraph or a div (11 of 17 such pages of three
 * sets, with the byline or a date right below it on 9).
 */
export function linesAround(
  { blocks, kept }: Lines,
  headline: Headline | null,
  titles: () => readonly string[],
): NearLine[] {
  const isNamed = headline !== null && headline.likeness >= LIKE_THE_TITLE;
  const titleAt = isNamed ? -1 : titleLine(blocks, titles());
  const found =
    titleAt >= 0 || headline === null
      ? titleAt
      : blocks.findIndex((block) => block.from > headline.node.index);
  const start = Math.max(0, found);
  // The headline's own block begins inside the heading.
  const isOwn = titleAt >= 0 || (headline !== null && blocks[start]?.owner === headline.node);
  const first = isOwn ? start + 1 : start;
  const lines: NearLine[] = [];
  const text = new Set(kept);
  for (let i = Math.max(0, start - LINES_BEFORE); i < Math.min(blocks.length, start + LINES_AFTER); i++) {
    const block = blocks[i]!;
    if (block.chars <= MAX_LINE_CHARS && !isFact(block))
      lines.push({ text: block.text, place: placeOf(block, text.has(block)), after: i - first });
  }
  return lines;
}

/** The blocks of a page, and those that are its text. */
export type Lines = { blocks: readonly Block[]; kept: readonly Block[] };

// The element of a caption is at most this far above its text.
const CAPTION_STEPS = 3;
const CAPTION_CLASS = /(?:^|[\s_-])(?:fig)?caption(?:[\s_-]|$)|bildunterschrift/i;
// Further from its image the class is one of small print: bylines have it too.
const CAPTION_NODES = 10;

/** What a block is in the article. */
export function placeOf(block: Block, isKept: boolean): Place {
  let at: PageNode | null = block.owner;
  for (let steps = 0; at !== null && steps < CAPTION_STEPS; steps++, at = at.parent) {
    if (at.tag === 'figcaption' || at.tag === 'caption') return 'caption';
    if (block.sinceImage <= CAPTION_NODES && CAPTION_CLASS.test((attribute(at, 'class') ?? '').slice(0, 200)))
      return 'caption';
  }
  if (HEADING.test(block.owner.tag)) return 'heading';
  return isKept ? 'text' : null;
}

const HEADING = /^h[1-6]$/;

/** Whether a line is the value beside a name in a table of facts: "Founded", "Born". Only that of a day counts. */
function isFact({ cell }: Block): boolean {
  if (cell === null || cell.tag !== 'td') return false;
  let name = cell.parent?.first ?? null;
  while (name !== null && name.tag === TEXT) name = name.next;
  return name?.tag === 'th' && !NAME_OF_DAY.test(textOf(name, 50));
}

const NAME_OF_DAY = /dat[eauo]|fecha|publ|post|veröff|ersch|issued|updated/i;

/** The line that is one of some titles, perhaps after a kicker; -1 where there is none. */
function titleLine(blocks: readonly Block[], titles: readonly string[]): number {
  const keys = titles.map(makeComparable).filter((key) => key.length >= MIN_TITLE_LETTERS);
  if (keys.length === 0) return -1;
  let found = -1;
  for (let i = 0; i < blocks.length; i++) {
    const { chars, text } = blocks[i]!;
    if (chars < MIN_TITLE_LETTERS || chars > MAX_LINE_CHARS) continue;
    const key = makeComparable(text);
    if (!keys.some((title) => key.endsWith(title) && key.length - title.length <= MAX_KICKER_LETTERS))
      continue;
    // The end of the breadcrumbs names the article just before its headline does.
    if (found >= 0 && i - found > BREADCRUMB_LINES) break;
    found = i;
  }
  return found;
}

const MIN_TITLE_LETTERS = 10;
const MAX_KICKER_LETTERS = 50;
const BREADCRUMB_LINES = 5;

/** The lines that may hold nothing but a date, and sentences that tell when the article appeared. */
export function shortLines({ blocks, kept }: Lines): PlacedLine[] {
  const text = new Set(kept);
  return blocks
    .filter(
      (block) =>
        block.chars >= 8 &&
        (block.chars <= MAX_LINE_CHARS || (block.chars <= MAX_ENTRY_CHARS && ENTRY.test(block.text))) &&
        /\d\d/.test(block.text) &&
        !isFact(block),
    )
    .map((block) => ({ text: block.text, place: placeOf(block, text.has(block)) }));
}

const MAX_ENTRY_CHARS = 500;
