import { type DateHabits, noHabits, parseDate, parseMoment } from '../dates/index.ts';
import { attribute, type Page, type PageNode, textOf } from '../html/index.ts';
import { isOfChange, isOfCorrection, tellsOfDay } from './beside-dates.ts';
import { withOrderOfPage } from './date-order.ts';
import { ANNOUNCED, MODIFIED, PUBLISHED } from './date-tags.ts';
import type { LdFacts } from './json-ld.ts';
import {
  BYLINE_REST_CHARS,
  dateline,
  type FoundDate,
  fromLines,
  fromOnlyLine,
  labelledLine,
  originalDate,
  type Surroundings,
  shownDates,
  updateLine,
} from './line-dates.ts';
import type { Marks } from './marks.ts';
import type { MetaTags } from './meta-tags.ts';
import { type Lines, placeOf } from './near-lines.ts';
import { dateInScripts } from './script-dates.ts';
import { datesInText, PUBLISHED_LABEL } from './written-dates.ts';

/** Now and then a page claims a date that cannot be: before the web's content or days ahead. */
export function isPlausible(date: Date, nowMs: number): boolean {
  const time = date.getTime();
  // What a clock at zero writes, and a second before it: systems have it for "no date".
  if (time === 0 || time === -1_000) return false;
  return time > Date.UTC(1900, 0) && time < nowMs + 2 * 86_400_000;
}

// A page that declares no date is not older than the web; earlier days are what it tells of.
const WEB_FROM_MS = Date.UTC(1993, 0);
const isOfTheWeb = (date: Date, nowMs: number) => date.getTime() >= WEB_FROM_MS && isPlausible(date, nowMs);

function readDate(text: string | null | undefined, habits: DateHabits): Date | null {
  if (typeof text !== 'string' || text.length < 4) return null;
  return parseDate(text, habits) ?? datesInText(text, 1, habits)[0]?.date ?? null;
}

/** How many minutes the clock of whoever wrote a date is ahead of UTC, by the text that won; null where it does not say. */
export function offsetOf({ date, raw }: FoundDate, habits: DateHabits): number | null {
  const moment = parseMoment(raw, habits);
  return moment?.date.getTime() === date.getTime() ? moment.offsetMinutes : null;
}

function fromMeta({ tags, near }: Inputs, names: readonly string[]): FoundDate | null {
  for (const name of names) {
    const value = tags.meta[name] ?? tags.openGraph[name];
    const date = readDate(value, near.habits);
    if (date !== null && value !== undefined) return { date, from: `meta ${name}`, raw: value };
  }
  return null;
}

/** The date an element carries in an attribute or its text. */
export function dateOfElement(
  node: PageNode | undefined,
  from: string,
  habits: DateHabits,
): FoundDate | null {
  if (node === undefined) return null;
  for (const raw of [
    attribute(node, 'content'),
    attribute(node, 'datetime'),
    attribute(node, 'title'),
    textOf(node, 200),
  ]) {
    const date = readDate(raw, habits);
    if (date !== null && raw !== null) return { date, from, raw };
  }
  return null;
}

/**
 * A date in the address, such as /2024/05/17/, /2024/5/7/, /2024/may/17/, /202405/17/, /2024/lamps/05/17/, -20240517 or
 * 17-05-2024; the month alone is no date, nor is the number of a page before the first word of its title: /199407-12-lamps.
 */
export function dateInUrl(url: string): FoundDate | null {
  const address = url.slice(0, 1_000);
  const named = /\/(20\d\d|199\d)\/([a-z]{3,9})\/(0[1-9]|[12]\d|3[01])(?=[/_.+-]|$)/i.exec(address);
  const worded = named === null ? null : `${named[3]} ${named[2]} ${named[1]}`;
  for (const raw of [worded, numbersInUrl(address)?.join('-')]) {
    const date = readDate(raw, noHabits);
    if (date !== null && typeof raw === 'string') return { date, from: 'url', raw };
  }
  return null;
}

/** Year, month and day, as an address has them. */
function numbersInUrl(address: string): string[] | null {
  for (const [pattern, order] of URL_NUMBERS) {
    const match = pattern.exec(address);
    if (match !== null) return order.map((at) => match[at]!.padStart(2, '0'));
  }
  return null;
}

const URL_NUMBERS: readonly (readonly [RegExp, readonly number[]])[] = [
  [/[/_-]((?:199|20\d)\d)([_-]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?=[/_.+-]|$)/, [1, 3, 4]],
  [/[/_-]((?:199|20\d)\d)\/?(0[1-9]|1[0-2])\/?(0[1-9]|[12]\d|3[01])(?=[/_.+-]|$)/, [1, 2, 3]],
  [/\/((?:199|20\d)\d)\/(1[0-2]|0?[1-9])\/([12]\d|3[01]|0?[1-9])(?=\/)/, [1, 2, 3]],
  [/\/((?:199|20\d)\d)\/[a-z.-]{2,30}\/(0[1-9]|1[0-2])\/(0[1-9]|[12]\d|3[01])(?=\/)/i, [1, 2, 3]],
  [/[/_-](0[1-9]|[12]\d|3[01])([_.-])(0[1-9]|1[0-2])\2((?:199|20\d)\d)(?=[/_.+-]|$)/, [4, 3, 1]],
];

const COMMENTED =
  /comment|reply|respond|related|footer|recommend|popular|recent|teaser|more[_-]?(?:news|stories|posts|articles)/i;

/** Whether a node stands in what is not the article, as far up as `within`. */
function isElsewhere(node: PageNode, within: PageNode | null = null): boolean {
  for (
    let at: PageNode | null = node, steps = 0;
    at !== within && at !== null && steps < 8;
    at = at.parent, steps++
  ) {
    if (at.tag === 'nav' || at.tag === 'footer') return true;
    const name = `${attribute(at, 'class') ?? ''} ${attribute(at, 'id') ?? ''}`;
    if (at.tag !== 'body' && name.length < 300 && COMMENTED.test(name)) return true;
  }
  return false;
}

// The date of the article is not the two hundred and first.
const MAX_NEAR = 200;

/** Those of the article, by how far they are from the headline. */
function nearest(nodes: readonly PageNode[], headlineIndex: number): PageNode[] {
  const far = (node: PageNode) => (headlineIndex < 0 ? node.index : Math.abs(node.index - headlineIndex));
  return nodes
    .filter((one) => !isElsewhere(one))
    .sort((a, b) => far(a) - far(b))
    .slice(0, MAX_NEAR);
}

/** Dates in `<time>`, those near the headline first; a date of change only where asked for. */
function fromTimes(
  { marks, near, body }: Inputs,
  updatedToo: boolean,
): (FoundDate & { node: PageNode }) | null {
  for (const node of nearest(marks.times, near.headlineIndex)) {
    const context = `${attribute(node, 'class') ?? ''} ${attribute(node, 'itemprop') ?? ''} ${node.parent === null ? '' : textOf(node.parent, 120)}`;
    if ((!updatedToo && isOfChange(context)) || isOfCorrection(context)) continue;
    const found = dateOfElement(node, 'time element', near.habits);
    if (found !== null && !isTold(node, body, near.habits))
      return { date: found.date, from: found.from, raw: found.raw, node };
  }
  return null;
}

/** The `<time>` in the footer of the article itself, where some themes have the byline. */
function fromOwnFooter({ marks, near }: Inputs): FoundDate | null {
  for (const node of marks.times.slice(0, MAX_TIMES)) {
    const footer = ancestorOf(node, 'footer');
    const article = footer === null ? null : ancestorOf(footer, 'article');
    if (footer === null || article === null || isElsewhere(node, footer)) continue;
    const isOwn = article.index < near.headlineIndex && near.headlineIndex < footer.index;
    const beside = node.parent === null ? '' : textOf(node.parent, 120);
    const found = isOwn && !isOfChange(beside) ? dateOfElement(node, 'time element', near.habits) : null;
    if (found !== null) return found;
  }
  return null;
}

function ancestorOf(node: PageNode, tag: string): PageNode | null {
  let at = node.parent;
  for (let steps = 0; at !== null && at.tag !== tag; at = at.parent) if (++steps > MAX_STEPS_UP) return null;
  return at;
}

const MAX_STEPS_UP = 20;

/** Whether an element stands in a sentence or a caption that tells of its day. */
function isTold(node: PageNode, { blocks, kept }: Inputs['body'], habits: DateHabits): boolean {
  const block = blocks.find(({ from, to }) => from <= node.index && node.index < to);
  if (block === undefined) return false;
  const own = textOf(node, 200);
  const found = datesInText(block.text, 3, habits).find(({ raw }) => own.includes(raw));
  return (
    found !== undefined &&
    tellsOfDay({ text: block.text, place: placeOf(block, kept.includes(block)) }, found)
  );
}

/** The nearest `<time>`, unless the byline shows another day: then it is that of a teaser (6 pages of 7). */
function ownTime(inputs: Inputs): FoundDate | null {
  const time = fromTimes(inputs, false);
  const shown = time === null ? undefined : shownDates(inputs.near)[0];
  if (time === null || shown === undefined) return time;
  const isOther = Math.abs(time.date.getTime() - shown.date.getTime()) > SAME_DAY_MS;
  return isOther && !textOf(time.node, 200).includes(shown.raw) ? shown : time;
}

/** The same for elements whose class says that they hold a date. */
function fromDateElements({ marks, near }: Inputs, updatedToo: boolean): FoundDate | null {
  for (const node of nearest(marks.dates, near.headlineIndex)) {
    // The day somebody was born or something was founded, for machines.
    if (/\bbday\b/.test(attribute(node, 'class') ?? '')) continue;
    const text = textOf(node, 300);
    if (text.length > 250 || (!updatedToo && isOfChange(text)) || isOfCorrection(text)) continue;
    const found = datesInText(text, 1, near.habits)[0];
    if (found !== undefined) return { date: found.date, from: 'date element', raw: found.raw };
    // hAtom has the date in a title, beside "5 hours ago".
    const exact = node.tag === 'abbr' ? dateOfElement(node, 'date element', near.habits) : null;
    if (exact !== null) return exact;
  }
  return null;
}

/** Meta names nobody lists: anything that says both "publish" and a date. */
function fromOtherMeta({ tags, near }: Inputs): FoundDate | null {
  for (const bag of [tags.meta, tags.openGraph]) {
    for (const name of Object.keys(bag)) {
      if (!PUBLISHED_NAME.test(name) || /modif|updat|expir/.test(name)) continue;
      const date = readDate(bag[name], near.habits);
      if (date !== null) return { date, from: `meta ${name}`, raw: bag[name] ?? '' };
    }
  }
  return null;
}

const PUBLISHED_NAME =
  /publi(?:sh|cation).{0,10}(?:date|time)|(?:date|time).{0,5}publi|pub[._-]?(?:date|time)|release[._-]?(?:date|time)|create[ds]?[._-]?(?:at|on|date|time)|post[._-]?date/;

/** What scripts know, which is as little for readers as JSON-LD: an edition comes before it. */
function fromScripts(inputs: Inputs): FoundDate | null {
  const found = dateInScripts(inputs.page.source.raw);
  if (found === null) return null;
  const declared = { date: found.date, from: 'script data', raw: found.raw };
  return editionOf(declared, inputs) ?? declared;
}

/** Dates in `<time>` that the page labels as the one of publication, wherever they stand in the article. */
function labelledTimes({ marks, near }: Inputs): FoundDate[] {
  const found: FoundDate[] = [];
  for (const node of marks.times.slice(0, MAX_TIMES)) {
    const beside = node.parent === null ? '' : textOf(node.parent, 120);
    const labelled = attribute(node, 'pubdate') !== null || PUBLISHED_LABEL.test(beside);
    if (!labelled || beside.length > BYLINE_REST_CHARS || isOfChange(beside) || isElsewhere(node)) continue;
    const date = dateOfElement(node, 'shown date', near.habits);
    if (date !== null) found.push(date);
  }
  return found;
}

const MAX_TIMES = 20;

type Inputs = {
  page: Page;
  tags: MetaTags;
  ld: LdFacts;
  marks: Marks;
  near: Surroundings;
  headline: { text: string } | null;
  /** The blocks of the page, and those of the text. */
  body: Lines;
};
type Source = (inputs: Inputs) => FoundDate | null;

/** What the page declares for machines, the surest first. */
const DECLARED: readonly Source[] = [
  (inputs) => ldDate(inputs, 'datePublished'),
  (inputs) => fromMeta(inputs, PUBLISHED),
  fromOtherMeta,
  (inputs) => microdataDate(inputs, 'datePublished'),
  (inputs) => ldDate(inputs, 'dateCreated'),
];
const INFERRED: readonly Source[] = [
  ({ page }) => dateInUrl(page.url),
  ({ near }) => originalDate(near),
  ownTime,
  // Before elements whose class speaks of dates: those of teasers do too.
  ({ near }) => shownDates(near)[0] ?? null,
  ({ near }) => labelledLine(near),
  (inputs) => fromDateElements(inputs, false),
  fromScripts,
  ({ near, headline }) => (headline === null ? null : dateline(headline.text, near.habits)),
  ({ near }) => fromLines(near, false),
  ({ near, headline, body }) => {
    const first = body.kept.find(({ text }) => text !== headline?.text);
    return first === undefined ? null : dateline(first.text, near.habits);
  },
  ({ near }) => fromLines(near, true),
  fromOwnFooter,
  (inputs) => fromTimes(inputs, true),
  (inputs) => fromDateElements(inputs, true),
  ({ near }) => fromOnlyLine(near),
];

// A day apart is a matter of time zones, not of two dates.
const SAME_DAY_MS = 36 * 3_600_000;

/** When the page was published, by the surest evidence that gives a plausible date. */
export function decidePublished(inputs: Inputs, nowMs = Date.now()): FoundDate | null {
  return publishedDates(inputs, nowMs).next().value ?? null;
}

/** Every plausible date of publication, the one to believe first; the others are only worked out when asked for. */
export function* publishedDates(inputs: Inputs, nowMs = Date.now()): Generator<FoundDate, undefined> {
  let declared: FoundDate | null = null;
  for (const source of DECLARED) {
    const found = source(inputs);
    if (found === null || !isPlausible(found.date, nowMs)) continue;
    if (declared === null) {
      declared = found;
      const shown = shownInstead(declared, inputs, nowMs);
      if (shown !== null && isPlausible(shown.date, nowMs)) yield shown;
    }
    yield found;
  }
  const settled =
    declared === null ? { ...inputs, near: withOrderOfPage(inputs.near, inputs.marks.times) } : inputs;
  for (const source of INFERRED) {
    const found = source(settled);
    if (found !== null && isOfTheWeb(found.date, nowMs)) yield found;
  }
  return undefined;
}

/**
 * The date the page shows where it is to be believed more than the declared one. Some systems declare the day a page was
 * last put online: nobody shows a date before the one of publication, so a shown one that is earlier is right (on all 11
 * of 560 pages that differ so). A later one without a label is right where the page does not announce another, and where
 * it is neither of the days the system knows but between them: then the editors date the story themselves, after its
 * first draft and before its last touch.
 */
function shownInstead(declared: FoundDate, inputs: Inputs, nowMs: number): FoundDate | null {
  const { near } = inputs;
  const gapMs = ({ date }: FoundDate) => declared.date.getTime() - date.getTime();
  const original = originalDate(near);
  if (original !== null && gapMs(original) > SAME_DAY_MS) return original;
  // An address is made once, before whoever moved the page to another system dated it anew.
  const inUrl = dateInUrl(inputs.page.url);
  if (inUrl !== null && gapMs(inUrl) > EDITION_GAP_MS) return inUrl;
  const shown = [...shownDates(near), ...labelledTimes(inputs)].filter(({ date }) => isOfTheWeb(date, nowMs));
  const first = shown[0];
  if (first === undefined) return editionOf(declared, inputs);
  if (shown.some((one) => Math.abs(gapMs(one)) < SAME_DAY_MS)) return null;
  if (gapMs(first) > SAME_DAY_MS || !isAnnounced(inputs)) return first;
  const modified = declaredModified(inputs);
  return modified !== null && modified.date.getTime() - first.date.getTime() > SAME_DAY_MS ? first : null;
}

/**
 * The day of the edition, for guides, rankings and works of reference that are kept up to date: they show only when they
 * were last revised, announce no other day, and data for search engines alone know when their address was first used.
 * Such pages are cited by the day they show (the references do on 14 of 16). News are not among them: they announce
 * their day, or are revised within the month.
 */
function editionOf(declared: FoundDate, inputs: Inputs): FoundDate | null {
  if (isAnnounced(inputs)) return null;
  const revised = updateLine(inputs.near, EDITION_LINES);
  if (revised === null) return null;
  const gapMs = revised.date.getTime() - declared.date.getTime();
  return gapMs > EDITION_GAP_MS ? { ...revised, from: 'day of the edition' } : null;
}

const EDITION_GAP_MS = 30 * 86_400_000;
// Boxes of authors and reviewers may stand between the headline and the line.
const EDITION_LINES = 12;

/**
 * Whether the page announces its day of publication to everybody, in its address or the tags that networks show, and not
 * in its data for search engines alone. Where it does not, what it shows its readers counts: of the pages that show a
 * later day without a label the references follow the shown one on four of four, else on three of nine.
 */
function isAnnounced(inputs: Inputs): boolean {
  return fromMeta(inputs, ANNOUNCED) !== null || dateInUrl(inputs.page.url) !== null;
}

type DateName = 'datePublished' | 'dateCreated' | 'dateModified';

function ldDate({ ld, near }: Inputs, name: DateName): FoundDate | null {
  const raw = ld[name];
  const date = readDate(raw, near.habits);
  return date === null || raw === null ? null : { date, from: `json-ld ${name}`, raw };
}

function microdataDate({ marks, near }: Inputs, name: DateName): FoundDate | null {
  return dateOfElement(marks.itemprops.get(name.toLowerCase()), `microdata ${name}`, near.habits);
}

/** When the page was last changed, if it says so; nothing is changed before it is published. */
export function decideModified(inputs: Inputs, published: Date | null, nowMs = Date.now()): FoundDate | null {
  const found = declaredModified(inputs) ?? updateLine(inputs.near, Number.POSITIVE_INFINITY);
  if (found === null || !isPlausible(found.date, nowMs)) return null;
  return published !== null && found.date < published ? null : found;
}

function declaredModified(inputs: Inputs): FoundDate | null {
  return (
    ldDate(inputs, 'dateModified') ?? fromMeta(inputs, MODIFIED) ?? microdataDate(inputs, 'dateModified')
  );
}
