import { attribute, collapse, nextNode, type PageNode, TEXT, textOf } from '../html/index.ts';
import { namedWriter } from './byline-lines.ts';
import { FULL_NAME, isLabel } from './byline-words.ts';
import { splitNames } from './person-names.ts';

const ELSEWHERE = /comment|reply|respond|related|footer|recommend|popular|teaser|testimonial|carousel/i;

/** Whether an element belongs to other stories, to comments, or to the page around the article. */
export function isElsewhere(node: PageNode): boolean {
  for (
    let at: PageNode | null = node, steps = 0;
    at !== null && at.tag !== 'body' && steps < 8;
    at = at.parent, steps++
  ) {
    if ((at.tag === 'nav' && attribute(node, 'itemprop') === null) || at.tag === 'form') return true;
    if (at.tag === 'footer' && !isInArticle(at)) return true;
    const name = `${attribute(at, 'class') ?? ''} ${attribute(at, 'id') ?? ''}`;
    if (name.length < 300 && ELSEWHERE.test(name)) return true;
  }
  return false;
}

/** The foot of an article is its own; that of the page is not. */
function isInArticle(node: PageNode): boolean {
  for (let at: PageNode | null = node.parent, steps = 0; at !== null && steps < 8; at = at.parent, steps++)
    if (at.tag === 'article') return true;
  return false;
}

/** A link to an author with those that "and" or a comma joins to it, in their order. */
export function joinedLinks(link: PageNode, links: readonly PageNode[]): PageNode[] {
  const ordered = [...links].sort((a, b) => a.index - b.index);
  const at = ordered.indexOf(link);
  let [from, to] = [at, at + 1];
  while (from > 0 && isJoined(ordered[from - 1]!, ordered[from]!)) from--;
  while (to < ordered.length && isJoined(ordered[to - 1]!, ordered[to]!)) to++;
  return ordered.slice(from, to);
}

function isJoined(link: PageNode, next: PageNode): boolean {
  if (next.index - link.index > JOINED_NODES) return false;
  let between = '';
  for (let at = nextNode(link, next, true); at !== null && at !== next; at = nextNode(at, next))
    if (at.tag === TEXT) between += at.text;
  return JOINT.test(collapse(between));
}

const JOINED_NODES = 20;
const JOINT = /^(?:,|&|(?:, ?)?(?:and|und|et|y|e|og|och|en|with))$/i;

/** "Ada Lund Lampstadt" is Ada Lund where another element names her so: the place, a role or a day stands beside it. */
export function withoutTail(names: string[], nodes: readonly PageNode[]): string[] {
  const [name] = names;
  if (names.length !== 1 || name === undefined || name.split(' ').length < 3) return names;
  const others = nodes.flatMap(namesIn);
  const bare = others.find((other) => FULL_NAME.test(other) && name.startsWith(`${other} `));
  return bare === undefined ? names : [bare];
}

const AUTHOR_PAGE =
  /\/(?:authors?|autor|autoren|auteurs?|contributors?|writers?|editors|columnists?|journalists?|by|people|team|staff|profile)\/[^/?#]{3,}/i;

/** Whether an address leads to an author's page. */
export function isAuthorPage(href: string): boolean {
  return href.length < 500 && AUTHOR_PAGE.test(href);
}

/** The names in an element that is marked as the author's, or in a box about one. */
export function namesIn(node: PageNode): string[] {
  const given = attribute(node, 'content') ?? givenName(node);
  const text = given ?? textOf(node, 300);
  const writer = namedWriter(text);
  if (writer !== null) return splitNames(writer);
  const isAbout = text.length <= SHORT_BYLINE && ABOUT.test(attribute(node, 'class') ?? '');
  if (text.length <= SHORT_BYLINE && !isAbout) {
    const names = splitNames(text);
    if (names.length > 0) return names;
  }
  // A box about the author: the name is its first link, heading or element that says so.
  for (const at of boxNodes(node)) {
    if (!NAME_TAGS.has(at.tag) && !/name/i.test(attribute(at, 'class') ?? '')) continue;
    const inner = textOf(at, 100);
    const names = inner.length > 3 && inner.length < 60 ? splitNames(inner) : [];
    if (names.some((name) => FULL_NAME.test(name))) return names;
  }
  if (isAbout) return [];
  // Else its first line, where that is a full name and nothing more.
  for (const at of boxNodes(node)) {
    if (at.tag !== TEXT) continue;
    const line = collapse(at.text);
    if (line === '' || isLabel(line)) continue;
    return FULL_NAME.test(line) && line.split(' ').length <= 4 ? splitNames(line) : [];
  }
  return [];
}

/** The name that microdata gives a person: reputations, badges and buttons stand around it. */
function givenName(person: PageNode): string | null {
  if (!namesAuthor(attribute(person, 'itemprop') ?? '')) return null;
  for (const at of boxNodes(person))
    if (attribute(at, 'itemprop') === 'name') return attribute(at, 'content') ?? textOf(at, 100);
  return null;
}

// A box about an author has fewer.
const MAX_BOX_NODES = 500;

/** The nodes of a box in their order. */
function* boxNodes(box: PageNode): Generator<PageNode, undefined> {
  let at = nextNode(box, box);
  for (let steps = 0; at !== null && steps < MAX_BOX_NODES; steps++, at = nextNode(at, box)) yield at;
  return undefined;
}

const SHORT_BYLINE = 80;
// What an author does, not who it is.
const ABOUT = /(?:author|writer|contributor)s?[_-]*(?:desc|bio|role|job|position|title)/i;
const NAME_TAGS = new Set(['a', 'h2', 'h3', 'h4', 'h5', 'strong', 'b']);
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
