import type { AttributeTable } from './attributes.ts';
import { TAG } from './tree-rules.ts';

/**
 * One node of a parsed page: an element, or a text when `tag` is '#text'.
 * One class for both keeps every property access monomorphic; children are a linked list because
 * most elements have one or two and an array each doubled the memory of a page.
 */
export class PageNode {
  readonly tag: string;
  /** What is known of the tag, as bits of TAG; only `openNoscripts` changes them. */
  flags: number;
  readonly parent: PageNode | null;
  /** Place in document order among all nodes: a child's index is always above its parent's. */
  readonly index: number;
  /** Where its attributes are kept, and which run of them is its own; null for what cannot have any. */
  attributes: AttributeTable | null = null;
  attributesFrom = 0;
  attributesTo = 0;
  text: string;
  first: PageNode | null = null;
  last: PageNode | null = null;
  next: PageNode | null = null;

  constructor(tag: string, flags: number, parent: PageNode | null, index: number, text: string) {
    this.tag = tag;
    this.flags = flags;
    this.parent = parent;
    this.index = index;
    this.text = text;
  }
}

/** The name of text nodes. */
export const TEXT = '#text';

/** The number of an attribute in the element's table, or -1 when the element does not carry it. */
export function findAttribute(node: PageNode, name: string): number {
  const to = node.attributesTo;
  if (node.attributesFrom === to) return -1;
  const { names } = node.attributes!;
  for (let i = node.attributesFrom; i < to; i++) if (names[i] === name) return i;
  return -1;
}

/** The value of an attribute, or null when the element does not carry it. */
export function attribute(node: PageNode, name: string): string | null {
  const found = findAttribute(node, name);
  return found < 0 ? null : node.attributes!.value(found);
}

/** All attributes of an element in their order, as names and values. */
export function listAttributes(node: PageNode): [string, string][] {
  const list: [string, string][] = [];
  for (let i = node.attributesFrom; i < node.attributesTo; i++)
    list.push([node.attributes!.names[i]!, node.attributes!.value(i)]);
  return list;
}

/** The node that follows in document order inside `root`, optionally stepping over the children. */
export function nextNode(node: PageNode, root: PageNode, skipChildren = false): PageNode | null {
  if (!skipChildren && node.first !== null) return node.first;
  let at: PageNode | null = node;
  while (at !== null && at !== root) {
    if (at.next !== null) return at.next;
    at = at.parent;
  }
  return null;
}

/** The text of an element that holds one text and nothing else, perhaps some levels down; null for any other. */
export function soleText(node: PageNode): string | null {
  let at = node.first;
  for (let level = 0; level < SOLE_LEVELS && at !== null && at.next === null; level++, at = at.first)
    if (at.tag === TEXT) return at.text;
  return null;
}

const SOLE_LEVELS = 3;

/** The index after the last node inside an element. */
export function indexAfter(node: PageNode): number {
  let at = node;
  while (at.last !== null) at = at.last;
  return at.index + 1;
}

const isSmall = (code: number) =>
  (code >= 97 && code <= 122) || (code >= 0xdf && code <= 0xff && code !== 0xf7);
const isCapital = (code: number) =>
  (code >= 65 && code <= 90) || (code >= 0xc0 && code <= 0xde && code !== 0xd7);

/**
 * Whether a text follows the one before it, of which it is told the last character, without a space, although only their
 * style sets them apart: no word goes on with a capital ("steel" "Shop now"; apart at 84 places of 19 pages in the
 * reference texts of two benchmarks, joined at none). A capital before small letters is a drop cap, and marks such as ℠
 * belong to the word before them.
 */
export function isGlued(lastCode: number, { text, parent }: PageNode): boolean {
  return isSmall(lastCode) && isCapital(text.charCodeAt(0)) && parent?.tag !== 'sup' && parent?.tag !== 'sub';
}

// White space and empty elements before the first word may be many; more of a text, and more nodes, than this or than
// characters are wanted are not looked at.
const MAX_LEAD = 4_000;

/** The text inside a node with white space collapsed; scripts and their like are silent. Ends soon after `maxChars`. */
export function textOf(node: PageNode, maxChars = 100_000): string {
  const most = Math.max(maxChars, MAX_LEAD);
  let out = '';
  // Asking a growing string for its end would write it out each time.
  let lastCode = 0;
  let at: PageNode | null = node;
  for (let steps = 0; at !== null && out.length < maxChars && steps < most; steps++) {
    if (at.tag === TEXT) {
      const text = at.text.length > most ? at.text.slice(0, most) : at.text;
      if (isGlued(lastCode, at)) out += ' ';
      out += text;
      lastCode = text.charCodeAt(text.length - 1);
    } else if (at.tag === 'br') {
      out += ' ';
      lastCode = 0;
    }
    const silent = at !== node && (at.flags & TAG.silent) !== 0;
    const following: PageNode | null = nextNode(at, node, silent);
    if (following !== null && following.tag !== TEXT && out !== '' && (following.flags & TAG.inline) === 0) {
      out += ' ';
      lastCode = 0;
    }
    at = following;
  }
  return collapse(out);
}

// Joiners between letters from Arabic on and between emoji are spelling; elsewhere editors leave them behind.
const INVISIBLE =
  /[\u00ad\u200b\u2060\ufeff]|(?<![\u0600-\u1fff\u2100-\ufefe])[\u200c\u200d]|[\u200c\u200d](?![\u0600-\u1fff\u2100-\ufefe])/g;
const UNEVEN = /[^\S ]| {2}|[\u00ad\u200b-\u200d\u2060]/;

/**
 * White space collapsed to single spaces, invisible characters removed but for joiners that letters need; most text needs
 * neither and is only looked at.
 */
export function collapse(text: string): string {
  const trimmed = text.trim();
  if (!UNEVEN.test(trimmed)) return trimmed;
  return trimmed.replace(INVISIBLE, '').replace(/\s+/g, ' ').trim();
}

/**
 * A copy that shares no memory with the page it was cut from: a V8 slice keeps its whole parent alive. Cutting makes the
 * engine write the joined text out, of which the result is a slice; through a Buffer it took five times as long.
 */
export function copyString(text: string): string {
  return text.length < 13 ? text : ` ${text}`.slice(1);
}
