/**
 * The WHATWG parser of Node, brought to the present text of the standard. Node 20 predates three changes of it
 * (`^` in a path, blanks before `?` or `#` in an opaque path, ASCII hosts with a broken punycode label); a key must
 * not change with the Node version it was made on, so they are applied here.
 */

/** The parsed URL, or null where `new URL` throws; being no URL is an expected outcome here. */
export function parseUrl(input: string, base?: string): URL | null {
  try {
    return new URL(input, base);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** The address `input` means when found at `base`, serialised by the WHATWG rules; null when it is none. */
export function resolveUrl(input: string, base?: string): string | null {
  const url = parseUrl(input, base);
  if (url !== null) return serialise(url);
  return resolveBrokenPunycode(input, base);
}

/** The path with `^` escaped: in the path set of the standard, not yet in that of Node 20. */
export function pathOf(url: URL): string {
  return url.pathname.includes('^') ? url.pathname.replaceAll('^', '%5E') : url.pathname;
}

function serialise(url: URL): string {
  const { href, pathname } = url;
  if (!pathname.startsWith('/') && url.host === '') {
    // Opaque path (`data:…`): the last blank before a query or fragment is written as %20, so that it survives.
    return href.replace(/ (?=[?#])/, '%20');
  }
  if (!pathname.includes('^')) return href;
  // User-info has its `^` escaped already: the first occurrence of the path is the path.
  const at = href.indexOf(pathname, url.protocol.length);
  return href.slice(0, at) + pathOf(url) + href.slice(at + pathname.length);
}

/** All-ASCII hosts with an invalid `xn--` label are taken as they are; Node 20 refuses them. */
function resolveBrokenPunycode(input: string, base?: string): string | null {
  const authority = /^[^/?#\\]*[/\\]{2}[^/?#\\]*/.exec(input)?.[0];
  if (authority === undefined || !/xn--/i.test(authority) || /[^\x00-\x7f]|%/.test(authority)) return null;
  const marker = 'xn0q0outrider0q0';
  if (input.includes(marker)) return null;
  const marked = authority.replace(/xn--/gi, marker) + input.slice(authority.length);
  const url = parseUrl(marked, base);
  return url === null ? null : serialise(url).replaceAll(marker, 'xn--');
}
