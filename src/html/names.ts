import type { TextCodes } from '../text/index.ts';
import { flagsOf } from './tree-rules.ts';

/** A page as text and as numbers. */
type Text = { raw: string; codes: TextCodes };

/**
 * Names of tags and attributes as pages mostly write them. Cutting a name out of the page makes a new string each time,
 * which must be lower-cased, hashed and compared letter by letter by everybody who asks for it; one of these is the same
 * object always. Measured on pages of 80 kB: a fifth of the parser's time.
 */
const KNOWN = (
  'a abbr address amp-img article aside audio b base blockquote body br button canvas caption center cite circle code col ' +
  'colgroup data datalist dd defs del details dfn dialog div dl dt em embed fieldset figcaption figure font footer form g ' +
  'h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd label legend li line link main map mark menu meta ' +
  'nav noscript object ol optgroup option p param path picture pre q rect s samp script section select small source span ' +
  'strong style sub summary sup svg symbol table tbody td template textarea tfoot th thead time title tr track u ul use ' +
  'var video wbr ' +
  'action allow alt aria-controls aria-describedby aria-expanded aria-haspopup aria-hidden aria-label aria-labelledby ' +
  'aria-current async autocomplete charset class content crossorigin d data-component data-id data-name data-src ' +
  'data-srcset data-testid data-track data-type data-url data-v datetime decoding defer dir disabled fetchpriority fill ' +
  'fill-rule focusable for frameborder height hidden href hreflang http-equiv id integrity itemid itemprop itemscope ' +
  'itemtype lang loading media method name nonce onclick placeholder property referrerpolicy rel required role sizes src ' +
  'srcset stroke stroke-width tabindex target type value viewbox width xlink:href xml:lang xmlns'
).split(' ');

const MASK = 2047;
const slots: (string | undefined)[] = new Array(MASK + 1).fill(undefined);
// What is known of the tag of a slot, as bits of TAG.
const slotFlags = new Int32Array(MASK + 1);

/** One step of the hash that finds a name. */
export function hashStep(hash: number, code: number): number {
  return (Math.imul(hash, 31) + code) | 0;
}

for (const name of new Set(KNOWN)) {
  let hash = 0;
  for (let at = 0; at < name.length; at++) hash = hashStep(hash, name.charCodeAt(at));
  let slot = hash & MASK;
  while (slots[slot] !== undefined) slot = (slot + 1) & MASK;
  slots[slot] = name;
  slotFlags[slot] = flagsOf(name);
}

/** The name that stands at a place of the page, in lower case; `hash` is that of its letters as they stand. */
export function nameAt(text: Text, start: number, end: number, hash: number): string {
  return nameIn(findName(text.codes, start, end, hash), text, start, end);
}

/** The slot of the name that stands at a place: one search finds both the name and what is known of the tag. */
export function findName(codes: TextCodes, start: number, end: number, hash: number): number {
  // A table that is a tenth full ends every search after a step or two.
  for (let slot = hash & MASK; ; slot = (slot + 1) & MASK) {
    const known = slots[slot];
    if (known === undefined || (known.length === end - start && standsAt(codes, start, known))) return slot;
  }
}

/** The name of a slot; one that nobody knows is cut out of the page. */
export function nameIn(slot: number, text: Text, start: number, end: number): string {
  return slots[slot] ?? text.raw.slice(start, end).toLowerCase();
}

/** The bits of TAG that the tag of a slot has. */
export function flagsIn(slot: number, tag: string): number {
  return slots[slot] === undefined ? flagsOf(tag) : slotFlags[slot]!;
}

function standsAt(codes: TextCodes, start: number, name: string): boolean {
  for (let at = 0; at < name.length; at++) if (codes[start + at] !== name.charCodeAt(at)) return false;
  return true;
}
