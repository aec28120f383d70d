import { isRenderedScript, type Page, type PageNode, TAG } from '../html/index.ts';
import { isHoverCard } from './hover-cards.ts';
import { isEditLink, isNoteMark, isPlaceMark } from './note-marks.ts';

/** Whether an element stands in a sentence and is no part of it: a mark, a card, or a formula that is told beside it. */
export function isLeftOut(node: PageNode, page: Page): boolean {
  if (page.texScripts > 0 && isRenderedScript(node)) return true;
  if ((node.flags & TAG.aside) === 0) return false;
  if (node.tag === 'span') return isHoverCard(node) || isEditLink(node);
  return node.tag === 'a' ? isPlaceMark(node) : isNoteMark(node);
}
