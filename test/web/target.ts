import { partsOf } from './article.ts';
import type { RequestKind } from './exchange.ts';
import { lexicons } from './lexicon/index.ts';
import { itemIdIn } from './paths.ts';
import type { FeedSetup, Publisher, SitemapSetup } from './publisher.ts';
import type { Site } from './site.ts';
import type { Item } from './timeline.ts';

/** What an address leads to on a healthy site. */
export type Target =
  | { kind: 'robots' }
  | { kind: 'feed'; feed: FeedSetup }
  | { kind: 'sitemap'; sitemap: SitemapSetup; month?: string }
  | { kind: 'listing'; section?: string; datePrefix?: string; page: number }
  | { kind: 'archive' }
  | { kind: 'article'; item: Item; part: number }
  | { kind: 'image'; id: number }
  | { kind: 'icon' }
  | { kind: 'static'; name: string }
  | { kind: 'redirect'; status: number; location: string }
  | { kind: 'missing' };

/** The kind of request a target is for the faults and the log. */
export function requestKindOf(target: Target): RequestKind {
  switch (target.kind) {
    case 'archive':
      return 'listing';
    case 'robots':
    case 'feed':
    case 'sitemap':
    case 'listing':
    case 'article':
    case 'image':
      return target.kind;
    default:
      return 'other';
  }
}

const staticPages = new Set(['/about', '/login', '/search', '/imprint', '/private/drafts']);
const pagePath = /^(.*?)\/page\/(\d{1,6})\/?$/;
const pageFile = /^(.*)\/list_7_(\d+)\.html$/;
const datePath = /^(?:\/news)?\/((?:19|20)\d\d)(?:\/(\d\d))?(?:\/(\d\d))?\/?$/;
const imagePath = /^\/img\/([0-9a-z]{4,7})\.png$/;
const clickPath = /^\/go\/([0-9a-z]{4,7})$/;

/** Finds out what an address leads to; linear in its length. */
export function resolveTarget(
  site: Site,
  request: { host: string; path: string; query: string; nowMs: number },
): Target {
  const { publisher } = site;
  const { host, path, query } = request;
  if (path === '/robots.txt') return { kind: 'robots' };
  if (host !== publisher.host)
    return {
      kind: 'redirect',
      status: 301,
      location: `http://${publisher.host}${path}${query === '' ? '' : `?${query}`}`,
    };
  return (
    resolveArticle(site, request) ??
    resolveChannel(site, path) ??
    resolveListing(site, path, query) ??
    resolveRest(site, path, request.nowMs)
  );
}

function resolveArticle(
  site: Site,
  request: { path: string; query: string; nowMs: number },
): Target | undefined {
  const { path, part } = partOf(site.publisher, request);
  const id = itemIdIn(path, request.query);
  const item = id === undefined ? undefined : site.timeline.byId(id);
  if (item === undefined || item.atMs > request.nowMs) return undefined;
  const known = site.describe(item);
  const knownPath = known.path.split('?', 1)[0] as string;
  if (samePath(knownPath, path))
    return part > 1 && part > partsOf(site.publisher, site.storyOf(item, request.nowMs))
      ? { kind: 'missing' }
      : { kind: 'article', item, part };
  // The number is right and the words are not: publishers send such visitors to the current address.
  return { kind: 'redirect', status: 301, location: known.url };
}

/** Which page of an article is asked for, and the address of its first. */
function partOf(
  { articleParts = 1, urlStyle }: Publisher,
  { path, query }: { path: string; query: string },
): { path: string; part: number } {
  if (articleParts === 1) return { path, part: 1 };
  const [, before, number] = (urlStyle === 'slash' ? /^(.*\/)(\d{1,3})\/$/.exec(path) : null) ?? [];
  if (before !== undefined) return { path: before, part: Number(number) };
  const page = Number(new URLSearchParams(query).get('page') ?? 1);
  return { path, part: Number.isInteger(page) && page >= 1 ? page : 1 };
}

function samePath(known: string, asked: string): boolean {
  if (known === asked) return true;
  if (!asked.includes('%')) return false;
  try {
    return decodeURIComponent(known) === decodeURIComponent(asked);
  } catch (error) {
    if (error instanceof URIError) return false;
    throw error;
  }
}

function resolveChannel(site: Site, path: string): Target | undefined {
  const { feeds, sitemaps } = site.publisher;
  for (const feed of feeds) if (feed.path === path) return { kind: 'feed', feed };
  for (const sitemap of sitemaps) {
    if (sitemap.path === path) return { kind: 'sitemap', sitemap };
    const month = sitemap.kind === 'index' ? /^\/sitemap-(\d{4}-\d\d)\.xml$/.exec(path)?.[1] : undefined;
    if (month !== undefined) return { kind: 'sitemap', sitemap, month };
  }
  return undefined;
}

function resolveListing(site: Site, path: string, query: string): Target | undefined {
  const { publisher } = site;
  let base = path;
  let page = 1;
  if (publisher.pagination === 'path' || publisher.pagination === 'file') {
    const match = (publisher.pagination === 'path' ? pagePath : pageFile).exec(path);
    if (match !== null) {
      base = `${match[1]}/`;
      page = Number(match[2]);
    }
  } else if (query !== '') page = pageIn(publisher, new URLSearchParams(query));
  if (base === '/') return { kind: 'listing', page };
  const slug = base.replace(/^\/|\/$/g, '');
  if (lexicons[publisher.language].sections.some((section) => section.slug === slug))
    return { kind: 'listing', section: slug, page };
  const date = publisher.archives ? datePath.exec(base) : null;
  if (date !== null) return { kind: 'listing', datePrefix: date.slice(1).filter(Boolean).join('-'), page };
  if (publisher.archives && (base === '/archive' || base === '/archive/')) return { kind: 'archive' };
  return undefined;
}

/** The page that parameters name; what is no number is the first. */
function pageIn({ pagination, perPage }: Publisher, query: URLSearchParams): number {
  const page =
    pagination === 'offset'
      ? 1 + Math.ceil(Number(query.get('offset') ?? 0) / perPage)
      : Number(query.get(pagination === 'p' ? 'p' : 'page') ?? 1);
  return Number.isInteger(page) && page >= 1 ? page : 1;
}

function resolveRest(site: Site, path: string, nowMs: number): Target {
  const image = imagePath.exec(path);
  if (image !== null) return { kind: 'image', id: Number.parseInt(image[1] as string, 36) };
  if (path === '/icon.svg') return { kind: 'icon' };
  if (staticPages.has(path)) return { kind: 'static', name: path.slice(1) };
  const click = clickPath.exec(path);
  const item = click === null ? undefined : site.timeline.byId(Number.parseInt(click[1] as string, 36));
  if (item !== undefined && item.atMs <= nowMs) {
    const { url } = site.describe(item);
    const location = `${url}${url.includes('?') ? '&' : '?'}utm_source=feed&utm_medium=click`;
    return { kind: 'redirect', status: 302, location };
  }
  return { kind: 'missing' };
}
