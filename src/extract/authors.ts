import { attribute, collapse, copyString, nextNode, type PageNode, TEXT, textOf } from '../html/index.ts';
import type { LdFacts } from './json-ld.ts';
import type { MetaTags } from './meta-tags.ts';
import { comparable } from './title.ts';

/** The authors and the evidence that named them. */
export type Authors = { names: string[]; from: string };

const PREFIX =
  /^(?:(?:written|posted|reported|reviewed|published|words?|story|article|text|photos?)\s+(?:and\s+\w+\s+)?by|by|von|par|por|di|da|door|av|af|autor(?:in|es)?|author|auteur|redacci[oó]n)\b\s*:?\s*/i;
const NOT_A_NAME =
  /^(?:learn more|member login|the author|anonymous|website|facebook|twitter|linkedin|instagram|admin(?:istrator)?|editor(?:ial)?|staff|webmaster|guest|user|author|unknown|none|null|undefined|n\/a|anonymous|posted|follow|share|home|contact|about.*|read more.*|view all.*|see all.*|more from.*|all posts.*|articles by.*|posts by.*|(?:.{0,10} )?written by|https?:.*)$/i;

/** A name without "By", trailing dates and separators; null when what is left is no name. */
export function cleanName(raw: string): string | null {
  if (raw.length > 500) return null;
  let text = collapse(raw).replace(/^[\s\-–—|•·:,]+|[\s\-–—|•·:,]+$/g, '');
  text = text.replace(PREFIX, '').replace(/^\W+/u, (m) => (/\p{L}/u.test(m) ? m : ''));
  const cut = text.search(
    /\s+[|•·–—]\s+|\s+-\s+|\s*\(|,?\s+(?:on|published|posted|updated|last)\s+(?:\w+\s+)?\d|,?\s+(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?\s+\d|\d{4}|\d{1,2}[./]\d/i,
  );
  if (cut > 0) text = text.slice(0, cut);
  text = text.replace(/[\s,;|–—-]+$/g, '').trim();
  if (text.length < 2 || text.length > 80 || !/\p{L}{2}/u.test(text)) return null;
  if (MONTH.test(text) || /\b(?:says|name|new|month|reading|minutes?|ago)\b|[*:|]/i.test(text)) return null;
  // Accounts ("jane.doe") and template keys ("page.author") are no names.
  if (/^[a-z0-9_]+(?:\.[a-z0-9_]+)+$/.test(text)) return null;
  if (NOT_A_NAME.test(text) || text.split(' ').length > 8 || /[@{}<>=]|https?:/.test(text)) return null;
  return isSentence(text) ? null : copyString(text);
}

/** Longer texts of mostly small words are sentences: "I review games and modules". */
function isSentence(text: string): boolean {
  const words = text.split(' ');
  return words.length > 3 && words.filter((word) => /^\p{Ll}/u.test(word)).length * 2 > words.length;
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
    const names = values
      .filter((value) => !/^https?:|\.(?:com|org)\b/i.test(value))
      .map((value) => (name.startsWith('citation') ? firstNameFirst(value) : value))
      .flatMap(splitNames);
    if (names.length > 0) return { names, from: `meta ${name}` };
  }
  return null;
}

/** Libraries write "Lund, Ada". */
function firstNameFirst(name: string): string {
  const parts = name.split(',');
  return parts.length === 2 ? `${parts[1]!.trim()} ${parts[0]!.trim()}` : name;
}

const MONTH =
  /^(?:(?:mon|tue|wed|thu|fri|sat|sun)\w*,?\s+)?(?:\d{1,2}\s+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?(?:\s+\d{1,2})?$/i;
const ELSEWHERE = /comment|reply|respond|related|footer|recommend|popular|teaser|testimonial|carousel/i;

function isElsewhere(node: PageNode): boolean {
  for (
    let at: PageNode | null = node, steps = 0;
    at !== null && at.tag !== 'body' && steps < 8;
    at = at.parent, steps++
  ) {
    if (at.tag === 'nav' || at.tag === 'footer' || at.tag === 'form') return true;
    const name = `${attribute(at, 'class') ?? ''} ${attribute(at, 'id') ?? ''}`;
    if (name.length < 300 && ELSEWHERE.test(name)) return true;
  }
  return false;
}

/** What the page itself shows: marked elements, links to author pages and lines that begin with "by". */
export type Bylines = {
  marked: PageNode[];
  links: PageNode[];
  lines: string[];
  /** Names after "written by", wherever the page says it. */
  credits: () => string[];
  headlineIndex: number;
};

// Elements this far from the headline belong to other stories or to the comments.
const NEAR_NODES = 600;

function fromPage(bylines: Bylines): Authors | null {
  const { headlineIndex } = bylines;
  const near = (nodes: PageNode[]) =>
    nodes
      .filter(
        (node) =>
          !isElsewhere(node) && (headlineIndex < 0 || Math.abs(node.index - headlineIndex) < NEAR_NODES),
      )
      .sort((a, b) => Math.abs(a.index - headlineIndex) - Math.abs(b.index - headlineIndex));
  for (const [nodes, from] of [
    [near(bylines.links), 'link to the author'],
    [near(bylines.marked), 'byline'],
  ] as const) {
    for (const node of nodes.slice(0, 5)) {
      const names = namesIn(node);
      if (names.length > 0) return { names, from };
    }
  }
  for (const line of bylines.lines) {
    const names = splitNames(line.replace(/\s+(?:on|in|at)\s+\p{Lu}.*$/u, ''));
    if (names.length > 0 && names.every((name) => /^\p{Lu}/u.test(name)))
      return { names, from: 'line with "by"' };
  }
  // The first mark anywhere is better than none.
  for (const node of bylines.marked.filter((one) => !isElsewhere(one)).slice(0, 3)) {
    const names = namesIn(node);
    if (names.length > 0) return { names, from: 'byline' };
  }
  for (const line of bylines.credits()) {
    const names = splitNames(line);
    if (names.length > 0 && names.every((name) => FULL_NAME.test(name)))
      return { names, from: 'line with "written by"' };
  }
  return null;
}

const FULL_NAME = /^\p{Lu}[\p{L}\p{M}.'’-]*\s\p{Lu}/u;

const AUTHOR_PAGE =
  /\/(?:authors?|autor|autoren|auteurs?|contributors?|writers?|columnists?|journalists?|by|people|team|staff|profile)\/[^/?#]{3,}/i;

/** Whether an address leads to an author's page. */
export function isAuthorPage(href: string): boolean {
  return href.length < 500 && AUTHOR_PAGE.test(href);
}

/** Authors from JSON-LD, meta tags, then what the page shows. */
export function decideAuthors(tags: MetaTags, ld: LdFacts, bylines: Bylines): Authors | null {
  return listAuthors(tags, ld, bylines).next().value ?? null;
}

/** Every reading of the authors, the one to believe first: persons before the site's own name, data before text. */
export function* listAuthors(tags: MetaTags, ld: LdFacts, bylines: Bylines): Generator<Authors, undefined> {
  const sites = new Set(
    [ld.publisher, ...ld.siteNames, tags.openGraph['og:site_name'] ?? null]
      .filter((n) => n !== null)
      .map(comparable),
  );
  const isPerson = (name: string) => !sites.has(comparable(name));
  const fromLd = { names: distinct(ld.authors.map(cleanName)), from: 'json-ld author' };
  const meta = authorsFromMeta(tags);
  const fromMeta = { names: distinct(meta?.names ?? []), from: meta?.from ?? 'meta' };
  const declared = [fromLd, fromMeta]
    .map(({ names, from }) => ({ names: names.filter(isPerson), from }))
    .filter(({ names }) => names.length > 0);
  // Some systems declare who put the page online ("KatieS", "NOC Admin") while the reader sees who wrote it.
  const isAccount = declared.every(({ names }) => names.every((name) => ACCOUNT.test(name)));
  if (!isAccount) yield* declared;
  const inPage = fromPage(bylines);
  const shown = inPage === null ? [] : [{ names: distinct(inPage.names), from: inPage.from }];
  if (!isAccount) yield* shown;
  else if (shown.some(({ names }) => names.some((name) => FULL_NAME.test(name))))
    yield* [...shown, ...declared];
  else yield* [...declared, ...shown];
  for (const one of [fromLd, fromMeta]) if (one.names.length > 0 && !one.names.some(isPerson)) yield one;
  return undefined;
}

// One word, or a role: the name of an account rather than of a person.
const ACCOUNT = /^\S+$|\badmin/i;
const MAX_AUTHORS = 20;

function distinct(names: (string | null)[]): string[] {
  const seen = new Map<string, string>();
  for (const name of names) {
    const key = name === null ? '' : comparable(name);
    if (name !== null && key.length > 1 && !seen.has(key)) seen.set(key, name);
  }
  return [...seen.values()].slice(0, MAX_AUTHORS);
}

function namesIn(node: PageNode): string[] {
  const given = attribute(node, 'content');
  const text = given ?? textOf(node, 300);
  if (text.length <= SHORT_BYLINE) {
    const names = splitNames(text);
    if (names.length > 0) return names;
  }
  // A box about the author: the name is its first link, heading or element that says so.
  for (let at = nextNode(node, node); at !== null; at = nextNode(at, node)) {
    if (!NAME_TAGS.has(at.tag) && !/name/i.test(attribute(at, 'class') ?? '')) continue;
    const inner = textOf(at, 100);
    const names = inner.length > 3 && inner.length < 60 ? splitNames(inner) : [];
    if (names.some((name) => FULL_NAME.test(name))) return names;
  }
  // Else its first line, where that is a full name and nothing more.
  for (let at = nextNode(node, node); at !== null; at = nextNode(at, node)) {
    if (at.tag !== TEXT) continue;
    const line = collapse(at.text);
    if (line === '' || LABEL.test(line)) continue;
    return FULL_NAME.test(line) && line.split(' ').length <= 4 ? splitNames(line) : [];
  }
  return [];
}

const SHORT_BYLINE = 80;
const NAME_TAGS = new Set(['a', 'h2', 'h3', 'h4', 'h5', 'strong', 'b']);
const LABEL =
  /^(?:(?:written|words|story|posted|published|reported) by|by|authors?|author\(s\)|contributors?|von|par|por|autor(?:in)?)\s*:?$/i;
const LED_BY = /^(?:(?:written|words|story|posted|published|reported) by|by|von|par|por|contributors?:)\s?/i;

/** Names on lines that begin with "by", or stand on the line after it. */
export function bylineTexts(lines: string[]): string[] {
  const found: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    const next = lines[i + 1];
    if (LABEL.test(line)) {
      if (next !== undefined && next.length < 60) found.push(next);
    } else if (
      line.length < 120 &&
      /^(?:written|words|story|posted|published|reported|by|von|par|por|contrib)/i.test(line)
    ) {
      const led = LED_BY.exec(line);
      const name = led === null ? '' : line.slice(led[0].length);
      // A name begins with a capital: "by a narrow margin" names nobody.
      if (/^\p{Lu}/u.test(name)) found.push(name);
    }
  }
  return found;
}

const CREDIT = /^(?:written|words|story|text|reported) by:?\s+/i;
const MAX_CREDIT_CHARS = 80;

/** Names on lines that say "written by" and nothing more, wherever they stand. */
export function creditTexts(lines: Iterable<{ text: string; chars: number }>): string[] {
  const found: string[] = [];
  for (const { text, chars } of lines) {
    if (chars > MAX_CREDIT_CHARS || found.length >= MAX_AUTHORS) continue;
    const led = CREDIT.exec(text);
    if (led !== null) found.push(text.slice(led[0].length));
  }
  return found;
}

const AUTHOR_NAME =
  /(?:^|[\s_-])(?:author|byline|writer|contributor)(?:s|[\s_-]?(?:name|link|info))?(?:[\s_-]|$)/i;

/** Whether a class name says that its element holds the author's name. */
export function isAuthorClass(name: string): boolean {
  return name.length < 200 && AUTHOR_NAME.test(name);
}

/** Whether a link type or the name of a property says that its element holds the author's name. */
export function namesAuthor(value: string): boolean {
  return value.includes('author') && /(?:^|\s)author(?:\s|$)/.test(value);
}
