import { decidePriority, type SubmitItem } from '../frontier/index.ts';
import { discoverLinks, type Page } from '../html/index.ts';
import type { SourceSettings } from '../sources/index.ts';
import { canonicalDomain, classifyUrl, decideUrlFilter, identifyUrl } from '../url/index.ts';
import { validatePage } from '../validate/index.ts';
import { readPage } from './article.ts';
import { failedReading } from './feed.ts';
import type { Ingested, IngestSettings, PageResponse } from './response.ts';

const defaultDepth = 3;
const defaultPriority = 5;

type SpiderRules = { priority: number; settings: SourceSettings };

// A seeded domain belongs to nobody: what began with the spider goes on with its defaults, and never leaves the domain.
function spiderRulesOf(response: PageResponse, { source }: IngestSettings): SpiderRules | null {
  if (source !== null) return source.ingestionMode === 'feed' ? null : source;
  const { row } = response;
  return row.sourceId === null && (row.origin === 'spider' || row.origin === 'archive')
    ? { priority: defaultPriority, settings: {} }
    : null;
}

/** Links of a page that the spider may follow; none unless the source is spidered or the domain was seeded. */
export function findSpiderLinks(page: Page, response: PageResponse, settings: IngestSettings): SubmitItem[] {
  const rules = spiderRulesOf(response, settings);
  return rules === null ? [] : linksOf(page, response, rules);
}

function linksOf(page: Page, response: PageResponse, rules: SpiderRules): SubmitItem[] {
  const { row } = response;
  const depth = row.depth + 1;
  // What an archive lists is old, and so is what its articles lead to.
  const origin = row.origin === 'archive' ? 'archive' : 'spider';
  const maxDepth = rules.settings.maxDepth || defaultDepth;
  if (maxDepth > 0 && depth > maxDepth) return [];
  const domain = canonicalDomain(response.finalUrl);
  const found: SubmitItem[] = [];
  for (const link of discoverLinks(page)) {
    const identified = identifyUrl(link.url);
    if (identified.outcome === 'rejected') continue;
    const { identity } = identified;
    const external = identity.domain !== domain;
    const filtered = decideUrlFilter(identity, {
      ...(domain === null ? {} : { domains: [domain] }),
      ...(rules.settings.allowLeaving ? { allowLeaving: true } : {}),
      ...(rules.settings.include ? { include: rules.settings.include } : {}),
      ...(rules.settings.exclude ? { exclude: rules.settings.exclude } : {}),
    });
    if (filtered.outcome === 'rejected') continue;
    const { kind } = classifyUrl(identity.fetchUrl, {
      articlePatterns: rules.settings.articleUrlPatterns ?? [],
    });
    if (kind === 'other') continue;
    found.push({
      url: identity.fetchUrl,
      kind,
      origin,
      sourceId: row.sourceId,
      priority: decidePriority({ base: rules.priority, origin, kind, depth, external }),
      depth,
      parentUrl: response.finalUrl,
      own: !external,
    });
  }
  return found;
}

// A page that offers this many links outside its navigation is a listing, whatever else it says: a front page of few
// words may well carry a login box or report on "404 new jobs".
const linksOfAListing = 5;

/** A listing page is read for its links and never becomes a document; a challenge or a missing page is no listing. */
export function ingestListing(response: PageResponse, settings: IngestSettings): Ingested {
  const page = readPage(response);
  const links = discoverLinks(page).filter((link) => !link.inNav);
  if (links.length < linksOfAListing) {
    const validation = validatePage({
      page,
      bodyBytes: response.body.length,
      status: response.status,
      headers: response.headers,
    });
    // A small site's front page may be short and have no text of its own.
    if (
      validation.outcome === 'rejected' &&
      validation.reason !== 'too_short' &&
      validation.reason !== 'no_text'
    )
      return { outcome: 'rejected', reason: validation.reason, detail: validation.detail };
  }
  return { outcome: 'links', found: findSpiderLinks(page, response, settings) };
}

/**
 * A page that is re-read for its links, as a feed is for its entries: articles only, whatever mode the source has. What
 * is no listing is a parse error of the channel.
 */
export function ingestPageChannel(response: PageResponse, settings: IngestSettings): Ingested {
  const page = readPage(response);
  const links = discoverLinks(page).filter((link) => !link.inNav);
  if (links.length === 0)
    return { outcome: 'channel', reading: failedReading('the page has no links'), found: [] };
  const rules = settings.source ?? { priority: defaultPriority, settings: {} };
  const found = linksOf(page, response, rules).filter((one) => one.kind === 'article');
  const reading = { ...failedReading(''), error: null, detail: null, format: 'page' };
  return { outcome: 'channel', reading, found };
}
