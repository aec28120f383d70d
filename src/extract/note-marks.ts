import { attribute, nextNode, type PageNode, soleText, textOf } from '../html/index.ts';

const MARK = /^[[(]?\d{1,3}[\])]?$/;
const MARK_CHARS = 8;
// A mark has a handful of nodes.
const MAX_STEPS = 8;
const NOTE_NAME = /foot-?note|noteref|(?:^|\s)reference(?:\s|$)/i;
const LEADS_TO_NOTE = /^#|#_?(?:cite|fn|ftn|note|ref|foot)/i;

/**
 * Whether a `<sup>` is the mark of a footnote: a small number that leads to a place of the page or is called so. Written
 * into the text it would spoil the word before it ("fast3"). References leave it out at 66 of 85 places; those without a
 * link, powers and ordinals among them, they mostly keep.
 */
export function isNoteMark(node: PageNode): boolean {
  if (!MARK.test(textOf(node, MARK_CHARS).trim())) return false;
  if (NOTE_NAME.test(attribute(node, 'class') ?? '')) return true;
  if (node.parent?.tag === 'a' && leadsToNote(node.parent)) return true;
  let at = nextNode(node, node);
  for (let steps = 0; at !== null && steps < MAX_STEPS; steps++, at = nextNode(at, node))
    if (at.tag === 'a' && leadsToNote(at)) return true;
  return false;
}

const leadsToNote = (link: PageNode) => LEADS_TO_NOTE.test(attribute(link, 'href') ?? '');

// Signs of links to the place they stand at, and back from a note to its mark.
const PLACE_MARK = /^\s{0,9}(?:[#¶§⚓∞↩⤴^↑]|🔗)\ufe0e?\s{0,9}$/u;

/** Whether a link is only the handle of a heading or of a footnote ("¶", "#", "↩"). */
export function isPlaceMark(link: PageNode): boolean {
  const text = soleText(link);
  if (text === null || text.length > MARK_CHARS) return false;
  const href = attribute(link, 'href') ?? '';
  return href.includes('#') && (PLACE_MARK.test(text) || BACK_TO_TEXT.test(href));
}

// Where a note of a wiki is told of more than once, letters lead back.
const BACK_TO_TEXT = /#cite_ref/;

/** Whether a span is the "[edit]" that wikis put behind their headings. */
export function isEditLink(node: PageNode): boolean {
  const { parent } = node;
  const isHeading = parent !== null && parent.tag.length === 2 && parent.tag[0] === 'h';
  return isHeading && (attribute(node, 'class') ?? '').startsWith('mw-editsection');
}
