import type { Page } from '../html/index.ts';
import type { Codes } from './block-codes.ts';
import type { BlockContext } from './features.ts';
import { siteNames } from './site-names.ts';

const MIN_NAME_CHARS = 4;
const MAX_NAMES = 4;
// Lines that speak for the site name it early.
const MAX_READ = 400;

/** The names of the site as characters, letters and digits in lower case, and which letters they begin with. */
export type SiteNames = { names: Uint16Array[]; firsts: Uint8Array };

/** Reads under which names the site may be mentioned. */
export function readSiteNames(page: Page, context: BlockContext): SiteNames {
  const names = siteNames(page, context.tags, context.ld)
    .filter((name) => name.length >= MIN_NAME_CHARS)
    .slice(0, MAX_NAMES)
    .map((name) => Uint16Array.from({ length: name.length }, (_, i) => name.charCodeAt(i)));
  // By the low bits: nearly every word is told from all names by its first letter.
  const firsts = new Uint8Array(FIRSTS);
  for (const name of names) firsts[name[0]! % FIRSTS] = 1;
  return { names, firsts };
}

const FIRSTS = 128;

const lowerCase = (code: number) => (code >= 65 && code <= 90 ? code + 32 : code);
const isSign = (code: number) =>
  code < 48 || (code > 57 && code < 65) || (code > 90 && code < 97) || (code > 122 && code < 192);

/**
 * Whether text `i` names the site: lines that do more often speak for the site (follow, subscribe, about us) than for
 * the story. Words in a row count as one name, whatever signs stand between them.
 */
export function mentionsSite({ names, firsts }: SiteNames, i: number, { codes, starts }: Codes): boolean {
  const from = starts[i]!;
  const to = Math.min(starts[i + 1]!, from + MAX_READ);
  let afterSign = true;
  for (let at = from; at < to; at++) {
    const code = codes[at]!;
    // Small letters inside a word are nearly all there is.
    if (!afterSign && code >= 97 && code <= 122) continue;
    const sign = isSign(code);
    if (afterSign && !sign && firsts[lowerCase(code) % FIRSTS] === 1)
      for (const name of names) if (isNameAt(codes, at, to, name)) return true;
    afterSign = sign;
  }
  return false;
}

function isNameAt(codes: Uint16Array, start: number, to: number, name: Uint16Array): boolean {
  let matched = 0;
  for (let at = start; at < to; at++) {
    if (isSign(codes[at]!)) continue;
    if (lowerCase(codes[at]!) !== name[matched]) return false;
    matched++;
    if (matched === name.length) return at + 1 >= to || isSign(codes[at + 1]!);
  }
  return false;
}
