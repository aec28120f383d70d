export type { Enclosure, Feed, FeedEntry, FeedOptions, FeedResult, NotAFeedReason } from './feed/index.ts';
export { parseFeed, readFeed } from './feed/index.ts';
export { type HeaderLink, parseLinkHeader } from './link-header.ts';
export {
  type OpmlOutline,
  OpmlReader,
  type OpmlResult,
  opmlFoot,
  opmlHead,
  outlineTag,
  parseOpml,
  writeOpml,
} from './opml/index.ts';
export {
  parseSitemap,
  readSitemap,
  type SitemapEntry,
  type SitemapNews,
  type SitemapOptions,
  type SitemapResult,
} from './sitemap/index.ts';
export { createYielder } from './turns.ts';
