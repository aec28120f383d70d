import { type Page, parsePage, resolveUrl } from '../html/index.ts';
import { classifyUrl } from '../url/index.ts';
import { type Block, readBlocks } from './blocks.ts';
import { comparable, makeComparable } from './comparable.ts';
import type { Headline } from './headline.ts';
import { decodeEntities, type LdFacts } from './json-ld.ts';
import { isLayoutLine } from './layout-lines.ts';
import type { MetaTags } from './meta-tags.ts';
import { isSamePage, pathOf } from './site-names.ts';
import { overlap, wordSet } from './title-wordings.ts';

/** A text that stands in no block of the page, read as a page of its own. */
export type OtherText = { page: Page; blocks: Block[] };

type Shown = { text: string; wordCount: number; kept: Block[] };
type Declared = { tags: MetaTags; ld: LdFacts; headline: Headline | null };

// As of a page: few texts are longer, and a script that repeats itself should not cost more than one.
const MAX_CHARS = 500_000;
// A page that says less shows a teaser or nothing.
const FEW_WORDS = 50;
// What the JSON-LD has beyond the page must be worth the doubt: as many words again, and a sentence or two.
const TIMES_LONGER = 2;
const WORDS_MORE = 20;

/**
 * The `articleBody` of the page's JSON-LD where the page itself shows next to nothing of it: an application that writes
 * the text later, or a teaser before a button. Null where the page tells the text itself, or the JSON-LD that of others.
 */
export function readArticleBody(page: Page, shown: Shown, declared: Declared): OtherText | null {
  const { ld } = declared;
  if (ld.body === null || ld.body.length < TIMES_LONGER * shown.text.length) return null;
  if (shown.wordCount >= FEW_WORDS && !isBeginning(shown, ld.body)) return null;
  if (!isOfPage(page, declared)) return null;
  const source = parsePage(asHtml(String(ld.main?.articleBody).slice(0, MAX_CHARS)), { url: page.url });
  const title = comparable(ld.headline ?? '');
  const blocks = readBlocks(source).filter(
    (block) => !isLayoutLine(block) && (title === '' || makeComparable(block.text) !== title),
  );
  const words = blocks.reduce((sum, block) => sum + block.words, 0);
  return words >= Math.max(TIMES_LONGER * shown.wordCount, shown.wordCount + WORDS_MORE)
    ? { page: source, blocks }
    : null;
}

// Of a teaser, what is no part of the text: a label, a date, a call to read on.
const BEGINNING_SHARE = 0.8;
const BEGINNING_LETTERS = 300;
// Each is looked for in the whole.
const MAX_BLOCKS = 60;

/** Whether the text that is shown begins the longer one. */
function isBeginning({ text: shown, kept }: Shown, whole: string): boolean {
  if (kept.length > MAX_BLOCKS) return false;
  const text = makeComparable(whole.slice(0, 2 * shown.length + BEGINNING_LETTERS));
  let [all, found] = [0, 0];
  let first = Infinity;
  for (const block of kept) {
    const letters = makeComparable(block.text);
    all += letters.length;
    const place = text.indexOf(letters);
    if (place < 0) continue;
    found += letters.length;
    first = Math.min(first, place);
  }
  return first < BEGINNING_LETTERS && found >= all * BEGINNING_SHARE;
}

// A headline and the title of its page may be worded apart.
const SAME_TITLE = 0.6;

/** Whether the article of the JSON-LD is that of the page: by its title, its address, or as the only one there is. */
function isOfPage(page: Page, { tags, ld, headline }: Declared): boolean {
  if (!ld.isArticle || classifyUrl(page.url, {}).reason === 'front page') return false;
  const own = wordSet(ld.headline ?? '');
  const titles = [page.title, tags.openGraph['og:title'], headline?.text];
  if (titles.some((title) => overlap(own, wordSet(title ?? '')) >= SAME_TITLE)) return true;
  const url = ld.url === null ? null : resolveUrl(ld.url, page.baseUrl);
  return url === null ? ld.bodies === 1 : isSamePage(pathOf(url), pathOf(page.url));
}

const ESCAPED_TAG = /&lt;\/?(?:p|br|div|h[1-6]|ul|ol|li|blockquote|figure|span|a|b|i|em|strong)\b/i;
const TAG =
  /<\/?(?:p|br|div|h[1-6]|ul|ol|li|blockquote|figure|table|section|article|span|a|b|i|u|em|strong|img|sup|sub|code|pre)\b[^<>]{0,2000}>/i;
const PARAGRAPH = /<\/?(?:p|br|div|h[1-6]|ul|ol|li|blockquote|section|article|table|pre)\b[^<>]{0,2000}>/i;

/** The value as HTML: it may be that, HTML with its signs escaped, or plain text with line breaks. */
export function asHtml(value: string): string {
  let text = value;
  if (!TAG.test(text) && ESCAPED_TAG.test(text)) text = decodeEntities(text);
  // Escaped twice: "&amp;quot;".
  text = text.replace(/&amp;(?=#?\w{1,9};)/gi, '&');
  if (!TAG.test(text)) text = text.replaceAll('<', '&lt;');
  if (PARAGRAPH.test(text)) return `<body>${text}</body>`;
  // Without an empty line every line is a paragraph.
  const lines = text.replace(/\r\n?|\u2028|\u2029/g, '\n');
  const isParted = /\n[^\S\n]{0,20}\n/.test(lines);
  const html = isParted
    ? lines.replace(/\n[^\S\n]{0,20}\n/g, '<p>').replaceAll('\n', '<br>')
    : lines.replaceAll('\n', '<p>');
  return `<body><p>${html}</body>`;
}
