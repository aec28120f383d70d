export type { AttributeTable } from './attributes.ts';
export { discoverFeedLinks, type FeedLink, type LinkBeside } from './feed-links.ts';
export { type Formula, formulaAt, isRenderedScript } from './formulas.ts';
export { discoverLinks, type PageLink } from './links.ts';
export {
  attribute,
  collapse,
  copyString,
  findAttribute,
  indexAfter,
  isGlued,
  listAttributes,
  nextNode,
  PageNode,
  soleText,
  TEXT,
  textOf,
} from './node.ts';
export { openNoscripts } from './noscript.ts';
export { headerRefreshTarget, refreshTarget } from './page-refresh.ts';
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
export { withoutNodes } from './without-nodes.ts';
