import { attribute, type PageNode } from '../html/index.ts';
import type { Block } from './blocks.ts';

// An item's text may stand some elements below it.
const MAX_STEPS = 4;
// How sites say that a list is not numbered after all.
const UNNUMBERED_NAME =
  /(?:^|[\s_-])(?:none|unstyled|bullets?|no-?(?:style|bullets?|numbers?)|hide-ordinal)/i;
const UNNUMBERED_STYLE = /list-style(?:-type)?\s{0,9}:[^;]{0,60}\b(?:none|disc|circle|square)\b/i;

/** A list: the last item that was counted, its number, and the way to the next. */
type List = { item: PageNode | null; number: number; step: 1 | -1; write: (number: number) => string };

/**
 * The numbers that readers see before the items of ordered lists. They stand in no text of the page, and steps, ranks
 * and "see 3." mean nothing without them. Asked block by block in the order of the page.
 */
export class ListNumbers {
  readonly #seen = new Set<PageNode>();
  /** By its element; null where the list has no numbers. */
  readonly #lists = new Map<PageNode, List | null>();

  /** "3. " for the first block of an item, else ''. */
  before(block: Block): string {
    const item = itemOf(block.owner);
    if (item === null || this.#seen.has(item)) return '';
    this.#seen.add(item);
    const mark = this.#count(item);
    return mark === null || beginsWith(block.text, mark) ? '' : `${mark}. `;
  }

  #count(item: PageNode): string | null {
    const list = item.parent!;
    if (!this.#lists.has(list)) this.#lists.set(list, startOf(list));
    const last = this.#lists.get(list) ?? null;
    if (last === null) return null;
    // From the last item on: counting each from the first takes minutes for a list of a hundred thousand.
    for (let at = last.item === null ? list.first : last.item.next; at !== null; at = at.next) {
      if (at.tag !== 'li') continue;
      last.number = wholeNumber(attribute(at, 'value')) ?? last.number + last.step;
      last.item = at;
      if (at === item) return last.write(last.number);
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

function startOf(list: PageNode): List | null {
  const style = attribute(list, 'style') ?? '';
  if (UNNUMBERED_NAME.test(attribute(list, 'class') ?? '') || UNNUMBERED_STYLE.test(style)) return null;
  const write = MARKS.get(STYLED.exec(style)?.[1]?.toLowerCase() ?? attribute(list, 'type') ?? '1');
  if (write === undefined) return null;
  const step = attribute(list, 'reversed') === null ? 1 : -1;
  const first = wholeNumber(attribute(list, 'start')) ?? (step === 1 ? 1 : countItems(list));
  return { item: null, number: first - step, step, write };
}

const STYLED = /list-style(?:-type)?\s{0,9}:[^;]{0,60}\b((?:lower|upper)-(?:alpha|latin|roman))\b/i;
const MARKS = new Map<string, List['write']>([
  ['1', String],
  ...['a', 'lower-alpha', 'lower-latin'].map((name) => [name, letterOf] as const),
  ...['A', 'upper-alpha', 'upper-latin'].map(
    (name) => [name, (n: number) => letterOf(n).toUpperCase()] as const,
  ),
  ...['i', 'lower-roman'].map((name) => [name, (n: number) => romanOf(n).toLowerCase()] as const),
  ...['I', 'upper-roman'].map((name) => [name, romanOf] as const),
]);

/** a, b … z, then aa, ab as browsers count. */
function letterOf(number: number): string {
  let letters = '';
  for (let rest = number; rest > 0; rest = Math.floor((rest - 1) / 26))
    letters = String.fromCharCode(97 + ((rest - 1) % 26)) + letters;
  return letters === '' ? String(number) : letters;
}

const ROMAN = [
  [1000, 'M'],
  [900, 'CM'],
  [500, 'D'],
  [400, 'CD'],
  [100, 'C'],
  [90, 'XC'],
  [50, 'L'],
  [40, 'XL'],
  [10, 'X'],
  [9, 'IX'],
  [5, 'V'],
  [4, 'IV'],
  [1, 'I'],
] as const;

function romanOf(number: number): string {
  if (number < 1 || number > 3_999) return String(number);
  let rest = number;
  let letters = '';
  for (const [value, sign] of ROMAN) {
    letters += sign.repeat(Math.floor(rest / value));
    rest %= value;
  }
  return letters;
}

function countItems(list: PageNode): number {
  let count = 0;
  for (let at = list.first; at !== null; at = at.next) if (at.tag === 'li') count++;
  return count;
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : null;
}

/** Whether a text brings its mark along: "(3) …", "b) …". */
function beginsWith(text: string, mark: string): boolean {
  const found = /^[^\p{L}\d]{0,4}(\d{1,6}(?![\d\p{L}])|\p{L}{1,8}(?=[.):]))/u.exec(text);
  return found !== null && found[1]!.replace(/^0+(?=\d)/, '').toLowerCase() === mark.toLowerCase();
}
