export type { Enclosure, Feed, FeedEntry, FeedOptions, FeedResult, NotAFeedReason } from './feed/index.ts';
export { parseFeed } from './feed/index.ts';
