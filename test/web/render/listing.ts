import { lexicons } from '../lexicon/index.ts';
import type { Described, Site } from '../site.ts';
import type { Target } from '../target.ts';
import type { Item } from '../timeline.ts';
import { furnish, furnitureOf } from './furniture/index.ts';
import { escapeText, renderFooter, renderHead, renderNavigation } from './html.ts';

type ListingTarget = Extract<Target, { kind: 'listing' }>;

/** Items of a listing, newest first, all pages. */
export function itemsOf(site: Site, target: ListingTarget, count: number): Described[] {
  const chosen: Described[] = [];
  for (let index = count - 1; index >= 0; index--) {
    const item = site.timeline.at(index) as Item;
    if (target.datePrefix !== undefined && !new Date(item.atMs).toISOString().startsWith(target.datePrefix))
      continue;
    const described = site.describe(item);
    if (target.section === undefined || described.section.slug === target.section) chosen.push(described);
  }
  return chosen;
}

/** A listing page, or nothing beyond the last one. */
export function renderListing(site: Site, target: ListingTarget, count: number): string | undefined {
  const { publisher } = site;
  const { furniture, sections } = lexicons[publisher.language];
  // The front page is the hot one: it needs no filter, and so no walk over the whole catalogue.
  const whole = target.section === undefined && target.datePrefix === undefined;
  const first = (target.page - 1) * publisher.perPage;
  const all = whole ? undefined : itemsOf(site, target, count);
  const total = all?.length ?? count;
  if (target.page > 1 && first >= total) return undefined;
  const shown =
    all?.slice(first, first + publisher.perPage) ?? newest(site, count - first, publisher.perPage);
  let list = '';
  for (const entry of shown) {
    const date = new Date(entry.item.atMs).toISOString();
    list += `<li class="teaser"><h2><a href="${escapeText(entry.path)}">${escapeText(entry.title)}</a></h2><time datetime="${date}">${date.slice(0, 10)}</time> <span>${entry.section.name}</span></li>\n`;
  }
  const name = sections.find((section) => section.slug === target.section)?.name ?? target.datePrefix;
  const title = name === undefined ? publisher.title : `${name} | ${publisher.title}`;
  const pager = renderPager(site, target, Math.ceil(total / publisher.perPage));
  const around = furnitureOf(site);
  const body = `<header>${renderNavigation(publisher)}<h1>${escapeText(title)}</h1></header><main><ul class="list">${list}</ul>${pager}${plantedLinks(site)}</main><aside><p>${furniture.newsletter}</p></aside>${renderFooter(publisher)}`;
  return `${renderHead(publisher, title, around.head)}<body>${furnish(around, body, { title, page: target.page })}</body></html>\n`;
}

function newest(site: Site, before: number, limit: number): Described[] {
  const chosen: Described[] = [];
  for (let index = before - 1; index >= 0 && chosen.length < limit; index--)
    chosen.push(site.describe(site.timeline.at(index) as Item));
  return chosen;
}

function renderPager(site: Site, target: ListingTarget, pages: number): string {
  const { publisher } = site;
  if (publisher.pager === 'none') return '';
  const { furniture } = lexicons[publisher.language];
  let base = '/';
  if (target.section !== undefined) base = `/${target.section}/`;
  if (target.datePrefix !== undefined) base = `/${target.datePrefix.replaceAll('-', '/')}/`;
  const address = (page: number) => {
    if (page === 1) return base;
    switch (publisher.pagination) {
      case 'path':
        return `${base}page/${page}`;
      case 'offset':
        return `${base}?offset=${(page - 1) * publisher.perPage}`;
      case 'sorted':
        return `${base}?order=desc&amp;page=${page}`;
      case 'file':
        return `${base}list_7_${page}.html`;
      default:
        return `${base}?${publisher.pagination === 'p' ? 'p' : 'page'}=${page}`;
    }
  };
  let links = '';
  if (target.page > 1) links += `<a rel="prev" href="${address(target.page - 1)}">${furniture.previous}</a> `;
  for (let page = target.page + 1; page <= Math.min(pages, target.page + 3); page++)
    links += `<a href="${address(page)}">${page}</a> `;
  if (target.page < pages) links += `<a rel="next" href="${address(target.page + 1)}">${furniture.next}</a>`;
  return `<div class="pager">${links}</div>`;
}

/** Traps are reached as real ones are: by links on the pages a spider reads. */
function plantedLinks(site: Site): string {
  let links = '';
  for (const fault of site.faults) {
    for (const link of fault.definition.links?.(fault.options) ?? [])
      links += `<a href="${escapeText(link)}">${escapeText(link.slice(1))}</a> `;
  }
  return links === '' ? '' : `<div class="tools">${links}</div>`;
}

/** The overview of date archives. */
export function renderArchive(site: Site, count: number): string {
  const { publisher } = site;
  const { furniture } = lexicons[publisher.language];
  let list = '';
  for (const month of monthsOf(site, count))
    list += `<li><a href="/${month.replace('-', '/')}/">${month}</a></li>`;
  return `${renderHead(publisher, `${furniture.archive} | ${publisher.title}`, '')}<body>${renderNavigation(publisher)}<h1>${furniture.archive}</h1><ul>${list}</ul>${renderFooter(publisher)}</body></html>\n`;
}

/** Months that have items, newest first. */
export function monthsOf(site: Site, count: number): string[] {
  const months = new Set<string>();
  for (let index = count - 1; index >= 0; index--)
    months.add(new Date((site.timeline.at(index) as Item).atMs).toISOString().slice(0, 7));
  return [...months];
}
