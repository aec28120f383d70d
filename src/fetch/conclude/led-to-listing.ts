import type { LeasedUrl, SettleDocument } from '../../frontier/index.ts';
import { classifyUrl, identifyUrl, isFrontPage, type UrlIdentity } from '../../url/index.ts';

/** Whether an article's address led to a front page: that is where publishers send the readers of what is gone. */
export function isLedHome(row: LeasedUrl, to: UrlIdentity): boolean {
  if (row.kind !== 'article' || !isFrontPage(to.key)) return false;
  const own = identifyUrl(row.url);
  return own.outcome === 'ok' && !isFrontPage(own.identity.key);
}

/** Whether an article's address led to a list of articles, which its own address says as well as what it shows. */
export function isLedToList(
  row: LeasedUrl,
  to: { url: string; isMoved: boolean },
  document: SettleDocument,
): boolean {
  if (row.kind !== 'article' || document.pageType !== 'listing') return false;
  return (to.isMoved || row.origin === 'redirect') && classifyUrl(to.url, {}).kind === 'listing';
}
