import { attribute, type Page, type PageNode } from '../html/index.ts';
import type { Codes } from './block-codes.ts';
import type { Block } from './blocks.ts';
import type { ClassNames } from './class-names.ts';
import { comparable } from './comparable.ts';
import { findContainer, type Sums } from './container.ts';
import type { BlockContext } from './features.ts';
import { clearedLender, lender } from './lent-memory.ts';
import { GROUP_NAMES, idBits, TAG_GROUP_NAMES, tagBits } from './name-groups.ts';
import { NodeFacts } from './node-facts.ts';
import { knownPhraseBits, PHRASE_NAMES } from './phrases.ts';

const MENU_BITS = (1 << TAG_GROUP_NAMES.indexOf('nav')) | (1 << TAG_GROUP_NAMES.indexOf('footer'));
// Levels up an owner's names are looked for; no real page nests deeper.
const MAX_LEVELS = 64;
// Distances beyond this say nothing more.
const FAR = 20;

/** Writes a path into a row from a place on: how many levels up the nearest element of each group stands. */
export type WritePath = (owner: PageNode, values: Float32Array, at: number) => void;
/** Numbers of a path. */
export const PATH_LENGTH = GROUP_NAMES.length + TAG_GROUP_NAMES.length;

// Lent to one page after the other: by block, and by element.
const borrowPhrases = clearedLender((size) => new Int32Array(size));
const borrowProseBefore = lender((size) => new Float64Array(size));
const borrowCharsBefore = lender((size) => new Float64Array(size));
const borrowHeadingOf = lender((size) => new Int32Array(size));
const borrowIsHeading = clearedLender((size) => new Uint8Array(size));
const borrowGapBefore = lender((size) => new Float64Array(size));
const borrowGapAfter = lender((size) => new Float64Array(size));
const borrowCounts = clearedLender((size) => new Int32Array(size));
const borrowFirstSeen = lender((size) => new Int32Array(size));
const borrowCommentLines = lender((size) => new Int32Array(size));
const borrowSinceComments = lender((size) => new Float64Array(size));
const borrowWanted = clearedLender((size) => new Uint8Array(size));
const borrowMainChain = clearedLender((size) => new Uint8Array(size));
const borrowInMenu = clearedLender((size) => new Uint8Array(size));
const borrowSeen = clearedLender((size) => new Uint8Array(size));
const borrowGroups = lender((size) => new Int32Array(size));
const borrowTags = lender((size) => new Int32Array(size));

// Characters from the nearest paragraph within which a short link may still belong to the text.
const NEAR_PROSE = 60;

const COMMENT_BIT = 1 << GROUP_NAMES.indexOf('comment');
const COMMENTS = 1 << PHRASE_NAMES.indexOf('comments');
// A longer line is a sentence about comments.
const MAX_LABEL_WORDS = 12;

type Group = { count: number; words: number; chars: number; linkChars: number; prose: number };

/** Everything about the page that more than one block's features need; only good until the next page is read. */
export type Outline = {
  facts: NodeFacts;
  /** Blocks worth scoring; the others are menus beyond doubt. */
  wanted: Uint8Array;
  phrases: Int32Array;
  writePath: WritePath;
  prose: Uint8Array;
  /** Prose characters before each block, and in all. */
  proseBefore: Float64Array;
  proseTotal: number;
  charsBefore: Float64Array;
  charsTotal: number;
  headlineAt: number;
  titleKey: string;
  /** Where the same text first stood, and how often it stands, by that place. */
  firstSeen: Int32Array;
  counts: Int32Array;
  groups: Group[];
  ldBody: string;
  description: string;
  articles: number;
  container60: PageNode;
  container85: PageNode;
  /** The container of 85 % of the prose and everything around it, by index. */
  mainChain: Uint8Array;
  headingOf: Int32Array;
  isHeading: Uint8Array;
  lastProse: number;
  gapBefore: Float64Array;
  gapAfter: Float64Array;
  /** Short lines about comments between the headline and the block, and prose characters since the last; -1: none. */
  commentLines: Int32Array;
  sinceComments: Float64Array;
};

/** Reads the outline of a page in one pass over its blocks. */
export function readOutline(
  page: Page,
  blocks: Block[],
  { codes, prose, sums, context }: { codes: Codes; prose: Uint8Array; sums: Sums; context: BlockContext },
): Outline {
  const count = blocks.length;
  const facts = new NodeFacts(page, context.classes);
  // The block after the last is asked for by the one before it.
  const phrases = borrowPhrases(count + 1);
  const isHeading = borrowIsHeading(count + 1);
  const proseBefore = borrowProseBefore(count);
  const charsBefore = borrowCharsBefore(count);
  const headingOf = borrowHeadingOf(count);
  const gapBefore = borrowGapBefore(count);
  const gapAfter = borrowGapAfter(count);
  const places = new Map<number, number>();
  const counts = borrowCounts(count);
  const firstSeen = borrowFirstSeen(count);
  const byName = new Map<number, Group>();
  const groups: Group[] = [];
  let proseTotal = 0;
  let charsTotal = 0;
  let heading = -1;
  let lastProse = -1;
  let headlineAt = -1;
  let gap = 0;
  for (let i = 0; i < count; i++) {
    const block = blocks[i]!;
    const isParagraph = prose[i] === 1;
    proseBefore[i] = proseTotal;
    charsBefore[i] = charsTotal;
    gapBefore[i] = Math.min(gap, 2_000);
    charsTotal += block.chars;
    if (isParagraph) {
      proseTotal += block.chars;
      lastProse = i;
      gap = 0;
    } else gap += block.chars;
    const tag = block.owner.tag;
    if (
      (tag.length === 2 && tag[0] === 'h' && tag !== 'hr') ||
      (block.words <= 8 && block.strongChars > block.chars * 0.8)
    ) {
      isHeading[i] = 1;
      heading = i;
    }
    headingOf[i] = heading;
    const seen = places.get(block.hash);
    const first = seen !== undefined && blocks[seen]!.text === block.text ? seen : i;
    firstSeen[i] = first;
    if (seen === undefined) places.set(block.hash, i);
    counts[first]!++;
    const name =
      Math.imul(facts.signature(block.owner), 31) +
      (block.owner.parent === null ? 0 : facts.signature(block.owner.parent));
    let group = byName.get(name);
    if (group === undefined) {
      group = { count: 0, words: 0, chars: 0, linkChars: 0, prose: 0 };
      byName.set(name, group);
    }
    group.count++;
    group.words += block.words;
    group.chars += block.chars;
    group.linkChars += block.linkChars;
    if (isParagraph) group.prose += block.chars;
    groups.push(group);
    if (context.headline !== null && headlineAt < 0 && block.from > context.headline.node.index)
      headlineAt = i;
  }
  gap = 0;
  for (let i = count - 1; i >= 0; i--) {
    gapAfter[i] = Math.min(gap, 2_000);
    gap = prose[i] === 1 ? 0 : gap + blocks[i]!.chars;
  }
  const wanted = borrowWanted(count);
  const inMenu = menuReader(page);
  for (let i = 0; i < count; i++) {
    const block = blocks[i]!;
    if (inMenu(block.owner)) continue;
    const near = Math.min(gapBefore[i]!, gapAfter[i]!) <= NEAR_PROSE;
    if (!near && block.words <= 5 && block.linkChars > block.chars * 0.8) continue;
    wanted[i] = 1;
    phrases[i] = knownPhraseBits(block.text, i, codes, block.hash);
  }
  const title = context.ld.headline ?? context.tags.openGraph['og:title'] ?? page.title ?? '';
  const description = context.tags.openGraph['og:description'] ?? context.tags.meta.description ?? '';
  let articles = 0;
  for (let node: PageNode | null = page.body.first; node !== null; ) {
    if (node.tag === 'article') articles++;
    let following: PageNode | null = node.tag === 'article' ? null : node.first;
    let at: PageNode | null = node;
    while (following === null && at !== null && at !== page.body) {
      following = at.next;
      at = at.parent;
    }
    node = following;
  }
  const container85 = findContainer(page.body, sums, 0.85);
  const mainChain = borrowMainChain(page.nodeCount + 1);
  for (let at: PageNode | null = container85; at !== null; at = at.parent) mainChain[at.index] = 1;
  return {
    facts,
    wanted,
    phrases,
    writePath: pathWriter(page.nodeCount + 1, context.classes, (node) =>
      holdsText(node, blocks, { sums, charsBefore, headlineAt }),
    ),
    prose,
    proseBefore,
    proseTotal,
    charsBefore,
    charsTotal,
    headlineAt,
    titleKey: comparable(title),
    counts,
    firstSeen,
    groups,
    ldBody: context.ld.body ?? '',
    description,
    articles,
    container60: findContainer(page.body, sums, 0.6),
    container85,
    mainChain,
    headingOf,
    isHeading,
    lastProse,
    gapBefore,
    gapAfter,
    ...countCommentLines(blocks, { phrases, proseBefore, headlineAt }),
  };
}

/** How many short lines about comments came before each block, and how much prose since the last of them. */
function countCommentLines(
  blocks: Block[],
  { phrases, proseBefore, headlineAt }: Pick<Outline, 'phrases' | 'proseBefore' | 'headlineAt'>,
): Pick<Outline, 'commentLines' | 'sinceComments'> {
  const commentLines = borrowCommentLines(blocks.length);
  const sinceComments = borrowSinceComments(blocks.length);
  let lines = 0;
  let proseAtLast = 0;
  for (let i = 0; i < blocks.length; i++) {
    if (i === headlineAt) lines = 0;
    commentLines[i] = lines;
    sinceComments[i] = lines === 0 ? -1 : proseBefore[i]! - proseAtLast;
    if ((phrases[i]! & COMMENTS) === 0 || blocks[i]!.words > MAX_LABEL_WORDS) continue;
    lines++;
    proseAtLast = proseBefore[i]!;
  }
  return { commentLines, sinceComments };
}

// What asks for consent is put at an end of the body by services whose names hardly vary. Its paragraphs read like any
// other and outweigh a short report.
const CONSENT_NAME =
  /onetrust|cookiebot|usercentrics|didomi|trustarc|qc-cmp|sp_message|cmpbox|cmpwrapper|cmplz|cky-(?:consent|modal|notice)|iubenda-cs|osano-cm|fc-consent|borlabscookie|tarteaucitron|axeptio|truste-|(?:cookie|gdpr|consent)[-_]?(?:banner|bar|box|consent|dialog|info|law|layer|modal|notice|overlay|popup|root|sdk|wall)/i;

const asksConsent = (node: PageNode) =>
  CONSENT_NAME.test(attribute(node, 'id') ?? '') || CONSENT_NAME.test(attribute(node, 'class') ?? '');

/** What lies over the page until somebody answers it: for consent, an address, a choice of country. */
const isDialog = (node: PageNode) =>
  node.tag === 'dialog' ||
  (attribute(node, 'aria-modal') === 'true' && /^(?:alert)?dialog$/.test(attribute(node, 'role') ?? ''));

/** Whether an element stands in a nav, a footer or what lies over the page, remembered per element by its index. */
function menuReader(page: Page): (node: PageNode) => boolean {
  // 0: not looked at; 1: outside; 2: inside. Arrays by index cost a third of a map by element.
  const known = borrowInMenu(page.nodeCount + 1);
  for (let child = page.body.first; child !== null; child = child.next)
    if (isDialog(child) || (child.attributesFrom !== child.attributesTo && asksConsent(child)))
      known[child.index] = 2;
  return (node) => {
    let found = 1;
    let top: PageNode | null = node;
    for (; top !== null; top = top.parent) {
      const answer = known[top.index]!;
      if (answer !== 0) {
        found = answer;
        break;
      }
      if ((tagBits(top) & MENU_BITS) !== 0) {
        found = 2;
        break;
      }
    }
    for (let at: PageNode | null = node; at !== top && at !== null; at = at.parent) known[at.index] = found;
    return found === 2;
  };
}

// Most of the prose stands in an element that holds the text, and next to nothing between the headline and it.
const MOST_PROSE = 0.5;
const LITTLE_TEXT = 0.05;

/** Whether an element named like comments holds the text they are about: "commentOnSelection", "has-comments". */
function holdsText(
  { index }: PageNode,
  blocks: Block[],
  { sums, charsBefore, headlineAt }: Pick<Outline, 'charsBefore' | 'headlineAt'> & { sums: Sums },
): boolean {
  if (headlineAt < 0 || sums.prose[index]! < sums.prose[0]! * MOST_PROSE) return false;
  let first = headlineAt;
  for (let end = blocks.length; first < end; ) {
    const middle = (first + end) >> 1;
    if (blocks[middle]!.from < index) first = middle + 1;
    else end = middle;
  }
  const between = first < blocks.length ? charsBefore[first]! - charsBefore[headlineAt]! : Infinity;
  return between < sums.chars[index]! * LITTLE_TEXT;
}

/**
 * Writes how many levels up from an element the nearest one of each group stands. What each element on the way says is
 * remembered, because blocks share their owners' ancestors.
 */
function pathWriter(size: number, classes: ClassNames, holdsText: (node: PageNode) => boolean): WritePath {
  const seen = borrowSeen(size);
  const groups = borrowGroups(size);
  const tags = borrowTags(size);
  return (owner, values, at) => {
    values.fill(FAR, at, at + PATH_LENGTH);
    let steps = 0;
    let seenGroups = 0;
    let seenTags = 0;
    for (
      let node: PageNode | null = owner;
      node !== null && steps < MAX_LEVELS && node.tag !== 'body' && node.tag !== 'html';
      node = node.parent
    ) {
      const index = node.index;
      if (seen[index] === 0) {
        seen[index] = 1;
        groups[index] = classes.groups(index) | idBits(node);
        if ((groups[index]! & COMMENT_BIT) !== 0 && holdsText(node)) groups[index]! &= ~COMMENT_BIT;
        tags[index] = tagBits(node);
      }
      const distance = Math.min(steps, FAR - 1);
      for (let fresh = groups[index]! & ~seenGroups; fresh !== 0; fresh &= fresh - 1)
        values[at + 31 - Math.clz32(fresh & -fresh)] = distance;
      for (let fresh = tags[index]! & ~seenTags; fresh !== 0; fresh &= fresh - 1)
        values[at + GROUP_NAMES.length + 31 - Math.clz32(fresh & -fresh)] = distance;
      seenGroups |= groups[index]!;
      seenTags |= tags[index]!;
      steps++;
    }
  };
}
