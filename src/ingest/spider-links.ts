import { attribute, discoverLinks, type Page, resolveUrl } from '../html/index.ts';
import { inferPagers, type PagerLink } from '../sites/index.ts';
import type { SourceSettings } from '../sources/index.ts';
import { UNSPACED } from '../text/index.ts';
import { canonicalDomain, classifyUrl, decideUrlFilter, identifyUrl, unknownShape } from '../url/index.ts';
import type { IngestSettings, PageFacts, PageResponse, SpiderLink } from './response.ts';

const defaultPriority = 5;

/** How a page's links are followed. */
export type SpiderRules = { priority: number; settings: SourceSettings };

/**
 * The rules for a page; null: its links are not followed. A seeded domain belongs to nobody: what began with the spider
 * goes on with its defaults, and never leaves the domain.
 */
export function spiderRulesOf(
  row: { sourceId: number | null; origin: string },
  { source }: Pick<IngestSettings, 'source'>,
): SpiderRules | null {
  if (source !== null) return source.ingestionMode === 'feed' ? null : source;
  return row.sourceId === null && (row.origin === 'spider' || row.origin === 'archive')
    ? { priority: defaultPriority, settings: {} }
    : null;
}

/** Whether the kind of a row was the spider's guess, which what the page is may correct. */
export const isGuessed = ({ row }: PageResponse): boolean =>
  row.origin === 'spider' || (row.origin === 'archive' && row.kind === 'article');

/** What the links of a page say; null when the spider does not follow them. */
export function readPageFacts(
  page: Page,
  response: PageResponse,
  settings: IngestSettings,
): PageFacts | null {
  const rules = spiderRulesOf(response.row, settings);
  return rules === null ? null : factsOf(page, response, { rules, settings });
}

/** The same for a page whose links are followed whatever its source says. */
export function factsOf(
  page: Page,
  response: PageResponse,
  { rules, settings }: { rules: SpiderRules; settings: IngestSettings },
): PageFacts {
  const domain = canonicalDomain(response.finalUrl);
  const filter = {
    ...(domain === null ? {} : { domains: [domain] }),
    ...(rules.settings.allowLeaving ? { allowLeaving: true } : {}),
    ...(rules.settings.include ? { include: rules.settings.include } : {}),
    ...(rules.settings.exclude ? { exclude: rules.settings.exclude } : {}),
  };
  const refused: Record<string, number> = {};
  const links: SpiderLink[] = [];
  const passed: PagerLink[] = [];
  const all: (PagerLink & { isHead?: true })[] = [...discoverLinks(page), ...headLinks(page)];
  for (const link of all) {
    const identified = identifyUrl(link.url);
    const judged =
      identified.outcome === 'rejected' ? identified : decideUrlFilter(identified.identity, filter);
    if (identified.outcome === 'rejected' || judged.outcome === 'rejected') {
      const reason = 'reason' in judged ? judged.reason : 'unknown';
      refused[reason] = (refused[reason] ?? 0) + 1;
      continue;
    }
    passed.push(link);
    if (link.isHead) continue;
    const { identity } = identified;
    // www and apex are one domain.
    const external = identity.domain !== domain;
    const { kind, reason } = classifyUrl(identity.fetchUrl, {
      articlePatterns: rules.settings.articleUrlPatterns ?? [],
      // What was learned is of this domain.
      ...(external || settings.learned === undefined ? {} : { learned: settings.learned }),
    });
    links.push({
      url: identity.fetchUrl,
      kind,
      reason,
      isHeadline: !link.inNav && isHeadline(link.text),
      inNav: link.inNav,
      external,
    });
  }
  return {
    url: response.finalUrl,
    kind: listsSomething(links) ? 'listing' : 'other',
    links,
    refused,
    pagers: inferPagers(response.finalUrl, passed),
  };
}

// Some sites call their whole page a sidebar.
const linksOfAFrame = 10;

const listsSomething = (links: readonly SpiderLink[]): boolean =>
  contentLinks({ links }).length > 0 ||
  links.filter((link) => link.kind === 'article' && !link.external).length >= linksOfAFrame;

const UNSPACED_HEADLINE = new RegExp(`${UNSPACED}{6}`, 'u');
// Headlines have words; days of a calendar, facets and page numbers have one or two. Scripts without spaces count letters.
const isHeadline = (text: string): boolean =>
  text.split(/\s+/).length >= 4 || UNSPACED_HEADLINE.test(text) || text.length >= 25;

/** What a page lists: articles, and headlines that lead nobody knows where, outside its navigation. */
export const contentLinks = ({ links }: { links: readonly SpiderLink[] }): SpiderLink[] =>
  links.filter(
    (link) =>
      !link.inNav &&
      !link.external &&
      (link.kind === 'article' || (link.reason === unknownShape && link.isHeadline)),
  );

/** `<link rel=next>` and `rel=prev` of the head. */
export function headLinks(page: Page): (PagerLink & { isHead: true })[] {
  const found: (PagerLink & { isHead: true })[] = [];
  for (const node of page.links) {
    const rel = attribute(node, 'rel');
    const href = attribute(node, 'href');
    if (rel === null || href === null || !/\b(?:next|prev|previous)\b/i.test(rel) || found.length >= 4)
      continue;
    const url = resolveUrl(href, page.baseUrl);
    if (url !== null) found.push({ url, text: '', rel: rel.slice(0, 100), inNav: true, isHead: true });
  }
  return found;
}
