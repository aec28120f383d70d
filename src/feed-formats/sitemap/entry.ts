import { parseDate } from '../../dates/index.ts';
import { resolveUrl } from '../../url/index.ts';
import { unescapeAgain } from '../xml-stream/index.ts';

/** What a news sitemap says about an article. */
export type SitemapNews = {
  title: string | null;
  publicationDate: Date | null;
  name: string | null;
  language: string | null;
};

/** One page of a sitemap, or one sitemap of an index. */
export type SitemapEntry = {
  /** Absolute address. */
  loc: string;
  /** `lastmod`, else the news publication date. */
  lastModified: Date | null;
  /** `lastmod` names a month or a year and no day: then it began at `lastModified`, and says little about what is new. */
  isVague: boolean;
  changeFrequency: string | null;
  priority: number | null;
  news: SitemapNews | null;
  /** Addresses of the page's images, at most 20. */
  images: string[];
};

/** The texts of an entry while it is read. */
export type EntryDraft = {
  locs: string[];
  images: string[];
  /** Made with the first field: a hundred thousand empty entries should not make as many maps. */
  fields: Map<string, string> | null;
  hasNews: boolean;
  /** Text that stands in the entry itself: some forget `loc` and write the address there. */
  bare: string;
};

export const MAX_IMAGES = 20;

/** An empty draft. */
export function newDraft(): EntryDraft {
  return { locs: [], images: [], fields: null, hasNews: false, bare: '' };
}

const nothing: { entries: SitemapEntry[]; invalid: number } = { entries: [], invalid: 1 };

/** The entries a draft makes, one per usable `loc` (indexes with several exist), and how many were not usable. */
export function finishDraft(
  draft: EntryDraft,
  base: string | undefined,
): { entries: SitemapEntry[]; invalid: number } {
  if (draft.locs.length === 0 && draft.bare === '') return nothing;
  const entries: SitemapEntry[] = [];
  const bare = draft.bare.trim();
  const locs = draft.locs.length === 0 && /^https?:\/\/\S+$/i.test(bare) ? [bare] : draft.locs;
  for (const text of locs) {
    const loc = resolveLoc(text, base);
    if (loc !== null) entries.push(makeEntry(loc, draft, base));
  }
  const invalid = locs.length === 0 ? 1 : locs.length - entries.length;
  return { entries, invalid };
}

/** The absolute http(s) address a `loc` means, or null. */
export function resolveLoc(text: string, base: string | undefined): string | null {
  const trimmed = unescapeAgain(text.trim());
  if (trimmed === '' || trimmed.length > 4096) return null;
  // An entity that only the document could explain is not an address, even where a base would make it one.
  if (/^&[^;\s]*;$/.test(trimmed)) return null;
  const isAbsolute = /^[a-z][a-z0-9+.-]*:/i.test(trimmed);
  if (!isAbsolute && (base === undefined || /\s/.test(trimmed))) return null;
  const named = !isAbsolute && /^www\./i.test(trimmed) ? `//${trimmed}` : trimmed;
  const href = resolveUrl(named, base);
  return href !== null && /^https?:/.test(href) ? href : null;
}

const noFields: ReadonlyMap<string, string> = new Map();

function makeEntry(loc: string, draft: EntryDraft, base: string | undefined): SitemapEntry {
  const fields = draft.fields ?? noFields;
  const news = draft.hasNews ? makeNews(fields) : null;
  const lastmod = fields.get('lastmod');
  const priority = Number(fields.get('priority') ?? Number.NaN);
  return {
    loc,
    isVague: lastmod !== undefined && /^\s*\d{4}(?:-\d\d)?\s*$/.test(lastmod),
    lastModified: (lastmod === undefined ? null : parseLastmod(lastmod)) ?? news?.publicationDate ?? null,
    changeFrequency: shortText(fields.get('changefreq'), 20)?.toLowerCase() ?? null,
    priority: priority >= 0 && priority <= 1 ? priority : null,
    news,
    images: draft.images.flatMap((image) => resolveLoc(image, base) ?? []),
  };
}

function makeNews(fields: ReadonlyMap<string, string>): SitemapNews {
  const date = fields.get('news.publication_date');
  return {
    title: shortText(fields.get('news.title'), 2000),
    publicationDate: date === undefined ? null : parseLastmod(date),
    name: shortText(fields.get('news.name'), 500),
    language: shortText(fields.get('news.language'), 20),
  };
}

/**
 * A date by the engine's own ISO reader where its form leaves no doubt (days up to 28 exist in every month), by the
 * general reader else: that one takes half of the time of a sitemap with three million dates.
 */
function parseLastmod(text: string): Date | null {
  const trimmed = text.trim();
  return w3cDate.test(trimmed) ? new Date(trimmed) : parseDate(trimmed);
}

const w3cDate =
  /^(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])(?:T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:Z|[+-](?:0\d|1[0-2]):[0-5]\d))?$/;

/** White space collapsed, and copied: a slice would keep its whole chunk of the document alive. */
function shortText(text: string | undefined, maxLength: number): string | null {
  if (text === undefined) return null;
  const collapsed = text.slice(0, maxLength).replace(/\s+/g, ' ').trim();
  return collapsed === '' ? null : Buffer.from(collapsed, 'utf8').toString('utf8');
}
