import { parseUrl } from './whatwg.ts';

// `/`, `/en/`, `/de-at`, `/index.html`, `/fr/home`.
const frontPath =
  /^\/(?:[a-z]{2}(?:[-_][a-z]{2})?(?:\/|$))?(?:(?:index|home|default)(?:\.(?:x?html?|php\d?|aspx?|jsp))?\/?)?$/i;

/** Whether a key is that of a site's front page, in whatever language; parameters lead elsewhere. */
export function isFrontPage(key: string): boolean {
  const url = parseUrl(key);
  return url !== null && url.search === '' && frontPath.test(url.pathname);
}
