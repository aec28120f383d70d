/** What is learned of a domain's pages: kinds by shape, how listings are paged, and where a spider would never leave. */
export { mostArticlePages, nextArticlePage, withoutArticlePages } from './article-pages.ts';
export { SiteCache } from './cache.ts';
export { decideKind, mayWait, type ShapeCounts, Shapes, sampledShape } from './kinds.ts';
export { baseOf } from './pager-forms.ts';
export { inferPagers, type Pager, type PagerLink } from './pagers.ts';
export { type NextPage, type PagerRule, Pagination, pagerRestMs } from './pagination.ts';
export { Site, type SiteChanges, type SiteFacts } from './site.ts';
export { loadCap, loadSite, loadSiteView, type SiteKey, type SiteView, saveSite } from './store.ts';
export { prefixesOf, Traps, type Yield } from './traps.ts';
