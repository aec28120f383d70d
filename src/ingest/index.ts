import type { ArticleHtml } from '../extract/index.ts';
import { needsSecondOpinion } from './article.ts';
import { previewArticle } from './article-preview.ts';
import { handleResponse } from './handle.ts';
import type { Ingested, IngestSettings, PageResponse } from './response.ts';
import type { SelectorSample } from './selector-sample.ts';
import { decideReader, readInThread } from './threads/index.ts';

export { wantsSecondOpinion } from './article.ts';
export { type ArticleRead, joinPage, nextPageOf } from './article-pages.ts';
export { siteTest } from './feed.ts';
export { imageModeOf } from './images.ts';
export type { ProbeResult } from './probe.ts';
export type {
  ChannelReading,
  ImageSettings,
  Ingested,
  IngestSettings,
  PageFacts,
  PageResponse,
  SpiderLink,
} from './response.ts';
export { SeenAddresses } from './seen.ts';
export type { SelectorSample } from './selector-sample.ts';
export { readSitemapChannel, type SitemapSink } from './sitemap.ts';
export { contentLinks, type SpiderRules, spiderRulesOf } from './spider-links.ts';

/**
 * Reads a response: what is small and takes linear time on this thread, the rest on another one with a deadline. The
 * body of a big response goes there and is not there afterwards.
 */
export async function ingest(response: PageResponse, settings: IngestSettings): Promise<Ingested> {
  if (decideReader(response, settings) === 'thread') return readInThread(response, settings, 'whole');
  const own = await handleResponse(response, settings);
  if (!needsSecondOpinion(own)) return own;
  const second = await readInThread(response, settings, 'second_opinion');
  // No second opinion in time: the first one stands.
  return second.outcome === 'unreadable' ? own : second;
}

/**
 * What each selector of a source gives on one page. On the other thread: nobody knows what a selector costs that
 * somebody just typed in.
 */
export async function testSelectors(
  response: PageResponse,
  settings: IngestSettings,
): Promise<
  { outcome: 'sample'; sample: SelectorSample } | { outcome: 'unreadable'; reason: string; detail: string }
> {
  const read = await readInThread(response, settings, 'selectors');
  if (read.outcome === 'probe') return { outcome: 'sample', sample: read.result as SelectorSample };
  if (read.outcome === 'unreadable') return read;
  throw new Error(`the reading thread answered ${read.outcome} to a test of selectors`);
}

/** The article of a kept page as harmless HTML; null where reading it takes too long. */
export async function readArticleHtml(
  response: PageResponse,
  settings: IngestSettings,
): Promise<ArticleHtml | null> {
  if (decideReader(response, settings) === 'here') return previewArticle(response, settings);
  const read = await readInThread(response, settings, 'preview');
  if (read.outcome === 'probe') return read.result as ArticleHtml;
  if (read.outcome === 'unreadable') return null;
  throw new Error(`the reading thread answered ${read.outcome} to a preview`);
}
