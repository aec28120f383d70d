import type { Extraction } from '../extract/index.ts';
import { countWords, matchesOf } from '../text/index.ts';
import { BROKEN_TEXT, CHALLENGE_TEXT, DENIED_TEXT, LOGIN_TITLE, MISSING_TITLE, plain } from './phrases.ts';
import type { Sight } from './sight.ts';

/*
 * Whether a short page has something of its own to say, so that it speaks of a gate and is none: a note that names who
 * wrote it or when, or an article that names nobody but stands in an article's place under a headline of its own.
 */

/** Below this a page that says a gate's phrase says nothing else. */
export const FEW_WORDS = 20;
/** From here on a text that is signed in whatever way is an article. */
export const NOTE_WORDS = 60;

// Below this the extractor says itself that it may have missed the article.
const SURE = 0.4;

/** Whose the text of a short page is, where it has one of its own. */
export type OwnText = 'signed' | 'unsigned' | 'none';

type Read = { extraction?: Extraction; title: string; host: string; status: number; sight: Sight };

/** Whether a person says to have written the page, or it declares a day. */
export function isSigned(extraction: Extraction | undefined, host: string): boolean {
  if (extraction === undefined) return false;
  const signature = signatureOf(extraction, host);
  return signature === 'a person' || signature === 'a declared day';
}

/** Whether the page has a text that is kept as one, in whatever length an article may have. */
export function hasText(extraction: Extraction | undefined): boolean {
  return (
    extraction !== undefined &&
    extraction.wordCount >= FEW_WORDS &&
    extraction.confidence >= SURE &&
    (extraction.pageType === 'article' || extraction.pageType === 'stub')
  );
}

/** Whether what stands beside a login is the beginning of an article: a signed text under a title that speaks of no login. */
export function isTeaser({ extraction, title, host, sight }: Read): boolean {
  return (
    hasText(extraction) &&
    isSigned(extraction, host) &&
    [title, sight.headings[0] ?? ''].every((text) => !LOGIN_TITLE.test(text))
  );
}

/** What a page has of its own, whatever phrases it says. */
export function readOwnText(read: Read): OwnText {
  const { extraction, title, sight } = read;
  if (extraction === undefined || extraction.wordCount < FEW_WORDS) return 'none';
  const signature = signatureOf(extraction, read.host);
  const isNote = signature === 'a declared day' && extraction.wordCount >= NOTE_WORDS;
  const isOfGate = (text: string, restChars: number) =>
    isTitleOfGate(text, restChars) && !(isNote && namesTopic(text, extraction, read.host));
  if ([title, plain(extraction.title ?? '')].some((text) => isOfGate(text, GATE_TITLE_REST_CHARS)))
    return 'none';
  if (sight.headings.some((text) => isOfGate(text, GATE_PART_REST_CHARS))) return 'none';
  if (signature === 'a person') return 'signed';
  // A day alone may stand on every page of a site: a gate has it too, and then no headline.
  if (signature !== 'none' && (extraction.wordCount >= NOTE_WORDS || hasHeadline(read))) return 'signed';
  return isUnsignedArticle(read) ? 'unsigned' : 'none';
}

// Shown by templates on every page, be it today's day.
const SHOWN_DATE =
  /^(?:time element|date element|text near the headline|shown date|only date|dateline|day of the edition)/;
// The address is what was asked for, and says nothing of what came.
const ADDRESS_DATE = /^url\b/;

type Signature = 'a person' | 'a declared day' | 'a shown day' | 'none';

function signatureOf({ authors, publishedAt, evidence, openGraph }: Extraction, host: string): Signature {
  const site = plain(openGraph['og:site_name'] ?? '');
  if (authors.some((name) => !isNameOfSite(plain(name), site, host))) return 'a person';
  const from = evidence.publishedAt ?? '';
  if (publishedAt === null || ADDRESS_DATE.test(from)) return 'none';
  return SHOWN_DATE.test(from) ? 'a shown day' : 'a declared day';
}

const lettersOf = (text: string) => text.replace(/[^\p{L}\p{N}]+/gu, '');

/** Whether a name is the site's, as it declares it or as its host spells it. */
function isNameOfSite(name: string, site: string, host: string): boolean {
  const letters = lettersOf(name);
  if (letters === '' || letters === lettersOf(site)) return true;
  const label = lettersOf(
    host.split('.').reduce((longest, part) => (part.length > longest.length ? part : longest), ''),
  );
  return (
    label.length >= MIN_NAME_CHARS &&
    (letters.includes(label) || (letters.length >= MIN_NAME_CHARS && label.includes(letters)))
  );
}

// Shorter ones are part of many a name.
const MIN_NAME_CHARS = 5;

const MIN_HEADLINE_WORDS = 2;

/** Whether there is a headline that is not the site's name: a heading, or a title declared as the page's own. */
function hasHeadline({ extraction, host, sight }: Read): boolean {
  const site = plain(extraction?.openGraph['og:site_name'] ?? '');
  const declared = extraction?.evidence.title === 'title' ? '' : plain(extraction?.title ?? '');
  return [declared, ...sight.headings].some(
    (text) => countWords(text) >= MIN_HEADLINE_WORDS && !isNameOfSite(text, site, host),
  );
}

const MIN_OWN_HEADLINE_WORDS = 3;

/** An article that names nobody: it stands in an element for articles, and its headline is the page's title too. */
function isUnsignedArticle({ extraction, title, host, status, sight }: Read): boolean {
  if (status >= 400 || !hasText(extraction) || sight.articleWords < FEW_WORDS) return false;
  return sight.headings.some(
    (text) =>
      countWords(text) >= MIN_OWN_HEADLINE_WORDS &&
      title.includes(text) &&
      !isNameOfSite(text, plain(extraction?.openGraph['og:site_name'] ?? ''), host),
  );
}

// A gate's title is the phrase and perhaps the site's name.
const GATE_TITLE_REST_CHARS = 25;
// The same without the name of the site.
const GATE_PART_REST_CHARS = 12;
// A gate's title has two or three short parts.
const MAX_TITLE_CHARS = 300;
const PARTS = /\s+[–—·»-]\s+|\s*\|\s*/;

/** Whether a title is a gate's phrase and little else, and does not quote it. */
function isTitleOfGate(title: string, restChars: number): boolean {
  return (
    [CHALLENGE_TEXT, DENIED_TEXT].some((pattern) => isMostly(pattern, title, restChars)) ||
    isTitleOfMissing(title) ||
    partsOf(title).some((part) => isMostly(BROKEN_TEXT, part, GATE_PART_REST_CHARS))
  );
}

/** Whether a title says beside a gate's phrase what the text is about: "Lampnet router: access denied". */
function namesTopic(title: string, { text, openGraph }: Extraction, host: string): boolean {
  const site = plain(openGraph['og:site_name'] ?? '');
  const rest = [CHALLENGE_TEXT, DENIED_TEXT, BROKEN_TEXT, MISSING_TITLE].reduce(
    (left, said) => left.replace(said, ' '),
    title,
  );
  const told = plain(text);
  return (rest.match(TOPIC_WORD) ?? []).some(
    (word) => told.includes(word) && !isNameOfSite(word, site, host),
  );
}

const TOPIC_WORD = /[\p{L}\p{N}]{4,}/gu;

const partsOf = (title: string): string[] => [title, ...title.split(PARTS)];

/** Whether a title, or a part of it beside the site's name, says that the page is missing. */
export function isTitleOfMissing(title: string): boolean {
  return partsOf(title).some((part) => isMostly(MISSING_TITLE, part, GATE_PART_REST_CHARS));
}

function isMostly(pattern: RegExp, title: string, restChars: number): boolean {
  if (title.length > MAX_TITLE_CHARS) return false;
  let rest = title;
  for (;;) {
    const said = pattern.exec(rest);
    if (said === null || said[0] === '' || isQuoted(rest, said)) break;
    rest = rest.slice(0, said.index) + rest.slice(said.index + said[0].length);
  }
  return rest !== title && rest.trim().length <= restChars;
}

/**
 * What a text says of itself in a gate's words; null where it has none of them, or only speaks of them: whoever has
 * signed may say what he likes, and a text that nobody signed may when it is long or quotes them.
 */
export function saysOfItself(pattern: RegExp, text: string, own: OwnText, keptWords: number): string | null {
  if (own === 'signed') return null;
  if (own === 'none') return pattern.exec(text)?.[0] ?? null;
  return keptWords >= NOTE_WORDS ? null : saysUnquoted(pattern, text);
}

// The patterns of gates are long and few: to compile one takes longer than any search with it.
const globals = new WeakMap<RegExp, RegExp>();

/** The first phrase that a text does not quote. */
export function saysUnquoted(pattern: RegExp, text: string): string | null {
  const all = globals.get(pattern) ?? new RegExp(pattern, 'gu');
  globals.set(pattern, all);
  for (const said of matchesOf(all, text)) if (!isQuoted(text, said)) return said[0];
  return null;
}

const OPENED = /["“„«‘‹「『][^"“”„«»‹›「」『』.!?]{0,40}$/;
const CLOSED = /^[^"“”„«»‹›「」『』]{0,80}["”“»’›」』]/;

/** Whether a phrase stands between quotation marks. */
function isQuoted(text: string, said: { 0: string; index: number }): boolean {
  const end = said.index + said[0].length;
  return (
    OPENED.test(text.slice(Math.max(0, said.index - 60), said.index)) &&
    CLOSED.test(text.slice(end, end + 100))
  );
}
