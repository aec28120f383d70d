import { attribute, type PageNode } from '../html/index.ts';
import type { Block } from './blocks.ts';

// An item's text may stand some elements below it.
const MAX_STEPS = 4;
// How sites say that a list is not numbered after all.
const UNNUMBERED_NAME =
  /(?:^|[\s_-])(?:none|unstyled|bullets?|no-?(?:style|bullets?|numbers?)|hide-ordinal)/i;
const UNNUMBERED_STYLE = /list-style(?:-type)?\s{0,9}:[^;]{0,60}\b(?:none|disc|circle|square)\b/i;

/**
 * The numbers that readers see before the items of ordered lists. They stand in no text of the page, and steps, ranks
 * and "see 3." mean nothing without them. Asked block by block in the order of the page.
 */
export class ListNumbers {
  readonly #seen = new Set<PageNode>();
  /** By list: the last item that was counted and its number; null where the list has no numbers. */
  readonly #lists = new Map<PageNode, { item: PageNode | null; number: number } | null>();

  /** "3. " for the first block of an item, else ''. */
  before(block: Block): string {
    const item = itemOf(block.owner);
    if (item === null || this.#seen.has(item)) return '';
    this.#seen.add(item);
    const number = this.#count(item);
    return number === null || beginsWith(block.text, number) ? '' : `${number}. `;
  }

  #count(item: PageNode): number | null {
    const list = item.parent!;
    if (!this.#lists.has(list)) this.#lists.set(list, startOf(list));
    const last = this.#lists.get(list) ?? null;
    if (last === null) return null;
    // From the last item on: counting each from the first takes minutes for a list of a hundred thousand.
    for (let at = last.item === null ? list.first : last.item.next; at !== null; at = at.next) {
      if (at.tag !== 'li') continue;
      last.number = wholeNumber(attribute(at, 'value')) ?? last.number + 1;
      last.item = at;
      if (at === item) return last.number;
    }
    return null;
  }
}

/** The item of an ordered list that a text stands in. */
function itemOf(owner: PageNode): PageNode | null {
  let at: PageNode | null = owner;
  for (let steps = 0; steps < MAX_STEPS && at !== null; steps++, at = at.parent)
    if (at.tag === 'li') return at.parent?.tag === 'ol' ? at : null;
  return null;
}

function startOf(list: PageNode): { item: PageNode | null; number: number } | null {
  const type = attribute(list, 'type') ?? '1';
  const isNumbered =
    type === '1' &&
    attribute(list, 'reversed') === null &&
    !UNNUMBERED_NAME.test(attribute(list, 'class') ?? '') &&
    !UNNUMBERED_STYLE.test(attribute(list, 'style') ?? '');
  return isNumbered ? { item: null, number: (wholeNumber(attribute(list, 'start')) ?? 1) - 1 } : null;
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : null;
}

/** Whether a text brings its number along. */
function beginsWith(text: string, number: number): boolean {
  const found = /^\D{0,4}(\d{1,6})(?![\d\p{L}])/u.exec(text);
  return found !== null && Number(found[1]) === number;
}
