import { type DateHabits, habitsOfLanguage, noHabits, parseDate } from '../../dates/index.ts';
import type { Enclosure, FeedEntry } from './model.ts';
import { resolveLink } from './values.ts';

/** A link as written, with the base that held where it stood. */
export type DraftLink = { href: string; base: string | null; isHtml: boolean };

/** What has been read of an entry so far; the choice between rivals is made when it ends. */
export type Draft = {
  link: DraftLink | null;
  originalLink: DraftLink | null;
  alternates: DraftLink[];
  contentSource: DraftLink | null;
  about: DraftLink | null;
  guid: { text: string; base: string | null; permalink: boolean | null } | null;
  title: string | null;
  otherTitle: string | null;
  summary: string | null;
  content: string | null;
  otherSummary: string | null;
  authors: string[];
  categories: string[];
  published: string[];
  updated: string[];
  created: string[];
  enclosures: Enclosure[];
};

/** A draft with nothing in it. */
export function emptyDraft(): Draft {
  return {
    link: null,
    originalLink: null,
    alternates: [],
    contentSource: null,
    about: null,
    guid: null,
    title: null,
    otherTitle: null,
    summary: null,
    content: null,
    otherSummary: null,
    authors: [],
    categories: [],
    published: [],
    updated: [],
    created: [],
    enclosures: [],
  };
}

/** Whether anything was read at all. */
export function isBlank(draft: Draft): boolean {
  const { link, guid, title, summary, content } = draft;
  const single = link ?? guid ?? title ?? draft.otherTitle ?? summary ?? content ?? draft.originalLink;
  return (
    single === null && draft.alternates.length === 0 && draft.published.length + draft.updated.length === 0
  );
}

// Lists in one entry; the longest seen in real feeds is a few dozen.
const maxList = 200;

/** Whether a list of an entry takes no more; reading a value that is thrown away costs as much as one that is kept. */
export const isFull = (list: readonly unknown[]): boolean => list.length >= maxList;

/** Adds to a list of an entry unless it is there already or the list is full. */
export function addUnique(list: string[], value: string | null): void {
  if (value !== null && list.length < maxList && !list.includes(value)) list.push(value);
}

/** Adds an enclosure unless its address is there already. */
export function addEnclosure(list: Enclosure[], enclosure: Enclosure): void {
  if (list.length < maxList && !list.some((known) => known.url === enclosure.url)) list.push(enclosure);
}

/** What a feed gives its entries: the address that links are resolved against, and its language. */
export type Surroundings = { fallbackBase: string | null; language: string | null };

/** Turns a draft into an entry. */
export function finishDraft(draft: Draft, { fallbackBase, language }: Surroundings): FeedEntry {
  const habits = habitsOfFeed(language);
  const published = lastDate(draft.published, habits) ?? lastDate(draft.created, habits);
  return {
    link: decideLink(draft, fallbackBase),
    id: draft.guid?.text ?? null,
    title: draft.title ?? draft.otherTitle,
    summary: draft.summary ?? draft.otherSummary,
    content: draft.content,
    authors: draft.authors,
    categories: draft.categories,
    published,
    updated: lastDate(draft.updated, habits),
    enclosures: draft.enclosures,
  };
}

// American English is what programs put there for want of something better, so it says nothing of the writer.
const habitsOfFeed = (language: string | null) =>
  language === null || /^\s*en\b/i.test(language) ? noHabits : habitsOfLanguage(language);

// Where a field is repeated, readers agree that the last one holds.
function lastDate(texts: readonly string[], habits: DateHabits): Date | null {
  for (const text of texts.toReversed()) {
    const date = parseDate(text, habits);
    if (date) return date;
  }
  return null;
}

// Services that count clicks by standing between feed and site; many are gone, and their links with them.
const proxyHost =
  /^https?:\/\/(?:feedproxy\.google|(?:[\w-]{1,63}\.){0,4}(?:feedburner|feedsportal|pheedo))\.com\//;

function decideLink(draft: Draft, fallbackBase: string | null): string | null {
  const html = draft.alternates.find((link) => link.isHtml) ?? draft.alternates[0] ?? null;
  const written = resolve(draft.link, fallbackBase) ?? resolve(html, fallbackBase);
  const original = resolve(draft.originalLink, fallbackBase);
  if (original !== null && (written === null || proxyHost.test(written))) return original;
  return (
    written ??
    resolveGuid(draft, fallbackBase) ??
    resolve(draft.contentSource, fallbackBase) ??
    resolve(draft.about, fallbackBase)
  );
}

function resolve(link: DraftLink | null, fallbackBase: string | null): string | null {
  return link && resolveLink(link.href, link.base ?? fallbackBase);
}

// RSS 2.0: a guid is a permalink unless it says otherwise. Only one that says so may be relative.
function resolveGuid(draft: Draft, fallbackBase: string | null): string | null {
  const { guid } = draft;
  if (!guid || guid.permalink === false) return null;
  if (!/^https?:\/\//i.test(guid.text) && guid.permalink !== true) return null;
  return resolveLink(guid.text, guid.base ?? fallbackBase);
}
