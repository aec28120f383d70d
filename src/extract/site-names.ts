import { attribute, collapse, type Page, type PageNode, resolveUrl, textOf } from '../html/index.ts';
import { matchesOf } from '../text/index.ts';
import { registrableDomain } from '../url/index.ts';
import { comparable } from './comparable.ts';
import { headingText } from './headline-text.ts';
import { decodeEntities, type LdFacts } from './json-ld.ts';
import type { MetaTags } from './meta-tags.ts';

const SEPARATOR =
  /\s+[|\-–—·•»›«‹:~/\\]{1,2}\s+|\s*[|｜»›•]\s*|(?<=[\p{Script=Han}？！」》）])_(?=\p{Script=Han})|\s+::\s+|:\s+/gu;

// By the page's tags, as three ask for them.
const namesByTags = new WeakMap<MetaTags, readonly string[]>();

/** Names under which the site may appear in a title or a line. */
export function siteNames(page: Page, tags: MetaTags, ld: LdFacts): readonly string[] {
  const known = namesByTags.get(tags);
  if (known !== undefined) return known;
  const names = findSiteNames(page, tags, ld);
  namesByTags.set(tags, names);
  return names;
}

function findSiteNames(page: Page, tags: MetaTags, ld: LdFacts): string[] {
  const names = [
    tags.openGraph['og:site_name'],
    tags.meta['application-name'],
    tags.meta['apple-mobile-web-app-title'],
    tags.twitter['twitter:site'],
    tags.meta.publisher,
    ld.publisher,
    ...ld.siteNames,
    addedToTitle(page.title, tags.openGraph['og:title']),
  ];
  const host = hostOf(page.url);
  const titles = [page.title, tags.openGraph['og:title']].map((title) => comparable(title ?? ''));
  if (host !== '') names.push(host, host.replace(/\.[a-z]{2,18}(\.[a-z]{2})?$/, ''), registrableDomain(host));
  const keys = names
    .filter((name) => typeof name === 'string')
    .map((name) => comparable(name))
    .filter((name) => name.length > 1 && (!titles.includes(name) || name.length <= MAX_NAME_LETTERS));
  const home = comparable(nameThatLeadsHome(page) ?? '');
  // Some put the title of the article there, for search engines: it is most of `<title>`.
  const isTitle =
    home === '' || titles.some((title) => title.startsWith(home) && title.length < 2 * home.length);
  const always = onlyTitle(page) === null ? [] : titles.slice(0, 1);
  return [...new Set([...keys, ...(isTitle ? [] : [home]), ...always])];
}

// By the page, as two ask for it.
const onlyTitles = new WeakMap<Page, PageNode | null>();

/**
 * The heading with the title on pages of sites that give their own name as the `<title>` of every page: it leads to the
 * page itself, and another one, which leads further up, has the name.
 */
export function onlyTitle(page: Page): PageNode | null {
  let only = onlyTitles.get(page);
  if (only === undefined) {
    only = findOnlyTitle(page);
    onlyTitles.set(page, only);
  }
  return only;
}

function findOnlyTitle(page: Page): PageNode | null {
  const name = collapse(page.title ?? '');
  if (name === '' || name.length >= MAX_HOME_NAME_CHARS) return null;
  for (const { heading, link } of linkedHeadings(page)) {
    if (collapse(textOf(link, MAX_HOME_NAME_CHARS)) !== name || !leadsUp(link, page)) continue;
    const own = ownHeading(page);
    return own === null || own === heading || headingText(own) === '' ? null : own;
  }
  return null;
}

// The name of the site stands at the top of the page.
const MAX_HOME_LINKS = 100;
const MAX_HOME_NAME_CHARS = 80;

/** The link to the front page in an h1: blogs set their own name so, and the title of the article in smaller type. */
function nameThatLeadsHome(page: Page): string | null {
  for (const { heading, link } of linkedHeadings(page)) {
    if (heading.tag !== 'h1' || !leadsUp(link, page)) continue;
    const name = textOf(link, MAX_HOME_NAME_CHARS);
    if (name.length < MAX_HOME_NAME_CHARS) return name;
  }
  return null;
}

/** The first heading that is a link to the page itself: so blogs set the titles of their articles. */
export function ownHeading(page: Page): PageNode | null {
  const own = pathOf(page.url);
  if (own === '') return null;
  for (const { heading, link } of linkedHeadings(page)) {
    // "Cancel reply" leads to a place on the page, or to nowhere.
    const href = attribute(link, 'href') ?? '';
    const url = /[?#]|^$/.test(href) ? null : resolveUrl(href, page.baseUrl);
    if (url !== null && hostOf(url) === hostOf(page.url) && pathOf(url) === own) return heading;
  }
  return null;
}

/** Headings at the top of the page that are links or hold one. */
function linkedHeadings(page: Page): { heading: PageNode; link: PageNode }[] {
  const found: { heading: PageNode; link: PageNode }[] = [];
  for (const link of page.anchors.slice(0, MAX_HOME_LINKS)) {
    const heading = [link.parent, link.parent?.parent, link.first].find(
      (node) => node != null && HEADINGS.has(node.tag),
    );
    if (heading) found.push({ heading, link });
  }
  return found;
}

const HEADINGS: ReadonlySet<string> = new Set(['h1', 'h2', 'h3', 'h4']);

function leadsUp(link: PageNode, page: Page): boolean {
  const url = resolveUrl(attribute(link, 'href') ?? '', page.baseUrl);
  return url !== null && isAbove(url, page.url);
}

/** Whether an address is the front page of the site another belongs to, or of the part of it that is in. */
function isAbove(home: string, url: string): boolean {
  const path = pathOf(home);
  const own = pathOf(url);
  return hostOf(home) === hostOf(url) && !isSamePage(path, own) && own.startsWith(`${path}/`);
}

/** Whether two paths are of one page: answers, parts and versions of it have addresses below its own. */
export function isSamePage(path: string, own: string): boolean {
  return path === own || (path.length > 1 && own.startsWith(`${path}/`) && PART.test(own.slice(path.length)));
}

const PART = /^\/(?:\d+|page\/?\d+|amp|print)$/i;

// A longer "name" that is all of `<title>` or og:title is the title, put where the name of the site belongs.
const MAX_NAME_LETTERS = 30;
// Longer than this, what `<title>` adds to og:title is a second half of the title.
const MAX_ADDED_WORDS = 4;

/** What `<title>` adds to og:title beyond a separator is how the site calls itself. */
function addedToTitle(title: string | null, declared: string | undefined): string | null {
  if (title === null || declared === undefined || declared.length < 8) return null;
  const at = title.indexOf(declared);
  if (at < 0 || title.length === declared.length) return null;
  const before = title.slice(0, at);
  const after = title.slice(at + declared.length);
  const added = before === '' ? after : after === '' ? before : '';
  const cut = before === '' ? /^\s*[|\-–—·•»›:~/\\]{1,2}\s+/ : /\s*[|\-–—·•»›:~/\\]{1,2}\s+$/;
  const name = added.replace(cut, '');
  return name !== added && name !== '' && name.split(' ').length <= MAX_ADDED_WORDS ? name : null;
}

function hostOf(url: string): string {
  const match = /^https?:\/\/(?:www\d?\.)?([^/:?#]{1,255})/i.exec(url);
  return match?.[1]?.toLowerCase() ?? '';
}

// A longer end of a title is not the name of a site.
const MAX_SITE_CHARS = 200;

/** A title without the site's name before or after a separator. */
export function withoutSiteName(title: string, sites: readonly string[]): string {
  let text = title;
  for (let round = 0; round < 3; round++) {
    const cuts = separatorsIn(text);
    const last = cuts[cuts.length - 1];
    const first = cuts[0];
    if (last === undefined || first === undefined) break;
    // A site may have a separator in its own name ("Ada Lund | Lamps"): the whole of it goes at once.
    const whole = cuts.find(
      (cut) =>
        text.length - cut.index <= MAX_SITE_CHARS &&
        sites.includes(comparable(text.slice(cut.index + cut[0].length))),
    );
    if (whole !== undefined) {
      text = text.slice(0, whole.index);
      continue;
    }
    const tail = comparable(text.slice(last.index + last[0].length));
    const head = comparable(text.slice(0, first.index));
    if (isSite(tail, sites)) text = text.slice(0, last.index);
    else if (isSite(head, sites)) text = text.slice(first.index + first[0].length);
    else break;
  }
  return text.trim();
}

/** Where a title may be cut; guillemets around words are quotation marks, whichever way they point. */
function separatorsIn(text: string): RegExpExecArray[] {
  const cuts = [...matchesOf(SEPARATOR, text)];
  return /«.*»|».*«|‹.*›|›.*‹/.test(text) ? cuts.filter(([sign]) => !/[»›«‹]/.test(sign)) : cuts;
}

function isSite(part: string, sites: readonly string[]): boolean {
  if (part === '') return true;
  for (const site of sites) {
    if (part === site) return true;
    // "Example Signal 18" is an issue of the Example Signal, not the site.
    if (/\d/.test(part) && !/\d/.test(site)) continue;
    // "The Example Times" against "exampletimes": one holds most of the other.
    if (site.length > 4 && part.includes(site) && part.length < site.length * 2) return true;
    if (part.length > 4 && site.includes(part) && part.length * 2 > site.length) return true;
  }
  return false;
}

/** The path of an address, without the slash at its end. */
export const pathOf = (url: string) => /^https?:\/\/[^/?#]+([^?#]*?)\/?(?:[?#]|$)/i.exec(url)?.[1] ?? url;

/** The titles in the head, without the name of the site. */
export function declaredTitles(page: Page, tags: MetaTags, ld: LdFacts): string[] {
  const sites = siteNames(page, tags, ld);
  return [tags.openGraph['og:title'], ld.isArticle ? ld.headline : null, page.title]
    .filter((title) => typeof title === 'string')
    .map((title) => withoutSiteName(decodeEntities(title), sites));
}
