import type { LeasedUrl } from '../frontier/index.ts';

const feedBodyBytes = 16_000_000;
const sitemapWireBytes = 50_000_000;
const sitemapBodyBytes = 500_000_000;
// Fifty megabytes from a server that sends 400 kB a second.
const sitemapTimeoutMs = 120_000;

/** What a row's request may bring, by its kind. */
export function requestFor(row: LeasedUrl, channelKind: string | null, options: { maxBodyBytes: number }) {
  const conditional = row.fetchCount > 0;
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
  return { conditional, accept: acceptsPages, maxBodyBytes: options.maxBodyBytes };
}

/** The content-type gate of pages: HTML and XHTML, or nothing said. Errors keep their type out of the decision. */
function acceptsPages(contentType: string | null, status: number): boolean {
  if (status < 200 || status >= 300 || contentType === null || contentType.trim() === '') return true;
  return /^\s*(text\/html|application\/xhtml\+xml)\b/i.test(contentType);
}
