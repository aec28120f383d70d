import { decidePriority, type SubmitItem } from '../frontier/index.ts';
import { discoverLinks, type Page } from '../html/index.ts';
import { canonicalDomain, classifyUrl, decideUrlFilter, identifyUrl } from '../url/index.ts';
import { validatePage } from '../validate/index.ts';
import { readPage } from './article.ts';
import type { Ingested, IngestSettings, PageResponse } from './response.ts';

const defaultDepth = 3;

/** Links of a page that the spider may follow; none unless the source is spidered. */
export function findSpiderLinks(page: Page, response: PageResponse, settings: IngestSettings): SubmitItem[] {
  const { source } = settings;
  if (source === null || source.ingestionMode === 'feed') return [];
  const { row } = response;
  const depth = row.depth + 1;
  const maxDepth = source.settings.maxDepth || defaultDepth;
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
      ...(source.settings.allowLeaving ? { allowLeaving: true } : {}),
      ...(source.settings.include ? { include: source.settings.include } : {}),
      ...(source.settings.exclude ? { exclude: source.settings.exclude } : {}),
    });
    if (filtered.outcome === 'rejected') continue;
    const { kind } = classifyUrl(identity.fetchUrl, {
      articlePatterns: source.settings.articleUrlPatterns ?? [],
    });
    if (kind === 'other') continue;
    found.push({
      url: identity.fetchUrl,
      kind,
      origin: 'spider',
      sourceId: row.sourceId,
      priority: decidePriority({ base: source.priority, origin: 'spider', kind, depth, external }),
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
const bare = new Set<string>(['too_short', 'no_text']);

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
    // A front page may be short and have no text of its own, as long as it leads somewhere.
    if (validation.outcome === 'rejected' && (links.length === 0 || !bare.has(validation.reason)))
      return { outcome: 'rejected', reason: validation.reason, detail: validation.detail };
  }
  return { outcome: 'links', found: findSpiderLinks(page, response, settings) };
}
