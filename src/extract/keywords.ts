import { attribute, collapse, copyString, type Page, textOf } from '../html/index.ts';
import { comparable } from './comparable.ts';
import { decodeEntities, type LdFacts } from './json-ld.ts';
import type { MetaTags } from './meta-tags.ts';
import { siteNames } from './site-names.ts';

const mostKeywords = 100;
const mostParts = 300;
// Longer ones are titles, sentences and whatever fell into the tag.
const mostChars = 80;
const mostWords = 10;
// A shorter title may well name what its article is about.
const leastTitleChars = 25;
// What a tag has of programs and of addresses.
const noKeyword = /[{}<>=]|\/\/|\(\)/;
// "topic: Politics" is about politics, "displayType: list" about nothing.
const labelled = /^([a-z][\w-]{2,24}): ?(.*)$/i;
const topicLabels = /^(?:topic|tag|subject|keyword|person|people|place|location|organi[sz]ation|company)s?$/i;
const otherLabels =
  /^(?:short-?title|content-?(?:id|type)|display-?type|section|sub-?section|collection|locale|type|template|id)$/i;
const titleShare = 0.8;
// A cloud of tags is the site's.
const mostTagLinks = 30;

/** What an article is about, as its page names it: by meta tags and JSON-LD, else by links that are marked as tags. */
export function decideKeywords(
  page: Page,
  { tags, ld, title }: { tags: MetaTags; ld: LdFacts; title: string | null },
): string[] {
  const named = (name: string): string[] => splitKeywords(tags.lists.get(name) ?? []);
  // Names for single articles come before those that a template may have for all.
  const declared = [
    ...named('article:tag'),
    ...named('og:article:tag'),
    ...splitKeywords(ld.keywords),
    ...named('news_keywords'),
    ...named('parsely-tags'),
    ...withoutTitle(named('keywords'), title ?? ''),
  ];
  const others = new Set(siteNames(page, tags, ld));
  if (title !== null && title.length >= leastTitleChars) others.add(comparable(title));
  const chosen = distinct(declared, others);
  return chosen.length > 0 ? chosen : distinct(tagLinks(page), others);
}

/** Keywords one by one, whether they came in one string or in many; not what is a sentence or a program. */
export function splitKeywords(values: readonly string[]): string[] {
  // In a list of several a comma is the keyword's own: "Holm, Ida".
  const isList = values.length > 1 && !values.some((value) => (value.match(/[,;]/g)?.length ?? 0) > 2);
  return values.flatMap((value) => {
    const parts = isList ? [value] : decodeEntities(value).split(/[,;،、，；]/);
    const words = parts
      .slice(0, mostParts)
      .map((part) => unquoted(collapse(part)))
      .flatMap(withoutLabel);
    // Where a quarter of it is no keywords, it is a text or a program, and the rest are parts of it.
    return words.filter(isStray).length * 4 >= words.length ? [] : words.filter(isWord);
  });
}

const unquoted = (text: string): string =>
  text
    .replace(/^#+/, '')
    .replace(/^['‘](.*)['’]$/, '$1')
    .replace(/^["“„«]|["”“»]$/g, '');

function withoutLabel(word: string): string[] {
  const [, label, rest] = labelled.exec(word) ?? [];
  if (label === undefined || rest === undefined) return word === '' ? [] : [word];
  if (otherLabels.test(label)) return [];
  return topicLabels.test(label) ? [rest] : [word];
}

const isStray = (word: string): boolean =>
  word.length > mostChars || word.split(' ').length > mostWords || noKeyword.test(word);
const isWord = (word: string): boolean =>
  !isStray(word) && /\p{L}.*[\p{L}\p{N}]|\p{N}.*\p{L}|\p{Script=Han}/u.test(word);

/** Some systems take the title apart: "mayor, opens, the, new, bridge". */
function withoutTitle(words: readonly string[], title: string): readonly string[] {
  const places = new Map(title.split(/\s+/).map((word, at) => [comparable(word), at]));
  const shared = words.flatMap((word) => places.get(comparable(word)) ?? []);
  const isTitle =
    shared.length >= 4 &&
    shared.length >= places.size * titleShare &&
    shared.every((at, n) => n === 0 || n >= places.size || at > shared[n - 1]!);
  return isTitle ? words.filter((word) => !places.has(comparable(word))) : words;
}

/** Each once, without what names the article or its site. */
function distinct(words: readonly string[], others: ReadonlySet<string>): string[] {
  const found = new Map<string, string>();
  for (const word of words) {
    const key = comparable(word);
    if (key === '' || others.has(key) || found.has(key)) continue;
    found.set(key, copyString(word));
    if (found.size === mostKeywords) break;
  }
  return [...found.values()];
}

function tagLinks(page: Page): string[] {
  const found = page.anchors.filter((anchor) =>
    (attribute(anchor, 'rel') ?? '').toLowerCase().split(/\s+/).includes('tag'),
  );
  return found.length > mostTagLinks ? [] : splitKeywords(found.map((anchor) => textOf(anchor, 200)));
}
