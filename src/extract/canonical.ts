import { attribute, copyString, type Page, resolveUrl } from '../html/index.ts';
import type { MetaTags } from './meta-tags.ts';

/** The address that a page says is its own; null where it names none that can be. */
export function canonicalOf(page: Page, tags: MetaTags): string | null {
  for (const link of page.links) {
    if (!(attribute(link, 'rel') ?? '').toLowerCase().split(/\s+/).includes('canonical')) continue;
    const url = canonicalUrl(attribute(link, 'href') ?? '', page);
    if (url !== null) return url;
  }
  const og = tags.openGraph['og:url'];
  return og === undefined ? null : canonicalUrl(og, page);
}

// What programs write where they have no address, and templates that nobody filled in.
const NO_ADDRESS = /(?:^|\/)(?:undefined|null|nan|\[object(?: |%20)object\])$|[{}]|<%|^#?$/i;
// Machines on which sites are built; no reader gets there.
const OWN_NETWORK =
  /^(?:127\.|10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|0\.0\.0\.0$|\[::1\]$|\[f[cd])|\.(?:local|localhost|internal|test|invalid)$/i;
// "www.post.example/story", written as if it were a path.
const BARE_HOST = /^(?:https?\/\/|www\.)/i;

/**
 * A declared address, unless it cannot be that of the page: the front page for another one, a word for a host, a machine
 * that only those who made the site can reach, or what a program wrote without one.
 */
function canonicalUrl(reference: string, page: Page): string | null {
  const written = reference.trim();
  const own = URL.canParse(page.url) ? new URL(page.url) : null;
  if (NO_ADDRESS.test(written) || BARE_HOST.test(written)) return null;
  if (own !== null && written.toLowerCase().startsWith(`${own.host}/`)) return null;
  const url = resolveUrl(written, page.baseUrl);
  if (url === null) return null;
  const declared = new URL(url);
  const isFront = ({ pathname, search }: URL) => pathname === '/' && search === '';
  if (own !== null && isFront(declared) && !isFront(own)) return null;
  const isOther = declared.hostname !== own?.hostname;
  if (isOther && !/[.:]/.test(declared.hostname)) return null;
  if (isOther && OWN_NETWORK.test(declared.hostname) && !OWN_NETWORK.test(own?.hostname ?? '')) return null;
  if (declared.username === '' && declared.password === '') return copyString(url);
  declared.username = '';
  declared.password = '';
  return copyString(declared.href);
}
