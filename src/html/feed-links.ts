import { registrableDomain } from '../url/index.ts';
import { attribute, collapse, copyString, textOf } from './node.ts';
import { type Page, resolveUrl } from './parse-page.ts';

/** A feed the page offers. */
export type FeedLink = { url: string; type: string | null; title: string | null };

/** A link that came beside the page, in a header of its response. */
export type LinkBeside = {
  url: string;
  relations: readonly string[];
  type: string | null;
  title: string | null;
};

const MAX_FEEDS = 50;
const FEED_TYPES =
  /^(application\/(rss|atom|rdf|feed)\+(xml|json)|application\/json|text\/(xml|rss|atom)|application\/xml|text\/x-opml|application\/x\.(rss|atom)\+xml)\b/i;
const FEED_PATH =
  /(\/(feed|rss|atom|feeds)(\.(xml|json|php|aspx?))?\/?($|\?)|\.(rss|atom|rdf)($|\?)|\/(rss|feed|atom|index)\.(xml|json|rdf)($|\?)|[?&]feed=(rss2?|atom|rdf)|feeds\.feedburner\.com\/)/i;

// Services under whose name sites publish their own feeds.
const FEED_HOST =
  /(?:^|\.)(?:feedburner\.com|feedburner\.google\.com|feedblitz\.com|feedpress\.(?:me|it|com))$/;
// What readers write about articles, as content systems name and place it. "Kommentare" alone are opinions, too.
const COMMENTS_TITLE =
  /\bcomments\b|kommentar-?feed|kommentare zu|kommentarsflöde|(?:flux|feed) (?:des|de los|dei|de) (?:commentaires|comentarios|commenti|comentários)|reacties feed|komentarz[ae]|komentářů|комментари|コメント(?:の|フィード)|评论 ?feed|yorum beslemesi|hozzászólás|kommenttien/i;
const COMMENTS_PATH =
  /\/comments?(?:\/(?:feed|rss|atom|default|rss2)|\.(?:rss|atom|xml))|\/(?:feed|rss|feeds)\/comments?\b|[?&]feed=comments/i;

/**
 * The feeds a page declares with `<link rel=alternate>`, those that its `Link` header declares in the same way, then the
 * anchors that look like feeds of the same site. Feeds of comments are none: their entries are old articles with the
 * dates of comments.
 */
export function discoverFeedLinks(page: Page, beside: readonly LinkBeside[] = []): FeedLink[] {
  const found = new Map<string, FeedLink>();
  const site = siteOf(page.url);
  // Readers are led to the feeds of others, and to share an article with "dialog/feed".
  const isOwn = (href: string) => {
    const url = addressOf(href, page);
    return url !== null && (siteOf(url) === site || FEED_HOST.test(new URL(url).hostname));
  };
  const add = (href: string | null, type: string | null, title: string | null) => {
    if (href === null || found.size >= MAX_FEEDS) return;
    const url = addressOf(href, page);
    if (url === null || found.has(url)) return;
    const name = title === null ? '' : collapse(title).slice(0, 300);
    if (COMMENTS_TITLE.test(name) || COMMENTS_PATH.test(url)) return;
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
    if (isDeclared(rel, href, type)) add(href, type === '' ? null : type, attribute(link, 'title'));
  }
  for (const { url, relations, type, title } of beside)
    if (isDeclared(relations, url, type ?? '')) add(url, type, title);
  for (const anchor of page.anchors) {
    const href = attribute(anchor, 'href');
    if (href === null || href.length > 2_000) continue;
    const type = attribute(anchor, 'type');
    if (!FEED_PATH.test(href) && !/^feed:/i.test(href) && (type === null || !FEED_TYPES.test(type))) continue;
    if (isOwn(href)) add(href, type, textOf(anchor, 200) || attribute(anchor, 'title'));
  }
  return [...found.values()];
}

/** Whether a link of the page or of its response is declared to be a feed. */
const isDeclared = (relations: readonly string[], href: string | null, type: string): boolean =>
  relations.includes('feed') ||
  (relations.includes('alternate') && FEED_TYPES.test(type) && !isApi(href, type));

/** WordPress declares its REST API and oEmbed the same way as a feed. */
function isApi(href: string | null, type: string): boolean {
  return href !== null && /wp-json|oembed/i.test(href) && /json|xml/.test(type);
}

/** Where a link to a feed leads, whichever way it is written. */
function addressOf(href: string, page: Page): string | null {
  const plain = href.replace(/^feed:(\/\/)?(?=https?:)/i, '').replace(/^feed:\/\//i, 'http://');
  return resolveUrl(plain, page.baseUrl);
}

function siteOf(url: string): string | null {
  return URL.canParse(url) ? registrableDomain(new URL(url).hostname) : null;
}
