export { discoverFeedLinks, discoverLinks, type FeedLink, type PageLink } from './links.ts';
export { attribute, collapse, copyString, INLINE, nextNode, PageNode, TEXT, textOf } from './node.ts';
export { type Page, type ParseOptions, parsePage, resolveUrl } from './parse-page.ts';
