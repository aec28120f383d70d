import { attribute, collapse, copyString, type PageNode, textOf } from './node.ts';
import { type Page, resolveUrl } from './parse-page.ts';

/** A link of the page as the spider sees it. */
export type PageLink = { url: string; text: string; rel: string | null; inNav: boolean };
/** A feed the page offers. */
export type FeedLink = { url: string; type: string | null; title: string | null };

const MAX_LINKS = 2_000;
const MAX_FEEDS = 50;
const NAV_TAGS = new Set(['nav', 'footer', 'header', 'aside', 'menu']);
const NAV_NAME =
  /(^|[\s_-])(nav|navigation|menu|footer|header|sidebar|breadcrumbs?|pager|pagination)([\s_-]|$)/i;

function isInNav(node: PageNode): boolean {
  for (let at = node.parent, steps = 0; at !== null && steps < 30; at = at.parent, steps++) {
    if (NAV_TAGS.has(at.tag)) return true;
    const role = attribute(at, 'role');
    if (role === 'navigation' || role === 'banner' || role === 'contentinfo') return true;
    const name = `${attribute(at, 'class') ?? ''} ${attribute(at, 'id') ?? ''}`;
    if (name.length < 400 && NAV_NAME.test(name)) return true;
  }
  return false;
}

/** Every http(s) link once, in document order, resolved against `<base>` and without its fragment. */
export function discoverLinks(page: Page): PageLink[] {
  const byUrl = new Map<string, PageLink>();
  for (const anchor of page.anchors) {
    const href = attribute(anchor, 'href');
    if (href === null || href === '' || href.startsWith('#')) continue;
    const resolved = resolveUrl(href, page.baseUrl);
    if (resolved === null) continue;
    const hash = resolved.indexOf('#');
    const url = copyString(hash < 0 ? resolved : resolved.slice(0, hash));
    const inNav = isInNav(anchor);
    const known = byUrl.get(url);
    const text = copyString(
      (textOf(anchor, 300) || collapse(attribute(anchor, 'title') ?? '')).slice(0, 300),
    );
    if (known !== undefined) {
      // An image and a headline often point at the same story: keep the longer text, and content over navigation.
      if (text.length > known.text.length) known.text = text;
      known.inNav &&= inNav;
      continue;
    }
    if (byUrl.size >= MAX_LINKS) break;
    const rel = attribute(anchor, 'rel');
    byUrl.set(url, { url, text, rel: rel === null ? null : copyString(rel.slice(0, 100)), inNav });
  }
  return [...byUrl.values()];
}

const FEED_TYPES =
  /^(application\/(rss|atom|rdf|feed)\+(xml|json)|application\/json|text\/(xml|rss|atom)|application\/xml|text\/x-opml|application\/x\.(rss|atom)\+xml)\b/i;
const FEED_PATH =
  /(\/(feed|rss|atom|feeds)(\.(xml|json|php|aspx?))?\/?($|\?)|\.(rss|atom|rdf)($|\?)|\/(rss|feed|atom|index)\.(xml|json|rdf)($|\?)|[?&]feed=(rss2?|atom|rdf)|feeds\.feedburner\.com\/)/i;

/** The feeds a page declares with `<link rel=alternate>`, then the anchors that look like feeds. */
export function discoverFeedLinks(page: Page): FeedLink[] {
  const found = new Map<string, FeedLink>();
  const add = (href: string | null, type: string | null, title: string | null) => {
    if (href === null || found.size >= MAX_FEEDS) return;
    const url = resolveUrl(
      href.replace(/^feed:(\/\/)?(?=https?:)/i, '').replace(/^feed:\/\//i, 'http://'),
      page.baseUrl,
    );
    if (url === null || found.has(url)) return;
    const name = title === null ? '' : collapse(title).slice(0, 300);
    found.set(url, {
      url: copyString(url),
      type: type === null ? null : copyString(type),
      title: name === '' ? null : copyString(name),
    });
  };
  for (const link of page.links) {
    const rel = (attribute(link, 'rel') ?? '').toLowerCase().split(/\s+/);
    const type = (attribute(link, 'type') ?? '').trim().toLowerCase();
    const href = attribute(link, 'href');
    if (rel.includes('feed') || (rel.includes('alternate') && FEED_TYPES.test(type) && !isApi(href, type))) {
      add(href, type === '' ? null : type, attribute(link, 'title'));
    }
  }
  for (const anchor of page.anchors) {
    const href = attribute(anchor, 'href');
    if (href === null || href.length > 2_000) continue;
    const type = attribute(anchor, 'type');
    if (FEED_PATH.test(href) || /^feed:/i.test(href) || (type !== null && FEED_TYPES.test(type))) {
      add(href, type, textOf(anchor, 200) || attribute(anchor, 'title'));
    }
  }
  return [...found.values()];
}

/** WordPress declares its REST API and oEmbed the same way as a feed. */
function isApi(href: string | null, type: string): boolean {
  return href !== null && /wp-json|oembed/i.test(href) && /json|xml/.test(type);
}
