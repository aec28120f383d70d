import { parseSitemap, type SitemapEntry } from '../feed-formats/index.ts';
import { canonicalDomain } from '../url/index.ts';
import { entrySubmitter, failedReading, latest, newestDates, siteTest } from './feed.ts';
import { header, type Ingested, type IngestSettings, type PageResponse } from './response.ts';

// Entries without a date: the newest of them stand first in most files.
const mostUndated = 100;
const mostChildren = 10;
// As many as the protocol lets a file name; a file that dates a million of them today means harm.
const mostDated = 50_000;

/** What is worth keeping of a sitemap's entries while they are read. */
class Harvest {
  readonly undated: SitemapEntry[] = [];
  dated: SitemapEntry[] = [];
  foreign = 0;
  lastItemAt: Date | null = null;
  readonly #isOwn: (host: string) => boolean;
  readonly #nowMs: number;
  readonly #oldestMs: number;

  constructor(url: string, settings: IngestSettings) {
    this.#isOwn = siteTest([url]);
    this.#nowMs = settings.nowMs;
    this.#oldestMs = settings.nowMs - settings.sitemapMaxAgeMs;
  }

  take(entries: readonly SitemapEntry[]): void {
    for (const entry of entries) {
      if (this.#isOwn(new URL(entry.loc).hostname)) this.#keep(entry);
      else this.foreign += 1;
    }
    if (this.dated.length > 2 * mostDated) this.#cut();
  }

  /** The entries of the time that counts, at most so many, the newest where there are more. */
  fresh(): SitemapEntry[] {
    if (this.dated.length > mostDated) this.#cut();
    return this.dated;
  }

  #keep(entry: SitemapEntry): void {
    const { lastModified } = entry;
    this.lastItemAt = latest([this.lastItemAt, lastModified], this.#nowMs);
    if (lastModified !== null) {
      if (lastModified.getTime() >= this.#oldestMs) this.dated.push(entry);
    } else if (this.undated.length < mostUndated) this.undated.push(entry);
  }

  #cut(): void {
    this.dated = this.dated.sort(newestFirst).slice(0, mostDated);
  }
}

const newestFirst = (a: SitemapEntry, b: SitemapEntry): number =>
  (b.lastModified?.getTime() ?? 0) - (a.lastModified?.getTime() ?? 0);

/** A sitemap: fresh entries of its own site are submitted; an index names further files. */
export async function ingestSitemap(response: PageResponse, settings: IngestSettings): Promise<Ingested> {
  const contentType = header(response, 'content-type');
  const harvest = new Harvest(response.finalUrl, settings);
  const sitemap = await parseSitemap(response.body, {
    url: response.finalUrl,
    ...(contentType === undefined ? {} : { contentType }),
    onEntries: (entries) => harvest.take(entries),
  });
  if (sitemap.kind === 'error') {
    return {
      outcome: 'channel',
      reading: failedReading(
        `not a sitemap: ${sitemap.error ?? 'unknown form'}`,
        sitemap.error === 'the file is an HTML page',
      ),
      found: [],
    };
  }
  const reading = {
    ...failedReading(''),
    error: null,
    detail: null,
    format: `sitemap ${sitemap.kind}`,
    skipped: sitemap.invalid + harvest.foreign,
    lastItemAt: harvest.lastItemAt,
    dates: newestDates(harvest.fresh().map((entry) => entry.news?.publicationDate ?? entry.lastModified)),
  };
  if (sitemap.kind === 'index') {
    return {
      outcome: 'channel',
      reading: { ...reading, children: childrenOf(response, harvest) },
      found: [],
    };
  }
  const submitEntry = entrySubmitter(response, settings, 'sitemap');
  const found = [...harvest.fresh(), ...harvest.undated].flatMap((entry) =>
    submitEntry(entry.loc, entry.lastModified, entry.news?.publicationDate ?? null),
  );
  return { outcome: 'channel', reading, found };
}

/** The files of an index, newest first. They are read in this lease, so they must lie in its domain. */
function childrenOf(response: PageResponse, harvest: Harvest): string[] {
  const domain = canonicalDomain(response.finalUrl);
  return [...harvest.fresh().sort(newestFirst), ...harvest.undated]
    .filter((entry) => entry.loc !== response.finalUrl && canonicalDomain(entry.loc) === domain)
    .slice(0, mostChildren)
    .map((entry) => entry.loc);
}
