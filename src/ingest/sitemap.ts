import { createYielder, readSitemap, type SitemapEntry } from '../feed-formats/index.ts';
import type { SubmitItem } from '../frontier/index.ts';
import { readPage } from './article.ts';
import { ChannelFilter } from './channel-filter.ts';
import { entrySubmitter, failedReading, latest, newestDates, siteTest } from './feed.ts';
import { refusalIn } from './refusal.ts';
import type { ChannelReading, Ingested, IngestSettings, PageResponse } from './response.ts';
import type { SeenAddresses } from './seen.ts';

// What the first poll takes of a file without dates, where nobody can say what is new.
const mostBaseline = 100;
// Files of an index that are followed, the newest first.
const mostFiles = 100;
const minuteMs = 60_000;
// As many as the protocol lets a file name; a file that dates a million of them today means harm.
const mostEntries = 50_000;

/** A sitemap's response without its body, which is read as it comes. */
export type SitemapResponse = Pick<PageResponse, 'row' | 'finalUrl' | 'headers'>;

/** Where entries go while a sitemap is read, and what is known of those without dates. */
export type SitemapSink = {
  submit: (items: SubmitItem[]) => Promise<unknown>;
  seen: SeenAddresses;
};

/** What is made of a sitemap's entries while they are read; the entries themselves are not kept. */
class Harvest {
  readonly files: { url: string; modifiedAt: Date | null }[] = [];
  readonly dates: number[] = [];
  readonly filter: ChannelFilter;
  foreign = 0;
  lastItemAt: Date | null = null;
  #taken = 0;
  /** The moment by which the file dates all it lists; 0: it does not. */
  #stampMs: number | null = null;
  /** Of a first poll without dates: its first addresses and its last ones. */
  readonly #first: string[] = [];
  #last: string[] = [];
  readonly #isOwn: (host: string) => boolean;
  readonly #nowMs: number;
  readonly #isArchive: boolean;
  readonly #oldestMs: number;
  readonly #sink: SitemapSink;
  readonly #yielder = createYielder();
  readonly #submitEntry: ReturnType<typeof entrySubmitter>;

  constructor(response: SitemapResponse, settings: IngestSettings, sink: SitemapSink) {
    this.#isOwn = siteTest([response.finalUrl, ...(settings.namedBy ?? [])]);
    this.#nowMs = settings.nowMs;
    this.#isArchive = settings.isArchive ?? false;
    this.#oldestMs = this.#isArchive ? Number.NEGATIVE_INFINITY : settings.nowMs - settings.sitemapMaxAgeMs;
    this.#sink = sink;
    const origin = this.#isArchive ? 'archive' : 'sitemap';
    this.filter = new ChannelFilter(settings);
    this.#submitEntry = entrySubmitter(response, settings, { origin, filter: this.filter });
  }

  async take(entries: readonly SitemapEntry[], isIndex: boolean): Promise<void> {
    const found: SubmitItem[] = [];
    // The first batch tells; the last one may be short.
    this.#stampMs ??= isIndex ? 0 : stampOf(entries, this.#nowMs);
    for (const given of entries) {
      const entry = withoutStamp(withoutVagueDate(given), this.#stampMs);
      if (!this.#isOwn(new URL(entry.loc).hostname)) this.foreign += 1;
      else if (isIndex) this.#takeFile(entry);
      else if (this.#isWanted(entry)) {
        found.push(...this.#itemOf(entry));
        // Somebody typed in patterns, and each is matched with each address.
        await this.#yielder();
      }
    }
    if (found.length > 0) await this.#sink.submit(found);
  }

  /** What only the whole file tells: the newest of a first poll without dates. */
  async finish(): Promise<void> {
    const isNewestLast = dateIn(this.#last.at(-1)) > dateIn(this.#first[0]);
    const baseline = isNewestLast && this.#last.length >= mostBaseline ? this.#last : this.#first;
    const found = baseline.flatMap((url) => this.#submitEntry(url, null, null));
    if (found.length > 0) await this.#sink.submit(found);
  }

  #takeFile({ loc, lastModified }: SitemapEntry): void {
    this.lastItemAt = latest([this.lastItemAt, lastModified], this.#nowMs);
    if (lastModified !== null && lastModified.getTime() < this.#oldestMs) return;
    this.files.push({ url: loc, modifiedAt: lastModified });
    if (this.files.length > 2 * mostFiles) this.cutFiles();
  }

  /** The newest files; those without a date come last. */
  cutFiles(): { url: string; modifiedAt: Date | null }[] {
    this.files.sort((a, b) => (b.modifiedAt?.getTime() ?? 0) - (a.modifiedAt?.getTime() ?? 0));
    this.files.length = Math.min(this.files.length, mostFiles);
    return this.files;
  }

  /** Whether an entry is news: modified lately or, without a date, not in the file at the last poll. */
  #isWanted({ loc, lastModified }: SitemapEntry): boolean {
    this.lastItemAt = latest([this.lastItemAt, lastModified], this.#nowMs);
    if (this.#taken >= mostEntries) return false;
    if (lastModified === null) {
      if (this.#sink.seen.note(loc) !== 'new') return false;
      if (this.#sink.seen.isFirst && !this.#isArchive) {
        if (this.#first.length < mostBaseline) this.#first.push(copy(loc));
        this.#last.push(copy(loc));
        if (this.#last.length > 2 * mostBaseline) this.#last = this.#last.slice(-mostBaseline);
        return false;
      }
    } else if (lastModified.getTime() < this.#oldestMs) return false;
    this.#taken += 1;
    return true;
  }

  #itemOf(entry: SitemapEntry): SubmitItem[] {
    const published = entry.news?.publicationDate ?? null;
    const date = published ?? entry.lastModified;
    const items = this.#submitEntry(entry.loc, entry.lastModified, published);
    if (items.length > 0 && date !== null && this.dates.length < 1000) this.dates.push(date.getTime());
    return items;
  }
}

/** A month or a year is no date to tell news by: all of this month's entries would be old from its third day on. */
const withoutVagueDate = (entry: SitemapEntry): SitemapEntry =>
  entry.isVague ? { ...entry, lastModified: entry.news?.publicationDate ?? null } : entry;

const leastStamped = 20;

/** The date that all entries have, if it is that of the moment: such a file is made anew for whoever asks. */
function stampOf(entries: readonly SitemapEntry[], nowMs: number): number {
  const stamp = entries[0]?.lastModified?.getTime() ?? 0;
  const isOfAll =
    entries.length >= leastStamped &&
    Math.abs(nowMs - stamp) < 10 * minuteMs &&
    entries.every(({ lastModified }) => isNear(lastModified, stamp));
  return isOfAll ? stamp : 0;
}

const isNear = (date: Date | null, stampMs: number): boolean =>
  date !== null && Math.abs(date.getTime() - stampMs) < minuteMs;

/** Believed, old pages would be news at every poll, and fetched again every few hours for ever. */
const withoutStamp = (entry: SitemapEntry, stampMs: number): SitemapEntry =>
  stampMs !== 0 && isNear(entry.lastModified, stampMs)
    ? { ...entry, lastModified: entry.news?.publicationDate ?? null }
    : entry;

// A slice keeps its whole chunk of the document alive.
const copy = (text: string): string => Buffer.from(text, 'utf8').toString('utf8');

/** The day in an address, as a number that grows with it; 0 where there is none. */
function dateIn(url: string | undefined): number {
  const found = /[/-]((?:19|20)\d\d)[/-]?(0[1-9]|1[0-2])[/-]?(0[1-9]|[12]\d|3[01])?(?=\D|$)/.exec(url ?? '');
  return found === null ? 0 : Number(`${found[1]}${found[2]}${found[3] ?? '00'}`);
}

// A page that refuses us is short.
const headBytes = 65_536;

/** The chunks as they come; the first of them are kept. */
async function* keepingHead(chunks: AsyncIterable<Uint8Array>, head: Uint8Array[]) {
  let bytes = 0;
  for await (const chunk of chunks) {
    if (bytes < headBytes) head.push(chunk.subarray(0, headBytes - bytes));
    bytes += chunk.length;
    yield chunk;
  }
}

/**
 * A sitemap, read as it comes: fresh entries of its own site go to the sink in batches, an index names further files.
 * Memory does not grow with the file.
 */
export async function readSitemapChannel(
  chunks: AsyncIterable<Uint8Array>,
  response: SitemapResponse,
  settings: IngestSettings,
  sink: SitemapSink,
): Promise<Ingested> {
  const contentType = response.headers['content-type'];
  const harvest = new Harvest(response, settings, sink);
  const head: Uint8Array[] = [];
  const sitemap = await readSitemap(keepingHead(chunks, head), {
    url: response.finalUrl,
    ...(contentType === undefined ? {} : { contentType }),
    onEntries: (entries, kind) => harvest.take(entries, kind === 'index'),
  });
  if (sitemap.kind === 'error') {
    const isPage = sitemap.error === 'the file is an HTML page';
    const failed = failedReading(`not a sitemap: ${sitemap.error ?? 'unknown form'}`, isPage);
    const page = { ...response, status: 200, body: Buffer.concat(head) };
    const refusal = isPage ? refusalIn(readPage(page), page) : null;
    return { outcome: 'channel', reading: { ...failed, refusal }, found: [] };
  }
  await harvest.finish();
  const reading: ChannelReading = {
    ...failedReading(''),
    error: null,
    detail: null,
    format: `sitemap ${sitemap.kind}`,
    skipped: sitemap.invalid + harvest.foreign,
    refused: harvest.filter.refused,
    lastItemAt: harvest.lastItemAt,
    dates: newestDates(harvest.dates.map((date) => new Date(date))),
    files:
      sitemap.kind === 'index' ? harvest.cutFiles().filter((one) => one.url !== response.finalUrl) : null,
    isWhole: sitemap.stopped === null,
  };
  return { outcome: 'channel', reading, found: [] };
}
