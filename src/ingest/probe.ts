import { createHash } from 'node:crypto';
import { type Feed, parseLinkHeader, parseSitemap, readFeed } from '../feed-formats/index.ts';
import { discoverFeedLinks, discoverLinks, refreshTarget } from '../html/index.ts';
import { identifyUrl } from '../url/index.ts';
import { readPage } from './article.ts';
import { LINKS_OF_A_LISTING, refusalIn } from './refusal.ts';
import { header, type Ingested, type PageResponse } from './response.ts';

/** What a probe found at an address, kept for whoever asked. */
export type ProbeResult =
  | {
      kind: 'feed';
      url: string;
      format: string;
      title: string | null;
      entries: number;
      sample: string[];
      /** The same for two feeds that list the same articles, whatever their format. */
      links: string;
    }
  | { kind: 'sitemap'; url: string; format: string; entries: number }
  | { kind: 'page'; url: string; title: string | null; feeds: { url: string; title: string | null }[] }
  /** The page says little but where to go on. */
  | { kind: 'redirect'; url: string }
  | { kind: 'failed'; url: string; status: number | null; reason: string };

const mostSamples = 3;
const mostFeeds = 20;

/** A fingerprint of the articles a feed lists, by what they are and not by how they are written. */
function linksOf(feed: Feed, base: string): string {
  const keys = feed.entries.flatMap(({ link }) => {
    const identified = link === null ? null : identifyUrl(link, { base });
    return identified?.outcome === 'ok' ? [identified.identity.key] : [];
  });
  return createHash('sha256').update(keys.sort().join('\n')).digest('hex').slice(0, 32);
}

/** Looks at a body without keeping it: is it a feed, a sitemap, or a page that names feeds? */
export async function ingestProbe(response: PageResponse): Promise<Ingested> {
  const contentType = header(response, 'content-type');
  const parsed = await readFeed(response.body, {
    url: response.finalUrl,
    ...(contentType === undefined ? {} : { contentType }),
  });
  if (parsed.outcome === 'feed') {
    const { feed } = parsed;
    const result: ProbeResult = {
      kind: 'feed',
      url: response.finalUrl,
      format: feed.format,
      title: feed.title,
      entries: feed.entries.length,
      sample: feed.entries.slice(0, mostSamples).map((entry) => entry.title ?? entry.link ?? ''),
      links: linksOf(feed, response.finalUrl),
    };
    return { outcome: 'probe', result };
  }
  const sitemap = await parseSitemap(response.body, {
    url: response.finalUrl,
    ...(contentType === undefined ? {} : { contentType }),
  });
  const isText = sitemap.kind === 'text' && sitemap.count > 0 && /^\s*text\/plain\b/i.test(contentType ?? '');
  if (sitemap.kind === 'urlset' || sitemap.kind === 'index' || isText) {
    const result: ProbeResult = {
      kind: 'sitemap',
      url: response.finalUrl,
      format: sitemap.kind,
      entries: sitemap.count,
    };
    return { outcome: 'probe', result };
  }
  const page = readPage(response);
  const beside = parseLinkHeader(header(response, 'link') ?? '', response.finalUrl);
  const feeds = discoverFeedLinks(page, beside)
    .slice(0, mostFeeds)
    .map(({ url, title }) => ({ url, title }));
  const refusal = feeds.length > 0 ? null : refusalIn(page, response);
  if (refusal !== null) {
    const { finalUrl: url, status } = response;
    return { outcome: 'probe', result: { kind: 'failed', url, status, reason: refusal.reason } };
  }
  const isBare = feeds.length === 0 && discoverLinks(page).length < LINKS_OF_A_LISTING;
  const to = isBare ? refreshTarget(page, header(response, 'refresh')) : null;
  if (to !== null) return { outcome: 'probe', result: { kind: 'redirect', url: to } satisfies ProbeResult };
  const result: ProbeResult = { kind: 'page', url: response.finalUrl, title: page.title, feeds };
  return { outcome: 'probe', result };
}
