import { discoverLinks, type Page } from '../html/index.ts';
import { validatePage } from '../validate/index.ts';
import type { PageResponse, Refusal } from './response.ts';

/** A page that offers this many links outside its navigation shows something, whatever else it says. */
export const LINKS_OF_A_LISTING = 5;

/** A page that refuses us with status 200: a challenge, a ban, a wall, maintenance. Null where it is any other page. */
export function refusalIn(
  page: Page,
  { body, status, headers }: Pick<PageResponse, 'body' | 'status' | 'headers'>,
): Refusal | null {
  if (discoverLinks(page).filter((link) => !link.inNav).length >= LINKS_OF_A_LISTING) return null;
  // However few words it takes.
  const found = validatePage({ page, bodyBytes: body.length, status, headers, minBodyBytes: 0 });
  if (found.outcome === 'valid') return null;
  const { reason, detail } = found;
  const refusals = ['challenge', 'access_denied', 'login_wall', 'site_error'] as const;
  const refusal = refusals.find((one) => one === reason);
  return refusal === undefined ? null : { reason: refusal, detail };
}
