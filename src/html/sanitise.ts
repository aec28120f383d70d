import { formulaAt } from './formulas.ts';
import { attribute, collapse, indexAfter, nextNode, type PageNode, TEXT } from './node.ts';
import { type Page, resolveUrl } from './parse-page.ts';
import { TAG } from './tree-rules.ts';

/** What of a page is shown. */
export type SanitiseOptions = {
  /** Bytes of UTF-8 that come out at most; what does not fit is left away. */
  maxBytes: number;
  /** Whether a text, an image or a line break is shown; all of them unless said. */
  keeps?: (node: PageNode) => boolean;
  /** Whether an element is left away with everything inside it. */
  skips?: (node: PageNode) => boolean;
};

const set = (words: string) => new Set(words.split(' '));

/** Elements that may come out. None of them loads, runs, sends or refers to anything by itself. */
export const SAFE_TAGS: ReadonlySet<string> = set(
  'a abbr b blockquote br caption cite code dd del div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 i ins kbd li mark ol ' +
    'p pre q s samp small strong sub sup table tbody td tfoot th thead tr u ul var',
);

/** Attributes that may come out, by element. */
export const SAFE_ATTRIBUTES: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['a', set('href rel target')],
  ['td', set('colspan rowspan')],
  ['th', set('colspan rowspan')],
  ['ol', set('start')],
]);

// What follows it may be read but not sent back: no referrer, no handle on our window, no credit in rankings.
const LINK = 'rel="noopener noreferrer nofollow" target="_blank"';
const NUMBER = /^\d{1,3}$/;
const MAX_ALT_CHARS = 300;
const MAX_ADDRESS_CHARS = 500;
// "&amp;" for one character, or three bytes of UTF-8: no character becomes more than these.
const MOST_BYTES_PER_CHAR = 5;

/** A text as HTML shows it, in content and in quoted attributes alike. */
export function escapeHtml(text: string): string {
  return text.replace(UNSAFE, (sign) => ESCAPES[sign] ?? '');
}

// Control characters are no text; some parsers stumble over them.
const UNSAFE = /[&<>"'\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;
const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** An element that text may stand in: written when the first text comes, so that none is empty. */
type Entry = { node: PageNode; tag: string; opening: string; isInline: boolean; isOpen: boolean };

/**
 * Writes the tree anew from an allow-list instead of taking things out of it: what nobody thought of is not there. Every
 * text is escaped and every element closed, so a browser reads what was written here whatever the page was.
 */
class Writer {
  readonly #page: Page;
  readonly #options: SanitiseOptions;
  readonly #stack: Entry[] = [];
  readonly #pieces: string[] = [];
  #left: number;
  // How many are open around: to look through the stack for every text would take the depth times as long.
  #links = 0;
  #exact = 0;
  #gap = false;
  // Behind a formula come its other forms.
  #resumeAt = 0;
  #isFull = false;

  constructor(page: Page, options: SanitiseOptions) {
    this.#page = page;
    this.#options = options;
    this.#left = options.maxBytes;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  /** Takes a node; false: nothing inside it is shown. */
  enter(node: PageNode): boolean {
    if (node.tag === TEXT) {
      if (node.index >= this.#resumeAt && this.#keeps(node)) this.#addText(node.text);
      return false;
    }
    if (node.index < this.#resumeAt || this.#options.skips?.(node)) return false;
    const formula = (node.flags & TAG.formula) === 0 ? null : formulaAt(node);
    if (formula !== null) {
      if (formula.text !== '' && this.#keeps(node)) this.#addText(formula.text);
      this.#resumeAt = indexAfter(formula.holder);
      return false;
    }
    if ((node.flags & (TAG.unseen | TAG.foreign)) !== 0) return false;
    if (node.tag === 'img') {
      if (this.#keeps(node)) this.#addImage(node);
      return false;
    }
    if (node.tag === 'br') {
      if (this.#pieces.length > 0 && this.#keeps(node)) this.#write('<br>');
      return false;
    }
    if ((node.flags & TAG.void) !== 0) return false;
    const entry = this.#entryOf(node);
    if (entry !== null) {
      this.#stack.push(entry);
      this.#count(entry, 1);
    }
    return true;
  }

  /** Ends an element. */
  leave(node: PageNode): void {
    const top = this.#stack.at(-1);
    if (top?.node !== node) return;
    this.#stack.pop();
    this.#count(top, -1);
    if (!top.isInline) this.#gap = false;
    // Its bytes were set aside when it was opened.
    if (top.isOpen) this.#pieces.push(`</${top.tag}>`);
  }

  end(): string {
    for (let top = this.#stack.at(-1); top !== undefined; top = this.#stack.at(-1)) this.leave(top.node);
    return this.#pieces.join('');
  }

  #count({ tag }: Entry, by: number): void {
    if (tag === 'a') this.#links += by;
    else if (tag === 'pre') this.#exact += by;
  }

  #keeps(node: PageNode): boolean {
    return this.#options.keeps?.(node) ?? true;
  }

  #entryOf(node: PageNode): Entry | null {
    const isInline = (node.flags & TAG.inline) !== 0;
    const entry = { node, isInline, isOpen: false };
    if (node.tag === 'a') {
      const url = resolveUrl(attribute(node, 'href') ?? '', this.#page.baseUrl);
      if (url === null || this.#links > 0) return null;
      return { ...entry, tag: 'a', opening: `<a href="${escapeHtml(url)}" ${LINK}>` };
    }
    if (!SAFE_TAGS.has(node.tag)) return isInline ? null : { ...entry, tag: 'div', opening: '<div>' };
    return { ...entry, tag: node.tag, opening: `<${node.tag}${numbersOf(node)}>` };
  }

  #addText(text: string): void {
    if (this.#exact === 0 && !/\S/.test(text)) {
      this.#gap = true;
      return;
    }
    this.#open();
    const escaped = escapeHtml(text.slice(0, this.#left));
    const fits = text.length <= this.#left && Buffer.byteLength(escaped) <= this.#left;
    this.#write(fits ? escaped : escapeHtml(text.slice(0, Math.floor(this.#left / MOST_BYTES_PER_CHAR))));
    if (!fits) this.#isFull = true;
  }

  /** An image is its words: to load it would tell its server who reads here. */
  #addImage(node: PageNode): void {
    const alt = collapse(attribute(node, 'alt') ?? '').slice(0, MAX_ALT_CHARS);
    const url = resolveUrl(attribute(node, 'src') ?? '', this.#page.baseUrl)?.slice(0, MAX_ADDRESS_CHARS);
    const said = [alt, url ?? ''].filter((one) => one !== '').join(', ');
    if (said === '') return;
    this.#open();
    this.#write(`<small>[${escapeHtml(said)}]</small>`);
  }

  /** Opens what the next text stands in; of divs around other blocks none, since they say nothing. */
  #open(): void {
    if (this.#gap) this.#write(' ');
    this.#gap = false;
    const from = this.#stack.findLastIndex((one) => one.isOpen) + 1;
    const lastBlock = this.#stack.findLastIndex((one) => !one.isInline);
    for (let i = from; i < this.#stack.length && !this.#isFull; i++) {
      const entry = this.#stack[i]!;
      if (entry.tag === 'div' && i < lastBlock) continue;
      entry.isOpen = this.#write(entry.opening, entry.tag.length + 3);
    }
  }

  /** Writes a piece if it fits, and sets bytes aside for its end. */
  #write(piece: string, aside = 0): boolean {
    const bytes = Buffer.byteLength(piece) + aside;
    if (this.#isFull || bytes > this.#left) {
      this.#isFull = true;
      return false;
    }
    this.#left -= bytes;
    this.#pieces.push(piece);
    return true;
  }
}

function numbersOf(node: PageNode): string {
  let written = '';
  for (const name of SAFE_ATTRIBUTES.get(node.tag) ?? []) {
    const value = attribute(node, name)?.trim() ?? '';
    if (NUMBER.test(value)) written += ` ${name}="${value}"`;
  }
  return written;
}

/**
 * A page as HTML that is harmless wherever it is shown: text in a few plain elements, links to the web, and nothing that
 * runs, loads or sends. `isCut` says that there was more than fits.
 */
export function sanitise(page: Page, options: SanitiseOptions): { html: string; isCut: boolean } {
  const writer = new Writer(page, options);
  const root = page.body;
  let at: PageNode | null = root.first;
  while (at !== null && !writer.isFull) {
    const isInside = writer.enter(at);
    if (isInside && at.first !== null) {
      at = at.first;
      continue;
    }
    if (isInside) writer.leave(at);
    const following: PageNode | null = nextNode(at, root, true);
    for (let left: PageNode = at; left.next === null && left.parent !== null && left.parent !== root; ) {
      left = left.parent;
      writer.leave(left);
    }
    at = following;
  }
  return { html: writer.end(), isCut: writer.isFull };
}

/** A text as paragraphs; an empty line parts two of them. */
export function paragraphsOf(text: string, maxBytes: number): { html: string; isCut: boolean } {
  const pieces: string[] = [];
  let left = maxBytes;
  for (const paragraph of text.split(/\n{2,}/)) {
    const piece = `<p>${escapeHtml(paragraph).replaceAll('\n', '<br>')}</p>`;
    left -= Buffer.byteLength(piece);
    if (left < 0) return { html: pieces.join('\n'), isCut: true };
    pieces.push(piece);
    left -= 1;
  }
  return { html: pieces.join('\n'), isCut: false };
}
