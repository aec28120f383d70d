import {
  attribute,
  collapse,
  formulaAt,
  indexAfter,
  isGlued,
  nextNode,
  type Page,
  type PageNode,
  TAG,
  TEXT,
} from '../html/index.ts';
import { countWordsOf } from '../text/index.ts';
import { writeCodes } from './block-codes.ts';
import { isLineNumber, isLineOfCode, isNumberColumn } from './code-lines.ts';
import { isLeftOut } from './left-out.ts';
import { isImage } from './marks.ts';

/** A run of text between two line breaks of the layout: the unit that is kept or dropped. */
export type Block = {
  /** The innermost block-level element the text stands in. */
  owner: PageNode;
  /** The cell of a table it stands in. */
  cell: PageNode | null;
  text: string;
  /** The same with its line breaks, where it has any: preformatted text keeps its spaces too. */
  lines: string | null;
  /** By which equal texts are found. */
  hash: number;
  words: number;
  chars: number;
  /** Characters inside links. */
  linkChars: number;
  links: number;
  /** Characters of the link the text begins with; a teaser begins with one. */
  leadLinkChars: number;
  /** Characters in bold or emphasised text. */
  strongChars: number;
  images: number;
  /** Nodes between the last image and the text; a caption has few. */
  sinceImage: number;
  /** Whether the text stands in a form control such as a button or a label. */
  inControl: boolean;
  /** Whether the text is a formula and little more. */
  isFormula: boolean;
  /** Node index at which the block begins, and the one after its last. */
  from: number;
  to: number;
};

// Whole books on one page have six thousand blocks. What they cost is linear; 20,000 paragraphs took a cold reader 0.9 s
// on a slow machine, and no page may take more than a second.
const MAX_BLOCKS = 12_000;
const MAX_BLOCK_CHARS = 200_000;

/** Fills in how many words each block has, and the hash of its text: the engine works one out anew for every slice. */
function readTexts(blocks: Block[]): void {
  const { codes, starts } = writeCodes(blocks);
  for (let i = 0; i < blocks.length; i++) {
    const end = starts[i + 1]!;
    let hash = 0;
    for (let at = starts[i]!; at < end; at++) hash = (Math.imul(hash, 31) + codes[at]!) | 0;
    blocks[i]!.words = countWordsOf(codes, starts[i]!, end);
    blocks[i]!.hash = hash;
  }
}

/** Whether there is nothing to see; nearly every text begins with a letter, which spares the pattern. */
function isBlank(text: string): boolean {
  const first = text.charCodeAt(0);
  return !(first > 32 && first < 127) && !/\S/.test(text);
}

const SPACE = 32;
// Stands for a line break while a block is read: like any white space to who looks at the text alone.
const LINE = '\u2028';

class BlockReader {
  readonly blocks: Block[] = [];
  /** Whether there was more than is read. */
  isCut = false;
  private raw = '';
  private owner: PageNode | null = null;
  private linkChars = 0;
  private links = 0;
  private strongChars = 0;
  private images = 0;
  private controlChars = 0;
  private formulaChars = 0;
  private from = 0;
  private breaks = 0;
  private lastImage = -1_000;
  private leadLinkChars = 0;
  private leads = true;
  /** The last character so far; asking a growing string for it would write it out each time. */
  private lastCode = SPACE;
  private hasLines = false;
  private atLineStart = true;
  /** The preformatted element and the cell of a table that are being read. */
  pre: PageNode | null = null;
  cell: PageNode | null = null;

  addText(node: PageNode, inLink: boolean, inStrong: boolean, inControl: boolean): void {
    if (this.raw.length > MAX_BLOCK_CHARS) return;
    let text = node.text;
    if (!this.begin(node, text)) return;
    if (this.pre !== null) {
      text = text.replace(/\r?\n/g, LINE);
      const last = text.lastIndexOf(LINE);
      if (last >= 0) this.hasLines = true;
      this.atLineStart = isBlank(text.slice(last + 1)) && (last >= 0 || this.atLineStart);
    }
    if (isGlued(this.lastCode, node)) this.raw += ' ';
    this.lastCode = text.charCodeAt(text.length - 1);
    this.raw += text;
    if (this.leads && !inLink && !isBlank(text)) this.leads = false;
    if (inLink || inStrong || inControl) {
      const chars = text.trim().length;
      if (inLink) this.linkChars += chars;
      if (inLink && this.leads) this.leadLinkChars += chars;
      if (inStrong) this.strongChars += chars;
      if (inControl) this.controlChars += chars;
    }
    if (this.breaks > 0 && !isBlank(text)) this.breaks = 0;
  }

  /** Begins a block at its first text; false where there is none yet. */
  private begin(node: PageNode, text: string): boolean {
    if (this.owner !== null) return true;
    if (isBlank(text) && this.pre === null) return false;
    let owner = node.parent!;
    while (
      owner.parent !== null &&
      owner !== this.pre &&
      ((owner.flags & TAG.inline) !== 0 || (this.pre !== null && isLineOfCode(owner)))
    )
      owner = owner.parent;
    this.owner = owner;
    this.from = node.index;
    return true;
  }

  /** A formula stands in its sentence like a word. */
  addFormula(node: PageNode, text: string): void {
    if (this.raw.length > MAX_BLOCK_CHARS || !this.begin(node, text)) return;
    this.raw += text;
    this.formulaChars += text.length;
    this.atLineStart = false;
    this.lastCode = SPACE;
    this.leads = false;
    this.breaks = 0;
  }

  addLink(): void {
    this.links++;
  }

  addImage(at: number): void {
    this.images++;
    this.lastImage = at;
  }

  lineBreak(at: number): void {
    this.breaks++;
    this.lastCode = SPACE;
    // Two line breaks are how old pages write a paragraph.
    if (this.breaks >= 2 && this.pre === null) this.flush(at);
    else this.nextLine();
  }

  /** Goes on in another line of the same block. */
  nextLine(): void {
    if (this.owner === null) return;
    this.raw += LINE;
    this.lastCode = SPACE;
    this.hasLines = true;
    this.atLineStart = true;
  }

  /** Begins or ends an element that is a line of its own. */
  ownLine(): void {
    if (!this.atLineStart) this.nextLine();
  }

  flush(at: number): void {
    if (this.owner !== null && this.blocks.length >= MAX_BLOCKS) this.isCut ||= !isBlank(this.raw);
    else if (this.owner !== null) {
      const text = collapse(this.raw);
      const chars = text.length;
      if (chars > 0 && (this.pre === null || !isNumberColumn(this.pre, text))) {
        this.blocks.push({
          owner: this.owner,
          cell: this.cell,
          text,
          lines: this.hasLines ? linesOf(this.raw, this.pre === null) : null,
          hash: 0,
          words: 0,
          chars,
          linkChars: Math.min(this.linkChars, chars),
          links: this.links,
          leadLinkChars: Math.min(this.leadLinkChars, chars),
          strongChars: Math.min(this.strongChars, chars),
          images: this.images,
          sinceImage: Math.abs(this.from - this.lastImage),
          inControl: this.controlChars > chars / 2,
          isFormula: this.formulaChars > chars / 2,
          from: this.from,
          to: at,
        });
      }
    }
    this.raw = '';
    this.owner = null;
    this.linkChars = 0;
    this.links = 0;
    this.strongChars = 0;
    this.images = 0;
    this.controlChars = 0;
    this.formulaChars = 0;
    this.breaks = 0;
    this.leadLinkChars = 0;
    this.leads = true;
    this.lastCode = SPACE;
    this.hasLines = false;
    this.atLineStart = true;
  }
}

/** The lines of a text that has more than one; preformatted text keeps an empty one where it has any. */
function linesOf(raw: string, isFlowing: boolean): string | null {
  const lines: string[] = [];
  for (const line of raw.split(LINE)) {
    const shown = collapse(line);
    if (shown !== '') lines.push(isFlowing ? shown : line.trimEnd());
    else if (!isFlowing && lines.length > 0 && lines[lines.length - 1] !== '') lines.push('');
  }
  if (lines[lines.length - 1] === '') lines.pop();
  return lines.length < 2 ? null : lines.join('\n');
}

function cellAround(cell: PageNode): PageNode | null {
  let at = cell.parent;
  while (at !== null && (at.flags & TAG.cell) === 0) at = at.parent;
  return at;
}

/** Cuts the body into blocks in document order; `onCut` hears of it when there are more than are read. */
export function readBlocks(
  page: Page,
  root: PageNode = page.body,
  excluded?: Set<PageNode>,
  onCut?: () => void,
): Block[] {
  const reader = new BlockReader();
  let link: PageNode | null = null;
  let strongDepth = 0;
  let controlDepth = 0;
  const isSkipped = (node: PageNode) =>
    isLeftOut(node, page) || (reader.pre !== null && isLineNumber(node)) || excluded?.has(node) === true;
  /** Whether an element begins and ends a block. */
  const isApart = (node: PageNode) => (node.flags & TAG.inline) === 0;
  let at: PageNode | null = root;
  while (at !== null) {
    let node: PageNode = at;
    const formula = (node.flags & TAG.formula) === 0 || excluded?.has(node) ? null : formulaAt(node);
    if (formula !== null) {
      reader.addFormula(node, formula.text);
      // Who reads a part of a formula only does not leave that part.
      if (formula.holder.index >= root.index) node = formula.holder;
    } else if (node.tag === TEXT) {
      reader.addText(node, link !== null, strongDepth > 0, controlDepth > 0);
    } else if (node.tag === 'br') {
      reader.lineBreak(node.index);
    } else if ((node.flags & TAG.unseen) === 0 && node.first !== null && !isSkipped(node)) {
      if (isApart(node)) {
        if (reader.pre !== null && isLineOfCode(node)) reader.ownLine();
        else reader.flush(node.index);
        if (node.tag === 'pre') reader.pre ??= node;
        else if ((node.flags & TAG.cell) !== 0) reader.cell = node;
      } else if (node.tag === 'a') {
        // `<a name="top">` marks a place; left open, it holds the rest of the page.
        if (attribute(node, 'href') !== null) {
          link ??= node;
          reader.addLink();
        }
      } else if ((node.flags & TAG.strong) !== 0) strongDepth++;
      else if ((node.flags & TAG.control) !== 0) controlDepth++;
      at = node.first;
      continue;
    } else if (isImage(node.tag)) reader.addImage(node.index);
    else if (node.tag === 'hr') reader.flush(node.index);
    // Leave every element whose last child this was.
    let leaving: PageNode = node;
    at = nextNode(leaving, root, true);
    while (leaving !== root && leaving.next === null && leaving.parent !== null) {
      leaving = leaving.parent;
      if (leaving === link) link = null;
      else if ((leaving.flags & TAG.strong) !== 0) strongDepth--;
      else if ((leaving.flags & TAG.control) !== 0) controlDepth--;
      if (!isApart(leaving)) continue;
      if (reader.pre !== null && isLineOfCode(leaving)) reader.ownLine();
      else reader.flush(formula === null ? node.index + 1 : indexAfter(node));
      if (leaving === reader.pre) reader.pre = null;
      else if (leaving === reader.cell) reader.cell = cellAround(leaving);
    }
  }
  reader.flush(Number.MAX_SAFE_INTEGER);
  readTexts(reader.blocks);
  if (reader.isCut) onCut?.();
  return reader.blocks;
}
