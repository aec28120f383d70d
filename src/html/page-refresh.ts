import { attribute, type PageNode } from './node.ts';
import { type Page, resolveUrl } from './parse-page.ts';

// Whoever makes readers wait longer has something for them to read until then.
const MAX_DELAY_SECONDS = 30;
// An address of so many characters is longer than any we take.
const MAX_CHARS = 2_049;
// The HTML standard, "shared declarative refresh steps": a time, a separator, and `url=` or nothing before the address.
const CONTENT =
  /^\s*(\d{1,4})(?:\.\d{0,9})?(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?(?:"([^"]{1,2049})|'([^']{1,2049})|(\S{1,2049}))/i;

/**
 * Where a page sends its readers by a `Refresh` header or by `<meta http-equiv="refresh">`, which mean the same; null:
 * nowhere, or only to itself again.
 */
export function refreshTarget(page: Page, header?: string): string | null {
  const told = headerRefreshTarget(header, page.url);
  if (told !== null) return told;
  for (const meta of page.metas) {
    if (attribute(meta, 'http-equiv')?.trim().toLowerCase() !== 'refresh' || isForNoScripts(meta)) continue;
    const url = targetOf(attribute(meta, 'content') ?? '', page);
    if (url !== null) return url;
  }
  return null;
}

/** Where a `Refresh` header alone leads, of an answer that need not have a page. */
export function headerRefreshTarget(header: string | undefined, url: string): string | null {
  return header === undefined ? null : targetOf(header, { url, baseUrl: url });
}

function targetOf(content: string, { url: from, baseUrl }: Pick<Page, 'url' | 'baseUrl'>): string | null {
  const [, delay, ...forms] = CONTENT.exec(content) ?? [];
  const reference = forms.find((form) => form !== undefined);
  if (reference === undefined || reference.length === MAX_CHARS || Number(delay) > MAX_DELAY_SECONDS)
    return null;
  const url = resolveUrl(reference, baseUrl);
  return url !== null && withoutFragment(url) !== withoutFragment(from) ? url : null;
}

/** In `<noscript>` it leads those who run no scripts to a page that says so. */
function isForNoScripts(meta: PageNode): boolean {
  for (let node = meta.parent; node !== null; node = node.parent) if (node.tag === 'noscript') return true;
  return false;
}

const withoutFragment = (url: string): string => url.split('#', 1)[0]!;
