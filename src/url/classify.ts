import { extensionOf, isBinaryExtension } from './filter.ts';
import { findUrlPattern } from './patterns.ts';
import { parseUrl } from './whatwg.ts';

/** What is known about the source and its domain when a URL is classified; patterns are RE2, found in the fetch URL. */
export type ClassifyContext = {
  /** The source's `article_url_patterns`. */
  articlePatterns?: readonly string[];
  /** Patterns learned from this domain's documents and listings. */
  learned?: { article?: readonly string[]; listing?: readonly string[] };
  /** Section names of this source besides the general ones (`lokales`). */
  sections?: readonly string[];
};

export type UrlClass = { kind: 'article' | 'listing' | 'other'; reason: string };

const sections = new Set(
  (
    'news nachrichten noticias actualites world international europe africa asia americas us uk national local politics ' +
    'politik politica politique business economy economics wirtschaft economia economie money finance markets tech ' +
    'technology science health environment climate culture kultur cultura arts entertainment lifestyle life style ' +
    'fashion food travel sport sports football soccer tennis opinion opinions comment commentisfree editorial ' +
    'analysis features feature stories story article articles artikel blog blogs post posts press releases ' +
    'magazine education weather video videos podcasts gaming games film music books tv media crime law'
  ).split(' '),
);
// Sections that hold single texts: what follows them is an article however short its name.
const textFolders = new Set(['article', 'articles', 'artikel', 'story', 'stories', 'post', 'posts', 'blog']);
const listingFolders = new Set(
  (
    'tag tags category categories author authors topic topics subject keyword keywords archive archives ' +
    'section sections rubrik thema themen contributors'
  ).split(' '),
);
const staticPages = new Set(
  (
    'about about-us contact contact-us privacy privacy-policy terms terms-of-use imprint impressum datenschutz agb ' +
    'cookies cookie-policy help faq support advertise careers jobs subscribe newsletter newsletters search sitemap rss ' +
    'feed feeds'
  ).split(' '),
);
const monthName =
  /^(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)$/;

/** Says whether a URL looks like an article, a listing or neither, with the reason; never throws. */
export function classifyUrl(fetchUrl: string, source: ClassifyContext): UrlClass {
  const own = findUrlPattern(source.articlePatterns, fetchUrl);
  if (own !== null) return { kind: 'article', reason: `source pattern ${own}` };
  const article = findUrlPattern(source.learned?.article, fetchUrl);
  if (article !== null) return { kind: 'article', reason: `learned pattern ${article}` };
  const listing = findUrlPattern(source.learned?.listing, fetchUrl);
  if (listing !== null) return { kind: 'listing', reason: `learned pattern ${listing}` };
  const url = parseUrl(fetchUrl);
  if (url === null || !/^https?:$/.test(url.protocol)) return { kind: 'other', reason: 'not a web address' };
  return classifyShape(url, source);
}

function classifyShape(url: URL, source: ClassifyContext): UrlClass {
  const segments = url.pathname
    .toLowerCase()
    .split('/')
    .filter((segment) => segment !== '');
  const first = segments[0];
  const last = segments.at(-1);
  if (first === undefined || last === undefined) {
    if (/^\?p=\d+$/.test(url.search)) return { kind: 'article', reason: 'post number' };
    return { kind: 'listing', reason: 'front page' };
  }
  if (isBinaryExtension(extensionOf(url.pathname))) return { kind: 'other', reason: 'file extension' };
  if (/^page-?\d+$/.test(last) || (segments.at(-2) === 'page' && /^\d+$/.test(last)))
    return { kind: 'listing', reason: 'page number' };
  const dated = classifyDated(segments);
  if (dated !== null) return dated;
  if (segments.slice(0, -1).some((segment) => listingFolders.has(segment)) || listingFolders.has(last))
    return { kind: 'listing', reason: 'listing folder' };
  if (staticPages.has(first) || staticPages.has(last)) return { kind: 'other', reason: 'static page' };
  return classifyBySection(segments, last, new Set(source.sections?.map((name) => name.toLowerCase())));
}

function classifyBySection(segments: string[], last: string, own: ReadonlySet<string>): UrlClass {
  const isSection = (segment: string) => sections.has(segment) || own.has(segment);
  if (segments.every(isSection)) return { kind: 'listing', reason: 'section root' };
  const folders = segments.slice(0, -1);
  if (folders.some((folder) => textFolders.has(folder)))
    return { kind: 'article', reason: 'section and more' };
  if (folders.some(isSection) && !isSection(last)) return { kind: 'article', reason: 'section and more' };
  // Many large sites publish at depth 1: asking for two segments would lose them.
  const words = last.replace(/\.[a-z]{3,5}$/, '').split('-');
  if (words.filter((word) => word !== '').length >= 4) return { kind: 'article', reason: 'long slug' };
  return { kind: 'other', reason: 'no known shape' };
}

/** `/YYYY/MM[/DD]/slug` anywhere in the path is an article; the same without a slug is the archive of that time. */
function classifyDated(segments: readonly string[]): UrlClass | null {
  for (let at = 0; at < segments.length; at += 1) {
    const segment = segments[at]!;
    if (/^(?:19|20)\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])$/.test(segment))
      return afterDate(segments.length - at - 1);
    if (!/^(?:19|20)\d\d$/.test(segment)) continue;
    const month = segments[at + 1];
    if (month === undefined) return { kind: 'listing', reason: 'date archive' };
    if (!/^(?:0?[1-9]|1[0-2])$/.test(month) && !monthName.test(month)) continue;
    const hasDay = /^(?:0?[1-9]|[12]\d|3[01])$/.test(segments[at + 2] ?? '');
    return afterDate(segments.length - at - (hasDay ? 3 : 2));
  }
  return null;
}

function afterDate(segmentsLeft: number): UrlClass {
  return segmentsLeft > 0
    ? { kind: 'article', reason: 'dated path' }
    : { kind: 'listing', reason: 'date archive' };
}
