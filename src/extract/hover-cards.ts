import { attribute, findAttribute, type PageNode } from '../html/index.ts';

const NAME = /tooltip|rollover|popover|hover-?card/i;
// The letters before and after the o that is the second of every name.
const around = (before: number, after: number) => ((before & 31) << 5) | (after & 31);
const AROUND_O = new Uint8Array(1_024);
for (const start of ['too', 'rol', 'pop', 'hov'])
  AROUND_O[around(start.charCodeAt(0), start.charCodeAt(2))] = 1;
const LETTER_O = 111;
const MIN_NAME_CHARS = 7;

/** Reading every class out of the page took a fiftieth of its time: only those are that hold the start of a name. */
function hasHoverName(node: PageNode): boolean {
  const found = findAttribute(node, 'class');
  if (found < 0) return false;
  const table = node.attributes!;
  const { codes } = table.source;
  const last = table.end(found) - MIN_NAME_CHARS + 1;
  for (let at = table.start(found) + 1; at <= last; at++) {
    if ((codes[at]! | 32) === LETTER_O && AROUND_O[around(codes[at - 1]!, codes[at + 1]!)] === 1)
      return NAME.test(attribute(node, 'class')!);
  }
  return false;
}

/**
 * Whether a span is a card that shows while the pointer rests on a word: portraits, glossaries and notes of that kind
 * stand in the middle of the word's sentence. A name alone may be that of the word itself; a card is the inner of two.
 */
export function isHoverCard(node: PageNode): boolean {
  if (node.attributesFrom === node.attributesTo) return false;
  if (node.parent!.tag === 'span' && hasHoverName(node) && hasHoverName(node.parent!)) return true;
  return attribute(node, 'role') === 'tooltip';
}
