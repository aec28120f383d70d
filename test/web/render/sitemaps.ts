import type { SitemapSetup } from '../publisher.ts';
import type { Described, Site } from '../site.ts';
import type { Item } from '../timeline.ts';
import { escapeText } from './html.ts';
import { monthsOf } from './listing.ts';

const newsWindowMs = 48 * 3_600_000;
const maxNews = 1_000;
const namespace = 'http://www.sitemaps.org/schemas/sitemap/0.9';

/** Items a sitemap lists at a moment: the newest two days for news, everything otherwise. */
export function sitemapItems(
  site: Site,
  sitemap: SitemapSetup,
  options: { count: number; nowMs: number; month?: string | undefined },
): Described[] {
  const { count, nowMs, month } = options;
  const chosen: Described[] = [];
  for (let index = count - 1; index >= 0; index--) {
    const item = site.timeline.at(index) as Item;
    if (sitemap.kind === 'news' && (item.atMs < nowMs - newsWindowMs || chosen.length >= maxNews)) break;
    if (month === undefined || new Date(item.atMs).toISOString().startsWith(month))
      chosen.push(site.describe(item));
  }
  return chosen;
}

/** The sitemap's XML; a gzip sitemap is compressed by the caller. */
export function renderSitemap(
  site: Site,
  sitemap: SitemapSetup,
  options: { count: number; nowMs: number; month?: string | undefined },
): string {
  if (sitemap.kind === 'index' && options.month === undefined) return renderIndex(site, options.count);
  if (sitemap.kind === 'text')
    return sitemapItems(site, sitemap, options)
      .map(({ url }) => `${url}\n`)
      .join('');
  const { publisher } = site;
  let urls = '';
  for (const { item, title, url } of sitemapItems(site, sitemap, options)) {
    const date = new Date(item.atMs).toISOString();
    urls +=
      sitemap.kind === 'news'
        ? `<url><loc>${escapeText(url)}</loc><news:news><news:publication><news:name>${escapeText(publisher.title)}</news:name><news:language>${publisher.language}</news:language></news:publication><news:publication_date>${date}</news:publication_date><news:title>${escapeText(title)}</news:title></news:news></url>\n`
        : `<url><loc>${escapeText(url)}</loc>${sitemap.lastmod ? `<lastmod>${new Date(site.changedAt(item, options.nowMs)).toISOString()}</lastmod>` : ''}</url>\n`;
  }
  const news = sitemap.kind === 'news' ? ' xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"' : '';
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="${namespace}"${news}>\n${urls}</urlset>\n`;
}

function renderIndex(site: Site, count: number): string {
  let children = '';
  const newest = site.timeline.at(count - 1);
  for (const [i, month] of monthsOf(site, count).entries()) {
    const lastmod = i === 0 && newest !== undefined ? new Date(newest.atMs).toISOString() : `${month}-28`;
    children += `<sitemap><loc>http://${site.publisher.host}/sitemap-${month}.xml</loc><lastmod>${lastmod}</lastmod></sitemap>\n`;
  }
  return `<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="${namespace}">\n${children}</sitemapindex>\n`;
}
