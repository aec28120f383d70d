import { textOf } from './article.ts';
import { type ExpectedOutcome, isInShare } from './faults/index.ts';
import type { Publisher } from './publisher.ts';
import { allowedByRobots } from './render/robots.ts';
import type { Site } from './site.ts';
import type { Item } from './timeline.ts';

const newsWindowMs = 48 * 3_600_000;

/** What is true of an article, whatever a crawler makes of it. */
export interface ArticleTruth {
  url: string;
  canonicalUrl: string;
  title: string;
  /** Paragraphs and subheadings, separated by empty lines. */
  text: string;
  /** False where the page lies about its character set, so that nobody can read it right. */
  readable: boolean;
  author: string;
  publishedMs: number;
  changedMs: number;
  language: string;
  section: string;
  /** Addresses of the feeds and sitemaps that list it now, and `listing`. */
  channels: readonly string[];
  /** Address of the same text at this publisher. */
  duplicateOf?: string;
  /** Address of the text at the publisher it was taken from. */
  syndicatedFrom?: string;
  expected: ExpectedOutcome;
}

/** What is true of a publisher at a moment. */
export interface PublisherTruth {
  domain: string;
  host: string;
  title: string;
  language: string;
  address: string;
  feeds: readonly string[];
  sitemaps: readonly string[];
  forbiddenPrefixes: readonly string[];
  crawlDelayMs: number;
  articles: readonly ArticleTruth[];
}

/** The product token the ground truth is told for. */
export const productToken = 'Outrider';

/** All articles of a publisher until a moment, computed again from the seed. */
export function describeTruth(site: Site, nowMs: number): PublisherTruth {
  const { publisher, timeline } = site;
  const count = timeline.countAt(nowMs);
  const articles: ArticleTruth[] = [];
  for (let index = 0; index < count; index++)
    articles.push(articleTruth(site, timeline.at(index) as Item, { count, nowMs }));
  const address = (path: string) => `http://${publisher.host}${path}`;
  return {
    domain: publisher.domain,
    host: publisher.host,
    title: publisher.title,
    language: publisher.language,
    address: publisher.address,
    feeds: publisher.feeds.map((feed) => address(feed.path)),
    sitemaps: publisher.sitemaps.map((sitemap) => address(sitemap.path)),
    forbiddenPrefixes: publisher.robots.disallow,
    crawlDelayMs: publisher.robots.crawlDelayS * 1000,
    articles,
  };
}

function articleTruth(site: Site, item: Item, at: { count: number; nowMs: number }): ArticleTruth {
  const { publisher } = site;
  const { url, title, section, path } = site.describe(item);
  const story = site.storyOf(item, at.nowMs);
  const origin = site.originOf(item);
  const original = origin.kind === 'duplicate' ? site.describe(origin.item).url : undefined;
  return {
    url,
    canonicalUrl: original ?? url,
    title,
    text: textOf(story),
    readable: publisher.charsetDeclaration !== 'wrong',
    author: story.author,
    publishedMs: item.atMs,
    changedMs: site.changedAt(item, at.nowMs),
    language: publisher.language,
    section: section.slug,
    channels: channelsOf(publisher, item, at),
    ...(original === undefined ? {} : { duplicateOf: original }),
    ...(origin.kind === 'syndicated' ? { syndicatedFrom: origin.site.describe(origin.item).url } : {}),
    expected: expectedOf(site, { path, url }, original),
  };
}

function channelsOf(publisher: Publisher, item: Item, at: { count: number; nowMs: number }): string[] {
  const channels = ['listing'];
  for (const feed of publisher.feeds)
    if (item.index >= at.count - feed.items) channels.push(`http://${publisher.host}${feed.path}`);
  for (const sitemap of publisher.sitemaps) {
    if (sitemap.kind !== 'news' || item.atMs >= at.nowMs - newsWindowMs)
      channels.push(`http://${publisher.host}${sitemap.path}`);
  }
  return channels;
}

/** Robots first, then the faults that stay for good, then whether the text is there already. */
function expectedOf(
  site: Site,
  article: { path: string; url: string },
  original: string | undefined,
): ExpectedOutcome {
  if (!allowedByRobots(site.publisher, article.path, productToken)) return { outcome: 'robots_blocked' };
  const [path = '', query = ''] = article.path.split('?');
  for (const fault of site.faults) {
    const { spec, definition } = fault;
    const forGood = spec.untilRequest === undefined && spec.untilMs === undefined;
    const hits = (spec.on ?? definition.on).includes('article') && path.startsWith(spec.pathPrefix ?? '');
    const expected =
      forGood && hits && isInShare(fault, path, query)
        ? definition.expects?.(fault.options, article.url)
        : undefined;
    if (expected !== undefined && expected.outcome !== 'document') return expected;
  }
  return original === undefined ? { outcome: 'document' } : { outcome: 'duplicate', of: original };
}
