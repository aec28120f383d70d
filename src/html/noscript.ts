import { textOf } from './node.ts';
import type { Page } from './parse-page.ts';
import { TAG } from './tree-rules.ts';

// Shorter ones ask for scripts, or hold a picture or a menu.
const MIN_CHARS = 1_500;
// A page with more of them hides pictures.
const MAX_SEEN = 100;
const ASKS_FOR_SCRIPTS = /java-?script/i;
const SILENT = TAG.silent | TAG.unseen;

/**
 * Opens the texts a page keeps for readers without scripts, so that they are read like any other; true when there were
 * any. Only for pages that show nothing else: most of these texts stand in the page a second time.
 */
export function openNoscripts(page: Page): boolean {
  let isOpened = false;
  let seen = 0;
  for (let i = 0; i < page.nodeCount && seen < MAX_SEEN; i++) {
    const node = page.nodes[i]!;
    if (node.tag !== 'noscript' || (node.flags & SILENT) === 0) continue;
    seen++;
    const text = textOf(node, 2 * MIN_CHARS);
    if (text.length < MIN_CHARS || ASKS_FOR_SCRIPTS.test(text.slice(0, 300))) continue;
    node.flags &= ~SILENT;
    isOpened = true;
  }
  return isOpened;
}
