import { attribute, collapse, copyString, type PageNode, textOf } from './node.ts';
import { type Page, resolveUrl } from './parse-page.ts';

/** A link of the page as the spider sees it. */
export type PageLink = { url: string; text: string; rel: string | null; inNav: boolean };

const MAX_LINKS = 2_000;
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
