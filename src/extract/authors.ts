import { attribute, collapse, copyString, type PageNode, textOf } from '../html/index.ts';
import type { LdFacts } from './json-ld.ts';
import { firstOf, type MetaTags } from './meta-tags.ts';
import { comparable } from './title.ts';

/** The authors and the evidence that named them. */
export type Authors = { names: string[]; from: string };

const PREFIX =
  /^(?:(?:written|posted|reported|reviewed|published|words?|story|article|text|photos?)\s+(?:and\s+\w+\s+)?by|by|von|par|por|di|da|door|av|af|autor(?:in|es)?|author|auteur|redacci[oó]n)\b\s*:?\s*/i;
const NOT_A_NAME =
  /^(?:admin(?:istrator)?|editor(?:ial)?|staff|webmaster|guest|user|author|unknown|none|null|undefined|n\/a|anonymous|posted|follow|share|home|contact|about.*|read more.*|view all.*|see all.*|more from.*|all posts.*|https?:.*)$/i;

/** A name without "By", trailing dates and separators; null when what is left is no name. */
export function cleanName(raw: string): string | null {
  let text = collapse(raw).replace(/^[\s\-–—|•·:,]+|[\s\-–—|•·:,]+$/g, '');
  text = text.replace(PREFIX, '').replace(/^\W+/u, (m) => (/\p{L}/u.test(m) ? m : ''));
  const cut = text.search(
    /\s+[|•·–—]\s+|\s+-\s+|\s*\(|,?\s+(?:on|published|posted|updated|last)\s+(?:\w+\s+)?\d|\d{4}|\d{1,2}[./]\d/,
  );
  if (cut > 0) text = text.slice(0, cut);
  text = text.replace(/[\s,;|–—-]+$/g, '').trim();
  if (text.length < 2 || text.length > 80 || !/\p{L}{2}/u.test(text)) return null;
  if (NOT_A_NAME.test(text) || text.split(' ').length > 8 || /[@{}<>=]|https?:/.test(text)) return null;
  return copyString(text);
}

/** Splits "A, B and C" into names, keeping degrees ("A, PhD") with their owner. */
export function splitNames(text: string): string[] {
  const parts = text.split(
    /\s+(?:and|und|et|y|e|og|och|en)\s+|\s*[&;]\s*|,\s*(?=\p{Lu}[\p{L}'’.-]+\s+\p{Lu})/u,
  );
  return parts.map(cleanName).filter((name) => name !== null);
}

const META_AUTHOR = [
  'author',
  'article:author_name',
  'parsely-author',
  'sailthru.author',
  'dc.creator',
  'dcterms.creator',
  'citation_author',
  'byl',
  'cxenseparse:author',
  'twitter:data1',
  'article:author',
  'creator',
];

function authorsFromMeta(tags: MetaTags): Authors | null {
  for (const name of META_AUTHOR) {
    if (name === 'twitter:data1' && !/written by|author|by/i.test(tags.twitter['twitter:label1'] ?? ''))
      continue;
    const values = tags.lists.get(name);
    if (values === undefined) continue;
    const names = values.filter((value) => !/^https?:|\.(?:com|org)\b/i.test(value)).flatMap(splitNames);
    if (names.length > 0) return { names, from: `meta ${name}` };
  }
  return null;
}

/** Authors from JSON-LD, meta tags, then marked elements of the page. */
export function decideAuthors(tags: MetaTags, ld: LdFacts, marked: PageNode[]): Authors | null {
  const sites = new Set(
    [ld.publisher, ...ld.siteNames, tags.openGraph['og:site_name'] ?? null]
      .filter((n) => n !== null)
      .map(comparable),
  );
  const keep = (names: string[]) => {
    const seen = new Map<string, string>();
    for (const name of names) {
      const key = comparable(name);
      if (key.length > 1 && !seen.has(key)) seen.set(key, name);
    }
    return [...seen.values()].slice(0, 20);
  };
  const fromLd = keep(ld.authors.map(cleanName).filter((name) => name !== null));
  const persons = fromLd.filter((name) => !sites.has(comparable(name)));
  if (persons.length > 0) return { names: persons, from: 'json-ld author' };
  const fromMeta = authorsFromMeta(tags);
  const metaNames = keep(fromMeta?.names ?? []);
  const metaPersons = metaNames.filter((name) => !sites.has(comparable(name)));
  if (fromMeta !== null && metaPersons.length > 0) return { names: metaPersons, from: fromMeta.from };
  const inPage = keep(marked.flatMap(namesIn));
  if (inPage.length > 0) return { names: inPage, from: 'byline' };
  if (fromLd.length > 0) return { names: fromLd, from: 'json-ld author' };
  if (fromMeta !== null && metaNames.length > 0) return { names: metaNames, from: fromMeta.from };
  return firstOf(tags, ['article:author']) === null ? null : null;
}

function namesIn(node: PageNode): string[] {
  const given = attribute(node, 'content');
  const text = given ?? textOf(node, 300);
  if (text.length > 200) return [];
  return splitNames(text);
}

const AUTHOR_NAME =
  /(?:^|[\s_-])(?:author|byline|writer|contributor)(?:s|[\s_-]?(?:name|link|info))?(?:[\s_-]|$)/i;

/** Whether an element says that it holds the author's name. */
export function isAuthorMark(node: PageNode): boolean {
  if (node.tag === 'a' && /(?:^|\s)author(?:\s|$)/.test(attribute(node, 'rel') ?? '')) return true;
  if (/(?:^|\s)author(?:\s|$)/.test(attribute(node, 'itemprop') ?? '')) return true;
  const name = attribute(node, 'class');
  return name !== null && name.length < 200 && AUTHOR_NAME.test(name);
}
