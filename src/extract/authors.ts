import type { PageNode } from '../html/index.ts';
import { isElsewhere, joinedLinks, namesIn, withoutTail } from './author-elements.ts';
import { FULL_NAME, PLAIN_NAME } from './byline-words.ts';
import { comparable } from './comparable.ts';
import type { LdFacts } from './json-ld.ts';
import type { MetaTags } from './meta-tags.ts';
import { isAccountName, nameInData, namesInData, splitNames } from './person-names.ts';

/** The authors and the evidence that named them. */
export type Authors = { names: string[]; from: string };

const META_AUTHOR = [
  'author',
  'article:author_name',
  'parsely-author',
  'sailthru.author',
  'dc.creator',
  'dcterms.creator',
  'citation_author',
  'byl',
  'writer',
  'cxenseparse:author',
  'twitter:data1',
  'article:author',
  'creator',
];

/** What the meta tags say, one reading after another; those nobody lists only where no other says anything. */
function authorsFromMeta(tags: MetaTags): Authors[] {
  const found: Authors[] = [];
  for (const name of META_AUTHOR) {
    if (name === 'twitter:data1' && !/written by|author|by/i.test(tags.twitter['twitter:label1'] ?? ''))
      continue;
    const values = tags.lists.get(name);
    if (values === undefined) continue;
    const names = values
      .map((value) => value.replace(/ [-–—|(]? ?https?:\S+$/, ''))
      .filter((value) => !/^https?:|\.(?:com|org)\b/i.test(value))
      .map((value) => (/^(?:citation|dc)/.test(name) ? firstNameFirst(value) : value))
      .flatMap(splitNames);
    if (names.length > 0) found.push({ names: distinct(names), from: `meta ${name}` });
  }
  const other = found.length > 0 ? null : authorsFromOtherMeta(tags);
  return other === null ? found : [other];
}

/** Meta names nobody lists: anything that ends with the author, but for that of an app. */
function authorsFromOtherMeta(tags: MetaTags): Authors | null {
  for (const [name, values] of tags.lists) {
    if (!OTHER_AUTHOR.test(name) || META_AUTHOR.includes(name) || name.startsWith('smartbanner')) continue;
    const names = values.filter((value) => !/https?:|@/.test(value)).flatMap(splitNames);
    if (names.length > 0 && names.every((one) => FULL_NAME.test(one)))
      return { names: distinct(names), from: `meta ${name}` };
  }
  return null;
}

const OTHER_AUTHOR = /[._:-]authors?(?:[._:-]?names?)?$|^authors(?:[._:-]?names?)?$|:written$/;

/** Libraries write "Lund, Ada"; "Ada Lund, MD" and "Ada Lund, Jon Berg" have their order. */
function firstNameFirst(name: string): string {
  const [last = '', first = '', ...more] = name.split(',').map((part) => part.trim());
  const isTurned = first !== '' && more.length === 0 && !(FULL_NAME.test(last) && !isGivenName(first));
  return isTurned ? `${first} ${last}` : name;
}

// A name or initials: behind "Lund Berg," they are what was put last.
const isGivenName = (text: string) =>
  /^(?:\p{Lu}[\p{L}'’-]*\p{Ll}(?:\s\p{Lu}\.?)*|(?:\p{Lu}\.\s?)+)$/u.test(text);

/** What the page itself shows: marked elements, links to author pages and lines that begin with "by". */
export type Bylines = {
  marked: PageNode[];
  links: PageNode[];
  lines: string[];
  /** The same of the lines right below the headline only. */
  firstLines: string[];
  /** Names after "written by", wherever the page says it. */
  credits: () => string[];
  /** The name near the headline that is also the caption of a picture. */
  portrayed: () => string | null;
  headlineIndex: number;
  /** What `<title>` says: one word of it is whom the article is about, not who wrote it. */
  title: string;
};

const isSubject = (name: string, title: string) => !name.includes(' ') && title.includes(name);

// Elements this far from the headline belong to other stories or to the comments.
const NEAR_NODES = 600;

/** Every reading of what the page shows, the likeliest first. */
function* fromPage(bylines: Bylines): Generator<Authors, undefined> {
  const { headlineIndex } = bylines;
  const here = (nodes: PageNode[]) => nodes.filter((node) => !isElsewhere(node));
  const near = (nodes: PageNode[]) =>
    here(nodes)
      .filter((node) => headlineIndex < 0 || Math.abs(node.index - headlineIndex) < NEAR_NODES)
      .sort((a, b) => Math.abs(a.index - headlineIndex) - Math.abs(b.index - headlineIndex));
  for (const [nodes, from] of [
    [near(bylines.links), 'link to the author'],
    [near(bylines.marked), 'byline'],
  ] as const) {
    const some = nodes.slice(0, 5);
    for (const node of some) {
      const names = namesIn(node).filter((name) => !isSubject(name, bylines.title));
      if (names.length === 0) continue;
      const joined = from === 'byline' ? [node] : joinedLinks(node, nodes);
      yield { names: joined.length > 1 ? joined.flatMap(namesIn) : withoutTail(names, some), from };
    }
  }
  for (const line of bylines.lines) {
    const names = splitNames(withoutPlace(line));
    if (names.length > 0 && names.every((name) => /^[\p{Lu}\p{Lo}]/u.test(name)))
      yield { names, from: 'line with "by"' };
  }
  const portrayed = bylines.portrayed();
  if (portrayed !== null) yield { names: [portrayed], from: 'name with a portrait' };
  // The first mark anywhere is better than none.
  for (const node of here(bylines.marked).slice(0, 3)) {
    const names = namesIn(node);
    if (names.length > 0) yield { names, from: 'byline' };
  }
  for (const line of bylines.credits()) {
    const names = splitNames(line);
    if (names.length > 0 && names.every((name) => FULL_NAME.test(name)))
      yield { names, from: 'line with "written by"' };
  }
  // Links to one author only: those of other stories would name others.
  const linked = distinct(here(bylines.links).slice(0, MAX_AUTHORS).flatMap(namesIn));
  if (linked.length === 1 && FULL_NAME.test(linked[0]!)) yield { names: linked, from: 'link to the author' };
  return undefined;
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
  for (const name of ld.organizations) sites.add(comparable(name));
  const isPerson = (name: string) => !sites.has(comparable(name));
  const hasPersons = ({ names }: Authors) => names.some(isPerson);
  // The names of houses have "and" in them.
  const namesOf = (value: string) => (isPerson(value) ? namesInData(value) : nameInData(value));
  const fromLd = { names: distinct(ld.authors.flatMap(namesOf)), from: 'json-ld author' };
  const fromMeta = likeliest(authorsFromMeta(tags), bylines);
  const houses = [fromLd, fromMeta].filter(({ names }) => names.length > 0 && !names.some(isPerson));
  const declared = [fromLd, fromMeta]
    .filter(hasPersons)
    .map(({ names, from }) => ({ names: names.filter(isPerson), from }));
  const led = ledBy(bylines.firstLines, (name) => !HOUSE.test(name) && isPerson(name));
  if (led !== null && !declared.some(({ names }) => names.some((name) => isAmong(name, led.names))))
    yield led;
  // Some systems declare who put the page online ("KatieS", "NOC Admin") while the reader sees who wrote it.
  const isAccount = declared.every(({ names }) => names.every((name) => ACCOUNT.test(name)));
  if (!isAccount) yield* declared;
  const accounts = isAccount ? declared : [];
  // One at a time: whoever asks for the best reading only does not pay for the others.
  const shown = believable(fromPage(bylines), isPerson);
  const first = shown.next().value;
  const isNamed = first?.names.some((name) => FULL_NAME.test(name)) === true;
  if (!isNamed) yield* accounts;
  if (first !== undefined) yield first;
  if (isNamed) yield* accounts;
  yield* shown;
  yield* houses;
  const account = [...ld.authors, ...(tags.lists.get('author') ?? [])].find(isAccountName);
  if (account !== undefined) yield { names: [account], from: 'account' };
  return undefined;
}

/** The first reading of the meta tags; where others name somebody else, the first person whom the page shows as well. */
function likeliest(readings: readonly Authors[], bylines: Bylines): Authors {
  const [first = { names: [], from: 'meta' }, ...others] = readings;
  const isOther = ({ names }: Authors) => !names.some((name) => isAmong(name, first.names));
  if (!others.some(isOther)) return first;
  const shown = [...fromPage(bylines)].flatMap(({ names }) => names);
  const isShown = (name: string) => FULL_NAME.test(name) && !HOUSE.test(name) && isAmong(name, shown);
  return readings.find(({ names }) => names.some(isShown)) ?? first;
}

/**
 * The persons that a line right below the headline says the article is by. Where others are declared or
 * linked, these put it online or looked it over: the line was right on all three pages of 777 where the two disagree.
 */
function ledBy(lines: string[], isPerson: (name: string) => boolean): Authors | null {
  for (const line of lines) {
    const names = distinct(splitNames(withoutPlace(line)));
    if (names.length > 0 && names.every((name) => PLAIN_NAME.test(name) && isPerson(name)))
      return { names, from: 'line with "by"' };
  }
  return null;
}

/** "Ada Lund in Lampstadt", "Ada Lund on Monday", "Ada Lund posted on Monday". */
const withoutPlace = (line: string) =>
  line.replace(/\s+(?:(?:[Pp]osted|[Pp]ublished|[Uu]pdated)\s+)?(?:on|in|at)\s+\p{Lu}.*$/u, '');

const isAmong = (name: string, names: string[]) => {
  const key = comparable(name);
  return names.map(comparable).some((other) => other.includes(key) || key.includes(other));
};

/**
 * What the page shows, a line that says who wrote it before the name of the house: "Written by Ada Lund" at the end of
 * the text tells more than a link to the "Post Team". Guesses come only where nothing else is shown.
 */
function* believable(
  readings: Iterable<Authors>,
  isPerson: (name: string) => boolean,
): Generator<Authors, undefined> {
  const isHouse = (name: string) => HOUSE.test(name) || !isPerson(name);
  let house: Authors | null = null;
  for (const { names, from } of readings) {
    const reading = { names: distinct(names), from };
    if (reading.names.every(isHouse)) house ??= reading;
    else if (house === null || (SAID.has(from) && reading.names.every((name) => FULL_NAME.test(name))))
      yield reading;
  }
  if (house !== null) yield house;
  return undefined;
}

const SAID: ReadonlySet<string> = new Set(['line with "by"', 'line with "written by"']);

// "Post Team", "Staff Writer": nobody in particular.
const HOUSE =
  /\b(?:team|staff|editors|editorial|redaktion|r[eé]daction|redacci[oó]n|newsroom|news ?desk|ltd|llc|inc|gmbh)\b/i;
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
