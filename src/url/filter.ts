import type { UrlIdentity } from './identity.ts';
import { findUrlPattern } from './patterns.ts';
import { parseUrl } from './whatwg.ts';

/** What a producer lets into the frontier; everything left out takes its default. */
export type UrlFilterRules = {
  /** Canonical domains the URL must belong to (the spider's own); absent = any. */
  domains?: readonly string[];
  /** Lets URLs leave `domains`. */
  allowLeaving?: boolean;
  /** Extensions to let through although they are binary or media (`pdf`). */
  allowExtensions?: readonly string[];
  /** Further extensions to refuse. */
  denyExtensions?: readonly string[];
  /** Lets app-store, CDN, upload, cart and login paths through. */
  allowUtilityPaths?: boolean;
  /** Default 16 segments. */
  maxPathDepth?: number;
  /** Default 12 parameters. */
  maxParameters?: number;
  /** RE2 patterns; when any is given, one must be found in the fetch URL. */
  include?: readonly string[];
  /** RE2 patterns; none may be found in the fetch URL. */
  exclude?: readonly string[];
};

/** Why a URL does not enter the frontier; each is counted under its name. */
export type UrlFilterReason =
  | 'off_domain'
  | 'binary_extension'
  | 'utility_path'
  | 'too_deep'
  | 'repeated_segment'
  | 'too_many_parameters'
  | 'excluded'
  | 'not_included';

export type UrlFilterDecision = { outcome: 'pass' } | { outcome: 'rejected'; reason: UrlFilterReason };

const binaryExtensions = new Set(
  (
    '7z aac apk avi avif bin bmp bz2 css csv dmg doc docm docx eot epub exe flac flv gif gz heic ico ics iso jar ' +
    'jpe jpeg jpg js json jsonld key less m3u8 m4a m4v map mid midi mjs mkv mobi mov mp3 mp4 mpeg mpg msi numbers ' +
    'odp ods odt ogg ogv otf pages pdf pkg png pps ppt pptx ps psd rar rpm rtf scss svg swf tar tgz tif tiff torrent ' +
    'ttf txt wasm wav webm webmanifest webp wma wmv woff woff2 xls xlsm xlsx xz zip'
  ).split(' '),
);

const utilitySegments = new Set(
  (
    'cdn-cgi wp-admin wp-json wp-login.php wp-includes xmlrpc.php cart basket checkout warenkorb panier login log-in ' +
    'signin sign-in logout log-out signout sign-out signup sign-up register registration account my-account ' +
    'oauth oauth2 password-reset forgot-password uploads upload itunes'
  ).split(' '),
);
const appStoreHosts = new Set([
  'apps.apple.com',
  'itunes.apple.com',
  'play.google.com',
  'appgallery.huawei.com',
]);
const cdnHost = /^(?:cdn|static|assets|media-cdn|img|images)\d*[.-]/;

/** Whether a URL may enter the frontier, and if not why; runs in time linear in the URL. */
export function decideUrlFilter(identity: UrlIdentity, rules: UrlFilterRules): UrlFilterDecision {
  const url = parseUrl(identity.fetchUrl);
  if (url === null) return { outcome: 'pass' };
  const reason =
    decideDomain(identity, rules) ??
    decideExtension(url, rules) ??
    decideUtility(url, rules) ??
    decideTrap(url, rules) ??
    decidePatterns(identity.fetchUrl, rules);
  return reason === null ? { outcome: 'pass' } : { outcome: 'rejected', reason };
}

/** The lower-case extension of a path's last segment, or an empty string. */
export function extensionOf(pathname: string): string {
  const last = pathname.slice(pathname.lastIndexOf('/') + 1);
  const dot = last.lastIndexOf('.');
  return dot < 0 ? '' : last.slice(dot + 1).toLowerCase();
}

/** Whether an extension names a file that is never a page. */
export function isBinaryExtension(extension: string): boolean {
  return binaryExtensions.has(extension);
}

function decideDomain(identity: UrlIdentity, rules: UrlFilterRules): UrlFilterReason | null {
  if (rules.domains === undefined || rules.allowLeaving === true) return null;
  return rules.domains.includes(identity.domain) ? null : 'off_domain';
}

function decideExtension(url: URL, rules: UrlFilterRules): UrlFilterReason | null {
  const extension = extensionOf(url.pathname);
  if (extension === '') return null;
  const named = (list: readonly string[] | undefined) =>
    list?.some((name) => name.toLowerCase().replace(/^\./, '') === extension) === true;
  if (named(rules.denyExtensions)) return 'binary_extension';
  return binaryExtensions.has(extension) && !named(rules.allowExtensions) ? 'binary_extension' : null;
}

function decideUtility(url: URL, rules: UrlFilterRules): UrlFilterReason | null {
  if (rules.allowUtilityPaths === true) return null;
  if (appStoreHosts.has(url.hostname) || cdnHost.test(url.hostname)) return 'utility_path';
  const segments = url.pathname.toLowerCase().split('/', 4);
  // Only the first three: deeper down `login` is a word of somebody's archive, not a form.
  return segments.some((segment) => utilitySegments.has(segment)) ? 'utility_path' : null;
}

function decideTrap(url: URL, rules: UrlFilterRules): UrlFilterReason | null {
  const segments = url.pathname.split('/').filter((segment) => segment !== '');
  if (segments.length > (rules.maxPathDepth ?? 16)) return 'too_deep';
  const counts = new Map<string, number>();
  for (const segment of segments) {
    // One or two digits repeat in honest dates: /2011/11/11/11-things.
    if (/^\d{1,2}$/.test(segment)) continue;
    const count = (counts.get(segment) ?? 0) + 1;
    if (count >= 3) return 'repeated_segment';
    counts.set(segment, count);
  }
  const parameters = url.search === '' ? 0 : url.search.split('&').length;
  return parameters > (rules.maxParameters ?? 12) ? 'too_many_parameters' : null;
}

function decidePatterns(fetchUrl: string, rules: UrlFilterRules): UrlFilterReason | null {
  if (findUrlPattern(rules.exclude, fetchUrl) !== null) return 'excluded';
  if (rules.include === undefined || rules.include.length === 0) return null;
  return findUrlPattern(rules.include, fetchUrl) === null ? 'not_included' : null;
}
