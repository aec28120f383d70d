import type { Page, PageNode } from '../html/index.ts';
import { type Codes, takeCodes } from './block-codes.ts';
import type { Block } from './blocks.ts';
import { type Hints, hintReader } from './class-hints.ts';
import type { ClassNames } from './class-names.ts';
import { makeComparable } from './comparable.ts';
import { isInside, readProse, type Sums, sumBlocks } from './container.ts';
import {
  BRANCH_GROUPS,
  FEATURE_COUNT,
  NEIGHBOURS,
  OWNER_TAGS,
  tellsParent,
  tellsProse,
} from './feature-names.ts';
import type { Headline } from './headline.ts';
import type { HeadlineView } from './headline-view.ts';
import type { LdFacts } from './json-ld.ts';
import { lender } from './lent-memory.ts';
import type { MetaTags } from './meta-tags.ts';
import { GROUP_NAMES } from './name-groups.ts';
import { type Outline, PATH_LENGTH, readOutline } from './outline.ts';
import { PHRASE_NAMES } from './phrases.ts';
import { mentionsSite, readSiteNames } from './site-mentions.ts';
import { addStructure, readStructure } from './structure-features.ts';
import { addText } from './text-features.ts';
import { Vocabulary } from './vocabulary.ts';

/** What is known about the page beside its blocks. */
export type BlockContext = {
  tags: MetaTags;
  ld: LdFacts;
  headline: Headline | null;
  classes: ClassNames;
};

/** Writes one row; keeps the place so that names and values stay in the same order. */
class Row {
  readonly values: Float32Array;
  private at = 0;
  constructor(values: Float32Array) {
    this.values = values;
  }
  begin(row: number): void {
    this.at = row * FEATURE_COUNT;
  }
  add(value: number): void {
    this.values[this.at++] = value;
  }
  /** Leaves room for numbers that somebody else writes; returns where they go. */
  leave(width: number): number {
    this.at += width;
    return this.at - width;
  }
  /** Adds a run of zeros with a one at each set bit. */
  addBits(bits: number, width: number): void {
    const { values, at } = this;
    values.fill(0, at, at + width);
    for (let left = bits; left !== 0; left &= left - 1) values[at + 31 - Math.clz32(left & -left)] = 1;
    this.at += width;
  }
}

const OWNER_BITS = new Map(OWNER_TAGS.map((tag, bit) => [tag, 1 << bit]));
const ratio = (part: number, whole: number) => (whole > 0 ? part / whole : 0);

/** Rows of features, which blocks have one, and whether the headline stands in an `<article>`; only good until the next page. */
export type Features = { rows: Float32Array; wanted: Uint8Array; inArticle: boolean };

// Overwritten by the rows of the next page.
const borrowRows = lender((size) => new Float32Array(size));

/** One row of numbers per block worth scoring: what it says, where it stands and what stands around it. */
export function computeFeatures(page: Page, blocks: Block[], found: BlockContext, hints: Hints): Features {
  const row = new Row(borrowRows(blocks.length * FEATURE_COUNT));
  const prose = readProse(blocks);
  const sums = sumBlocks(page, blocks, prose);
  const context = endsText(found.headline, blocks, prose, sums) ? { ...found, headline: null } : found;
  const codes = takeCodes(blocks);
  const outline = readOutline(page, blocks, { codes, prose, sums, context });
  const vocabulary = new Vocabulary(
    blocks,
    codes,
    `${page.title ?? ''} ${context.tags.openGraph['og:title'] ?? ''}`,
    outline.prose,
    (block) => isInside(block.owner, outline.container85),
  );
  const structure = readStructure(page, blocks, outline.facts, vocabulary, context.headline?.node ?? null);
  const headline = seeHeadline(context.headline);
  const siteNames = readSiteNames(page, context);
  const hintOf = hintReader(page.nodeCount, context.classes, hints);
  for (let i = 0; i < blocks.length; i++) {
    if (outline.wanted[i] === 0) continue;
    row.begin(i);
    const block = blocks[i]!;
    addText(row, block, i, codes);
    row.addBits(outline.phrases[i]!, PHRASE_NAMES.length);
    row.addBits(OWNER_BITS.get(block.owner.tag) ?? 0, OWNER_TAGS.length);
    const path = row.leave(PATH_LENGTH);
    outline.writePath(block.owner, row.values, path);
    addPage(row, i, blocks, outline, codes);
    addGroup(row, i, blocks, outline);
    addContainers(row, block, outline, sums);
    addNeighbours(row, i, blocks, outline);
    addHeadings(row, i, outline);
    addStructure(row, i, blocks, structure, sums, outline.headingOf[i]!);
    addHeadline(row, block.owner, path, { view: structure.view, headline });
    row.add(mentionsSite(siteNames, i, codes) ? 1 : 0);
    row.add(hintOf(block.owner));
  }
  return { rows: row.values, wanted: outline.wanted, inArticle: headline?.inArticle === true };
}

// A heading behind this share of the text around it heads nothing, however alike it is to the title: it is for sharing.
const END_SHARE = 0.8;
// The text around a heading is the smallest element around it with this share of the page's prose.
const AROUND_SHARE = 0.4;

/** Whether a heading stands at the end of the text instead of above it. */
function endsText(headline: Headline | null, blocks: Block[], prose: Uint8Array, sums: Sums): boolean {
  if (headline === null) return false;
  const wanted = sums.prose[0]! * AROUND_SHARE;
  let around = headline.node;
  while (around.parent !== null && sums.prose[around.index]! < wanted) around = around.parent;
  let before = 0;
  for (let i = 0; i < blocks.length; i++) {
    const { chars, from } = blocks[i]!;
    if (prose[i] === 1 && from >= around.index && from < headline.node.index) before += chars;
  }
  return before > sums.prose[around.index]! * END_SHARE;
}

function addPage(row: Row, i: number, blocks: Block[], outline: Outline, codes: Codes): void {
  const { text, chars } = blocks[i]!;
  const { titleKey, headlineAt } = outline;
  row.add(Math.min(blocks.length, 1_000));
  row.add(Math.min(outline.charsTotal, 50_000));
  row.add(ratio(outline.proseTotal, outline.charsTotal));
  row.add(Math.min(outline.articles, 20));
  row.add(ratio(i, blocks.length));
  row.add(ratio(outline.charsBefore[i]!, outline.charsTotal));
  row.add(ratio(outline.proseBefore[i]!, outline.proseTotal));
  row.add(
    Math.min(
      3_000,
      outline.proseTotal - outline.proseBefore[i]! - (outline.prose[i] === 1 ? blocks[i]!.chars : 0),
    ),
  );
  row.add(headlineAt < 0 ? -100 : Math.max(-50, Math.min(100, i - headlineAt)));
  row.add(headlineAt < 0 ? 2 : i >= headlineAt ? 1 : 0);
  // Only a line of about the title's length can be the title.
  const key =
    chars > 3 &&
    2 * chars > titleKey.length &&
    chars < 2 * titleKey.length + 40 &&
    mayBeIn(codes, i, titleKey)
      ? makeComparable(text)
      : '';
  const alike = key.length > 5 && (titleKey.includes(key) || key.includes(titleKey));
  row.add(titleKey !== '' && alike ? 1 : 0);
  const first = outline.firstSeen[i]!;
  row.add(Math.min(10, outline.counts[first]!));
  row.add(first === i ? 1 : 0);
  const { ldBody, description } = outline;
  row.add(
    ldBody.length < 200 ? 0 : chars > 3 && ldBody.includes(chars > 60 ? text.slice(0, 60) : text) ? 2 : 1,
  );
  const described =
    chars > 20 && description.length > 20 && text.slice(0, 40) === description.slice(0, Math.min(40, chars));
  row.add(described ? 1 : 0);
}

// Letters and digits at either end of a line that the title must hold for the whole to be worth comparing.
const END_CHARS = 6;

/** Whether a line begins or ends with something the title holds; false only where it cannot be the title. */
function mayBeIn({ codes, starts }: Codes, i: number, titleKey: string): boolean {
  const [from, to] = [starts[i]!, starts[i + 1]!];
  return (
    titleKey.includes(endKey(codes, from, to, 1)) || titleKey.includes(endKey(codes, to - 1, from - 1, -1))
  );
}

// Filled by endKey, code by code; strings that grow by a letter took longer.
const endCodes = new Array<number>(END_CHARS);

/** The first letters and digits of a line in lower case, read forwards or backwards; empty when unsure. */
function endKey(codes: Uint16Array, from: number, to: number, step: 1 | -1): string {
  let length = 0;
  for (let at = from; at !== to && length < END_CHARS; at += step) {
    const code = codes[at]!;
    if (isPlainLetter(code)) {
      endCodes[step === 1 ? length : END_CHARS - 1 - length] = isPlainCapital(code) ? code + 32 : code;
      length++;
    } else if (!isPlainSign(code)) return '';
  }
  if (length === END_CHARS) return String.fromCharCode(...endCodes);
  return String.fromCharCode(
    ...(step === 1 ? endCodes.slice(0, length) : endCodes.slice(END_CHARS - length)),
  );
}

/** Letters and digits that are compared as they are: ASCII, western, Russian, Japanese and Chinese ones. */
const isPlainLetter = (code: number) =>
  (code >= 97 && code <= 122) ||
  (code >= 65 && code <= 90) ||
  (code >= 48 && code <= 57) ||
  (code >= 0xc0 && code <= 0xff && code !== 0xd7 && code !== 0xf7) ||
  (code >= 0x410 && code <= 0x44f) ||
  (code >= 0x3041 && code <= 0x3096) ||
  (code >= 0x4e00 && code <= 0x9fa5);
const isPlainCapital = (code: number) =>
  (code >= 65 && code <= 90) || (code >= 0xc0 && code <= 0xde) || (code >= 0x410 && code <= 0x42f);
const isPlainSign = (code: number) =>
  code < 128 || code === 0xa0 || code === 0xab || code === 0xbb || (code >= 0x2010 && code <= 0x2027);

// How far blocks of the same kind are looked for on either side.
const RUN_REACH = 10;

function addGroup(row: Row, i: number, blocks: Block[], outline: Outline): void {
  const group = outline.groups[i]!;
  const owner = blocks[i]!.owner;
  row.add(Math.min(group.count, 100));
  row.add(group.words / group.count);
  row.add(ratio(group.linkChars, group.chars));
  row.add(ratio(group.prose, outline.proseTotal));
  let before = i - 1;
  while (before >= 0 && i - before <= RUN_REACH && outline.groups[before] === group) before--;
  let after = i + 1;
  while (after < blocks.length && after - i <= RUN_REACH && outline.groups[after] === group) after++;
  row.add(after - before - 2);
  // Between comments and other entries stand lines that come as often as they do.
  row.add(before < 0 ? 0 : Math.min(100, outline.groups[before]!.count));
  row.add(after === blocks.length ? 0 : Math.min(100, outline.groups[after]!.count));
  // Entries beyond the hundredth are all the same to us.
  const place = outline.facts.place(owner);
  row.add(Math.min(100, outline.facts.siblings(owner)));
  row.add(place < 100 ? place : 0);
}

// Elements beside a branch that are counted.
const MAX_BESIDE = 400;

function addContainers(row: Row, block: Block, outline: Outline, sums: Sums): void {
  const total = outline.charsTotal;
  const proseTotal = outline.proseTotal;
  let node = block.owner.parent ?? block.owner;
  for (let level = 0; level < 3; level++) {
    const at = node.index;
    if (level < 2) row.add(ratio(sums.chars[at]!, total));
    row.add(ratio(sums.linkChars[at]!, sums.chars[at]!));
    row.add(ratio(sums.prose[at]!, proseTotal));
    if (level < 2) row.add(Math.min(200, sums.blocks[at]!));
    node = node.parent ?? node;
  }
  // Where the way up from the block meets the way up from the main container.
  const { container60, container85, facts } = outline;
  const depth = facts.depth(block.owner);
  const inside60 = isInside(block.owner, container60) ? 1 : 0;
  const inside85 = isInside(block.owner, container85) ? 1 : 0;
  let branch = block.owner;
  let steps = 0;
  if (inside85 === 1) {
    steps = depth - facts.depth(container85);
    for (let at = block.owner; at !== container85; at = at.parent!) branch = at;
  } else {
    const shared = outline.mainChain;
    for (let at: PageNode | null = block.owner; at !== null && shared[at.index] === 0; at = at.parent) {
      branch = at;
      steps--;
    }
  }
  const at = branch.index;
  row.add(inside60);
  row.add(inside85);
  row.add(ratio(sums.chars[at]!, total));
  row.add(ratio(sums.linkChars[at]!, sums.chars[at]!));
  row.add(ratio(sums.prose[at]!, proseTotal));
  row.add(Math.min(200, sums.blocks[at]!));
  row.add(Math.abs(steps));
  const before = Math.min(MAX_BESIDE, outline.facts.place(branch));
  const beside = Math.min(MAX_BESIDE, Math.max(0, outline.facts.siblings(branch) - 1));
  row.add(ratio(before, beside + 1));
  row.add(Math.min(depth, 60));
  row.add(steps);
  row.add(inside85 === 1 && branch.parent !== null && siblingProse(branch, sums) ? 1 : 0);
}

/** Whether the next siblings on either side hold prose and look the same. */
function siblingProse(branch: PageNode, sums: Sums): boolean {
  for (let next = branch.next; next !== null; next = next.next)
    if (next.tag !== '#text') return next.tag === branch.tag && sums.prose[next.index]! > 0;
  return false;
}

function addNeighbours(row: Row, i: number, blocks: Block[], outline: Outline): void {
  const parent = blocks[i]!.owner.parent;
  for (const offset of NEIGHBOURS) {
    const other = blocks[i + offset];
    row.add(other === undefined ? -1 : Math.min(other.words, 200));
    row.add(other === undefined ? -1 : ratio(other.linkChars, other.chars));
    if (tellsProse(offset)) row.add(other === undefined ? -1 : outline.prose[i + offset]!);
    if (tellsParent(offset)) row.add(other === undefined ? -1 : other.owner.parent === parent ? 1 : 0);
  }
}

const MORE = 1 << PHRASE_NAMES.indexOf('more');

function addHeadings(row: Row, i: number, outline: Outline): void {
  const heading = outline.headingOf[i]!;
  const said = heading < 0 ? 0 : outline.phrases[heading]!;
  row.add(said === 0 ? 0 : 1);
  row.add((said & MORE) !== 0 ? 1 : 0);
  row.add(heading < 0 ? 99 : Math.min(99, i - heading));
  row.add(outline.gapBefore[i]!);
  row.add(outline.gapAfter[i]!);
  row.add(outline.isHeading[i]!);
  row.add(outline.isHeading[i + 1]!);
  row.add(i > outline.lastProse ? 1 : 0);
  row.add((outline.phrases[i - 1] ?? 0) === 0 ? 0 : 1);
  row.add(outline.phrases[i + 1] === 0 ? 0 : 1);
  row.add(Math.min(20, outline.commentLines[i]!));
  row.add(Math.min(3_000, outline.sinceComments[i]!));
}

const BRANCH_BITS = BRANCH_GROUPS.map((name) => GROUP_NAMES.indexOf(name));

/** Where the block stands as seen from the headline: other stories, comments and boxes branch off on the way to it. */
function addHeadline(
  row: Row,
  owner: PageNode,
  path: number,
  { view, headline }: { view: HeadlineView; headline: SeenHeadline | null },
): void {
  row.add(headline === null ? 0 : articleRelation(view, owner, headline));
  row.add(headline?.likeness ?? -1);
  for (const bit of BRANCH_BITS) {
    const distance = row.values[path + bit]!;
    row.add(headline !== null && distance < view.steps(owner) ? distance : FAR);
  }
}

type SeenHeadline = { likeness: number; index: number; inArticle: boolean };
const FAR = 20;

function seeHeadline(headline: Headline | null): SeenHeadline | null {
  if (headline === null) return null;
  let inArticle = false;
  for (let at: PageNode | null = headline.node; at !== null; at = at.parent)
    inArticle ||= at.tag === 'article';
  return { likeness: headline.likeness, index: headline.node.index, inArticle };
}

/** 0: no article of its own; 1: in the headline's; 2: in another beside that; 3: after a headline outside any; 4: before it. */
function articleRelation(view: HeadlineView, owner: PageNode, headline: SeenHeadline): number {
  const article = view.article(owner);
  if (article < 0) return view.sharesArticle(owner) ? 1 : 0;
  if (article < headline.index) return 4;
  return headline.inArticle ? 2 : 3;
}
