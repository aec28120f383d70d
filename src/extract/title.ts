import { collapse, type Page, type PageNode, textOf } from '../html/index.ts';
import type { LdFacts } from './json-ld.ts';
import type { MetaTags } from './meta-tags.ts';

/** A value with the evidence that gave it. */
export type Evidence = { value: string; from: string };

const SEPARATOR = /\s+[|\-–—·•»›:~/\\]{1,2}\s+|\s*[|»›•]\s*|\s+::\s+|:\s+/g;

/** Lower case letters and digits only: the form in which titles and names are compared. */
export function comparable(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
}

/** Names under which the site may appear in a title. */
export function siteNames(page: Page, tags: MetaTags, ld: LdFacts): string[] {
  const names = [
    tags.openGraph['og:site_name'],
    tags.meta['application-name'],
    tags.meta['apple-mobile-web-app-title'],
    tags.twitter['twitter:site'],
    tags.meta.publisher,
    ld.publisher,
    ...ld.siteNames,
  ];
  const host = hostOf(page.url);
  if (host !== '') names.push(host, host.replace(/\.[a-z]{2,6}(\.[a-z]{2})?$/, ''));
  return [
    ...new Set(names.filter((name) => typeof name === 'string').map((name) => comparable(name))),
  ].filter((name) => name.length > 1);
}

function hostOf(url: string): string {
  const match = /^https?:\/\/(?:www\d?\.)?([^/:?#]{1,255})/i.exec(url);
  return match?.[1]?.toLowerCase() ?? '';
}

/** A title without the site's name before or after a separator. */
export function withoutSiteName(title: string, sites: string[]): string {
  let text = title;
  for (let round = 0; round < 3; round++) {
    const cuts = [...text.matchAll(SEPARATOR)];
    const last = cuts[cuts.length - 1];
    const first = cuts[0];
    if (last === undefined || first === undefined) break;
    const tail = comparable(text.slice(last.index + last[0].length));
    const head = comparable(text.slice(0, first.index));
    if (isSite(tail, sites)) text = text.slice(0, last.index);
    else if (isSite(head, sites)) text = text.slice(first.index + first[0].length);
    else break;
  }
  return text.trim();
}

function isSite(part: string, sites: string[]): boolean {
  if (part === '') return true;
  for (const site of sites) {
    if (part === site) return true;
    // "The Example Times" against "exampletimes": one holds most of the other.
    if (site.length > 4 && part.includes(site) && part.length < site.length * 2) return true;
    if (part.length > 4 && site.includes(part) && part.length * 2 > site.length) return true;
  }
  return false;
}

/** The heading that names the article: the h1 most like the page's title, else the first one. */
export function findHeadline(page: Page, headings: PageNode[]): { node: PageNode; text: string } | null {
  const wanted = comparable(page.title ?? '');
  let best: { node: PageNode; text: string } | null = null;
  let bestPoints = -1;
  for (const node of headings.slice(0, 40)) {
    const text = textOf(node, 500);
    const key = comparable(text);
    if (key.length < 3) continue;
    const alike = wanted !== '' && (wanted.includes(key) || key.includes(wanted));
    const points = (alike ? 10 + Math.min(key.length, 80) / 10 : 0) + (node.tag === 'h1' ? 5 : 0);
    if (points > bestPoints && (node.tag === 'h1' || alike)) {
      bestPoints = points;
      best = { node, text };
    }
  }
  return best;
}

/** Chooses the title: JSON-LD headline, og:title, h1, then `<title>`, each without the site's name. */
export function decideTitle(
  page: Page,
  tags: MetaTags,
  ld: LdFacts,
  headline: string | null,
): Evidence | null {
  const sites = siteNames(page, tags, ld);
  const candidates: Evidence[] = [];
  const add = (value: string | null | undefined, from: string) => {
    if (typeof value !== 'string') return;
    const text = collapse(withoutSiteName(value, sites));
    const key = comparable(text);
    if (key.length > 1 && text.length < 500 && !sites.includes(key)) candidates.push({ value: text, from });
  };
  if (ld.isArticle) add(ld.headline, 'json-ld headline');
  add(tags.openGraph['og:title'], 'og:title');
  add(headline, 'h1');
  add(tags.twitter['twitter:title'], 'twitter:title');
  add(tags.meta['dc.title'] ?? tags.meta.citation_title, 'meta title');
  add(page.title, 'title');
  return candidates[0] ?? null;
}
