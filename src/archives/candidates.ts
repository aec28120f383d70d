import { type DatePattern, learnDatePatterns, monthOf, pathsOf, yearPatternOf } from './date-patterns.ts';

/** A place where old articles may be listed. */
export type ArchivePlace = {
  url: string;
  kind: 'sitemap' | 'page';
  foundBy: 'robots' | 'learned' | 'path' | 'date';
};

/** What is remembered of a place: nothing (`new`), how it went, or that it may be asked again (`due`). */
export type Remembered = 'new' | 'asked' | 'worked' | 'failed' | 'known' | 'due';

/** What is known of a domain when places are thought of. */
export type ArchiveClues = {
  /** Where its pages lie: scheme and host. */
  origin: string;
  /** `Sitemap:` lines of its robots.txt. */
  sitemaps: readonly string[];
  /** Addresses of articles that were seen on it, a sample. */
  seen: readonly string[];
  now: Date;
  remembered: (place: ArchivePlace) => Remembered;
};

// A hostile robots.txt names a thousand sitemaps; at five a day these last a month.
const mostSitemaps = 150;
// After so many months or years without an archive the site's beginning is reached.
const failuresToStop = 3;
// Of one pattern: twenty years of months.
const mostPeriods = 240;

/**
 * Places that are worth asking, the likeliest first: what robots.txt names, what dates in known addresses suggest, usual
 * places, usual dates. Of a pattern nobody has seen working one place is asked at a time, and the next when it worked.
 * Pure and lazy: the caller takes as many as it may ask.
 */
export function* thinkOfPlaces(clues: ArchiveClues): Generator<ArchivePlace> {
  const { origin, remembered } = clues;
  const isOpen = (place: ArchivePlace): boolean => ['new', 'due'].includes(remembered(place));
  for (const url of clues.sitemaps.slice(0, mostSitemaps)) {
    const place = { url, kind: 'sitemap', foundBy: 'robots' } as const;
    if (isOpen(place)) yield place;
  }
  const learned = learnDatePatterns(clues.seen, clues.now);
  for (const pattern of learned) yield* walk(clues, pattern, 'learned');
  for (const [path, kind] of usualPlaces) {
    const place: ArchivePlace = { url: `${origin}${path}`, kind, foundBy: 'path' };
    if (isOpen(place)) yield place;
  }
  const known = new Set(learned.map(({ template }) => template));
  const newest = monthOf(clues.now.getUTCFullYear(), clues.now.getUTCMonth() + 1);
  for (const template of usualDates)
    if (!known.has(template)) yield* walk(clues, { template, newest }, 'date');
}

const usualPlaces = [
  ['/sitemap.xml', 'sitemap'],
  ['/sitemap', 'page'],
  ['/archive', 'page'],
  ['/archives', 'page'],
] as const;
const usualDates = ['/{Y}/', '/{Y}/{M}/', '/news/{Y}/'];

/** Back through a pattern; where its months are not there, through its years. */
function* walk(
  clues: ArchiveClues,
  pattern: DatePattern,
  foundBy: 'learned' | 'date',
): Generator<ArchivePlace> {
  let worked = false;
  let failures = 0;
  let periods = 0;
  for (const path of pathsOf(pattern)) {
    periods += 1;
    if (failures >= failuresToStop || periods > mostPeriods) return;
    const place = { url: `${clues.origin}${path}`, kind: 'page', foundBy } as const;
    const state = clues.remembered(place);
    if (state === 'worked' || state === 'known') {
      worked = true;
      failures = 0;
    } else if (state === 'failed') {
      failures += 1;
      if (worked) continue;
      const years = foundBy === 'learned' ? yearPatternOf(pattern) : null;
      if (years !== null) yield* walk(clues, years, foundBy);
      return;
    } else {
      if (state === 'new' || state === 'due') yield place;
      // Whether the pattern is one is not known before it was answered.
      if (!worked) return;
    }
  }
}
