import type { LeasedUrl } from '../frontier/index.ts';

const feedBodyBytes = 16_000_000;
const sitemapWireBytes = 50_000_000;
const sitemapBodyBytes = 500_000_000;
// Fifty megabytes from a server that sends 400 kB a second.
const sitemapTimeoutMs = 120_000;

/** What a row's request may bring, by its kind. */
export function requestFor(
  row: LeasedUrl,
  channelKind: string | null,
  options: { maxBodyBytes: number; maxImageBytes: number },
) {
  // A run reads a listing for its links: "as before" would not say which they are.
  const conditional = row.fetchCount > 0 && !(row.kind === 'listing' && row.executionId !== null);
  if (row.kind === 'channel') {
    return channelKind === 'sitemap'
      ? {
          conditional,
          maxWireBytes: sitemapWireBytes,
          maxBodyBytes: sitemapBodyBytes,
          timeoutMs: sitemapTimeoutMs,
          exemptFromRatio: true,
          unwrapGzip: true,
        }
      : { conditional, maxBodyBytes: feedBodyBytes };
  }
  // What is probed may turn out to be a sitemap: fifty thousand addresses are more than a page may have.
  if (row.kind === 'probe')
    return { conditional: false, maxBodyBytes: Math.max(options.maxBodyBytes, sitemapWireBytes) };
  // Stored images are immutable: one is fetched again only when its bytes are gone, and then it is wanted whole.
  if (row.kind === 'image')
    return {
      conditional: false,
      accept: acceptsImages,
      maxBodyBytes: options.maxImageBytes,
      headers: { accept: imageTypes },
    };
  // A domain without a source has no channels: its sitemaps are read as pages are.
  if (row.kind === 'listing' && row.origin === 'archive')
    return { conditional, accept: acceptsArchives, maxBodyBytes: options.maxBodyBytes, unwrapGzip: true };
  return { conditional, accept: acceptsPages, maxBodyBytes: options.maxBodyBytes };
}

/** The content-type gate of pages: HTML and XHTML, or nothing said. Errors keep their type out of the decision. */
export function acceptsPages(contentType: string | null, status: number): boolean {
  if (status < 200 || status >= 300 || contentType === null || contentType.trim() === '') return true;
  return /^\s*(text\/html|application\/xhtml\+xml)\b/i.test(contentType);
}

/** Pages, and the types that sitemaps are sent with. */
function acceptsArchives(contentType: string | null, status: number): boolean {
  if (acceptsPages(contentType, status)) return true;
  return /^\s*(?:(?:text|application)\/xml|application\/(?:x-)?gzip|text\/plain)\b/i.test(contentType ?? '');
}

// Servers that can choose give what we can compare; the rest is stored as well.
const imageTypes = 'image/jpeg,image/png,image/gif;q=0.9,image/webp;q=0.8,image/avif;q=0.7,image/*;q=0.1';

/** The content-type gate of images: raster formats, or what servers say when they do not know; the bytes decide. */
function acceptsImages(contentType: string | null, status: number): boolean {
  if (status < 200 || status >= 300 || contentType === null || contentType.trim() === '') return true;
  return /^\s*(?:image\/(?!svg)|(?:application|binary)\/octet-stream\b)/i.test(contentType);
}
