/** The words of the frontier, as its tables spell them. */
export const urlKinds = ['article', 'listing', 'channel', 'image', 'probe'] as const;
export const urlOrigins = [
  'feed',
  'sitemap',
  'push',
  'spider',
  'archive',
  'refresh',
  'redirect',
  'manual',
] as const;
export const urlStatuses = [
  'pending',
  'fetched',
  'redirected',
  'duplicate',
  'failed',
  'needs_render',
  'dead',
] as const;

export type UrlKind = (typeof urlKinds)[number];
export type UrlOrigin = (typeof urlOrigins)[number];
export type UrlStatus = (typeof urlStatuses)[number];

/** Why a domain's next request waits. */
export type HoldReason = 'politeness' | 'retry_after' | 'circuit' | 'cooldown' | 'robots' | 'operator';

/** bytea in JSON, as PostgreSQL reads it. */
export const hexBytes = (bytes: Uint8Array): string => `\\x${Buffer.from(bytes).toString('hex')}`;

/**
 * Rows as JSON that PostgreSQL can read: its text holds neither NUL nor half a surrogate pair, pages hold both.
 * JSON.stringify writes them as escapes, so they are looked for there; escaped backslashes are stepped over, or a page
 * that quotes "\\u0000" would be torn apart.
 */
export function rowsToJson(rows: readonly object[]): string {
  const text = JSON.stringify(rows);
  if (!text.includes('\\u0000') && !text.includes('\\ud')) return text;
  return text.replace(/\\\\|\\u0000|\\ud[89a-f][0-9a-f]{2}/g, (found) => {
    if (found === '\\\\') return found;
    return found === '\\u0000' ? '' : '\ufffd';
  });
}
