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
