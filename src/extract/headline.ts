import { attribute, nextNode, type Page, type PageNode, resolveUrl, textOf } from '../html/index.ts';
import { UNSPACED } from '../text/index.ts';
import { comparable } from './comparable.ts';
import { headingText } from './headline-text.ts';
import type { LdFacts } from './json-ld.ts';
import type { MetaTags } from './meta-tags.ts';
import { declaredTitles, isSamePage, onlyTitle, pathOf, siteNames } from './site-names.ts';
import { overlap, wordSet } from './title-wordings.ts';

/** The heading that names the article, and how alike it is to what the page calls itself elsewhere. */
export type Headline = {
  node: PageNode;
  text: string;
  likeness: number;
  /** Whether it is the name of the site, for want of another heading. */
  isSite: boolean;
  /** True when the page has no other h1 with text, but for links to other pages. */
  alone: boolean;
  /** The index at which the next story begins on pages that go on and on; Infinity where there is none. */
  until: number;
};

/** Finds the headline: the h1 (or h2) most like the titles in the head, else the first h1; never the site's own name. */
export function findHeadline(page: Page, headings: PageNode[], tags: MetaTags, ld: LdFacts): Headline | null {
  const only = onlyTitle(page);
  if (only !== null)
    return {
      node: only,
      text: headingText(only),
      likeness: 1,
      isSite: false,
      alone: false,
      until: Infinity,
    };
  const declared = [page.title, ld.headline, tags.openGraph['og:title']].filter(
    (title) => typeof title === 'string',
  );
  const titles = declared.map(wordSet);
  const sites = new Set(siteNames(page, tags, ld));
  let wanted: readonly string[] | null = null;
  const isTitle = (key: string) => {
    wanted ??= declaredTitles(page, tags, ld).map(comparable);
    return wanted.includes(key);
  };
  const looked = headings.slice(0, MAX_HEADINGS);
  const isSiteName = (text: string, key: string) => sites.has(key) || endsTitle(text, page.title, looked);
  let best: Headline | null = null;
  let bestPoints = 0;
  let firsts = 0;
  for (const node of looked) {
    const text = headingText(node);
    const key = comparable(text);
    if (
      (key.length < MIN_LETTERS && !UNSPACED_LETTER.test(key)) ||
      (NAMES_AUTHOR.test(text) && !isTitle(key))
    )
      continue;
    const words = wordSet(text);
    const share = Math.min(1, words.size / FEW_WORDS);
    // So few words have little to be alike by, unless they are the title letter by letter.
    const likeness =
      share < 1 && isTitle(key)
        ? 1
        : titles.reduce((most, title) => Math.max(most, overlap(words, title) * share), 0);
    if (node.tag !== 'h1' && likeness < ALMOST_THE_TITLE) continue;
    const isSite = isSiteName(text, key);
    let points =
      (likeness * 10 + Math.min(words.size, 10) / 10 + (node.tag === 'h1' ? 5 : 0)) *
      (isSite ? SITE_NAME_SHARE : 1);
    // A heading that is the title, word for word, may well lead away: link posts and aggregators do.
    const isTeaser =
      (points > bestPoints || node.tag === 'h1') &&
      leadsAway(node, page) &&
      !declared.some((title) => title.includes(text));
    if (isTeaser) points *= TEASER_SHARE;
    else if (node.tag === 'h1') firsts++;
    if (points > bestPoints) {
      bestPoints = points;
      best = { node, text, likeness, isSite, alone: false, until: Infinity };
    }
  }
  if (best === null) return null;
  best.alone = firsts === 1;
  best.until = nextStory(best, looked, page);
  return best;
}

/**
 * Where the next story begins: at an h1 further down that looks like the headline. Headings of the text may be h1 too,
 * but are styled otherwise; one that is a link names a story without telling it.
 */
function nextStory({ node, text, likeness }: Headline, headings: readonly PageNode[], page: Page): number {
  const look = firstClass(node);
  if (node.tag !== 'h1' || likeness < SURELY_LIKE || !HEADLINE_NAME.test(look)) return Infinity;
  const next = headings.find(
    (other) =>
      other.tag === 'h1' &&
      other.index > node.index &&
      firstClass(other) === look &&
      headingText(other) !== text &&
      headingText(other).split(' ').length > MAX_LABEL_WORDS &&
      !leadsAway(other, page),
  );
  return next?.index ?? Infinity;
}

// Names of sizes and weights are those of headings in the text too.
const HEADLINE_NAME = /titl|titel|titre|head/i;
const firstClass = (node: PageNode) => /\S+/.exec(attribute(node, 'class') ?? '')?.[0] ?? '';

// A title has a handful of parts.
const MAX_PARTS = 10;

/** Whether a heading is the name of the site: the end of a `<title>` that begins with another, or behind a sentence and a bar. */
function endsTitle(text: string, whole: string | null, headings: readonly PageNode[]): boolean {
  const title = whole?.replace(/[\s:|»–—-]{1,9}$/, '');
  if (title === undefined || title.length < text.length * 2) return false;
  const [first = '', ...rest] = title.split(' | ', MAX_PARTS);
  const isShort = text.split(' ').length <= MAX_LABEL_WORDS;
  if (isShort && rest.includes(text) && first.split(' ').length > MIN_TITLE_WORDS) return true;
  if (!title.endsWith(text)) return false;
  return headings.some((node) => {
    const other = textOf(node, 500);
    return other.length > text.length && title.startsWith(other);
  });
}

/** Whether a heading is a link to another page, as the teasers below an article are; blogs link theirs to itself. */
export function leadsAway(heading: PageNode, page: Page): boolean {
  let link: PageNode | null = heading.parent?.tag === 'a' ? heading.parent : null;
  let at = nextNode(heading, heading);
  for (let steps = 0; at !== null && link === null && steps < MAX_STEPS; steps++) {
    if (at.tag === 'a') link = at;
    at = nextNode(at, heading);
  }
  const url = link === null ? null : resolveUrl(attribute(link, 'href') ?? '', page.baseUrl);
  return url !== null && !isSamePage(pathOf(url), pathOf(page.url));
}

// Shorter ones are numbers and signs, but a letter of a script without spaces is a word.
const MIN_LETTERS = 3;
const UNSPACED_LETTER = new RegExp(UNSPACED, 'u');
// "By Ada Lund" in an h1 names who wrote the text.
const NAMES_AUTHOR = /^[Bb][Yy]\s\p{Lu}[\p{L}.'’-]*(?:\s\p{Lu}[\p{L}.'’-]*){1,3}$/u;
// Beside any plain h1 a heading that leads to another page is a teaser.
const TEASER_SHARE = 0.3;
const MAX_HEADINGS = 40;
const FEW_WORDS = 3;
// A heading has a handful of nodes; one with more is a page in disguise.
const MAX_STEPS = 50;
// A heading that is the site's name counts only when there is no other.
const SITE_NAME_SHARE = 0.1;
// A headline so alike is the one of this page.
const SURELY_LIKE = 0.8;
// An h2 must nearly be the title to count as the headline.
const ALMOST_THE_TITLE = 0.9;
/** Below this likeness an h1 is rather the name of the site or a section than of the article. */
export const LIKE_THE_TITLE = 0.4;
/** A heading of so few words may be a label, and a `<title>` of so many is more than one. */
export const MAX_LABEL_WORDS = 3;
export const MIN_TITLE_WORDS = 5;
