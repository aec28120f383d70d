import { parseUrl } from './whatwg.ts';

/**
 * The shapes of a URL, from the most telling to the most general: with its words as they are, with every word a
 * placeholder, and with all slugs alike. Pages of one shape are mostly of one kind, which is what is learned of a domain.
 */
export type UrlShapes = readonly [exact: string, general: string, coarse: string];

const mostSegments = 8;
const mostKeys = 6;
const tracking = /^(?:utm_|fbclid$|gclid$|msclkid$|mc_|_ga$|_gl$|igshid$|yclid$|ref$)/i;
const pageExtension = /\.(?:html?|xhtml|shtml|php\d?|aspx?|jsp|cfm|do)$/i;

// The links of a page are asked for several times each, and most of them stand on the next page too.
const mostKnown = 4000;
const known = new Map<string, UrlShapes | null>();

/** Shapes of an http(s) address; null for anything else. Never throws, linear in the URL. */
export function shapesOf(fetchUrl: string): UrlShapes | null {
  let shapes = known.get(fetchUrl);
  if (shapes === undefined) {
    shapes = readShapes(fetchUrl);
    if (known.size >= mostKnown) known.clear();
    known.set(fetchUrl, shapes);
  }
  return shapes;
}

function readShapes(fetchUrl: string): UrlShapes | null {
  const url = parseUrl(fetchUrl);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  const segments = url.pathname.split('/').filter((segment) => segment !== '');
  const parts = segments.slice(0, mostSegments).map(segmentShape);
  const more = segments.length > mostSegments ? '/…' : '';
  const slash = url.pathname.endsWith('/') && segments.length > 0 ? '/' : '';
  const query = queryShape(url);
  const path = (form: (part: SegmentShape) => string): string => `/${parts.map(form).join('/')}${more}`;
  return [
    `${path((part) => part.exact)}${slash}${query.exact}`,
    `${path((part) => part.general)}${query.general}`,
    // What the parameters of one page are called may be anything (facets): the page itself is what they share.
    query.general === '' ? path((part) => part.coarse) : `${path((part) => part.exact)}?…`,
  ];
}

/** Whether a shape names one address rather than many. */
export const isSingle = (shape: string): boolean => !/[{…]/.test(shape);

type SegmentShape = { exact: string; general: string; coarse: string };

const alike = (shape: string): SegmentShape => ({ exact: shape, general: shape, coarse: shape });

function segmentShape(segment: string): SegmentShape {
  const text = decoded(segment).toLowerCase();
  const extension = pageExtension.exec(text)?.[0] ?? '';
  const name = extension === '' ? text : text.slice(0, -extension.length);
  const ending = (shape: SegmentShape): SegmentShape => ({
    exact: `${shape.exact}${extension}`,
    general: `${shape.general}${extension}`,
    coarse: `${shape.coarse}${extension}`,
  });
  if (/^(?:19|20)\d\d$/.test(name)) return ending(alike('{y}'));
  if (/^\d{1,2}$/.test(name)) return ending(alike('{m}'));
  if (/^(?:19|20)\d\d-?[01]\d-?[0-3]\d$/.test(name)) return ending(alike('{date}'));
  if (/^\d+$/.test(name)) return ending(alike('{n}'));
  const words = name.split(/[-_.+~,:\s]+/).filter((word) => word !== '');
  if (words.length >= 2 || isLongUnspaced(name)) {
    const size = words.length >= 4 || isLongUnspaced(name) ? 'slug4' : 'slug2';
    const numbered = /^\d{3,}$/.test(words.at(-1) ?? '') ? '#' : '';
    return ending({ exact: `{${size}${numbered}}`, general: `{${size}}`, coarse: '{slug}' });
  }
  if (/^\p{L}{1,24}$/u.test(name)) return ending({ exact: name, general: '{w}', coarse: '{w}' });
  const lettered = /^(\p{L}{1,10})\d+$/u.exec(name);
  if (lettered !== null)
    return ending({ exact: `${lettered[1]}{n}`, general: `${lettered[1]}{n}`, coarse: '{id}' });
  return ending(alike('{id}'));
}

// Scripts without spaces have no hyphens to count.
const isLongUnspaced = (name: string): boolean =>
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}ー\-\w]{8,}$/u.test(name) &&
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]{4}/u.test(name);

function queryShape(url: URL): { exact: string; general: string } {
  const keys = new Map<string, string>();
  for (const [key, value] of url.searchParams) {
    if (tracking.test(key) || keys.size > mostKeys) continue;
    // Escaped: a name may hold what a database cannot.
    keys.set(encodeURIComponent(key.toLowerCase().slice(0, 40).toWellFormed()), valueShape(value));
  }
  if (keys.size === 0) return { exact: '', general: '' };
  const sorted = [...keys].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, mostKeys);
  const more = keys.size > mostKeys ? '&…' : '';
  return {
    exact: `?${sorted.map(([key, value]) => `${key}=${value}`).join('&')}${more}`,
    general: `?${sorted.map(([key]) => key).join('&')}${more}={v}`,
  };
}

function valueShape(value: string): string {
  if (/^\d+$/.test(value)) return '{n}';
  return /^\p{L}*$/u.test(value) ? '{w}' : '{id}';
}

function decoded(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return segment;
    throw error;
  }
}
