import { collapse, type Page, type PageNode, textOf } from '../html/index.ts';
import { UNSPACED } from '../text/index.ts';
import { comparable } from './comparable.ts';
import { type Headline, LIKE_THE_TITLE, MAX_LABEL_WORDS, MIN_TITLE_WORDS } from './headline.ts';
import { headingText, partsOf, withoutKicker } from './headline-text.ts';
import { decodeEntities, type LdFacts } from './json-ld.ts';
import type { MetaTags } from './meta-tags.ts';
import { ownHeading, siteNames, withoutSiteName } from './site-names.ts';
import {
  addsOnlyData,
  followsKicker,
  isNamedByAddress,
  isSpeltByAddress,
  saysTheSame,
} from './title-wordings.ts';

/** A value with the evidence that gave it. */
export type Evidence = { value: string; from: string };

/** What follows a bar is a section or the site, and "Title:" a label; neither belongs to the title. */
function withoutLabels(title: string): string {
  const bar = title.indexOf(' | ');
  const head = bar < 0 ? title : title.slice(0, bar);
  return (head.split(' ').length >= 3 ? head : title).replace(/^Title:\s*/, '');
}

// What programs write where they have no title, and templates that nobody filled in.
const NO_TITLE =
  /^(?:undefined|null|nan|\[object object\]|untitled(?: document)?|\{\{[^{}]{1,80}\}\}|\$\{[^{}]{1,80}\}|<%[^%]{1,80}%>)$/i;
// Elements within a line, as they are left in a title that was escaped once too often.
const TAGS =
  /<\/?(?:a|b|br|cite|em|font|i|mark|q|small|span|strong|sub|sup|u|wbr)(?:\s[^<>]{0,200})?\s?\/?>/gi;

/** A title without tags; one that speaks of "<br> tags" closes none. */
const withoutTags = (title: string): string => (title.includes('</') ? title.replace(TAGS, '') : title);

const MAX_TITLE_CHARS = 500;
// An h1 longer than this is a paragraph set in large type.
const MAX_HEADLINE_CHARS = 180;
/**
 * Whether an h1 unlike the titles in the head is the headline all the same: the only one of the page, a sentence rather
 * than a label, and above the text. "Day 10" and "Discord" inside the text are not.
 */
function standsForTheText({ node, text, likeness, alone }: Headline, textFrom: number): boolean {
  return (
    alone &&
    node.tag === 'h1' &&
    likeness >= SOMEWHAT_LIKE &&
    node.index < textFrom &&
    text.split(' ').length >= SENTENCE_WORDS
  );
}

// A lone h1 must share at least this much with the titles in the head, and have this many words, to be believed.
const SOMEWHAT_LIKE = 0.2;
const SENTENCE_WORDS = 7;

const HOME_PAGE = /^https?:\/\/[^/?#]+\/?$/i;

type Inputs = {
  page: Page;
  tags: MetaTags;
  ld: LdFacts;
  headline: Headline | null;
  /** The headings of the page in their order. */
  marks: { headings: readonly PageNode[] };
  /** The blocks of the text; the first tells where it begins in document order. */
  body: { kept: readonly { from: number }[] };
};

/**
 * The titles a page gives itself, the best first. An h1 that agrees with the head is what the reader sees and beats the
 * versions written for search engines and networks (measured on 679 pages: 0.87 of titles exactly right, 0.79 with
 * JSON-LD first). Where both only word the same title differently, what og:title and `<title>` declare alike wins
 * (11 of 14 pages), unless JSON-LD sides with the h1.
 */
function* goodTitles(inputs: Inputs): Generator<Evidence, undefined> {
  const { page, tags, ld, headline, marks, body } = inputs;
  // The page of the site itself is rightly called by its name.
  const sites = HOME_PAGE.test(page.url) ? [] : siteNames(page, tags, ld);
  const read = (value: string | null | undefined, from: string): Evidence | null => {
    if (typeof value !== 'string') return null;
    const text = withoutLabels(collapse(withoutSiteName(withoutTags(decodeEntities(value)), sites)));
    const key = comparable(text);
    if (NO_TITLE.test(text)) return null;
    return key.length > 1 && text.length < MAX_TITLE_CHARS && !sites.includes(key)
      ? { value: text, from }
      : null;
  };
  const isHeadline =
    headline !== null &&
    !(headline.isSite && sites.length > 0) &&
    headline.text.length <= MAX_HEADLINE_CHARS &&
    (headline.likeness >= LIKE_THE_TITLE || standsForTheText(headline, body.kept[0]?.from ?? 0));
  const structured = ld.isArticle ? read(ld.headline, 'json-ld headline') : null;
  const og = read(tags.openGraph['og:title'], 'og:title');
  const whole = read(headline?.text, headline?.node.tag ?? 'h1');
  // A kicker that the publisher itself makes a part of the title elsewhere belongs to it.
  const isDeclared = whole !== null && [og, structured].some((one) => one !== null && holds(one, whole));
  const bare = headline === null || isDeclared ? null : withoutKicker(headline.node);
  const h1 = bare === null || whole === null ? whole : read(bare, whole.from);
  if (isHeadline && h1 !== null) {
    const sided = structured !== null && isSame(structured, h1);
    const inHead = sided ? null : read(page.title, 'title');
    const isOther = og !== null && !isSame(og, h1);
    const isTitle =
      isOther &&
      (isBetter(og, h1, inHead) ||
        isShownBelow(og, headline.node, marks.headings) ||
        isSavedAs(og, h1, page.url));
    if (isTitle) yield og;
    const part = partOf(headline.node, h1, [og, structured, read(page.title, 'title')]);
    if (part !== null) yield part;
    const agreed = inHead !== null && (og === null || isSame(inHead, og)) ? (og ?? inHead) : null;
    if (agreed !== null && !isSame(agreed, h1) && isNamedByAddress(page.url, agreed.value, h1.value))
      yield agreed;
    yield h1;
  }
  if (structured !== null) yield structured;
  if (og !== null) yield og;
  const unlike = !isHeadline && headline?.node.tag === 'h1' ? h1 : null;
  const inText = unlike !== null && headline!.node.index > (body.kept[0]?.from ?? Infinity);
  const isBelow = inText || (unlike !== null && isLabel(unlike.value, page.title));
  if (unlike !== null && !isBelow) yield unlike;
  for (const [value, from] of [
    [tags.twitter['twitter:title'], 'twitter:title'],
    [tags.meta['dc.title'] ?? tags.meta.citation_title, 'meta title'],
    [page.title, 'title'],
  ] as const) {
    const found = read(value, from);
    if (found !== null) yield found;
  }
  if (unlike !== null && isBelow) yield unlike;
  return undefined;
}

/** The titles a page offers, the best first; where it offers none, what is better than that. */
export function* listTitles(inputs: Inputs): Generator<Evidence, undefined> {
  let hasAny = false;
  for (const title of goodTitles(inputs)) {
    hasAny = true;
    yield title;
  }
  if (!hasAny) yield* lastTitles(inputs);
  return undefined;
}

/** The heading that leads to the page, the one right above the text, and a `<title>` that the page also calls its site. */
function* lastTitles({ page, marks, body }: Inputs): Generator<Evidence, undefined> {
  const linked = ownHeading(page);
  const own = linked === null ? '' : headingText(linked);
  if (own !== '' && own.length < MAX_TITLE_CHARS) yield { value: own, from: 'heading' };
  const above = headingAbove(marks.headings, body.kept[0]?.from ?? 0);
  if (above !== null) yield { value: above, from: 'heading' };
  const whole = collapse(page.title ?? '').replace(/^[\s|:–—-]+/, '');
  if (whole.length < MAX_TITLE_CHARS && NO_MERE_NAME.test(whole)) yield { value: whole, from: 'title' };
  return undefined;
}

// More than three words, a bar, or a line of a script without spaces.
const NO_MERE_NAME = new RegExp(`(?:\\S+\\s+){3}\\S|\\S\\s[|–—-]\\s\\S|(?:${UNSPACED}\\P{L}*){8}`, 'u');

/** The text of the last heading before the text, if it stands right above it. */
function headingAbove(headings: readonly PageNode[], textFrom: number): string | null {
  const last = headings.findLast((heading) => heading.index < textFrom);
  const text = last === undefined || textFrom - last.index > NEXT_HEADING_NODES ? '' : headingText(last);
  return text.length < MAX_TITLE_CHARS && text.split(' ').length > MAX_LABEL_WORDS ? text : null;
}

/** Whether a heading of few words, beside a `<title>` of many that begin otherwise, names a section ("Top Classifieds"). */
function isLabel(text: string, title: string | null): boolean {
  if (title === null || text.split(' ').length > MAX_LABEL_WORDS) return false;
  return title.split(' ').length >= MIN_TITLE_WORDS && !comparable(title).startsWith(comparable(text));
}

/**
 * The title in the head that is the longest part of a heading, word for word; the others are a label, a subtitle or a
 * button ("Regular article", "Add to list").
 */
function partOf(heading: PageNode, h1: Evidence, inHead: readonly (Evidence | null)[]): Evidence | null {
  const [longest = ''] = partsOf(heading)
    .map(comparable)
    .sort((a, b) => b.length - a.length);
  if (longest === comparable(h1.value)) return null;
  return inHead.find((one) => one !== null && comparable(one.value) === longest) ?? null;
}

const isSame = (a: Evidence, b: Evidence) => comparable(a.value) === comparable(b.value);
const holds = (long: Evidence, short: Evidence) => comparable(long.value).includes(comparable(short.value));

/**
 * Whether the page was saved under og:title, as its address spells it, and the h1 is a later or a louder one (7 of 7
 * pages of two sets). An address that spells the h1 says nothing: the references take og:title there as often as else.
 */
function isSavedAs(og: Evidence, h1: Evidence, url: string): boolean {
  return (
    !holds(h1, og) && !holds(og, h1) && isSpeltByAddress(url, og.value) && !isSpeltByAddress(url, h1.value)
  );
}

/** Whether og:title is what the h1 says, and says it better. */
function isBetter(og: Evidence, h1: Evidence, inHead: Evidence | null): boolean {
  if (addsOnlyData(h1.value, og.value)) return true;
  if (inHead === null || !isSame(inHead, og)) return false;
  // An og:title that is a part of the h1 was cut to fit a search page, unless what is cut off is a kicker.
  if (holds(h1, og)) return followsKicker(h1.value, og.value);
  // One that holds the h1 was filled up for it.
  return !holds(og, h1) && saysTheSame(h1.value, og.value);
}

/**
 * Whether the heading after the h1 is og:title, perhaps with a kicker before it: then the h1 is the version for search
 * engines, hidden or in small print above, and the next heading is what the reader sees.
 */
function isShownBelow(og: Evidence, h1: PageNode, headings: readonly PageNode[]): boolean {
  const next = h1.tag === 'h1' ? headings[headings.indexOf(h1) + 1] : undefined;
  if (next === undefined || next.index - h1.index > NEXT_HEADING_NODES) return false;
  const [shown, wanted] = [comparable(textOf(next, 500)), comparable(og.value)];
  return wanted.length >= 10 && shown.endsWith(wanted) && shown.length - wanted.length <= MAX_KICKER_LETTERS;
}

// Further below the h1, a heading that repeats og:title is one of the text.
const NEXT_HEADING_NODES = 200;
const MAX_KICKER_LETTERS = 50;

/** The title of the page with the evidence that gave it. */
export function decideTitle(inputs: Inputs): Evidence | null {
  return listTitles(inputs).next().value ?? null;
}
