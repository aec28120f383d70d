import { parseDate } from '../dates/index.ts';
import { attribute, type Page, type PageNode, textOf } from '../html/index.ts';
import type { LdFacts } from './json-ld.ts';
import type { Marks } from './marks.ts';
import type { MetaTags } from './meta-tags.ts';

/** A date, the evidence that gave it, and the text it was read from. */
export type FoundDate = { date: Date; from: string; raw: string };

const PUBLISHED = [
  'article:published_time',
  'article:published',
  'og:article:published_time',
  'og:published_time',
  'datepublished',
  'parsely-pub-date',
  'sailthru.date',
  'article.published',
  'publishdate',
  'publish-date',
  'publish_date',
  'published',
  'published_time',
  'published-date',
  'pubdate',
  'publication_date',
  'date.issued',
  'dc.date.issued',
  'dcterms.issued',
  'dcterms.date',
  'dcterms.created',
  'dc.date.created',
  'dc.date',
  'dc.created',
  'citation_publication_date',
  'citation_online_date',
  'citation_date',
  'cxenseparse:recs:publishtime',
  'cxenseparse:publishtime',
  'article_date_original',
  'originalpublicationdate',
  'displaydate',
  'datecreated',
  'date',
  'article:created',
  'created',
  'shareaholic:article_published_time',
  'bt:pubdate',
  'rnews:datepublished',
  'analyticsattributes.articledate',
];
const MODIFIED = [
  'article:modified_time',
  'og:updated_time',
  'datemodified',
  'article:modified',
  'dcterms.modified',
  'dc.date.modified',
  'lastmod',
  'last-modified',
  'revised',
  'modified',
  'updated_time',
];

// Written dates inside a line of text; each alternative has fixed bounds, so the search is linear.
const WRITTEN =
  /\b(?:19|20)\d{2}[-/.](?:1[0-2]|0?[1-9])[-/.](?:3[01]|[12]\d|0?[1-9])(?!\d)(?:[T ]\d{1,2}:\d{2}(?::\d{2})?)?|\b\d{1,2}(?:st|nd|rd|th|er|\.|º)?\s{0,2}(?:de\s|of\s)?\s?\p{L}{3,12}\.?,?\s{1,2}(?:de\s|del\s)?(?:19|20)\d{2}(?!\d)|\p{L}{3,12}\.?\s{1,2}\d{1,2}(?:st|nd|rd|th)?,?\s{1,2}(?:19|20)\d{2}(?!\d)|\b\d{1,2}[./-]\d{1,2}[./-](?:19|20)?\d{2}\b|(?:19|20)\d{2}年\s?\d{1,2}月\s?\d{1,2}日/gu;

/** Now and then a page claims a date that cannot be: before the web's content or days ahead. */
export function isPlausible(date: Date, nowMs: number): boolean {
  const time = date.getTime();
  return time > Date.UTC(1900, 0) && time < nowMs + 2 * 86_400_000;
}

/** Every date written in a short text, in order. */
export function datesInText(text: string, limit = 5): { date: Date; raw: string; at: number }[] {
  const found: { date: Date; raw: string; at: number }[] = [];
  // Most lines hold no number at all; the long pattern is only for those that do.
  if (!/\d\d/.test(text)) return found;
  for (const match of text.slice(0, 2_000).matchAll(WRITTEN)) {
    const raw = match[0].trim();
    const date = parseDate(raw);
    if (date !== null) found.push({ date, raw, at: match.index });
    if (found.length >= limit) break;
  }
  return found;
}

function readDate(text: string | null | undefined): Date | null {
  if (typeof text !== 'string' || text.length < 4) return null;
  return parseDate(text) ?? datesInText(text, 1)[0]?.date ?? null;
}

function fromMeta(tags: MetaTags, names: readonly string[]): FoundDate | null {
  for (const name of names) {
    const value = tags.meta[name] ?? tags.openGraph[name];
    const date = readDate(value);
    if (date !== null && value !== undefined) return { date, from: `meta ${name}`, raw: value };
  }
  return null;
}

/** The date an element carries in an attribute or its text. */
export function dateOfElement(node: PageNode | undefined, from: string): FoundDate | null {
  if (node === undefined) return null;
  for (const raw of [
    attribute(node, 'content'),
    attribute(node, 'datetime'),
    attribute(node, 'title'),
    textOf(node, 200),
  ]) {
    const date = readDate(raw);
    if (date !== null && raw !== null) return { date, from, raw };
  }
  return null;
}

/** A date in the address, such as /2024/05/17/ or -20240517; the month alone is no date. */
export function dateInUrl(url: string): FoundDate | null {
  const match = /[/_-]((?:19|20)\d{2})[/_-]?(0[1-9]|1[0-2])[/_-]?(0[1-9]|[12]\d|3[01])(?=[/_.+-]|$)/.exec(
    url.slice(0, 1_000),
  );
  const raw = match === null ? null : `${match[1]}-${match[2]}-${match[3]}`;
  const date = readDate(raw);
  return date === null || raw === null ? null : { date, from: 'url', raw };
}

const UPDATED =
  /updat|modif|revis|edited|review|aktualis|mise à jour|mis à jour|actualiz|aggiorn|atualiz|bijgewerkt|opdater|oppdater|uppdater/i;
const COMMENTED = /comment|reply|respond|related|footer|recommend|popular|recent|teaser/i;

function isElsewhere(node: PageNode): boolean {
  for (let at: PageNode | null = node, steps = 0; at !== null && steps < 8; at = at.parent, steps++) {
    if (at.tag === 'nav' || at.tag === 'footer') return true;
    const name = `${attribute(at, 'class') ?? ''} ${attribute(at, 'id') ?? ''}`;
    if (at.tag !== 'body' && name.length < 300 && COMMENTED.test(name)) return true;
  }
  return false;
}

/** Dates marked in the page, those near the headline first; a date of change only where asked for. */
function fromMarks(marks: Marks, headlineIndex: number, updatedToo: boolean): FoundDate | null {
  const near = (node: PageNode) => (headlineIndex < 0 ? node.index : Math.abs(node.index - headlineIndex));
  const times = marks.times.filter((node) => !isElsewhere(node)).sort((a, b) => near(a) - near(b));
  for (const node of times) {
    const context = `${attribute(node, 'class') ?? ''} ${attribute(node, 'itemprop') ?? ''} ${node.parent === null ? '' : textOf(node.parent, 120)}`;
    if (!updatedToo && UPDATED.test(context)) continue;
    const found = dateOfElement(node, 'time element');
    if (found !== null) return found;
  }
  for (const node of marks.dates.filter((one) => !isElsewhere(one)).sort((a, b) => near(a) - near(b))) {
    const text = textOf(node, 300);
    if (text.length > 250 || (!updatedToo && UPDATED.test(text))) continue;
    const found = datesInText(text, 1)[0];
    if (found !== undefined) return { date: found.date, from: 'date element', raw: found.raw };
  }
  return null;
}

/** Where the headline stands and the short lines around it. */
export type Surroundings = { headlineIndex: number; texts: string[]; shortLines: string[] };

/** Meta names nobody lists: anything that says both "publish" and a date. */
function fromOtherMeta(tags: MetaTags): FoundDate | null {
  for (const name of Object.keys(tags.meta)) {
    if (
      !/publi(?:sh|cation).{0,10}(?:date|time)|(?:date|time).{0,5}publi/.test(name) ||
      /modif|updat/.test(name)
    )
      continue;
    const date = readDate(tags.meta[name]);
    if (date !== null) return { date, from: `meta ${name}`, raw: tags.meta[name] ?? '' };
  }
  return null;
}

/** Pages built in the browser carry their data in scripts; the first publication date there is the page's own. */
function fromScripts(html: string): FoundDate | null {
  const found =
    /\b(?:datePublished|publishedAt|published_at|publishedDate|publishDate|publish_date|publicationDate|firstPublished\w{0,6})\b[\\"'&quot;\s]{1,12}[:=][\\"'&quot;\s]{1,12}([^"'\\<>&]{8,40})/.exec(
      html,
    );
  const raw = found?.[1];
  const date = readDate(raw);
  return date === null || raw === undefined ? null : { date, from: 'script data', raw };
}

function fromLines(texts: string[], updatedToo: boolean): FoundDate | null {
  for (const text of texts) {
    const found = datesInText(text, 1)[0];
    if (found === undefined || (!updatedToo && UPDATED.test(text.slice(0, found.at)))) continue;
    return { date: found.date, from: 'text near the headline', raw: found.raw };
  }
  return null;
}

/** The date that stands alone on a line, if the whole page has only one such: two would leave room for doubt. */
function fromOnlyLine(lines: string[]): FoundDate | null {
  let only: FoundDate | null = null;
  for (const line of lines) {
    const found = datesInText(line, 1)[0];
    if (found === undefined || found.raw.length + 15 < line.length) continue;
    if (only !== null && only.date.getTime() !== found.date.getTime()) return null;
    only = { date: found.date, from: 'only date on a line', raw: found.raw };
  }
  return only;
}

/** When the page was published, by the surest evidence that gives a plausible date. */
export function decidePublished(
  page: Page,
  tags: MetaTags,
  ld: LdFacts,
  marks: Marks,
  near: Surroundings,
  nowMs = Date.now(),
): FoundDate | null {
  const sources: (() => FoundDate | null)[] = [
    () => ldDate(ld.datePublished, 'json-ld datePublished'),
    () => fromMeta(tags, PUBLISHED),
    () => fromOtherMeta(tags),
    () => dateOfElement(marks.itemprops.get('datepublished'), 'microdata datePublished'),
    () => ldDate(ld.dateCreated, 'json-ld dateCreated'),
    () => dateInUrl(page.url),
    () => fromMarks(marks, near.headlineIndex, false),
    () => fromScripts(page.html),
    () => fromLines(near.texts, false),
    () => fromMarks(marks, near.headlineIndex, true),
    () => fromLines(near.texts, true),
    () => fromOnlyLine(near.shortLines),
  ];
  for (const source of sources) {
    const found = source();
    if (found !== null && isPlausible(found.date, nowMs)) return found;
  }
  return null;
}

function ldDate(text: string | null, from: string): FoundDate | null {
  const date = readDate(text);
  return date === null || text === null ? null : { date, from, raw: text };
}

/** When the page was last changed, if it says so. */
export function decideModified(
  tags: MetaTags,
  ld: LdFacts,
  marks: Marks,
  nowMs = Date.now(),
): FoundDate | null {
  const found =
    ldDate(ld.dateModified, 'json-ld dateModified') ??
    fromMeta(tags, MODIFIED) ??
    dateOfElement(marks.itemprops.get('datemodified'), 'microdata dateModified');
  return found !== null && isPlausible(found.date, nowMs) ? found : null;
}
