/** Sitemaps of every form: urlset, index, news, images, plain text, gzip, and feeds used as sitemaps. */
export type { SitemapEntry, SitemapNews } from './entry.ts';
export { parseSitemap, readSitemap, type SitemapOptions, type SitemapResult } from './read.ts';
