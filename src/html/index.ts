export type { AttributeTable } from './attributes.ts';
export { discoverFeedLinks, discoverLinks, type FeedLink, type PageLink } from './links.ts';
export {
  attribute,
  collapse,
  copyString,
  findAttribute,
  isGlued,
  listAttributes,
  nextNode,
  PageNode,
  TEXT,
  textOf,
} from './node.ts';
export { type Page, type ParseOptions, parsePage, resolveUrl } from './parse-page.ts';
export {
  escapeHtml,
  paragraphsOf,
  SAFE_ATTRIBUTES,
  SAFE_TAGS,
  type SanitiseOptions,
  sanitise,
} from './sanitise.ts';
export { TAG } from './tree-rules.ts';
