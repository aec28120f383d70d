import type { LeasedUrl } from '../frontier/index.ts';

const feedBodyBytes = 16_000_000;
const sitemapBodyBytes = 50_000_000;

/** What a row's request may bring, by its kind. */
export function requestFor(row: LeasedUrl, channelKind: string | null, options: { maxBodyBytes: number }) {
  const conditional = row.fetchCount > 0;
  if (row.kind === 'channel') {
    return channelKind === 'sitemap'
      ? { conditional, maxBodyBytes: sitemapBodyBytes, exemptFromRatio: true, unwrapGzip: true }
      : { conditional, maxBodyBytes: feedBodyBytes };
  }
  if (row.kind === 'probe') return { conditional: false, maxBodyBytes: options.maxBodyBytes };
  return { conditional, accept: acceptsPages, maxBodyBytes: options.maxBodyBytes };
}

/** The content-type gate of pages: HTML and XHTML, or nothing said. Errors keep their type out of the decision. */
function acceptsPages(contentType: string | null, status: number): boolean {
  if (status < 200 || status >= 300 || contentType === null || contentType.trim() === '') return true;
  return /^\s*(text\/html|application\/xhtml\+xml)\b/i.test(contentType);
}
