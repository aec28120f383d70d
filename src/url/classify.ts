import { extensionOf, isBinaryExtension } from './filter.ts';
import { findUrlPattern } from './patterns.ts';
import { isSingle, shapesOf } from './shape.ts';
import { parseUrl } from './whatwg.ts';

/** What is known about the source and its domain when a URL is classified; patterns are RE2, found in the fetch URL. */
export type ClassifyContext = {
  /** The source's `article_url_patterns`. */
  articlePatterns?: readonly string[];
  /** What pages of this domain turned out to be, by their shape. */
  learned?: LearnedKinds;
  /** Section names of this source besides the general ones (`lokales`). */
  sections?: readonly string[];
};

export type UrlClass = { kind: PageKind; reason: string };

/** What a page may turn out to be. */
export type PageKind = 'article' | 'listing' | 'other';

/** Kinds by shape; plain data, because it travels to the reading thread. Shapes of which nothing is sure are not in it. */
export type LearnedKinds = Readonly<Record<string, PageKind>>;

/** The reason of what nobody can tell by its shape: such addresses are worth a look. */
export const unknownShape = 'no known shape';

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
const pageParameter = /[?&](?:page|paged|pg|seite|pagina)=\d{1,6}(?:&|$)/i;
const monthName =
  /^(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)$/;

/** Says whether a URL looks like an article, a listing or neither, with the reason; never throws. */
export function classifyUrl(fetchUrl: string, source: ClassifyContext): UrlClass {
  const own = findUrlPattern(source.articlePatterns, fetchUrl);
  if (own !== null) return { kind: 'article', reason: `source pattern ${own}` };
  const url = parseUrl(fetchUrl);
  if (url === null || !/^https?:$/.test(url.protocol)) return { kind: 'other', reason: 'not a web address' };
  const general = classifyShape(url, source);
  if (source.learned === undefined) return general;
  // A file is no page and a front page is one whatever its neighbours are.
  if (general.reason === 'file extension' || general.reason === 'front page') return general;
  return classifyLearned(fetchUrl, source.learned, general) ?? general;
}

// What these say rests on a word of the address itself, which is more than what pages of a like shape were.
const sureReasons: ReadonlySet<string> = new Set([
  'page number',
  'date archive',
  'listing folder',
  'section root',
  'static page',
]);

function classifyLearned(fetchUrl: string, learned: LearnedKinds, general: UrlClass): UrlClass | null {
  const shapes = shapesOf(fetchUrl);
  if (shapes === null) return null;
  for (const [level, shape] of shapes.entries()) {
    if (level > 0 && sureReasons.has(general.reason)) return null;
    // The name of an own property only: a shape may be called anything.
    const kind = Object.hasOwn(learned, shape) ? learned[shape] : undefined;
    // A section that was empty once may have something tomorrow.
    if (kind === 'other' && general.kind === 'listing' && isSingle(shape)) return null;
    if (kind !== undefined) return { kind, reason: `learned shape ${shape}` };
  }
  return null;
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
    if (pageParameter.test(url.search)) return { kind: 'listing', reason: 'page number' };
    // What other parameters of the front page lead to is anybody's guess.
    return url.search === ''
      ? { kind: 'listing', reason: 'front page' }
      : { kind: 'other', reason: unknownShape };
  }
  if (isBinaryExtension(extensionOf(url.pathname))) return { kind: 'other', reason: 'file extension' };
  if (/^page-?\d+$/.test(last) || (segments.at(-2) === 'page' && /^\d+$/.test(last)))
    return { kind: 'listing', reason: 'page number' };
  const dated = classifyDated(segments);
  if (dated !== null) return dated;
  if (segments.slice(0, -1).some((segment) => listingFolders.has(segment)) || listingFolders.has(last))
    return { kind: 'listing', reason: 'listing folder' };
  if (staticPages.has(first) || staticPages.has(last)) return { kind: 'other', reason: 'static page' };
  const own = new Set(source.sections?.map((name) => name.toLowerCase()));
  const bySection = classifyBySection(segments, last, own);
  // Articles have further pages too: only where nothing speaks for one.
  return bySection.kind === 'other' && pageParameter.test(url.search)
    ? { kind: 'listing', reason: 'page number' }
    : bySection;
}

function classifyBySection(segments: string[], last: string, own: ReadonlySet<string>): UrlClass {
  const isSection = (segment: string) => sections.has(segment) || own.has(segment);
  if (segments.every(isSection)) return { kind: 'listing', reason: 'section root' };
  const folders = segments.slice(0, -1);
  if (folders.some((folder) => textFolders.has(folder)))
    return { kind: 'article', reason: 'section and more' };
  if (folders.some(isSection) && !isSection(last)) return { kind: 'article', reason: 'section and more' };
  // Many large sites publish at depth 1: asking for two segments would lose them.
  if (isLongSlug(last)) return { kind: 'article', reason: 'long slug' };
  return { kind: 'other', reason: unknownShape };
}

function isLongSlug(segment: string): boolean {
  const words = segment.replace(/\.[a-z]{3,5}$/, '').split('-');
  return words.filter((word) => word !== '').length >= 4;
}

/** `/YYYY/MM[/DD]/slug` anywhere in the path is an article, `/slug/YYYY/MM` too; the same without a slug is the archive of that time. */
function classifyDated(segments: readonly string[]): UrlClass | null {
  for (let at = 0; at < segments.length; at += 1) {
    const segment = segments[at]!;
    if (/^(?:19|20)\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])$/.test(segment))
      return aroundDate(segments, at, 1);
    if (!/^(?:19|20)\d\d$/.test(segment)) continue;
    const month = segments[at + 1];
    if (month === undefined) return { kind: 'listing', reason: 'date archive' };
    if (!/^(?:0?[1-9]|1[0-2])$/.test(month) && !monthName.test(month)) continue;
    const hasDay = /^(?:0?[1-9]|[12]\d|3[01])$/.test(segments[at + 2] ?? '');
    return aroundDate(segments, at, hasDay ? 3 : 2);
  }
  return null;
}

function aroundDate(segments: readonly string[], at: number, length: number): UrlClass {
  return at + length < segments.length || segments.slice(0, at).some(isLongSlug)
    ? { kind: 'article', reason: 'dated path' }
    : { kind: 'listing', reason: 'date archive' };
}
