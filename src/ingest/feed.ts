import { type Feed, type FeedEntry, parseLinkHeader, readFeed } from '../feed-formats/index.ts';
import { decidePriority, type SubmitItem } from '../frontier/index.ts';
import { registrableDomain } from '../url/index.ts';
import { readPage } from './article.ts';
import { ChannelFilter } from './channel-filter.ts';
import { refusalIn } from './refusal.ts';
import type { ChannelReading, Ingested, IngestSettings, PageResponse } from './response.ts';
import { header } from './response.ts';

// No poll is put off for longer than a day by it; a million years would not fit where it is stored.
const longestFloorSeconds = 30 * 86_400;

/** A feed: every entry with a link is submitted as an article. HTML with status 200 is a parse error. */
export async function ingestFeed(response: PageResponse, settings: IngestSettings): Promise<Ingested> {
  const contentType = header(response, 'content-type');
  const parsed = await readFeed(response.body, {
    url: response.finalUrl,
    ...(contentType === undefined ? {} : { contentType }),
  });
  if (parsed.outcome === 'not_a_feed') {
    const isPage = parsed.reason === 'html';
    const refusal = isPage ? refusalIn(readPage(response), response) : null;
    const reading = { ...failedReading(`not a feed: ${parsed.detail}`, isPage), refusal };
    return { outcome: 'channel', reading, found: [] };
  }
  const { feed } = parsed;
  const filter = new ChannelFilter(settings);
  const submitEntry = entrySubmitter(response, settings, { origin: 'feed', filter });
  // Polls are spent where news is to be had: what is refused, or has no address, is none.
  const dates: (Date | null)[] = [];
  const isStamped = areStamped(feed.entries, settings.nowMs);
  const found = feed.entries.flatMap((entry) => {
    const items = isStamped
      ? submitEntry(entry.link, null, null)
      : submitEntry(entry.link, newestOf(entry), publishedOf(entry));
    if (items.length > 0) dates.push(publishedOf(entry));
    return items;
  });
  const hints = [feed.ttlMinutes === null ? 0 : feed.ttlMinutes * 60, feed.updatePeriodSeconds ?? 0];
  return {
    outcome: 'channel',
    found,
    reading: {
      error: null,
      detail: null,
      isPage: false,
      refusal: null,
      format: feed.version === null ? feed.format : `${feed.format} ${feed.version}`,
      ...hubOf(response, feed),
      lastItemAt: latest(feed.entries.map(newestOf), settings.nowMs),
      dates: newestDates(dates),
      skipped: feed.entriesWithoutLink,
      refused: filter.refused,
      floorSeconds: Math.min(Math.max(...hints), longestFloorSeconds),
      files: null,
      isWhole: !feed.truncated && !feed.capped,
    },
  };
}

const leastStamped = 10;
const minuteMs = 60_000;

/** Whether all entries have the date of the moment: known articles would be fetched again every few hours for ever. */
function areStamped(entries: readonly FeedEntry[], nowMs: number): boolean {
  const stamp = entries.length < leastStamped ? null : newestOf(entries[0]!);
  if (stamp === null || Math.abs(nowMs - stamp.getTime()) > 10 * minuteMs) return false;
  return entries.every((entry) => {
    const date = newestOf(entry);
    return date !== null && Math.abs(date.getTime() - stamp.getTime()) < minuteMs;
  });
}

/** The feed's hub and the name it has there. Headers speak first (WebSub section 4), then the document. */
function hubOf(response: PageResponse, feed: Feed): Pick<ChannelReading, 'hub' | 'topic'> {
  const links = parseLinkHeader(header(response, 'link') ?? '', response.finalUrl);
  const linked = (relation: string) => links.find((link) => link.relations.includes(relation))?.url;
  const hub = linked('hub') ?? feed.hubs[0] ?? null;
  return { hub, topic: hub === null ? null : (linked('self') ?? feed.self) };
}

/** A reading that found nothing usable. */
export function failedReading(detail: string, isPage = false): ChannelReading {
  return {
    error: 'parse',
    detail,
    isPage,
    refusal: null,
    format: null,
    hub: null,
    topic: null,
    lastItemAt: null,
    dates: [],
    skipped: 0,
    refused: {},
    floorSeconds: null,
    files: null,
    isWhole: true,
  };
}

const newestOf = (entry: FeedEntry): Date | null => entry.updated ?? entry.published;
const publishedOf = (entry: FeedEntry): Date | null => entry.published ?? entry.updated;

const mostDates = 300;

/** The newest of these dates, as many as a rhythm is learnt from. */
export function newestDates(dates: readonly (Date | null)[]): number[] {
  const times = dates.flatMap((date) => (date === null ? [] : [date.getTime()]));
  return times.sort((a, b) => b - a).slice(0, mostDates);
}

/** The newest of the dates that are not in the future. */
export function latest(dates: readonly (Date | null)[], nowMs: number): Date | null {
  let best = 0;
  for (const date of dates) {
    const time = date?.getTime() ?? 0;
    if (time > best && time <= nowMs) best = time;
  }
  return best === 0 ? null : new Date(best);
}

const mostHosts = 1000;

/** What a host belongs to; an IP address, or a name without a public suffix, is a site of its own. */
const siteOf = (host: string): string => registrableDomain(host) ?? host;

/** Whether a host lies in the site of one of the addresses; fifty thousand entries share few hosts. */
export function siteTest(urls: readonly string[]): (host: string) => boolean {
  const sites = new Set(urls.map((url) => siteOf(new URL(url).hostname)));
  const known = new Map<string, boolean>();
  return (host) => {
    let answer = known.get(host);
    if (answer === undefined) {
      if (known.size >= mostHosts) known.clear();
      answer = sites.has(siteOf(host));
      known.set(host, answer);
    }
    return answer;
  };
}

/** Turns a channel's entries into submissions; entries without a link give none, nor do those that the filter refuses. */
export function entrySubmitter(
  response: Pick<PageResponse, 'row' | 'finalUrl'>,
  settings: IngestSettings,
  { origin, filter }: { origin: 'feed' | 'sitemap' | 'archive'; filter: ChannelFilter },
) {
  const home = settings.source?.url ?? response.finalUrl;
  const isOwn = siteTest([home, response.finalUrl]);
  const base = settings.source?.priority ?? 5;
  const priorityOf = (external: boolean) =>
    decidePriority({ base, origin, kind: 'article', depth: 0, external });
  return (link: string | null, modifiedAt: Date | null, publishedAt: Date | null): SubmitItem[] => {
    if (link === null || !URL.canParse(link, response.finalUrl)) return [];
    const host = new URL(link, response.finalUrl).hostname;
    const own = isOwn(host);
    if (!filter.passes(link, response.finalUrl, own)) return [];
    return [
      {
        url: link,
        base: response.finalUrl,
        kind: 'article',
        origin,
        sourceId: response.row.sourceId,
        priority: priorityOf(!own),
        parentUrl: response.row.url,
        modifiedAt,
        publishedAt,
        own,
      },
    ];
  };
}
