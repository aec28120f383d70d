import { attribute, type PageNode, soleText } from '../html/index.ts';

const NUMBER = /^\s{0,20}\d{1,6}\s{0,20}$/;
const NUMBER_NAME =
  /(?:^|[\s_-])(?:line-?(?:no|nos|nums?|numbers?)|linenos?|linenumbers?|ln|lnt|gutter|ln-numbers|select-none)(?:[\s_-]|$)/i;
const NOT_COPIED = /user-select\s{0,9}:\s{0,9}none/i;
const COLUMN_LEVELS = 4;

/** Elements that inside preformatted text are its lines. */
const LINE_TAGS: ReadonlySet<string> = new Set('div ol ul li table tbody tr td'.split(' '));

/** Whether an element inside preformatted text only begins another line of it. */
export const isLineOfCode = (node: PageNode): boolean => LINE_TAGS.has(node.tag);

/** Whether an element, if it stands in preformatted text, is the number of a line: no part of the code, nor copied with it. */
export function isLineNumber(node: PageNode): boolean {
  const text = soleText(node);
  if (text === null || !NUMBER.test(text)) return false;
  return hasNumberName(node) || NOT_COPIED.test(attribute(node, 'style') ?? '');
}

/** Whether an element is such a number and stands there. */
export function isLineNumberInCode(node: PageNode): boolean {
  if (!isLineNumber(node)) return false;
  let at = node.parent;
  while (at !== null && at.tag !== 'pre') at = at.parent;
  return at !== null;
}

const hasNumberName = (node: PageNode) => NUMBER_NAME.test(attribute(node, 'class') ?? '');

/**
 * Whether a preformatted text is the column of line numbers beside code: numbers that follow each other, in a column
 * that is called so or in a cell of a table. Elsewhere they are what a program prints.
 */
export function isNumberColumn(pre: PageNode, text: string): boolean {
  if (!/^\d{1,6}(?: \d{1,6})*$/.test(text)) return false;
  const numbers = text.split(' ').map(Number);
  if (numbers.some((number, i) => i > 0 && number !== numbers[i - 1]! + 1)) return false;
  for (
    let at: PageNode | null = pre, level = 0;
    at !== null && level < COLUMN_LEVELS;
    at = at.parent, level++
  )
    if (at.tag === 'td' || hasNumberName(at)) return true;
  return false;
}
